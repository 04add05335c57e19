//! Faults of zip files.

use zarr_store::{Error, ErrorKind, KeyFault, Operation};

/// A fault of a zip file: the `fault` of [`Error::Format`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ZipFault {
    /// The end of the central directory is not there: no zip file, or a truncated one.
    #[error("no end of central directory record: not a zip file, or a truncated one")]
    NoEnd,
    /// A record does not begin as it must or lies outside the file.
    #[error("bad {what} at byte {at}")]
    Record {
        /// The record.
        what: &'static str,
        /// Its offset in the file.
        at: u64,
    },
    /// The number of entries differs from the number the file declares.
    #[error("found {found} entries, expected {expected}")]
    Count {
        /// How many entries the directory holds.
        found: u64,
        /// How many the end record declares.
        expected: u64,
    },
    /// The archive is spread over several files.
    #[error("the archive spans several files")]
    Spanned,
    /// An entry's name is no key, for instance because it leads out of the store.
    #[error("entry {name:?}: the name is not a valid key: {fault}")]
    Name {
        /// The name.
        name: String,
        /// Its fault as a key.
        fault: KeyFault,
    },
    /// An entry's name is not UTF-8.
    #[error("entry {name:?}: the name is not UTF-8")]
    NotUtf8 {
        /// The name with the bad bytes replaced.
        name: String,
    },
    /// An entry is encrypted.
    #[error("entry {name:?} is encrypted")]
    Encrypted {
        /// The name.
        name: String,
    },
    /// An entry is compressed with a method that is not supported.
    #[error("entry {name:?}: compression method {method}, {}", methods(*method))]
    Method {
        /// The name.
        name: String,
        /// The method's number.
        method: u16,
    },
    /// An entry overlaps another or the directory, or lies outside the file.
    #[error("entry {name:?} overlaps another or lies outside the file")]
    Overlap {
        /// The name.
        name: String,
    },
    /// An entry's sizes contradict each other.
    #[error("entry {name:?}: found {found} bytes, expected {expected}")]
    Size {
        /// The name.
        name: String,
        /// The bytes there are.
        found: u64,
        /// The bytes declared.
        expected: u64,
    },
    /// An entry's bytes do not have the stored checksum.
    #[error("entry {name:?}: checksum {found:#010x}, stored {stored:#010x}")]
    Checksum {
        /// The name.
        name: String,
        /// The checksum of the bytes.
        found: u32,
        /// The checksum in the directory.
        stored: u32,
    },
    /// The zip file was replaced, removed or cut short after it was opened.
    #[error("the zip file was changed after it was opened (found {found}, expected {expected}): open it again")]
    Replaced {
        /// Its version or its size by now.
        found: String,
        /// Its version or its size when it was opened.
        expected: String,
    },
    /// A value that the zip file has already was to be replaced or erased.
    #[error(
        "cannot {operation} entry {name:?}: the zip file has it already, and would keep its bytes; a store with \
         `ZipOptions::replace` permits that, and `ZipStore::repack` removes the bytes"
    )]
    Kept {
        /// The name.
        name: String,
        /// The operation that was to be done.
        operation: Operation,
    },
    /// Another store writes to the zip file, in this process or another one.
    #[error("another process or store is writing to the zip file: it has to be closed there first")]
    Locked,
    /// An entry's compressed bytes are no stream of its method, or are cut off.
    #[error("entry {name:?}: invalid {format} stream")]
    Stream {
        /// The name.
        name: String,
        /// The format of the stream.
        format: &'static str,
    },
    /// Other bytes are before or behind the archive, which a write would lose.
    #[error(
        "the file has {before} bytes before the archive and {behind} behind it: it can be read, and not written; \
         copy the store to a file of its own"
    )]
    Surrounded {
        /// The bytes before.
        before: u64,
        /// The bytes behind.
        behind: u64,
    },
    /// An entry's compressed bytes are no deflate stream.
    #[error("entry {name:?}: invalid deflate stream")]
    Deflate {
        /// The name.
        name: String,
    },
}

impl ZipFault {
    /// The error of the store in the zip file of this name.
    pub(crate) fn of(self, store: String) -> Error {
        Error::Format { store, kind: self.kind(), fault: Box::new(self) }
    }

    /// Returns the kind of the error: names that are no keys are [`ErrorKind::Path`], features that this reader lacks are
    /// [`ErrorKind::Unsupported`], as are values that cannot be replaced; a file that was replaced is [`ErrorKind::Io`], one to which
    /// another store writes [`ErrorKind::Denied`], the rest is [`ErrorKind::Invalid`].
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

/// The part of an error behind the method of an entry that cannot be read.
fn methods(method: u16) -> &'static str {
    match method {
        12 => "which is bzip2 and read with the feature `bz2`",
        14 => "which is LZMA and read with the feature `lzma`",
        _ => "expected 0 (stored), 8 (deflate), 12 (bzip2) or 14 (LZMA)",
    }
}
