//! Tables of data sets, which programs of Python take by the Arrow PyCapsule interface.

use crate::dataset::{DatasetHandle, OfProcess};
use crate::errors::OrException;
use crate::interrupt::Interrupt;
use crate::location::Origin;
use crate::runtime;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::sync::{Arc, Mutex, PoisonError};
use zarr::arrow::{Batch, Batches, Coordinates, Schema, TableOptions, export_batch, export_schema, export_stream};
use zarr::dataset::Dataset;
use zarr::{Error, ErrorKind, Result, Store};

/// Table of a data set: its columns, and streams of its rows.
#[pyclass(frozen, name = "Table", module = "zarr_rust._core")]
pub(crate) struct TableHandle {
    origin: Arc<Origin>,
    dataset: OfProcess,
    options: TableOptions,
    schema: Arc<Schema>,
    dimensions: Vec<(String, u64)>,
}

/// Batches that are read on the threads of the process that asked for the stream.
struct Streamed {
    batches: Batches,
    /// Id of the process that asked for the stream.
    process: u32,
    /// Interrupt of the store that the batches are read from.
    interrupt: Interrupt,
    /// Whether the store waits for a network, so that signals are checked for.
    is_remote: bool,
    /// Exception of the handler of a signal, after which there are no further batches: the one that was being read is lost.
    raised: Option<PyErr>,
}

impl Iterator for Streamed {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Result<Batch>> {
        let Self { batches, process, interrupt, is_remote, raised } = self;
        if std::process::id() != *process {
            let message = "found a stream of another process, expected one that this process asked for";
            let hint = "connections and threads of a process do not exist in its forked children";
            return Some(Err(Error::argument(message).with_hint(hint)));
        }
        let cancelled = |raised: &PyErr| Error::new(ErrorKind::Cancelled, raised.to_string());
        if let Some(raised) = raised {
            return Some(Err(cancelled(raised)));
        }
        let next = || batches.next().transpose();
        // The consumer may hold the interpreter's lock, which other threads, stores of Python and handlers of signals need.
        Python::attach(|py| match is_remote {
            true => {
                let (done, found) = runtime::run_long_unraised(py, interrupt, next);
                *raised = found;
                raised.as_ref().map_or(done, |raised| Err(cancelled(raised)))
            }
            false => runtime::run_unraised(py, next),
        })
        .transpose()
    }
}

/// Iterator over the batches of a table.
#[pyclass(frozen, name = "Batches", module = "zarr_rust._core")]
pub(crate) struct BatchesHandle(Mutex<Streamed>);

#[pymethods]
impl BatchesHandle {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<TableBatch>> {
        let next = || {
            let mut streamed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let next = streamed.next();
            (next, streamed.raised.as_ref().map(|raised| Python::attach(|py| raised.clone_ref(py))))
        };
        match py.detach(next) {
            // Of the type that the handler has raised, such as KeyboardInterrupt.
            (_, Some(raised)) => Err(raised),
            (next, None) => Ok(next.transpose().or_exception(py)?.map(TableBatch)),
        }
    }
}

/// Some rows of a table.
#[pyclass(frozen, module = "zarr_rust._core")]
pub(crate) struct TableBatch(Batch);

#[pymethods]
impl TableBatch {
    fn __len__(&self) -> usize {
        self.0.rows()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        PyCapsule::new_with_value(py, export_schema(self.0.schema()).or_exception(py)?, c"arrow_schema")
    }

    /// Returns the rows as capsules `arrow_schema` and `arrow_array`.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // The types are those of the table whatever is requested.
        drop(requested_schema);
        let array = PyCapsule::new_with_value(py, export_batch(self.0.clone()), c"arrow_array")?;
        Ok((self.__arrow_c_schema__(py)?, array))
    }
}

/// Makes the table of a data set.
///
/// # Errors
/// The exceptions of the options, the store and the metadata, and those of data types without a type of Arrow.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "each is an argument in Python")]
pub(crate) fn table(
    dataset: &Bound<'_, DatasetHandle>,
    variables: Option<Vec<String>>,
    dims: Option<Vec<String>>,
    coordinates: &str,
    batch_rows: usize,
    ordered: bool,
    memory: u64,
    columns: Option<Vec<String>>,
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
    let options = dims.into_iter().fold(options, TableOptions::dimensions);
    let options = columns.into_iter().fold(options, TableOptions::columns);
    let (py, (origin, dataset)) = (dataset.py(), dataset.get().parts());
    let (batches, ..) = batches(py, &origin, &dataset, &options)?;
    let (schema, dimensions) = (Arc::clone(batches.schema()), batches.dimensions().to_vec());
    Ok(TableHandle { origin, dataset: OfProcess::new(dataset), options, schema, dimensions })
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
        let batches = self.streamed(py)?;
        let schema = Arc::clone(batches.batches.schema());
        PyCapsule::new_with_value(py, export_stream(schema, batches), c"arrow_array_stream")
    }

    fn batches(&self, py: Python<'_>) -> PyResult<BatchesHandle> {
        Ok(BatchesHandle(Mutex::new(self.streamed(py)?)))
    }
}

impl TableHandle {
    fn streamed(&self, py: Python<'_>) -> PyResult<Streamed> {
        let dataset = self.dataset.get(&self.origin);
        let (batches, interrupt, is_remote) = batches(py, &self.origin, &dataset, &self.options)?;
        Ok(Streamed { batches, process: std::process::id(), interrupt, is_remote, raised: None })
    }
}

/// Makes the batches of a data set, in the store of this process, with the interrupt of their reads, and whether they wait for a network.
fn batches(
    py: Python<'_>,
    origin: &Origin,
    dataset: &Dataset,
    options: &TableOptions,
) -> PyResult<(Batches, Interrupt, bool)> {
    let store = origin.store(py)?;
    // Batches outlive this call, and so do the store that they read and its interrupt.
    let interrupt = Interrupt::default();
    let own = interrupt.over(&store);
    let work = |store: &Arc<dyn Store>| {
        // What the types need is read here; the variables keep it.
        let seen = dataset.through(store)?;
        Batches::new(&seen, options)?;
        Batches::new(&seen.through(&own)?, options)
    };
    let batches = runtime::run_in(py, &store, false, work)?;
    Ok((batches, interrupt, store.as_async().is_some()))
}
