//! Faults of SQLite files.

use std::time::Duration;

use zarr_store::{Error, ErrorKind};

/// A fault of a SQLite file: the `fault` of [`Error::Format`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SqliteFault {
    /// The table `zarr` is another one than zarr-python 2 makes.
    #[error("found {found}, expected the table zarr(k TEXT PRIMARY KEY, v BLOB)")]
    Table {
        /// Its columns, or what else has the name.
        found: String,
    },
    /// The table that this library keeps versions in is another one than it makes.
    #[error("found another table or trigger of the name {name}, expected the one that holds versions of values")]
    Versions {
        /// The name.
        name: String,
    },
    /// Strings are not stored as UTF-8, so that keys have another order.
    #[error("found texts stored as {found}, expected UTF-8")]
    Encoding {
        /// The encoding.
        found: String,
    },
    /// A key is no string.
    #[error("found a key stored as {found}, expected TEXT")]
    KeyType {
        /// The storage class of SQLite.
        found: &'static str,
    },
    /// A key is a text that is not UTF-8.
    #[error("key {key:?}: the text is not UTF-8")]
    KeyText {
        /// The key with the bad bytes replaced.
        key: String,
    },
    /// A value is neither bytes nor a text.
    #[error("key {key}: found a value stored as {found}, expected BLOB or TEXT")]
    ValueType {
        /// The key.
        key: String,
        /// The storage class of SQLite.
        found: String,
    },
}

impl SqliteFault {
    /// The error of the store in the file of this name.
    pub(crate) fn of(self, store: String) -> Error {
        Error::Format { store, kind: self.kind(), fault: Box::new(self) }
    }

    /// Whose fault it is: encodings that this reader lacks are [`ErrorKind::Unsupported`], the rest is [`ErrorKind::Invalid`].
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Encoding { .. } => ErrorKind::Unsupported,
            _ => ErrorKind::Invalid,
        }
    }
}

/// The source of an error of SQLite that says more than SQLite does.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Cause {
    #[error("the file was locked by other connections for {waited:?}")]
    Busy { waited: Duration, source: rusqlite::Error },
    #[error("a value with its key is longer than SQLite takes, by default 1000000000 bytes")]
    TooBig { source: rusqlite::Error },
    #[error(
        "a writer was interrupted, and to undo its change the file has to be opened once by a user who may write to it"
    )]
    Interrupted { source: rusqlite::Error },
    #[error("the file was replaced by another one since the store was opened")]
    Replaced,
}
