//! Known names that are similar to an unknown one.

pub(crate) use zarr::json::nearest_name as near;

/// Asks whether this name was meant.
pub(crate) fn question(name: &str) -> String {
    format!("is {name:?} meant?")
}
