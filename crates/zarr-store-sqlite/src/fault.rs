//! Faults of SQLite files.

use std::time::Duration;

use zarr_store::{Error, ErrorKind};

/// Fault of an SQLite file: the `fault` of [`Error::Format`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SqliteFault {
    /// The table `zarr` differs from that of zarr-python 2.
    #[error("found {found}, expected the table zarr(k TEXT PRIMARY KEY, v BLOB)")]
    Table {
        /// Columns of the table `zarr`, or the kind of another object of that name.
        found: String,
    },
    /// The table or a trigger for versions differs from that of this library.
    #[error("found another table or trigger of the name {name}, expected the one that holds versions of values")]
    Versions {
        /// Name of the table or trigger.
        name: String,
    },
    /// Strings are not stored as UTF-8, so that keys have another order.
    #[error("found texts stored as {found}, expected UTF-8")]
    Encoding {
        /// Encoding of strings in the file.
        found: String,
    },
    /// A key is not a string.
    #[error("found a key stored as {found}, expected TEXT")]
    KeyType {
        /// SQLite storage class of the key.
        found: &'static str,
    },
    /// A key is a string that is not UTF-8.
    #[error("key {key:?}: the text is not UTF-8")]
    KeyText {
        /// The key, with replacement characters.
        key: String,
    },
    /// A value is neither bytes nor a string.
    #[error("key {key}: found a value stored as {found}, expected BLOB or TEXT")]
    ValueType {
        /// Key of the value.
        key: String,
        /// SQLite storage class of the value.
        found: String,
    },
}

impl SqliteFault {
    /// Converts the fault to an error of the store in the file `store`.
    pub(crate) fn of(self, store: String) -> Error {
        Error::Format { store, kind: self.kind(), fault: Box::new(self) }
    }

    /// Returns the kind of the error: [`ErrorKind::Unsupported`] for unsupported encodings, [`ErrorKind::Invalid`] for other faults.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Encoding { .. } => ErrorKind::Unsupported,
            _ => ErrorKind::Invalid,
        }
    }
}

/// Source of an error, with an explanation beyond the message of SQLite.
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
