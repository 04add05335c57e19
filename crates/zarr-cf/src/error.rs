//! Errors about attributes.

use std::fmt;
use zarr_json::Value;

/// Error about an attribute, or a value for an attribute, that is invalid.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{attribute}: found {found}, expected {expected}")]
#[non_exhaustive]
pub struct AttributeError {
    /// Name of the attribute.
    pub attribute: String,
    /// Invalid value as found, shortened if long.
    pub found: String,
    /// Description of the valid values.
    pub expected: String,
}

impl fmt::Debug for AttributeError {
    /// Writes the message, since `fn main() -> Result` prints errors by `Debug`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl AttributeError {
    pub(crate) fn new(attribute: &str, found: &Value, expected: impl Into<String>) -> Self {
        Self::of(attribute, found.excerpt(), expected)
    }

    pub(crate) fn of(attribute: &str, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { attribute: attribute.to_owned(), found: found.into(), expected: expected.into() }
    }
}
