//! Faults of a table of chunks, or of a file that contains chunks.

use zarr_store::{Error, ErrorKind, Key};

/// Fault of a table of chunks, or of a file that contains chunks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VirtualFault {
    /// A chunk was set in a table whose array has no chunk of this number.
    #[error("chunk {index}: found {count} chunks in the array")]
    Index {
        /// Number of the chunk in C order.
        index: u64,
        /// Number of chunks of the array.
        count: u64,
    },
    /// A chunk was set twice in one table.
    #[error("chunk {index}: found two places, expected one")]
    Twice {
        /// Number of the chunk in C order.
        index: u64,
    },
    /// A table has more entries than its limit allows.
    #[error("found more than {limit} chunks, which is the limit")]
    TooMany {
        /// Maximum number of entries of the table: of single chunks or runs of chunks.
        limit: usize,
    },
    /// A number is too large for an entry of the table, and larger than any file needs.
    #[error("chunk {index}: found {found} as its {what}, expected less than {limit}")]
    TooLarge {
        /// Number of the chunk in C order.
        index: u64,
        /// Meaning of the number: "source", "length", "offset" or "end".
        what: &'static str,
        /// The number that was found.
        found: u64,
        /// Smallest number that is refused.
        limit: u64,
    },
    /// The file that contains a chunk does not exist.
    #[error("key {key}: found no file {file}, in which the chunk lies")]
    NoFile {
        /// Key of the chunk.
        key: Key,
        /// Address of the file.
        file: String,
    },
    /// The file that contains a chunk ends before the end of the chunk.
    #[error("key {key}: found {size} bytes in {file}, expected bytes {start}..{end} for the chunk")]
    Short {
        /// Key of the chunk.
        key: Key,
        /// Address of the file.
        file: String,
        /// Offset in the file of the first byte of the chunk.
        start: u64,
        /// Offset in the file of the end of the chunk.
        end: u64,
        /// Size of the file in bytes.
        size: u64,
    },
    /// The file was replaced or erased after it was opened.
    #[error("{file} was replaced after it was opened: found {found}, expected {expected}")]
    Replaced {
        /// Address of the file.
        file: String,
        /// State that the file has now.
        found: String,
        /// State that the file had when it was opened.
        expected: String,
    },
}

impl VirtualFault {
    /// Makes an [`Error`] from the fault, in the store named `store`.
    #[must_use]
    pub fn of(self, store: impl Into<String>) -> Error {
        let kind = match self {
            Self::TooMany { .. } => ErrorKind::Limit,
            _ => ErrorKind::Invalid,
        };
        Error::Format { store: store.into(), kind, fault: Box::new(self) }
    }
}
