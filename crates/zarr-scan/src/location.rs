//! Where errors are.

use zarr_array::Array;
use zarr_hierarchy::Error;

/// The error with the place of an array.
pub(crate) fn at(array: &Array, error: Error) -> Error {
    error.at(|location| {
        (location.store, location.path) = (Some(array.store().to_string()), Some(array.path().to_string()));
    })
}
