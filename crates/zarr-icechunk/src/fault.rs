//! Faults of Icechunk repositories.

use zarr_store::{Error, ErrorKind, Key, KeyFault};

use crate::flat::FlatFault;

/// The part of a header that says what is in the file.
pub(crate) const FILE_TYPE: &str = "file type";

/// A fault of an Icechunk repository: the `fault` of [`Error::Format`]. `file` is the path of a file in the repository.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IcechunkFault {
    /// A file that another one names is not there.
    #[error("{file}: no such file, though {by} names it")]
    Missing {
        /// The file.
        file: String,
        /// The file, or the chunk, that needs it.
        by: String,
    },
    /// A file does not begin as all files of Icechunk do.
    #[error("{file}: found another beginning, expected that of a file of Icechunk")]
    Magic {
        /// The file.
        file: String,
    },
    /// The header of a file has a value that it must not have, or that is not supported.
    #[error("{file}: found {what} {found}, expected {expected}")]
    Header {
        /// The file.
        file: String,
        /// The part of the header.
        what: &'static str,
        /// Its value.
        found: u8,
        /// The values that are known.
        expected: &'static str,
    },
    /// A file is larger than may be read.
    #[error("{file}: found more than {limit} bytes{}, expected at most so many", if *.decoded { " behind the compression" } else { "" })]
    Large {
        /// The file.
        file: String,
        /// The bound in bytes.
        limit: u64,
        /// Whether it is the size of what is in the file when it is decompressed.
        decoded: bool,
    },
    /// A file cannot be decompressed.
    #[error("{file}: cannot be decompressed by zstd: {reason}")]
    Compressed {
        /// The file.
        file: String,
        /// Message of zstd.
        reason: String,
    },
    /// The content of a file breaks its schema.
    #[error("{file}: bad {what} at byte {at} of the decompressed content")]
    Record {
        /// The file.
        file: String,
        /// The part of the content.
        what: &'static str,
        /// Its offset.
        at: u64,
    },
    /// A file has the id of another.
    #[error("{file}: found id {found}, expected that of the name")]
    Id {
        /// The file.
        file: String,
        /// The id.
        found: String,
    },
    /// A snapshot is made from itself.
    #[error("snapshot {id}: found it among those that it was made from")]
    Ancestry {
        /// The id of the snapshot.
        id: String,
    },
    /// A file with a reference is no JSON object with the name of a snapshot.
    #[error("{file}: expected {{\"snapshot\": ID}}, an id of 20 characters")]
    Reference {
        /// The file.
        file: String,
    },
    /// The path of a node is none.
    #[error("{file}: node {path:?}: the path is not valid: {fault}")]
    Path {
        /// The file.
        file: String,
        /// The path.
        path: String,
        /// Its fault as a key.
        fault: KeyFault,
    },
    /// Two nodes have one path.
    #[error("{file}: found two nodes {path:?}")]
    SamePath {
        /// The file.
        file: String,
        /// The path.
        path: String,
    },
    /// A chunk is not wholly inside of the file that it lies in.
    #[error("chunk {chunk}: {file} has {size} bytes, expected bytes {start} to {end} of it")]
    Short {
        /// The key of the chunk.
        chunk: Key,
        /// The file in the repository, or the URL of another.
        file: String,
        /// The size of the file in bytes.
        size: u64,
        /// Where the chunk begins.
        start: u64,
        /// Where it ends.
        end: u64,
    },
    /// A chunk lies in a file outside of the repository that may not be read.
    #[error("chunk {chunk} lies outside of the repository, in {url}: {reason}")]
    Outside {
        /// The key of the chunk.
        chunk: Key,
        /// The URL of the file.
        url: String,
        /// Why it is not read, and the option by which it is.
        reason: String,
    },
    /// A file outside of the repository was changed after the repository came to know it.
    #[error("chunk {chunk}: {url} has ETag {found}, and had {expected} when the chunk was stored")]
    Changed {
        /// The key of the chunk.
        chunk: Key,
        /// The URL of the file.
        url: String,
        /// Its ETag.
        found: String,
        /// The ETag in the repository.
        expected: String,
    },
}

impl IcechunkFault {
    /// The kind of errors of this fault.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Large { .. } => ErrorKind::Limit,
            Self::Outside { .. } => ErrorKind::Denied,
            // Another file than its name says is no newer format.
            Self::Header { what, .. } if *what != FILE_TYPE => ErrorKind::Unsupported,
            _ => ErrorKind::Invalid,
        }
    }

    /// The error of a store.
    pub(crate) fn in_store(self, store: &dyn std::fmt::Display) -> Error {
        Error::Format { store: store.to_string(), kind: self.kind(), fault: Box::new(self) }
    }

    /// A fault of the content of a file.
    pub(crate) fn record(file: &str, fault: FlatFault) -> Self {
        let at = u64::try_from(fault.at).unwrap_or(u64::MAX);
        Self::Record { file: file.to_owned(), what: fault.what, at }
    }
}
