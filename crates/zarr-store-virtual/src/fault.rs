//! Faults of a table of chunks, or of the file that a chunk lies in.

use zarr_store::{Error, ErrorKind, Key};

/// A fault of a table of chunks, or of a file that chunks lie in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VirtualFault {
    /// A table is given a chunk that its array does not have.
    #[error("chunk {index}: found {count} chunks in the array")]
    Index {
        /// The number of the chunk in C order.
        index: u64,
        /// The chunks of the array.
        count: u64,
    },
    /// A table is given a chunk twice.
    #[error("chunk {index}: found two places, expected one")]
    Twice {
        /// The number of the chunk in C order.
        index: u64,
    },
    /// A table would need more memory than its limit allows.
    #[error("found more than {limit} chunks, which is the limit")]
    TooMany {
        /// The most chunks, or runs of them.
        limit: usize,
    },
    /// A number is greater than any file has.
    #[error("chunk {index}: found {found} as its {what}, expected less than {limit}")]
    TooLarge {
        /// The number of the chunk in C order.
        index: u64,
        /// Meaning of the number.
        what: &'static str,
        /// The number.
        found: u64,
        /// The least number that is refused.
        limit: u64,
    },
    /// The file that a chunk lies in is not there.
    #[error("key {key}: found no file {file}, in which the chunk lies")]
    NoFile {
        /// The key of the chunk.
        key: Key,
        /// The file.
        file: String,
    },
    /// The file that a chunk lies in is too short for it.
    #[error("key {key}: found {size} bytes in {file}, expected bytes {start}..{end} for the chunk")]
    Short {
        /// The key of the chunk.
        key: Key,
        /// The file.
        file: String,
        /// The offset of the chunk in bytes.
        start: u64,
        /// The offset of its end.
        end: u64,
        /// The bytes of the file.
        size: u64,
    },
    /// The file was replaced after it was opened.
    #[error("{file} was replaced after it was opened: found {found}, expected {expected}")]
    Replaced {
        /// The file.
        file: String,
        /// Its state now.
        found: String,
        /// The state that was opened.
        expected: String,
    },
}

impl VirtualFault {
    /// The error of the store with this name.
    #[must_use]
    pub fn of(self, store: impl Into<String>) -> Error {
        let kind = match self {
            Self::TooMany { .. } => ErrorKind::Limit,
            _ => ErrorKind::Invalid,
        };
        Error::Format { store: store.into(), kind, fault: Box::new(self) }
    }
}
