//! Stores, arrays and groups by address and path, with the codecs of this build.

use crate::{registry, store};
use std::sync::Arc;
use zarr_array::{Array, Group, NewArray, Result};
use zarr_store::Store;

/// Opens the store at an address: a directory (a path, or `file:///..`), a zip file (`zip:PATH`), or `memory:`.
///
/// # Errors
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if nothing is there, [`ErrorKind::Store`](crate::ErrorKind::Store) if
/// it cannot be opened.
pub fn open_store(url: &str) -> Result<Arc<dyn Store>> {
    Ok(store::open(url)?)
}

/// Opens the store at an address, and makes it if nothing is there.
///
/// # Errors
/// [`ErrorKind::Store`](crate::ErrorKind::Store) if it cannot be made or opened.
pub fn create_store(url: &str) -> Result<Arc<dyn Store>> {
    Ok(store::create(url)?)
}

/// Opens the array at `path` (`/a/b`; `/` if the store is an array).
///
/// # Errors
/// As [`Array::open`].
pub fn open_array(store: &Arc<dyn Store>, path: &str) -> Result<Array> {
    Array::open(store, path, &registry())
}

/// Creates an array at `path`, and groups above it where there are none.
///
/// # Errors
/// As [`Array::create`].
pub fn create_array(store: &Arc<dyn Store>, path: &str, new: NewArray) -> Result<Array> {
    Array::create(store, path, new, &registry())
}

/// Opens the group at `path` (`/` for the root).
///
/// # Errors
/// As [`Group::open`].
pub fn open_group(store: &Arc<dyn Store>, path: &str) -> Result<Group> {
    Group::open(store, path, &registry())
}

/// Creates a group at `path`, and groups above it where there are none.
///
/// # Errors
/// As [`Group::create`].
pub fn create_group(store: &Arc<dyn Store>, path: &str) -> Result<Group> {
    Group::create(store, path, crate::NewGroup::default(), &registry())
}
