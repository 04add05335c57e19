//! Locations of stores, by which they can be opened again: in another process, and in a forked child of this one.

use crate::cache::ProcessCache;
use crate::errors::OrException;
use crate::python_store::PythonStore;
use crate::runtime;
use pyo3::prelude::*;
use std::fmt;
use std::path::absolute;
use std::sync::{Arc, Mutex, PoisonError};
use zarr::store::{AsyncAsSync, ReadOnly, StoreAddress, StoreOptions, schemes};
use zarr::{Array, Dialect, Result, Store};

/// Store as programs name it: an address, or an object of `zarr_rust/_asked.py`, which forwards requests to a store of Python.
#[derive(FromPyObject)]
pub(crate) enum Named<'py> {
    Address(String),
    Asked(Bound<'py, PyAny>),
}

/// Name of a store by which a program opens it again.
pub(crate) enum Again {
    Address(String),
    /// Address of a store with options, which are not included since they may be secrets.
    WithOptions(String),
    /// Python object that is a store.
    Object,
    /// No name: the store is in the memory of this process, so that only an open group gives access to it.
    Group,
}

impl Again {
    /// Returns the name of the store at an address, opened with these options.
    pub(crate) fn of_address(address: &StoreAddress, options: &StoreOptions) -> Self {
        match reachable_text(address) {
            Some(text) if options.pairs().is_empty() => Self::Address(text),
            Some(text) => Self::WithOptions(text),
            None => Self::Group,
        }
    }
}

/// Location of a store.
enum Place {
    Address(StoreAddress, StoreOptions),
    Asked(Py<PyAny>),
}

/// Store with the facts needed to open it again.
pub(crate) struct Origin {
    place: Place,
    read_only: bool,
    /// Cache of decoded chunks, shared by all arrays that are opened through this origin.
    cache: Option<Arc<ProcessCache>>,
    /// Id of the process that opened the store, and the store. The lock is only held together with the lock of the interpreter, so that no
    /// fork leaves it locked in the child.
    opened: Mutex<(u32, Arc<dyn Store>)>,
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Address(address, _) => write!(f, "Origin({address})"),
            Place::Asked(_) => f.write_str("Origin(a store of Python)"),
        }
    }
}

/// Node at a path in an open store.
pub(crate) struct Located {
    pub(crate) origin: Arc<Origin>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) path: String,
    /// Dialect of the node if the node is open, since the path may have nodes of several dialects; else `None`.
    pub(crate) dialect: Option<Dialect>,
}

impl Origin {
    /// Opens or creates a store, and returns it with the path of the node that the address names.
    ///
    /// # Errors
    /// The exceptions of the address and of the store, and of the handlers of signals.
    pub(crate) fn find(
        py: Python<'_>,
        named: Named<'_>,
        path: Option<String>,
        options: Vec<(String, String)>,
        access: Access,
        cache: Option<Arc<ProcessCache>>,
    ) -> PyResult<Located> {
        let (place, store, path) = match named {
            Named::Address(url) => {
                let (address, path) = address_and_path(&url, path).or_exception(py)?;
                let options: StoreOptions = options.into_iter().collect();
                let store = open(py, &address, &options, access)?;
                (Place::Address(address, options), store, path)
            }
            Named::Asked(asked) => {
                let store = open_asked(&asked, access == Access::Read)?;
                (Place::Asked(asked.unbind()), store, path)
            }
        };
        let path = path.unwrap_or_else(|| "/".to_owned());
        let opened = Mutex::new((std::process::id(), Arc::clone(&store)));
        let origin = Arc::new(Self { place, read_only: access == Access::Read, cache, opened });
        Ok(Located { origin, store, path, dialect: None })
    }

    /// Returns the store. A forked child opens the store again, since it lacks the threads, connections and open files of its parent.
    ///
    /// # Errors
    /// The exceptions of opening the store, and of the handlers of signals.
    pub(crate) fn store(&self, py: Python<'_>) -> PyResult<Arc<dyn Store>> {
        let process = std::process::id();
        let known = || self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let mut opened = known();
            // A child inherits values in memory, and a store of Python handles forks itself.
            if opened.0 != process && self.address_text().is_none() {
                opened.0 = process;
            }
            if opened.0 == process {
                return Ok(Arc::clone(&opened.1));
            }
        }
        // The lock is released, since other threads may use the interpreter meanwhile.
        let access = if self.read_only { Access::Read } else { Access::Write };
        let store = match &self.place {
            Place::Address(address, options) => open(py, address, options, access)?,
            Place::Asked(asked) => open_asked(asked.bind(py), self.read_only)?,
        };
        let mut opened = known();
        if opened.0 != process {
            *opened = (process, store);
        }
        Ok(Arc::clone(&opened.1))
    }

    /// Returns the address for other processes; `None` if the store is in the memory of this process or is a Python object.
    pub(crate) fn address_text(&self) -> Option<String> {
        match &self.place {
            Place::Address(address, _) => reachable_text(address),
            Place::Asked(_) => None,
        }
    }

    /// Returns the name by which a program opens the store again.
    pub(crate) fn again(&self) -> Again {
        match &self.place {
            Place::Address(address, options) => Again::of_address(address, options),
            Place::Asked(_) => Again::Object,
        }
    }

    /// Returns the options with which the store was opened.
    pub(crate) fn options(&self) -> Vec<(String, String)> {
        match &self.place {
            Place::Address(_, options) => options.pairs().to_vec(),
            Place::Asked(_) => Vec::new(),
        }
    }

    /// Returns the object that forwards requests to a store of Python; `None` for other stores.
    pub(crate) fn asked(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        match &self.place {
            Place::Address(..) => None,
            Place::Asked(asked) => Some(asked.clone_ref(py)),
        }
    }

    /// Returns the cache of decoded chunks that the arrays of the store share; `None` without a cache.
    pub(crate) fn cache(&self) -> Option<&Arc<ProcessCache>> {
        self.cache.as_ref()
    }

    /// Returns an array with the cache of this process in the place of that of another process; `None` if the array has no other.
    pub(crate) fn recached(&self, array: &Array) -> Option<Array> {
        let other = array.options().cache.as_ref()?;
        let cache = self.cache.as_ref().filter(|cache| !cache.of_process().is_same(other))?;
        Some(cache.over(array.clone()))
    }

    /// Returns an array of the store with the cache of this process, if there is one.
    pub(crate) fn cached(&self, array: Array) -> Array {
        match &self.cache {
            Some(cache) => cache.over(array),
            None => array,
        }
    }

    /// Removes all chunks from the cache, after a change that the arrays with the cache do not notice.
    pub(crate) fn forget_chunks(&self) {
        if let Some(cache) = &self.cache {
            cache.of_process().clear();
        }
    }

    /// Returns whether writes are refused.
    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only
    }
}

/// Parses the address of a store, and makes it independent of the working directory. The second value is the path of the node; `None` if
/// neither `path` nor the address names one.
///
/// # Errors
/// The errors of the address.
pub(crate) fn address_and_path(url: &str, path: Option<String>) -> Result<(StoreAddress, Option<String>)> {
    let known = schemes();
    let (address, path) = match path {
        Some(path) => (known.address(url)?, Some(path)),
        None => known.node(url)?,
    };
    match absolute_text(&address) {
        Some(text) => Ok((known.address(&text)?, path)),
        None => Ok((address, path)),
    }
}

/// Purpose for which a store is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    /// Writing to the store, which is created if it does not exist.
    Create,
}

/// Opens the store at an address, without the lock of the interpreter.
fn open(py: Python<'_>, address: &StoreAddress, options: &StoreOptions, access: Access) -> PyResult<Arc<dyn Store>> {
    let is_remote = is_remote(address);
    let (address, options) = (address.clone(), options.clone());
    let work = move || {
        let known = schemes();
        Ok::<Arc<dyn Store>, zarr::Error>(match access {
            Access::Create => known.create(&address, &options)?,
            Access::Read => Arc::new(ReadOnly(known.open(&address, &options)?)),
            Access::Write => known.open(&address, &options)?,
        })
    };
    if is_remote { runtime::run_apart(py, work) } else { runtime::run(py, work) }
}

/// Returns the store for a Python object, without a request.
///
/// # Errors
/// The exceptions of the object that forwards requests to the store.
pub(crate) fn open_asked(asked: &Bound<'_, PyAny>, read_only: bool) -> PyResult<Arc<dyn Store>> {
    let store: Arc<dyn Store> = Arc::new(AsyncAsSync::new(Arc::new(PythonStore::new(asked)?)));
    Ok(if read_only || !store.capabilities().write { Arc::new(ReadOnly(store)) } else { store })
}

/// Returns whether opening the store may wait for a network, as for a zip file in a remote store.
fn is_remote(address: &StoreAddress) -> bool {
    address.inner().map_or_else(|| address.url().is_some(), is_remote)
}

/// Returns an address by which other processes find the store; `None` if the store is in the memory of this process, or its path is not
/// valid Unicode.
fn reachable_text(address: &StoreAddress) -> Option<String> {
    if address.scheme() == Some("memory") { None } else { absolute_text(address) }
}

/// Returns an address that does not depend on the working directory; `None` for paths that are not valid Unicode.
fn absolute_text(address: &StoreAddress) -> Option<String> {
    let prefix = address.scheme().map_or_else(String::new, |scheme| format!("{scheme}:"));
    if let Some(path) = address.path() {
        return Some(format!("{prefix}{}", absolute(path).ok()?.to_str()?));
    }
    match address.inner() {
        Some(inner) => Some(format!("{prefix}{}", absolute_text(inner)?)),
        None => Some(address.url().unwrap_or(prefix)),
    }
}
