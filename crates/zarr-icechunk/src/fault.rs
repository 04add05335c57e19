//! Faults of Icechunk repositories.

use zarr_store::{Error, ErrorKind, Key, KeyFault};

use crate::flat::FlatFault;

/// Name in messages of the part of a header that says what kind of file it is.
pub(crate) const FILE_TYPE: &str = "file type";

/// Fault of an Icechunk repository: the `fault` of [`Error::Format`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IcechunkFault {
    /// A file does not exist, although another file names it.
    #[error("{file}: no such file, though {by} names it")]
    Missing {
        /// Path of the file in the repository.
        file: String,
        /// Description of the file, chunk or revision that names the file.
        by: String,
    },
    /// A file does not begin with the magic bytes of Icechunk.
    #[error("{file}: found another beginning, expected that of a file of Icechunk")]
    Magic {
        /// Path of the file in the repository.
        file: String,
    },
    /// The header of a file has an invalid or unsupported value.
    #[error("{file}: found {what} {found}, expected {expected}")]
    Header {
        /// Path of the file in the repository.
        file: String,
        /// Name of the part of the header.
        what: &'static str,
        /// Value that was found.
        found: u8,
        /// Description of the values that are supported.
        expected: &'static str,
    },
    /// A file or its decompressed content is larger than the limit.
    #[error("{file}: found more than {limit} bytes{}, expected at most so many", if *.decoded { " behind the compression" } else { "" })]
    Large {
        /// Path of the file in the repository.
        file: String,
        /// Maximum size in bytes.
        limit: u64,
        /// Whether the decompressed content is too large, and not the file itself.
        decoded: bool,
    },
    /// A file cannot be decompressed by zstd.
    #[error("{file}: cannot be decompressed by zstd: {reason}")]
    Compressed {
        /// Path of the file in the repository.
        file: String,
        /// Error message of zstd.
        reason: String,
    },
    /// The content of a file does not conform to its FlatBuffers schema.
    #[error("{file}: bad {what} at byte {at} of the decompressed content")]
    Record {
        /// Path of the file in the repository.
        file: String,
        /// Name of the part of the content.
        what: &'static str,
        /// Offset of the part in the decompressed content, in bytes.
        at: u64,
    },
    /// A file has another id in its content than in its name.
    #[error("{file}: found id {found}, expected that of the name")]
    Id {
        /// Path of the file in the repository.
        file: String,
        /// Id in the content of the file.
        found: String,
    },
    /// A snapshot is one of its own ancestors.
    #[error("snapshot {id}: found it among those that it was made from")]
    Ancestry {
        /// Id of the snapshot.
        id: String,
    },
    /// The file of a branch or tag is not a JSON object with the id of a snapshot.
    #[error("{file}: expected {{\"snapshot\": ID}}, an id of 20 characters")]
    Reference {
        /// Path of the file in the repository.
        file: String,
    },
    /// The path of a node is invalid.
    #[error("{file}: node {path:?}: the path is not valid: {fault}")]
    Path {
        /// Path of the snapshot file in the repository.
        file: String,
        /// Path of the node.
        path: String,
        /// Reason why the key of the document of the node is invalid.
        fault: KeyFault,
    },
    /// Two nodes of a snapshot have the same path.
    #[error("{file}: found two nodes {path:?}")]
    SamePath {
        /// Path of the snapshot file in the repository.
        file: String,
        /// Path of the nodes.
        path: String,
    },
    /// The file that contains a chunk ends before the end of the chunk.
    #[error("chunk {chunk}: {file} has {size} bytes, expected bytes {start} to {end} of it")]
    Short {
        /// Key of the chunk.
        chunk: Key,
        /// Path of the file in the repository, or the URL of a file outside of the repository.
        file: String,
        /// Size of the file in bytes.
        size: u64,
        /// Offset in the file of the first byte of the chunk.
        start: u64,
        /// Offset in the file of the end of the chunk.
        end: u64,
    },
    /// A chunk lies in a file outside of the repository that does not exist or must not be read.
    #[error("chunk {chunk} lies outside of the repository, in {url}: {reason}")]
    Outside {
        /// Key of the chunk.
        chunk: Key,
        /// URL of the file.
        url: String,
        /// Reason why the file is not read, with the option that allows it if there is one.
        reason: String,
    },
    /// A file outside of the repository was changed after the repository stored the reference to its chunk.
    #[error("chunk {chunk}: {url} {found}, expected one that {expected}, as when its reference was stored")]
    Changed {
        /// Key of the chunk.
        chunk: Key,
        /// URL of the file.
        url: String,
        /// ETag of the file, or time of its last change.
        found: String,
        /// ETag, or time of the last change, that the repository stored.
        expected: String,
    },
    /// A file outside of the repository may have been changed: its store does not tell what the reference is to be compared with.
    #[error(
        "chunk {chunk}: the store of {url} does not tell whether the file {expected}, as when the reference to it was stored"
    )]
    Unchecked {
        /// Key of the chunk.
        chunk: Key,
        /// URL of the file.
        url: String,
        /// ETag, or time of the last change, that the repository stored.
        expected: String,
    },
}

impl IcechunkFault {
    /// Returns the kind of the errors that have this fault.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Large { .. } => ErrorKind::Limit,
            Self::Outside { .. } => ErrorKind::Denied,
            Self::Unchecked { .. } => ErrorKind::Unsupported,
            // A file of another type than expected is invalid, and not of a newer format.
            Self::Header { what, .. } if *what != FILE_TYPE => ErrorKind::Unsupported,
            _ => ErrorKind::Invalid,
        }
    }

    /// Makes an [`Error`] from the fault, in `store`.
    pub(crate) fn in_store(self, store: &dyn std::fmt::Display) -> Error {
        Error::Format { store: store.to_string(), kind: self.kind(), fault: Box::new(self) }
    }

    /// Makes the fault of the content of `file` from a fault of its FlatBuffer.
    pub(crate) fn record(file: &str, fault: FlatFault) -> Self {
        let at = u64::try_from(fault.at).unwrap_or(u64::MAX);
        Self::Record { file: file.to_owned(), what: fault.what, at }
    }
}
