//! Faults of zip files.

use zarr_store::{Error, ErrorKind, KeyFault, Operation};

/// Fault of a zip file: the `fault` of [`Error::Format`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ZipFault {
    /// The end of the central directory is missing: the file is no zip file, or is truncated.
    #[error("no end of central directory record: not a zip file, or a truncated one")]
    NoEnd,
    /// A record does not begin with its signature, or lies outside the file.
    #[error("bad {what} at byte {at}")]
    Record {
        /// Kind of the record.
        what: &'static str,
        /// Offset of the record in the file.
        at: u64,
    },
    /// The number of entries differs from the number that the file declares.
    #[error("found {found} entries, expected {expected}")]
    Count {
        /// Number of entries in the directory.
        found: u64,
        /// Number of entries that the end record declares.
        expected: u64,
    },
    /// The archive is spread over several files.
    #[error("the archive spans several files")]
    Spanned,
    /// The name of an entry is no key, for instance because it leads out of the store.
    #[error("entry {name:?}: the name is not a valid key: {fault}")]
    Name {
        /// Name of the entry.
        name: String,
        /// Fault of the name as a key.
        fault: KeyFault,
    },
    /// The name of an entry is not UTF-8.
    #[error("entry {name:?}: the name is not UTF-8")]
    NotUtf8 {
        /// Name of the entry, with replacement characters.
        name: String,
    },
    /// An entry is encrypted.
    #[error("entry {name:?} is encrypted")]
    Encrypted {
        /// Name of the entry.
        name: String,
    },
    /// An entry is compressed with an unsupported method.
    #[error("entry {name:?}: compression method {method}, {}", methods(*method))]
    Method {
        /// Name of the entry.
        name: String,
        /// Number of the compression method.
        method: u16,
    },
    /// An entry overlaps another entry or the directory, or lies outside the file.
    #[error("entry {name:?} overlaps another or lies outside the file")]
    Overlap {
        /// Name of the entry.
        name: String,
    },
    /// The sizes of an entry contradict each other.
    #[error("entry {name:?}: found {found} bytes, expected {expected}")]
    Size {
        /// Name of the entry.
        name: String,
        /// Actual number of bytes.
        found: u64,
        /// Declared number of bytes.
        expected: u64,
    },
    /// The bytes of an entry do not match the stored checksum.
    #[error("entry {name:?}: checksum {found:#010x}, stored {stored:#010x}")]
    Checksum {
        /// Name of the entry.
        name: String,
        /// Checksum of the bytes.
        found: u32,
        /// Checksum in the directory.
        stored: u32,
    },
    /// The zip file was replaced, removed or truncated after it was opened.
    #[error("the zip file was changed after it was opened (found {found}, expected {expected}): open it again")]
    Replaced {
        /// Current version or size of the zip file.
        found: String,
        /// Version or size of the zip file when it was opened.
        expected: String,
    },
    /// A value that the zip file already contains cannot be replaced or erased without [`ZipOptions::replace`](crate::ZipOptions::replace).
    #[error(
        "cannot {operation} entry {name:?}: the zip file has it already, and would keep its bytes; a store with \
         `ZipOptions::replace` permits that, and `ZipStore::repack` removes the bytes"
    )]
    Kept {
        /// Name of the entry.
        name: String,
        /// Refused operation.
        operation: Operation,
    },
    /// Another store writes to the zip file, in this or another process.
    #[error("another process or store is writing to the zip file: it has to be closed there first")]
    Locked,
    /// The compressed bytes of an entry are not a valid stream of its method, or are truncated.
    #[error("entry {name:?}: invalid {format} stream")]
    Stream {
        /// Name of the entry.
        name: String,
        /// Format of the stream.
        format: &'static str,
    },
    /// There are bytes before or after the archive, which a write would lose.
    #[error(
        "the file has {before} bytes before the archive and {behind} behind it: it can be read, and not written; \
         copy the store to a file of its own"
    )]
    Surrounded {
        /// Number of bytes before the archive.
        before: u64,
        /// Number of bytes after the archive.
        behind: u64,
    },
    /// The compressed bytes of an entry are not a valid deflate stream.
    #[error("entry {name:?}: invalid deflate stream")]
    Deflate {
        /// Name of the entry.
        name: String,
    },
}

impl ZipFault {
    /// Converts the fault to an error of the store with the name `store`.
    pub(crate) fn of(self, store: String) -> Error {
        Error::Format { store, kind: self.kind(), fault: Box::new(self) }
    }

    /// Returns the kind of the error: [`ErrorKind::Path`] for names that are no keys, [`ErrorKind::Unsupported`] for unsupported features
    /// and for values that cannot be replaced, [`ErrorKind::Io`] for a replaced file, [`ErrorKind::Denied`] for a file to which another
    /// store writes, [`ErrorKind::Invalid`] for other faults.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Name { .. } | Self::NotUtf8 { .. } => ErrorKind::Path,
            Self::Replaced { .. } => ErrorKind::Io,
            Self::Locked => ErrorKind::Denied,
            Self::Spanned
            | Self::Encrypted { .. }
            | Self::Method { .. }
            | Self::Kept { .. }
            | Self::Surrounded { .. } => ErrorKind::Unsupported,
            _ => ErrorKind::Invalid,
        }
    }
}

/// Returns the end of the message about an unreadable compression method.
fn methods(method: u16) -> &'static str {
    match method {
        12 => "which is bzip2 and read with the feature `bz2`",
        14 => "which is LZMA and read with the feature `lzma`",
        _ => "expected 0 (stored), 8 (deflate), 12 (bzip2) or 14 (LZMA)",
    }
}
