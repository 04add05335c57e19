//! Faults of a data type, a fill value, or elements in memory.

use std::fmt;
use zarr_json::Value;

/// Why a data type, a fill value or elements could not be taken.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No data type of this name is known.
    #[error("unknown data type {name}{}", hint.map(|hint| format!(" ({hint})")).unwrap_or_default())]
    Unknown {
        /// The name as found.
        name: String,
        /// Where it could come from; see [`DataTypes::add_hint`](crate::DataTypes::add_hint).
        hint: Option<&'static str>,
    },
    /// A data type or fill value in JSON breaks the specification.
    #[error("{}found {found}, expected {expected}", location(pointer))]
    Invalid {
        /// JSON pointer from the data type or the fill value, whichever was parsed; empty for the whole of it.
        pointer: String,
        /// The value found, as JSON text, cut if long.
        found: String,
        /// The values expected.
        expected: String,
    },
    /// Elements of this size are larger than the limit.
    #[error("{}found {found} bytes for one element, expected at most {limit}", location(pointer))]
    Limit {
        /// JSON pointer from the data type.
        pointer: String,
        /// The bytes of one element.
        found: u64,
        /// The most there may be.
        limit: u64,
    },
    /// The Rust type cannot hold elements of the data type.
    #[error("elements of data type {data_type} do not fit the Rust type {element}")]
    Mismatch {
        /// The Rust type asked for.
        element: String,
        /// The data type of the array.
        data_type: String,
    },
    /// A field of the data type does not fit the Rust struct.
    #[error("elements do not fit the Rust type {element}: field {field}: found {found}, expected {expected}")]
    Field {
        /// The Rust type asked for.
        element: String,
        /// The name of the field, behind the names of the fields that it lies in: `position.x`.
        field: String,
        /// The data type of the field, or that there is none.
        found: String,
        /// The data type that the Rust type stands for, or that there should be none.
        expected: String,
    },
    /// A Rust type stands for no data type of its own.
    #[error("the Rust type {element} does not say of which data type elements are")]
    NoDataType {
        /// The Rust type.
        element: String,
    },
    /// A buffer does not hold a whole number of elements.
    #[error("{found} bytes are not a whole number of elements of {item_size} bytes")]
    Size {
        /// The bytes in the buffer.
        found: usize,
        /// The bytes of one element.
        item_size: usize,
    },
    /// One element has no value of the type asked for.
    #[error("element {index}: found {found}, expected {expected}")]
    Item {
        /// Which element, counted in the run that was given.
        index: usize,
        /// The value found.
        found: String,
        /// The values expected.
        expected: String,
    },
    /// Memory for the elements could not be had.
    #[error("no memory for {len} elements of {item_size} bytes")]
    Memory {
        /// How many elements.
        len: usize,
        /// The bytes of one of them.
        item_size: usize,
    },
}

impl fmt::Debug for Error {
    /// As `fn main() -> Result` prints it: the message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Who is to blame for an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The metadata or the data break the specification.
    Invalid,
    /// Fine perhaps, but not known here.
    Unsupported,
    /// The arguments of the caller do not go together.
    Argument,
    /// A limit was exceeded.
    Limit,
}

impl Error {
    /// Who is to blame.
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

    /// The JSON pointer of the fault, from the value that was parsed; empty for the value itself.
    pub fn pointer(&self) -> &str {
        match self {
            Self::Invalid { pointer, .. } | Self::Limit { pointer, .. } => pointer,
            _ => "",
        }
    }

    /// The same error with `prefix` in front of its pointer, as in `error.within("/fill_value")`.
    #[must_use]
    pub fn within(mut self, prefix: &str) -> Self {
        if let Self::Invalid { pointer, .. } | Self::Limit { pointer, .. } = &mut self {
            pointer.insert_str(0, prefix);
        }
        self
    }

    /// An [`Error::Invalid`] about `found`, which is the value that was parsed.
    pub fn invalid(found: &Value, expected: impl Into<String>) -> Self {
        Self::Invalid { pointer: String::new(), found: found.excerpt(), expected: expected.into() }
    }
}

fn location(pointer: &str) -> String {
    if pointer.is_empty() { String::new() } else { format!("{pointer}: ") }
}
