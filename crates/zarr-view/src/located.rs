//! Places of nodes in errors.

use crate::Error;
use std::fmt::Display;
use zarr_array::{Array, Group};

/// Adds the store and the path of an array to an error.
pub(crate) fn in_array(array: &Array, error: Error) -> Error {
    at(array.store(), array.path(), error)
}

/// Adds the store and the path of a group to an error.
pub(crate) fn in_group(group: &Group, error: Error) -> Error {
    at(group.store(), group.path(), error)
}

/// Adds a store and the path of a node to an error.
pub(crate) fn at(store: impl Display, path: impl Display, error: Error) -> Error {
    let (store, path) = (store.to_string(), path.to_string());
    error.at(|location| {
        location.store = Some(store);
        location.path = Some(path);
    })
}
