//! State of an array as a reader sees it.

use std::fmt;
use std::sync::Arc;
use zarr::{Array, Dialect, Store};
use zarr_json::Value;

/// Number of elements of a row.
pub(super) const COLUMNS: u64 = 4;

/// Returns the element at an index in C order, in an array of a generation.
pub(super) fn element(generation: u64, index: u64) -> i32 {
    (1 + generation * 100_000 + index) as i32
}

/// State of an array as a reader sees it.
#[derive(Clone, Debug)]
pub(super) enum ArrayState {
    /// The array does not exist.
    Missing,
    /// The array cannot be opened or read; the message says why.
    Unreadable(String),
    /// The array can be read.
    Array { generation: u64, rows: u64, elements: Vec<i32> },
}

impl ArrayState {
    /// Reads the state of the array at a path, in `dialect` or, for `None`, in any dialect.
    pub(super) fn at(store: &Arc<dyn Store>, path: &str, dialect: Option<Dialect>) -> Self {
        let read = || {
            let found = zarr::hierarchy::open_node(&**store, path, dialect)?;
            let array = Array::from_found(store, found, &zarr::registry::default(), zarr::Options::default())?;
            let generation = array.attributes()?.get("generation").and_then(Value::as_u64).unwrap_or_default();
            let rows = array.shape().first().copied().unwrap_or_default();
            Ok(Self::Array { generation, rows, elements: array.read(..)? })
        };
        read().unwrap_or_else(
            |error: zarr::Error| {
                if error.is_not_found() { Self::Missing } else { Self::Unreadable(error.to_string()) }
            },
        )
    }

    /// Returns whether every reader notices that an operation is unfinished.
    pub(super) fn is_unfinished(&self) -> bool {
        !matches!(self, Self::Array { .. })
    }

    /// Returns whether the array has generation `expected` and `expected_rows` rows, the first `stored` of which have the elements of that
    /// generation and the others the fill value.
    pub(super) fn holds(&self, expected: u64, expected_rows: u64, stored: u64) -> bool {
        let Self::Array { generation, rows, elements } = self else { return false };
        let is_right = |(position, &found): (u64, &i32)| {
            found == if position < stored * COLUMNS { element(expected, position) } else { 0 }
        };
        (*generation, *rows) == (expected, expected_rows) && (0..).zip(elements).all(is_right)
    }
}

impl fmt::Display for ArrayState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("no array"),
            Self::Unreadable(error) => write!(f, "an error: {error}"),
            Self::Array { generation, rows, elements } => {
                let own = |(position, found): &(u64, &i32)| **found == element(*generation, *position);
                let right = (0..).zip(elements).filter(own).count();
                let fill = elements.iter().filter(|&&element| element == 0).count();
                write!(
                    f,
                    "an array of generation {generation} with {rows} rows; of {} elements {right} are its own, {fill} the fill value",
                    elements.len(),
                )
            }
        }
    }
}
