//! Why an attribute was refused.

use std::fmt;
use zarr_json::Value;

/// An attribute, or a value for one, that is none of its kind.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{attribute}: found {found}, expected {expected}")]
#[non_exhaustive]
pub struct AttributeError {
    /// The name of the attribute.
    pub attribute: String,
    /// The value found, shortened.
    pub found: String,
    /// The values that it may have.
    pub expected: String,
}

impl fmt::Debug for AttributeError {
    /// As `fn main() -> Result` prints it: the message.
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
