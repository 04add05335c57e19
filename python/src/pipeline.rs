//! Work of zarr-python's codec pipeline, done by this library: batches of chunks are read and written as one selection of an array.
//!
//! The array has the codecs and the data type of zarr-python's array, and the chunks of the batch ([`batch`]). Its store names each chunk
//! as zarr-python does ([`chunks`]). Nothing here depends on the shape of zarr-python's array, its chunk keys or its path, about which a
//! pipeline has no reliable information.

mod batch;
mod chunks;
mod emptied;
mod memory_store;
mod parts;
mod requests;
mod source;

use crate::array::Written;
use crate::data_type::{self, Form};
use crate::errors::OrException;
use crate::memory::Memory;
use crate::runtime;
use crate::variable::{self, Absent, Given};
pub(crate) use batch::Batch;
use chunks::{Chunks, Known, Seen};
use emptied::Emptied;
pub(crate) use memory_store::MemoryValues;
use numpy::{PyArrayDescr, PyUntypedArray};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
pub(crate) use requests::Requests;
use source::Source;
pub(crate) use source::{Leftovers, OpenedStore};
use std::error::Error as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use zarr::json::{Map, NamedConfig, Value};
use zarr::store::{Bytes, Key, MemoryStore, Store};
use zarr::{Array, Error, Options, Result};

/// Codecs, data type and fill value of an array of zarr-python.
#[pyclass(frozen, name = "Codecs", module = "zarr_rust._core")]
pub(crate) struct Codecs {
    /// Document of the array; the shape and the chunks are replaced by those of each batch.
    document: Map,
    /// Codecs in JSON, as in a document of version 3.
    model: String,
    form: Form,
    data_type: Py<PyArrayDescr>,
}

/// Returns the error with the key of zarr-python's chunk, instead of the index of the chunk in the array of the batch. `None` for errors of
/// stores, which have that key already.
fn located(error: &Error, known: &Known) -> Option<Error> {
    let key = known.key_of(&Key::new(error.location().key.as_deref()?).ok()?)?;
    if error.store_error().is_some() {
        return None;
    }
    let mut message = error.message().to_owned();
    let mut source = error.source();
    while let Some(inner) = source {
        message.push_str(&format!(": {inner}"));
        source = inner.source();
    }
    let made = Error::new(error.kind(), message).at(|location| {
        location.store.clone_from(&error.location().store);
        location.key = Some(key.as_str().to_owned());
    });
    Some(match error.hint() {
        Some(hint) => made.with_hint(hint),
        None => made,
    })
}

/// Returns options by which chunks of only fill values are stored or not.
fn options(write_empty_chunks: bool) -> Options {
    // zarr-python does not read the document again either, and an array that is opened by its metadata alone may lack one.
    Options::default().trust_missing(true).write_empty_chunks(write_empty_chunks)
}

impl Codecs {
    fn is_v2(&self) -> bool {
        self.document.get("zarr_format").and_then(Value::as_u64) == Some(2)
    }

    /// Returns the document of an array with `grid` chunks along each axis.
    fn document(&self, grid: &[u64], chunk_shape: &[u64]) -> Result<Bytes> {
        let mut document = self.document.clone();
        let list = |lengths: &mut dyn Iterator<Item = u64>| Value::from(lengths.map(Value::from).collect::<Vec<_>>());
        let shape = grid.iter().zip(chunk_shape).map(|(&count, &len)| count.checked_mul(len));
        let shape: Option<Vec<u64>> = shape.collect();
        let shape =
            shape.ok_or_else(|| Error::argument("the chunks of a batch have more elements than 64 bits count"))?;
        document.insert("shape", list(&mut shape.into_iter()));
        let chunks = list(&mut chunk_shape.iter().copied());
        if self.is_v2() {
            document.insert("chunks", chunks);
        } else {
            let configuration = Map::from_unique([("chunk_shape".to_owned(), chunks)]);
            let members = [("name".to_owned(), "regular".into()), ("configuration".to_owned(), configuration.into())];
            document.insert("chunk_grid", Map::from_unique(members));
        }
        Ok(Value::from(document).to_string().into_bytes().into())
    }

    fn array(&self, store: Arc<dyn Store>, known: Known, options: Options) -> Result<(Array, Arc<Known>)> {
        let known = Arc::new(known);
        let store: Arc<dyn Store> = Arc::new(Chunks::new(store, Arc::clone(&known)));
        let array = zarr::open((&store, "/")).options(options.clone()).array()?;
        if !options.write_empty_chunks {
            return Ok((array, known));
        }
        // Inner chunks of only fill values are stored too.
        let mut found = array.found().clone();
        found.may_omit_empty_chunks = false;
        Ok((Array::from_found(&store, found, array.registry(), options)?, known))
    }

    fn known(&self, grid: &[u64], chunk_shape: &[u64], keys: Vec<Key>, complete: Vec<bool>) -> Result<Known> {
        Ok(Known {
            document_key: if self.is_v2() { ".zarray" } else { "zarr.json" },
            document: self.document(grid, chunk_shape)?,
            grid: grid.to_vec(),
            seen: keys.iter().map(|_| Seen::default()).collect(),
            patched: keys.iter().map(|_| AtomicBool::default()).collect(),
            keys,
            complete,
        })
    }

    /// Reads or writes a batch.
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        batch: &Batch,
        source: &Source<'_>,
        complete: Vec<bool>,
        options: Options,
        work: impl FnOnce(&Array, &Known, &dyn Store) -> Result<T> + Send,
    ) -> PyResult<(T, Arc<Known>)> {
        let keys = batch.keys(py)?.iter().map(|key| Key::new(key)).collect::<std::result::Result<Vec<_>, _>>();
        let keys = keys.or_exception(py)?;
        let store = source.store(py, &keys);
        let done = source.run(py, || {
            let known = self.known(&batch.grid, &batch.chunk_shape, keys, complete)?;
            let store = batch.interrupt.over(&store);
            let (array, known) = self.array(Arc::clone(&store), known, options)?;
            let done = work(&array, &known, &*store).map_err(|error| located(&error, &known).unwrap_or(error))?;
            Ok((done, known))
        });
        done.map_err(|error| source.take_failure().unwrap_or(error))
    }
}

#[pymethods]
impl Codecs {
    /// Checks and returns the codecs, data type and fill value of a document.
    #[new]
    fn new(py: Python<'_>, document: &str, chunk_shape: Vec<u64>) -> PyResult<Self> {
        let document = crate::array::members(document).or_exception(py)?;
        let data_type = numpy::dtype::<u8>(py).unbind();
        let made = Self { document, model: String::new(), form: Form::Absent, data_type };
        let grid = vec![1; chunk_shape.len()];
        let array = runtime::run(py, || {
            let known = made.known(&grid, &chunk_shape, Vec::new(), Vec::new())?;
            Ok(made.array(Arc::new(MemoryStore::new()), known, options(false))?.0)
        })?;
        let form = Form::of(array.data_type());
        let model = Value::from(array.metadata().codecs.iter().map(NamedConfig::to_value).collect::<Vec<_>>());
        let data_type = match form {
            Form::Fixed | Form::List => data_type::fixed(py, array.data_type())?.unbind(),
            _ => made.data_type,
        };
        Ok(Self { document: made.document, model: model.to_string(), form, data_type })
    }

    #[getter]
    fn model(&self) -> &str {
        &self.model
    }

    #[getter]
    fn form(&self) -> &'static str {
        self.form.name()
    }

    #[getter]
    fn dtype(&self, py: Python<'_>) -> Py<PyArrayDescr> {
        self.data_type.clone_ref(py)
    }

    /// Reads the selection of the batch, and returns for each chunk whether it was missing.
    fn read(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, Batch>,
        source: Source<'_>,
        out: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<bool>> {
        let batch = batch.get();
        let mut memory = Memory::new(out, self.data_type.bind(py))?;
        let view = memory.view_mut()?;
        let read = |array: &Array, _: &Known, _: &dyn Store| array.read_into(&batch.selection, view);
        let ((), known) = self.run(py, batch, &source, Vec::new(), options(false), read)?;
        Ok(known.seen.iter().map(Seen::is_missing).collect())
    }

    /// Reads the selection of the batch for elements of variable length: into strings of numpy, or returned in the form of
    /// [`variable::to_python`].
    #[pyo3(signature = (batch, source, out=None))]
    fn read_variable<'py>(
        &self,
        py: Python<'py>,
        batch: &Bound<'_, Batch>,
        source: Source<'_>,
        out: Option<Bound<'py, PyUntypedArray>>,
    ) -> PyResult<(Option<Bound<'py, PyAny>>, Vec<bool>)> {
        let batch = batch.get();
        let read = |array: &Array, _: &Known, _: &dyn Store| array.read_data(&batch.selection);
        let (data, known) = self.run(py, batch, &source, Vec::new(), options(false), read)?;
        let elements = match out {
            Some(out) => variable::to_array(&data, &out).map(|()| None)?,
            None => Some(variable::to_python(py, &data, &batch.shape)?),
        };
        Ok((elements, known.seen.iter().map(Seen::is_missing).collect()))
    }

    /// Writes an array to the selection of the batch.
    fn write(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, Batch>,
        source: Source<'_>,
        value: &Bound<'_, PyAny>,
        write_empty_chunks: bool,
    ) -> PyResult<()> {
        let batch = batch.get();
        let memory = Memory::new(value, self.data_type.bind(py))?;
        let view = memory.view()?;
        let directory = source.directory();
        let write = |array: &Array, known: &Known, store: &dyn Store| {
            Written::new(array, view.clone())?.write(array, &batch.selection)?;
            Emptied { array, batch, known, store, directory: directory.as_ref() }.erase(&view)
        };
        self.run(py, batch, &source, batch.complete.clone(), options(write_empty_chunks), write).map(|_| ())
    }

    /// Writes elements of variable length, in C order, to the selection of the batch.
    fn write_variable(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, Batch>,
        source: Source<'_>,
        elements: Given<'_>,
        write_empty_chunks: bool,
    ) -> PyResult<()> {
        let batch = batch.get();
        if self.form == Form::Fixed {
            return Err(PyTypeError::new_err("elements of fixed size are an array"));
        }
        let document = self.known(&batch.grid, &batch.chunk_shape, Vec::new(), Vec::new()).or_exception(py)?;
        let (array, _) = self.array(Arc::new(MemoryStore::new()), document, options(false)).or_exception(py)?;
        let data = variable::from_python(py, array.data_type(), &batch.shape, &elements, Absent::Empty)?;
        let directory = source.directory();
        let write = |array: &Array, known: &Known, store: &dyn Store| {
            array.write(&batch.selection, &data)?;
            Emptied { array, batch, known, store, directory: directory.as_ref() }.erase(&data.view())
        };
        self.run(py, batch, &source, batch.complete.clone(), options(write_empty_chunks), write).map(|_| ())
    }
}
