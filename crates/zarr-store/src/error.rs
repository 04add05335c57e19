//! Errors of stores.

use std::fmt;
use std::io;

use crate::{ByteRange, Key, Precondition, Version};

/// Result of a store operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Error of a store operation. The fields `store` are the `Display` form of the store.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// String that is no valid key.
    #[error("invalid key {text:?}: {fault}")]
    InvalidKey {
        /// Invalid string.
        text: String,
        /// Reason why the string is no key.
        fault: KeyFault,
    },
    /// String that is no valid prefix.
    #[error("invalid prefix {text:?}: {fault}")]
    InvalidPrefix {
        /// Invalid string.
        text: String,
        /// Reason why the string is no prefix.
        fault: KeyFault,
    },
    /// Range that is not completely inside the value.
    #[error("{store}: key {key}: found {size} bytes, expected {range}")]
    Range {
        /// Display form of the store.
        store: String,
        /// Key of the value.
        key: Key,
        /// Requested range.
        range: ByteRange,
        /// Size of the value in bytes.
        size: u64,
    },
    /// Precondition that does not hold; nothing was changed.
    #[error("{store}: key {key}: found {}, expected {expected}", Found(.found.as_ref()))]
    Precondition {
        /// Display form of the store.
        store: String,
        /// Key of the value.
        key: Key,
        /// Precondition that was required.
        expected: Precondition,
        /// Version of the stored value; `None` if there is no value, or if the store cannot tell the version.
        found: Option<Version>,
    },
    /// Write to a read-only store.
    #[error("{store}: cannot {operation}, the store is read-only")]
    ReadOnly {
        /// Display form of the store.
        store: String,
        /// Refused operation.
        operation: Operation,
    },
    /// Operation that the store does not support.
    #[error("{store}: the store cannot {operation}")]
    Unsupported {
        /// Display form of the store.
        store: String,
        /// Unsupported operation.
        operation: Operation,
    },
    /// Address without a store.
    #[error("{store}: no such store")]
    NoStore {
        /// Address as given.
        store: String,
    },
    /// Address of something other than a store of the expected kind.
    #[error("{store}: found {found}, expected {expected}")]
    NotAStore {
        /// Address as given.
        store: String,
        /// Kind of object that was found.
        found: &'static str,
        /// Kind of object that was expected.
        expected: &'static str,
    },
    /// Address of a kind for which no store is known.
    #[error("{url}: no store for addresses of this kind, expected {expected}")]
    Address {
        /// Address as given.
        url: String,
        /// Description of the known kinds of addresses.
        expected: &'static str,
    },
    /// Invalid address, or invalid option of a store.
    #[error("{store}: {message}")]
    Argument {
        /// Address without secrets.
        store: String,
        /// Message with the address or option found, and the expected form.
        message: String,
    },
    /// Key that leads out of the store through a symbolic link.
    #[error("{store}: {operation} {key}: leads out of the store to {target}")]
    Escape {
        /// Display form of the store.
        store: String,
        /// Refused operation.
        operation: Operation,
        /// Key or prefix of the operation.
        key: String,
        /// Target of the link, outside of the store.
        target: String,
    },
    /// Key that cannot be set because another kind of object has its place.
    #[error("{store}: {operation} {key}: found {found}, expected {expected}")]
    Occupied {
        /// Display form of the store.
        store: String,
        /// Failed operation.
        operation: Operation,
        /// Key that cannot be set.
        key: String,
        /// Kind of object that was found.
        found: &'static str,
        /// Kind of object that was expected.
        expected: &'static str,
    },
    /// Key that is too long for the store.
    #[error("{store}: {operation}: the key of {size} bytes beginning {begin:?} is too long for the store")]
    TooLong {
        /// Display form of the store.
        store: String,
        /// Failed operation.
        operation: Operation,
        /// First characters of the key.
        begin: String,
        /// Length of the key in bytes.
        size: usize,
    },
    /// Key that the store reserves for its own use.
    #[error("{store}: key {key}: the name is reserved for temporary files")]
    Reserved {
        /// Display form of the store.
        store: String,
        /// Reserved key.
        key: Key,
    },
    /// Failure of the file system, network or database below the store. See [`Error::failed`] and [`Error::io`].
    #[error("{store}: {operation} {key}")]
    Failed {
        /// Display form of the store.
        store: String,
        /// Failed operation.
        operation: Operation,
        /// Key or prefix of the operation; `/` for the store itself.
        key: String,
        /// Kind of the failure.
        kind: ErrorKind,
        /// Error of the file system, network or database.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Stored bytes that violate the format of the store, or use an unsupported part of it.
    #[error("{store}: {fault}")]
    Format {
        /// Display form of the store.
        store: String,
        /// Kind of the error.
        kind: ErrorKind,
        /// Details of the fault, of a type of the store's crate.
        fault: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Value for which there is not enough memory.
    #[error("not enough memory for {size} bytes")]
    Memory {
        /// Number of bytes that were needed.
        size: u64,
    },
    /// Wrong number of replies from a driver to the requests of a job.
    #[error("{found} replies to {expected} requests")]
    Replies {
        /// Number of replies.
        found: usize,
        /// Number of requests.
        expected: usize,
    },
    /// Fault of a job or of the driver that runs it: the driver answered another request than the job made, or a script awaits something
    /// other than replies, or continues after its end.
    #[error("{0}")]
    Job(&'static str),
    /// Reply of a store that breaks the contract of stores.
    #[error("{store}: key {key}: the store returned {found}, expected {expected}")]
    Contract {
        /// Display form of the store.
        store: String,
        /// Key of the request.
        key: Key,
        /// Description of the reply.
        found: String,
        /// Description of the reply that the contract requires.
        expected: String,
    },
}

impl fmt::Debug for Error {
    /// Prints the message as `fn main() -> Result` shows errors, with a line for each further cause.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut said = self.to_string();
        f.write_str(&said)?;
        let first = std::error::Error::source(self);
        for cause in std::iter::successors(first, |cause| cause.source()).map(ToString::to_string) {
            if !said.contains(&cause) {
                write!(f, "\n  caused by: {cause}")?;
                said.push_str(&cause);
            }
        }
        Ok(())
    }
}

/// Kind of an [`Error`], by which callers decide what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Invalid argument of the caller.
    Argument,
    /// Name or link that leads out of the store, or string that is no key.
    Path,
    /// Store that does not exist. A missing key is no error.
    NotFound,
    /// Caller that is unknown to the store, or not allowed to do the operation.
    Denied,
    /// Request that the store throttled. Another attempt after a pause may succeed.
    Throttled,
    /// Missing answer within the time limit. A write may or may not have taken effect.
    TimedOut,
    /// Temporary failure, such as a lost connection. A write may or may not have taken effect.
    Transient,
    /// Write to a read-only store.
    ReadOnly,
    /// Operation that the store does not support.
    Unsupported,
    /// Range that is not inside the value.
    Range,
    /// Precondition that did not hold.
    Precondition,
    /// Stored bytes that violate the format of the store.
    Invalid,
    /// Exceeded limit.
    Limit,
    /// Other failure of the file system, network or database.
    Io,
    /// Fault of a job or of its driver.
    Internal,
}

impl Error {
    /// Error for a reply of another kind than the request.
    pub const OTHER_REPLY: Self = Self::Job("the driver answered another request");

    /// Returns the error for a failure of the file system, network or database below a store; callers decide by `kind`.
    ///
    /// ```
    /// use zarr_store::{Error, ErrorKind, Operation};
    /// let error = Error::failed(&"s3://bucket", Operation::Get, "a/c/0", ErrorKind::Throttled, "503 Slow Down");
    /// assert_eq!((error.to_string().as_str(), error.kind()), ("s3://bucket: get a/c/0", ErrorKind::Throttled));
    /// assert!(error.is_retryable());
    /// ```
    pub fn failed(
        store: &dyn fmt::Display,
        operation: Operation,
        key: impl Into<String>,
        kind: ErrorKind,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Failed { store: store.to_string(), operation, key: key.into(), kind, source: source.into() }
    }

    /// Returns the error for an [`io::Error`], with the kind that follows from it.
    pub fn io(store: &dyn fmt::Display, operation: Operation, key: impl Into<String>, source: io::Error) -> Self {
        let kind = match source.kind() {
            io::ErrorKind::PermissionDenied => ErrorKind::Denied,
            io::ErrorKind::TimedOut => ErrorKind::TimedOut,
            io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::NotConnected
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::NetworkDown
            | io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::StaleNetworkFileHandle
            | io::ErrorKind::Interrupted => ErrorKind::Transient,
            _ => ErrorKind::Io,
        };
        Self::failed(store, operation, key, kind, source)
    }

    /// Returns the error for a reply that breaks the contract of stores.
    pub fn contract(
        store: &dyn fmt::Display,
        key: &Key,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self::Contract { store: store.to_string(), key: key.clone(), found: found.into(), expected: expected.into() }
    }

    /// Returns the error for a reply to a get whose number of pieces differs from the number of ranges.
    pub fn pieces(store: &dyn fmt::Display, key: &Key, found: usize, expected: usize) -> Self {
        Self::contract(store, key, format!("{found} pieces of bytes"), format!("{expected}, one for each range"))
    }

    /// Returns the kind of the [`io::Error`] that is the source of this error; `None` for other errors.
    #[must_use]
    pub fn io_kind(&self) -> Option<io::ErrorKind> {
        match self {
            Self::Failed { source, .. } => Some(source.downcast_ref::<io::Error>()?.kind()),
            _ => None,
        }
    }

    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::InvalidKey { .. } | Self::InvalidPrefix { .. } | Self::Escape { .. } => ErrorKind::Path,
            Self::Range { .. } => ErrorKind::Range,
            Self::Precondition { .. } => ErrorKind::Precondition,
            Self::ReadOnly { .. } => ErrorKind::ReadOnly,
            Self::Unsupported { .. } => ErrorKind::Unsupported,
            Self::NoStore { .. } => ErrorKind::NotFound,
            Self::NotAStore { .. }
            | Self::Occupied { .. }
            | Self::Reserved { .. }
            | Self::Address { .. }
            | Self::Argument { .. } => ErrorKind::Argument,
            Self::Format { kind, .. } | Self::Failed { kind, .. } => *kind,
            Self::TooLong { .. } | Self::Memory { .. } => ErrorKind::Limit,
            Self::Contract { .. } => ErrorKind::Io,
            Self::Replies { .. } | Self::Job(_) => ErrorKind::Internal,
        }
    }

    /// Returns the store, by its `Display` form or by the address as given; `None` if the error names no store.
    #[must_use]
    pub fn store(&self) -> Option<&str> {
        match self {
            Self::InvalidKey { .. }
            | Self::InvalidPrefix { .. }
            | Self::Memory { .. }
            | Self::Replies { .. }
            | Self::Job(_) => None,
            Self::Address { url, .. } => Some(url),
            Self::Range { store, .. }
            | Self::Precondition { store, .. }
            | Self::ReadOnly { store, .. }
            | Self::Unsupported { store, .. }
            | Self::NoStore { store }
            | Self::NotAStore { store, .. }
            | Self::Argument { store, .. }
            | Self::Escape { store, .. }
            | Self::Occupied { store, .. }
            | Self::TooLong { store, .. }
            | Self::Reserved { store, .. }
            | Self::Failed { store, .. }
            | Self::Format { store, .. }
            | Self::Contract { store, .. } => Some(store),
        }
    }

    /// Returns the key or prefix of the failed operation; `None` if the error names none.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Range { key, .. }
            | Self::Precondition { key, .. }
            | Self::Reserved { key, .. }
            | Self::Contract { key, .. } => Some(key.as_str()),
            // `/` stands for the store itself.
            Self::Escape { key, .. } | Self::Occupied { key, .. } | Self::Failed { key, .. } => {
                Some(key.as_str()).filter(|key| *key != "/")
            }
            _ => None,
        }
    }

    /// Whether the store does not exist. A missing key is no error: `get` returns `None`.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.kind() == ErrorKind::NotFound
    }

    /// Whether another attempt may succeed: the store was throttled, did not answer in time, or had another temporary failure.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self.kind(), ErrorKind::Throttled | ErrorKind::TimedOut | ErrorKind::Transient)
    }

    /// Whether the store is read-only.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.kind() == ErrorKind::ReadOnly
    }

    /// Whether a range was not inside its value.
    #[must_use]
    pub fn is_range(&self) -> bool {
        self.kind() == ErrorKind::Range
    }

    /// Whether a precondition did not hold, so that nothing was changed.
    #[must_use]
    pub fn is_precondition(&self) -> bool {
        self.kind() == ErrorKind::Precondition
    }

    /// Whether a name or a link leads out of the store, or a string is no key.
    #[must_use]
    pub fn is_path(&self) -> bool {
        self.kind() == ErrorKind::Path
    }
}

/// Operation of a store, named in errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// Opening the store.
    Open,
    /// Getting a value or its size.
    Get,
    /// Setting a value.
    Set,
    /// Removing values.
    Erase,
    /// Listing keys.
    List,
    /// Making earlier writes durable.
    Flush,
    /// Taking the lock of a prefix.
    Lock,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "open",
            Self::Get => "get",
            Self::Set => "set",
            Self::Erase => "erase",
            Self::List => "list",
            Self::Flush => "flush",
            Self::Lock => "lock",
        })
    }
}

/// Reason why a string is no key or prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyFault {
    /// Empty string.
    Empty,
    /// Empty segment.
    EmptySegment,
    /// Segment `.` or `..`.
    Relative,
    /// Separator or drive at the beginning.
    Absolute,
    /// NUL character.
    Nul,
    /// Missing slash at the end of a prefix that is not empty.
    NoSlash,
}

impl fmt::Display for KeyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "it is empty",
            Self::EmptySegment => "it has an empty segment",
            Self::Relative => "it has a segment . or ..",
            Self::Absolute => "it is absolute",
            Self::Nul => "it has a NUL character",
            Self::NoSlash => "it does not end with a slash",
        })
    }
}

struct Found<'a>(Option<&'a Version>);

impl fmt::Display for Found<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(version) => write!(f, "version {version}"),
            None => f.write_str("another state"),
        }
    }
}
