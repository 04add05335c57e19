//! Errors about data types, fill values and elements in memory.

use std::fmt;
use zarr_json::Value;

/// Error about a data type, a fill value or elements.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Data type with an unknown name.
    #[error("unknown data type {name}{}", hint.map(|hint| format!(" ({hint})")).unwrap_or_default())]
    Unknown {
        /// Unknown name of a data type, as found.
        name: String,
        /// Hint where the data type could come from; see [`DataTypes::add_hint`](crate::DataTypes::add_hint).
        hint: Option<&'static str>,
    },
    /// Data type or fill value in JSON that violates the specification.
    #[error("{}found {found}, expected {expected}", location(pointer))]
    Invalid {
        /// JSON pointer relative to the parsed data type or fill value; empty for the whole value.
        pointer: String,
        /// Value found, as JSON text, truncated if long.
        found: String,
        /// Description of the expected values.
        expected: String,
    },
    /// Element size above the limit.
    #[error("{}found {found} bytes for one element, expected at most {limit}", location(pointer))]
    Limit {
        /// JSON pointer relative to the data type.
        pointer: String,
        /// Size of one element in bytes.
        found: u64,
        /// Maximum size of one element in bytes.
        limit: u64,
    },
    /// Rust type that cannot hold elements of the data type.
    #[error("elements of data type {data_type} do not fit the Rust type {element}")]
    Mismatch {
        /// Name of the requested Rust type.
        element: String,
        /// Data type of the array.
        data_type: String,
    },
    /// Field of the data type that does not fit the Rust struct.
    #[error("elements do not fit the Rust type {element}: field {field}: found {found}, expected {expected}")]
    Field {
        /// Name of the requested Rust type.
        element: String,
        /// Name of the field, preceded by the names of its enclosing fields: `position.x`.
        field: String,
        /// Data type of the field, or that there is no such field.
        found: String,
        /// Default data type of the Rust field, or that there should be no such field.
        expected: String,
    },
    /// Rust type without a data type of its own.
    #[error("the Rust type {element} does not say of which data type elements are")]
    NoDataType {
        /// Name of the Rust type.
        element: String,
    },
    /// Buffer that does not hold a whole number of elements.
    #[error("{found} bytes are not a whole number of elements of {item_size} bytes")]
    Size {
        /// Size of the buffer in bytes.
        found: usize,
        /// Size of one element in bytes.
        item_size: usize,
    },
    /// Element that is no value of the requested type.
    #[error("element {index}: found {found}, expected {expected}")]
    Item {
        /// Index of the element in the given elements.
        index: usize,
        /// Description of the value found.
        found: String,
        /// Description of the expected values.
        expected: String,
    },
    /// Lack of memory for the elements.
    #[error("no memory for {len} elements of {item_size} bytes")]
    Memory {
        /// Number of elements for which memory was requested.
        len: usize,
        /// Size of one element in bytes.
        item_size: usize,
    },
}

impl fmt::Debug for Error {
    /// Writes the message, since `fn main() -> Result` prints errors by `Debug`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Cause of an [`Error`]: the input, this library or the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The metadata or the data violate the specification.
    Invalid,
    /// The data type may be valid, but is not known here.
    Unsupported,
    /// The arguments of the caller do not fit together.
    Argument,
    /// A size exceeds a limit.
    Limit,
}

impl Error {
    /// Returns the cause of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Unknown { .. } => ErrorKind::Unsupported,
            Self::Invalid { .. } | Self::Item { .. } => ErrorKind::Invalid,
            Self::Mismatch { .. } | Self::Field { .. } | Self::NoDataType { .. } | Self::Size { .. } => {
                ErrorKind::Argument
            }
            Self::Limit { .. } | Self::Memory { .. } => ErrorKind::Limit,
        }
    }

    /// Returns the JSON pointer of the fault, relative to the parsed value; empty for the value itself.
    pub fn pointer(&self) -> &str {
        match self {
            Self::Invalid { pointer, .. } | Self::Limit { pointer, .. } => pointer,
            _ => "",
        }
    }

    /// Puts `prefix` in front of the error's JSON pointer, as in `error.within("/fill_value")`.
    #[must_use]
    pub fn within(mut self, prefix: &str) -> Self {
        if let Self::Invalid { pointer, .. } | Self::Limit { pointer, .. } = &mut self {
            pointer.insert_str(0, prefix);
        }
        self
    }

    /// Creates an [`Error::Invalid`] about `found`, the whole value that was parsed.
    pub fn invalid(found: &Value, expected: impl Into<String>) -> Self {
        Self::Invalid { pointer: String::new(), found: found.excerpt(), expected: expected.into() }
    }
}

fn location(pointer: &str) -> String {
    if pointer.is_empty() { String::new() } else { format!("{pointer}: ") }
}
