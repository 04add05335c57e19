//! Warnings: deviations that are no errors.

use crate::Dialect;
use std::fmt;
use zarr_json::Deviation;

/// Deviation in a document that is nevertheless read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Key of the document, relative to the root of the store.
    pub key: String,
    /// JSON pointer to the deviating value in the document; empty for the whole document.
    pub pointer: String,
    /// Description of the deviation, and of how it was read.
    pub what: String,
    /// Dialect of the node that the document describes, if another node at the same path hides that node; else `None`.
    pub hides: Option<Dialect>,
}

impl Warning {
    /// Creates a warning about the value at `pointer` in the document at `key`.
    pub fn new(key: impl Into<String>, pointer: impl Into<String>, what: impl Into<String>) -> Self {
        Self { key: key.into(), pointer: pointer.into(), what: what.into(), hides: None }
    }

    /// Creates a warning about a deviation from JSON in the document at `key`.
    pub(crate) fn of(key: &str, deviation: Deviation) -> Self {
        Self::new(key, deviation.pointer, deviation.kind.to_string())
    }

    /// Creates a warning that the document at `key` is ignored: its node, of dialect `hidden`, is hidden by a node of dialect `taken` at
    /// the same path.
    pub fn hidden(key: impl Into<String>, hidden: Dialect, taken: Dialect) -> Self {
        let what = match hidden == taken {
            true => "ignored, since there is an array document as well".to_owned(),
            false => format!("ignored, since there is a document of {taken} as well"),
        };
        Self { hides: Some(hidden), ..Self::new(key, "", what) }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let space = if self.key.is_empty() || self.pointer.is_empty() { "" } else { " " };
        write!(f, "{}{space}{}: {}", self.key, self.pointer, self.what)
    }
}
