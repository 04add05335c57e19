//! Sources of the bytes of chunks: stores that this library opens itself, and Python objects.

use crate::pipeline::memory_store::{self, MemoryValues};
use crate::pipeline::requests::{self, Requests};
use crate::runtime;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use zarr::Result;
use zarr::store::{
    AsyncAsSync, BucketStore, Error as StoreError, FilesystemStore, HttpStore, Key, LookedThrough, Store, ZipStore,
};

/// Record of which directories have been searched for files that killed processes left.
#[pyclass(frozen, name = "LookedThrough", module = "zarr_rust._core")]
pub(crate) struct Leftovers(LookedThrough);

#[pymethods]
impl Leftovers {
    #[new]
    fn new() -> Self {
        Self(LookedThrough::default())
    }
}

/// Store that this library opens itself.
#[pyclass(frozen, weakref, name = "OpenedStore", module = "zarr_rust._core")]
pub(crate) struct OpenedStore(Opened);

enum Opened {
    Directory(FilesystemStore),
    Other(Arc<dyn Store>),
}

#[pymethods]
impl OpenedStore {
    /// Opens the store in a directory. If the directory does not exist, creates it if `create` is true, else returns `None`.
    #[staticmethod]
    fn directory(py: Python<'_>, path: PathBuf, create: bool, looked_through: &Leftovers) -> PyResult<Option<Self>> {
        let opened = || match FilesystemStore::open(&path) {
            Err(StoreError::NoStore { .. }) if create => Ok(Some(FilesystemStore::create(&path)?)),
            Err(StoreError::NoStore { .. }) => Ok(None),
            opened => Ok(Some(opened?)),
        };
        let store = runtime::run(py, opened)?.map(|store| store.sharing(&looked_through.0));
        Ok(store.map(|store| Self(Opened::Directory(store))))
    }

    /// Opens the store in a zip file, for reading.
    #[staticmethod]
    fn zip(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let store = runtime::run(py, || Ok(ZipStore::open(&path)?))?;
        Ok(Self(Opened::Other(Arc::new(store))))
    }

    /// Opens the store at an address of a bucket (`s3://`, `gs://`, `az://`) or of a site (`http://`, `https://`), whatever the suffix of
    /// its name. No request is made.
    #[staticmethod]
    fn remote(py: Python<'_>, address: &str, options: Vec<(String, String)>) -> PyResult<Self> {
        let opened = || -> Result<Arc<dyn Store>> {
            Ok(if address.starts_with("http://") || address.starts_with("https://") {
                Arc::new(AsyncAsSync::new(Arc::new(HttpStore::open(address, &options)?)))
            } else {
                Arc::new(AsyncAsSync::new(Arc::new(BucketStore::open(address, &options)?)))
            })
        };
        Ok(Self(Opened::Other(runtime::run(py, opened)?)))
    }
}

/// Source of the bytes of chunks.
#[derive(FromPyObject)]
pub(super) enum Source<'py> {
    Opened(Bound<'py, OpenedStore>),
    Memory(Bound<'py, MemoryValues>),
    Requests(Bound<'py, Requests>),
}

impl Source<'_> {
    pub(super) fn store(&self, py: Python<'_>, keys: &[Key]) -> Arc<dyn Store> {
        match self {
            Self::Opened(opened) => match &opened.get().0 {
                Opened::Directory(store) => Arc::new(store.clone()),
                Opened::Other(store) => Arc::clone(store),
            },
            Self::Memory(values) => Arc::new(memory_store::MemoryStore::new(values.clone().unbind())),
            Self::Requests(requests) => {
                let store = requests::PythonStore::new(py, requests.as_unbound(), keys);
                Arc::new(AsyncAsSync::new(Arc::new(store)))
            }
        }
    }

    /// Returns the store if it is a directory, else `None`.
    pub(super) fn directory(&self) -> Option<FilesystemStore> {
        match self {
            Self::Opened(opened) => match &opened.get().0 {
                Opened::Directory(store) => Some(store.clone()),
                Opened::Other(_) => None,
            },
            Self::Memory(_) | Self::Requests(_) => None,
        }
    }

    /// Runs work on the chunks without the interpreter's lock.
    pub(super) fn run<T: Send>(&self, py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
        match self {
            Self::Opened(_) | Self::Memory(_) => runtime::run(py, work),
            Self::Requests(_) => runtime::run_asking(py, work),
        }
    }

    /// Takes the Python exception that caused an error; `None` if there was none.
    pub(super) fn take_failure(&self) -> Option<PyErr> {
        match self {
            Self::Opened(_) => None,
            Self::Memory(values) => values.get().take_failure(),
            Self::Requests(requests) => requests.get().take_failure(),
        }
    }
}
