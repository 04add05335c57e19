//! Caches of decoded chunks, which handles are opened with.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use zarr::Array;
use zarr::options::ChunkCache;

/// Caches of this process by their names. The lock is only held together with the lock of the interpreter, so that no fork leaves it locked
/// in the child.
static NAMED: Mutex<Option<HashMap<String, Weak<ProcessCache>>>> = Mutex::new(None);

/// Cache of decoded chunks, one for each process.
#[derive(Debug)]
pub(crate) struct ProcessCache {
    /// Name of the cache by which pickled handles of one process share it.
    name: String,
    max_bytes: usize,
    /// Id of the process that made the cache, and the cache. The lock is only held together with the lock of the interpreter.
    made: Mutex<(u32, ChunkCache)>,
}

impl ProcessCache {
    fn made(&self) -> MutexGuard<'_, (u32, ChunkCache)> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the cache of this process. A forked child has an empty one: a thread of its parent may have locked a part of the other.
    pub(crate) fn of_process(&self) -> ChunkCache {
        let process = std::process::id();
        let mut made = self.made();
        if made.0 != process {
            // The other may be locked, so that it is not dropped.
            std::mem::forget(std::mem::replace(&mut *made, (process, ChunkCache::new(self.max_bytes))));
        }
        made.1.clone()
    }

    /// Returns the array with the cache of this process.
    pub(crate) fn over(&self, array: Array) -> Array {
        let cache = self.of_process();
        if array.options().cache.as_ref().is_some_and(|own| own.is_same(&cache)) {
            return array;
        }
        // The limits of the array are unchanged, so that this cannot fail.
        array.with(array.options().clone().cache(cache)).unwrap_or(array)
    }
}

/// Cache of decoded chunks, inner chunks and indexes of shards, with a bound in bytes, for arrays that are opened with it.
#[pyclass(frozen, eq, hash, from_py_object, module = "zarr_rust")]
#[derive(Clone, Debug)]
pub(crate) struct Cache(pub(crate) Arc<ProcessCache>);

impl PartialEq for Cache {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl std::hash::Hash for Cache {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).addr().hash(state);
    }
}

/// Returns the cache of this process with a name, or a new one.
///
/// # Errors
/// `ValueError` if the cache with that name has another size.
fn named(name: String, max_bytes: usize) -> PyResult<Cache> {
    let mut named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
    let named = named.get_or_insert_default();
    if let Some(known) = named.get(&name).and_then(Weak::upgrade) {
        if known.max_bytes != max_bytes {
            let found = known.max_bytes;
            let message = format!("cache {name:?}: found one of {found} bytes in this process, expected {max_bytes}");
            return Err(PyValueError::new_err(message));
        }
        return Ok(Cache(known));
    }
    named.retain(|_, cache| cache.strong_count() > 0);
    let made = Mutex::new((std::process::id(), ChunkCache::new(max_bytes)));
    let cache = Arc::new(ProcessCache { name: name.clone(), max_bytes, made });
    named.insert(name, Arc::downgrade(&cache));
    Ok(Cache(cache))
}

#[pymethods]
impl Cache {
    /// Makes an empty cache of `size` bytes, a number or a text such as `"1GiB"`.
    #[new]
    #[pyo3(signature = (size, *, name = None))]
    fn new(size: &Bound<'_, PyAny>, name: Option<String>) -> PyResult<Self> {
        let py = size.py();
        let max_bytes = py.import("zarr_rust._sizes")?.call_method1("size_of_cache", (size,))?.extract()?;
        let name = match name {
            Some(name) => name,
            None => py.import("uuid")?.call_method0("uuid4")?.getattr("hex")?.extract()?,
        };
        named(name, max_bytes)
    }

    /// Maximum number of bytes that the cache holds.
    #[getter]
    fn max_bytes(&self) -> usize {
        self.0.max_bytes
    }

    /// Number of bytes that the cache holds now, in this process.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.of_process().bytes()
    }

    /// Returns numbers about the cache of this process.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let cache = self.0.of_process();
        let counts = cache.counts();
        let stats = PyDict::new(py);
        stats.set_item("hits", counts.hits)?;
        stats.set_item("misses", counts.misses)?;
        stats.set_item("joined", cache.joined())?;
        stats.set_item("bytes", cache.bytes())?;
        stats.set_item("max_bytes", cache.max_bytes())?;
        Ok(stats)
    }

    /// Removes all chunks, so that later reads see what others have written.
    fn clear(&self) {
        self.0.of_process().clear();
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (usize, String))> {
        let made = py.import("zarr_rust._sizes")?.getattr("cache_of_name")?;
        Ok((made, (self.0.max_bytes, self.0.name.clone())))
    }

    fn __repr__(&self) -> String {
        format!("<Cache {} of {} bytes>", self.0.of_process().bytes(), self.0.max_bytes)
    }
}
