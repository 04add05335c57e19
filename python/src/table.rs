//! Tables of data sets, which programs of Python take by the Arrow PyCapsule interface.

use crate::dataset::DatasetHandle;
use crate::errors::OrException;
use crate::location::Origin;
use crate::runtime::{self, Threads};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::sync::{Arc, Mutex, PoisonError};
use zarr::arrow::{Batch, Batches, Coordinates, Schema, TableOptions, export_schema, export_stream};
use zarr::dataset::Dataset;
use zarr::{Result, Store};

/// Table of a data set: its columns, and streams of its rows.
#[pyclass(frozen, name = "Table", module = "zarr_rust._core")]
pub(crate) struct TableHandle {
    origin: Arc<Origin>,
    dataset: Mutex<Dataset>,
    options: TableOptions,
    schema: Arc<Schema>,
    dimensions: Vec<(String, u64)>,
}

/// Batches that are read on the threads of the process that asked for the stream.
struct Streamed {
    batches: Batches,
    threads: Threads,
    /// Whether the store is an object of Python.
    asks_python: bool,
}

impl Iterator for Streamed {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Result<Batch>> {
        let Self { batches, threads, asks_python } = self;
        let mut next = || threads.run(|| batches.next().transpose()).transpose();
        match asks_python {
            // The consumer may hold the interpreter's lock, which the store needs.
            true => Python::attach(|py| py.detach(next)),
            false => next(),
        }
    }
}

/// Makes the table of a data set.
///
/// # Errors
/// The exceptions of the options, the store and the metadata, and those of data types without a type of Arrow.
#[pyfunction]
pub(crate) fn table(
    dataset: &Bound<'_, DatasetHandle>,
    variables: Option<Vec<String>>,
    coordinates: &str,
    batch_rows: usize,
    ordered: bool,
    memory: u64,
) -> PyResult<TableHandle> {
    let coordinates = match coordinates {
        "run-end" => Coordinates::RunEnd,
        "dictionary" => Coordinates::Dictionary,
        "plain" => Coordinates::Plain,
        other => return Err(PyValueError::new_err(format!("coordinates {other:?}"))),
    };
    let options =
        TableOptions::default().coordinates(coordinates).batch_rows(batch_rows).ordered(ordered).memory(memory);
    let options = variables.into_iter().fold(options, TableOptions::variables);
    let (py, (origin, dataset)) = (dataset.py(), dataset.get().parts());
    let batches = batches(py, &origin, &dataset, &options)?;
    let (schema, dimensions) = (Arc::clone(batches.schema()), batches.dimensions().to_vec());
    Ok(TableHandle { origin, dataset: Mutex::new(dataset), options, schema, dimensions })
}

#[pymethods]
impl TableHandle {
    #[getter]
    fn dimensions(&self) -> Vec<(String, u64)> {
        self.dimensions.clone()
    }

    #[getter]
    fn columns(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().to_owned()).collect()
    }

    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        PyCapsule::new_with_value(py, export_schema(&self.schema).or_exception(py)?, c"arrow_schema")
    }

    fn stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let dataset = self.dataset.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let batches = batches(py, &self.origin, &dataset, &self.options)?;
        let schema = Arc::clone(batches.schema());
        let asks_python = self.origin.asked(py).is_some();
        let batches = Streamed { batches, threads: Threads::of_process(py)?, asks_python };
        PyCapsule::new_with_value(py, export_stream(schema, batches), c"arrow_array_stream")
    }
}

/// Makes the batches of a data set, in the store of this process.
fn batches(py: Python<'_>, origin: &Origin, dataset: &Dataset, options: &TableOptions) -> PyResult<Batches> {
    let store = origin.store(py)?;
    // Batches outlive this call, and so does the store that they read.
    let work = |_: &Arc<dyn Store>| Batches::new(&dataset.through(&store)?, options);
    runtime::run_in(py, &store, false, work)
}
