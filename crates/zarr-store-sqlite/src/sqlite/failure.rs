//! Conversion of errors of SQLite to errors of stores.

use std::fmt;
use std::time::Duration;

use rusqlite::{ErrorCode, ffi};
use zarr_store::{Error, ErrorKind, Operation};

use super::pool::NoConnection;
use crate::SqliteFault;
use crate::fault::Cause;

/// Failure before the name of the store is added.
#[derive(Debug)]
pub(super) enum Fault {
    Sqlite(rusqlite::Error),
    Format(SqliteFault),
    Store(Error),
    Replaced,
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<SqliteFault> for Fault {
    fn from(fault: SqliteFault) -> Self {
        Self::Format(fault)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl From<NoConnection> for Fault {
    fn from(error: NoConnection) -> Self {
        match error {
            NoConnection::Replaced => Self::Replaced,
            NoConnection::Sqlite(error) => Self::Sqlite(error),
        }
    }
}

impl Fault {
    /// Converts the failure of an operation on `key` of a store to an error. `waited` is the time for which the operation waited for other
    /// connections at most.
    pub(super) fn of(self, store: &dyn fmt::Display, operation: Operation, key: &str, waited: Duration) -> Error {
        let key = if key.is_empty() { "/" } else { key };
        match self {
            Self::Sqlite(error) => of_sqlite(error, store, operation, key, waited),
            Self::Format(fault) => fault.of(store.to_string()),
            Self::Store(error) => error,
            Self::Replaced => Error::failed(store, operation, key, ErrorKind::Io, Cause::Replaced),
        }
    }
}

fn of_sqlite(
    source: rusqlite::Error,
    store: &dyn fmt::Display,
    operation: Operation,
    key: &str,
    waited: Duration,
) -> Error {
    let Some((code, extended)) = code(&source) else {
        // A row or a part of a value is not as its table and its size say.
        return Error::failed(store, operation, key, ErrorKind::Invalid, source);
    };
    let failed = |kind, cause: Cause| Error::failed(store, operation, key, kind, cause);
    let kind = match code {
        // The change was not made, or was undone: another attempt may succeed.
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            return failed(ErrorKind::Throttled, Cause::Busy { waited, source });
        }
        ErrorCode::TooBig => return failed(ErrorKind::Limit, Cause::TooBig { source }),
        ErrorCode::ReadOnly => match extended {
            ffi::SQLITE_READONLY_ROLLBACK | ffi::SQLITE_READONLY_RECOVERY => {
                return failed(ErrorKind::Denied, Cause::Interrupted { source });
            }
            ffi::SQLITE_READONLY_DBMOVED => return failed(ErrorKind::Io, Cause::Replaced),
            ffi::SQLITE_READONLY => return Error::ReadOnly { store: store.to_string(), operation },
            _ => ErrorKind::Denied,
        },
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::SchemaChanged | ErrorCode::Unknown => {
            ErrorKind::Invalid
        }
        ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied => ErrorKind::Denied,
        ErrorCode::OutOfMemory => ErrorKind::Limit,
        ErrorCode::OperationInterrupted => ErrorKind::Transient,
        _ => ErrorKind::Io,
    };
    Error::failed(store, operation, key, kind, source)
}

/// Returns the code of an error of SQLite, and its extended code; `None` for other errors.
pub(super) fn code(error: &rusqlite::Error) -> Option<(ErrorCode, i32)> {
    match error {
        rusqlite::Error::SqliteFailure(error, _) | rusqlite::Error::SqlInputError { error, .. } => {
            Some((error.code, error.extended_code))
        }
        _ => None,
    }
}
