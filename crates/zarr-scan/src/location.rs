//! Location of errors.

use zarr_array::Array;
use zarr_hierarchy::Error;

/// Adds the store and the path of `array` to an error.
pub(crate) fn at(array: &Array, error: Error) -> Error {
    error.at(|location| {
        (location.store, location.path) = (Some(array.store().to_string()), Some(array.path().to_string()));
    })
}
