//! Where a store is, so that it can be opened again: in another process, and in a forked child of this one.

use std::fmt;
use std::path::absolute;
use std::sync::{Arc, Mutex, PoisonError};
use zarr::store::{ReadOnly, StoreAddress, StoreOptions, schemes};
use zarr::{Result, Store};

/// A store, by its address.
pub(crate) struct Origin {
    address: StoreAddress,
    options: StoreOptions,
    read_only: bool,
    /// The process that opened the store, and the store. The lock is taken with the lock of the interpreter, so that no fork leaves it
    /// locked in the child.
    opened: Mutex<(u32, Arc<dyn Store>)>,
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Origin({})", self.address)
    }
}

impl Origin {
    /// Opens the store at an address, or creates it, and tells the path of the node that the address names.
    ///
    /// # Errors
    /// Those of the address and of the store.
    pub(crate) fn find(
        url: &str,
        path: Option<String>,
        options: Vec<(String, String)>,
        access: Access,
    ) -> Result<(Arc<Self>, String)> {
        let known = schemes();
        let (address, path) = address_and_path(url, path)?;
        let path = path.unwrap_or_else(|| "/".to_owned());
        let options: StoreOptions = options.into_iter().collect();
        let store = match access {
            Access::Create => known.create(&address, &options)?,
            Access::Read | Access::Write => known.open(&address, &options)?,
        };
        let read_only = access == Access::Read;
        let opened = Mutex::new((std::process::id(), guarded(store, read_only)));
        Ok((Arc::new(Self { address, options, read_only, opened }), path))
    }

    /// The store. A forked child opens it again, since the threads, connections and open files of its parent are not its own.
    ///
    /// # Errors
    /// Those of opening the store.
    pub(crate) fn store(&self) -> Result<Arc<dyn Store>> {
        let process = std::process::id();
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if opened.0 != process {
            if self.address_text().is_some() {
                opened.1 = guarded(schemes().open(&self.address, &self.options)?, self.read_only);
            }
            opened.0 = process;
        }
        Ok(Arc::clone(&opened.1))
    }

    /// The address, for other processes; `None` if the store is in the memory of this one.
    pub(crate) fn address_text(&self) -> Option<String> {
        if self.address.scheme() == Some("memory") { None } else { absolute_text(&self.address) }
    }

    /// The options that the store was opened with.
    pub(crate) fn options(&self) -> Vec<(String, String)> {
        self.options.pairs().to_vec()
    }

    /// Whether writes are refused.
    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only
    }
}

/// The address of a store, which means the same in any working directory, and the path of the node that is named.
///
/// # Errors
/// Those of the address.
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

/// For what a store is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    /// To be written; it is made if it is not there.
    Create,
}

fn guarded(store: Arc<dyn Store>, read_only: bool) -> Arc<dyn Store> {
    if read_only { Arc::new(ReadOnly(store)) } else { store }
}

/// An address that means the same in any working directory; `None` for paths that are no text.
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
