//! Deviations that are no errors.

use crate::Dialect;
use std::fmt;
use zarr_json::Deviation;

/// Something odd in a document that is read all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The key of the document, relative to the root of the store.
    pub key: String,
    /// Where in the document, as a JSON pointer; empty for the document as a whole.
    pub pointer: String,
    /// The deviation, and how it was read.
    pub what: String,
    /// The dialect of the node that the document describes, where another node at the same path hides it.
    pub hides: Option<Dialect>,
}

impl Warning {
    /// A warning about the value at `pointer` in the document at `key`.
    pub fn new(key: impl Into<String>, pointer: impl Into<String>, what: impl Into<String>) -> Self {
        Self { key: key.into(), pointer: pointer.into(), what: what.into(), hides: None }
    }

    /// A warning about a deviation from JSON in the document at `key`.
    pub(crate) fn of(key: &str, deviation: Deviation) -> Self {
        Self::new(key, deviation.pointer, deviation.kind.to_string())
    }

    /// A warning that the document at `key` is ignored, since a node of `taken` at the same path hides its node of
    /// `hidden`.
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
