//! `MemoryStore` of zarr-python: its values stay in a mapping of Python, without a second copy.

use pyo3::exceptions::PyKeyError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PySlice};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use zarr::store::{
    AccessProfile, Answer, ByteRange, ByteRangeExt, Bytes, Call, Capabilities, Error, ErrorKind, Fetched, GetOptions,
    Key, Operation, Result, SetOptions, Store, Version, fallback_blocking,
};

/// Mapping of keys to buffers.
#[pyclass(frozen, name = "MemoryValues", module = "zarr_rust._core")]
#[derive(Debug)]
pub(crate) struct MemoryValues {
    name: String,
    values: Py<PyAny>,
    /// Function that creates a buffer from bytes.
    buffer_of: Py<PyAny>,
    failed: Mutex<Option<PyErr>>,
}

#[pymethods]
impl MemoryValues {
    #[new]
    fn new(name: String, values: Py<PyAny>, buffer_of: Py<PyAny>) -> Self {
        Self { name, values, buffer_of, failed: Mutex::default() }
    }
}

impl MemoryValues {
    /// Takes the first exception; `None` if there was none.
    pub(crate) fn take_failure(&self) -> Option<PyErr> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn value<'py>(&self, py: Python<'py>, key: &Key) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.values.bind(py).get_item(key.as_str()) {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.is_instance_of::<PyKeyError>(py) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Store whose values are in such a mapping.
#[derive(Debug)]
pub(crate) struct MemoryStore(Arc<Py<MemoryValues>>);

impl MemoryStore {
    pub(crate) fn new(values: Py<MemoryValues>) -> Self {
        Self(Arc::new(values))
    }

    /// Runs `work` on the mapping. The first exception is stored, so that the operation can raise it.
    fn with<T>(
        &self,
        operation: Operation,
        key: &Key,
        work: impl FnOnce(Python<'_>, &MemoryValues) -> PyResult<T>,
    ) -> Result<T> {
        let values = self.0.get();
        Python::attach(|py| work(py, values)).map_err(|error| {
            values.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            let message = "the mapping of Python raised an exception";
            Error::failed(self, operation, key.as_str(), ErrorKind::Io, message)
        })
    }
}

/// Copies the bytes of a buffer, so that later changes of the buffer have no effect on them.
fn copied(part: &Bound<'_, PyAny>) -> PyResult<Bytes> {
    let bytes: PyBackedBytes = part.call_method0(intern!(part.py(), "tobytes"))?.extract()?;
    Ok(Bytes::from_owner(bytes))
}

impl fmt::Display for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.get().name)
    }
}

impl MemoryStore {
    fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        let found = self.with(Operation::Get, key, |py, values| {
            let Some(value) = values.value(py, key)? else { return Ok(None) };
            let array = value.call_method0(intern!(py, "as_numpy_array"))?;
            let size = array.len()? as u64;
            let mut pieces = Vec::with_capacity(ranges.len());
            for range in ranges {
                pieces.push(match range.resolve(size) {
                    Some(at) if at == (0..size) => copied(&array)?,
                    Some(at) => copied(&array.get_item(PySlice::new(py, at.start as isize, at.end as isize, 1))?)?,
                    None => break,
                });
            }
            Ok(Some((size, pieces)))
        })?;
        let Some((size, pieces)) = found else { return Ok(None) };
        let mut fetched = Fetched::new();
        fetched.size = Some(size);
        options.check(self, key, &mut fetched)?;
        for range in ranges {
            range.check(self, key, size)?;
        }
        pieces.into_iter().for_each(|piece| fetched.push(piece));
        Ok(Some(fetched))
    }

    fn set(&self, key: &Key, value: &[u8], _: &SetOptions) -> Result<Option<Version>> {
        self.with(Operation::Set, key, |py, values| {
            let buffer = values.buffer_of.bind(py).call1((PyBytes::new(py, value),))?;
            values.values.bind(py).set_item(key.as_str(), buffer)
        })?;
        Ok(None)
    }

    fn erase(&self, key: &Key) -> Result<()> {
        self.with(Operation::Erase, key, |py, values| match values.values.bind(py).del_item(key.as_str()) {
            Err(error) if error.is_instance_of::<PyKeyError>(py) => Ok(()),
            done => done,
        })
    }
}

impl Store for MemoryStore {
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        Ok(match call {
            Call::Get { key, ranges, options } => Answer::Got(self.get(&key, &ranges, &options)?),
            Call::Set { key, value, options } => Answer::Set(self.set(&key, &value, &options)?),
            Call::Erase { key } => self.erase(&key)?.into(),
            call => return fallback_blocking(self, call),
        })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::none().write(true).suffix_ranges(true)
    }

    fn access_profile(&self) -> AccessProfile {
        AccessProfile::MEMORY
    }
}
