//! The errors of stores.

use std::fmt;
use std::io;

use crate::{ByteRange, Key, Precondition, Version};

/// The result of a store operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a store operation failed. `store` is the store's own `Display`.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A text is no key.
    #[error("invalid key {text:?}: {fault}")]
    InvalidKey {
        /// The text.
        text: String,
        /// Its fault.
        fault: KeyFault,
    },
    /// A text is no prefix.
    #[error("invalid prefix {text:?}: {fault}")]
    InvalidPrefix {
        /// The text.
        text: String,
        /// Its fault.
        fault: KeyFault,
    },
    /// A range is not wholly inside a value.
    #[error("{store}: key {key}: found {size} bytes, expected {range}")]
    Range {
        /// The store.
        store: String,
        /// The key.
        key: Key,
        /// The range asked for.
        range: ByteRange,
        /// The size of the value in bytes.
        size: u64,
    },
    /// A value is not in the state that the caller required; nothing was changed.
    #[error("{store}: key {key}: found {}, expected {expected}", Found(.found.as_ref()))]
    Precondition {
        /// The store.
        store: String,
        /// The key.
        key: Key,
        /// The required precondition.
        expected: Precondition,
        /// The version that is there; `None` for no value, or for one that the store cannot name.
        found: Option<Version>,
    },
    /// The store takes no writes.
    #[error("{store}: cannot {operation}, the store is read-only")]
    ReadOnly {
        /// The store.
        store: String,
        /// The operation.
        operation: Operation,
    },
    /// The store does not support this operation.
    #[error("{store}: the store cannot {operation}")]
    Unsupported {
        /// The store.
        store: String,
        /// The operation.
        operation: Operation,
    },
    /// There is no store at this address.
    #[error("{store}: no such store")]
    NoStore {
        /// The address as given.
        store: String,
    },
    /// There is no store of the expected kind at this address.
    #[error("{store}: found {found}, expected {expected}")]
    NotAStore {
        /// The address as given.
        store: String,
        /// The kind of object found.
        found: &'static str,
        /// The kind of object expected.
        expected: &'static str,
    },
    /// No store is known for this kind of address.
    #[error("{url}: no store for addresses of this kind, expected {expected}")]
    Address {
        /// The address as given.
        url: String,
        /// The kinds that are known.
        expected: &'static str,
    },
    /// An address or an option of a store is not as it has to be.
    #[error("{store}: {message}")]
    Argument {
        /// The address, without secrets.
        store: String,
        /// Description of the address or option that was found, and of what is expected.
        message: String,
    },
    /// A key leads through a symbolic link out of the store.
    #[error("{store}: {operation} {key}: leads out of the store to {target}")]
    Escape {
        /// The store.
        store: String,
        /// The operation.
        operation: Operation,
        /// The key or prefix.
        key: String,
        /// Where it leads.
        target: String,
    },
    /// A key cannot be set because something else is in its place.
    #[error("{store}: {operation} {key}: found {found}, expected {expected}")]
    Occupied {
        /// The store.
        store: String,
        /// The operation.
        operation: Operation,
        /// The key.
        key: String,
        /// The kind of object found.
        found: &'static str,
        /// The kind of object expected.
        expected: &'static str,
    },
    /// A key is longer than the store takes.
    #[error("{store}: {operation}: the key of {size} bytes beginning {begin:?} is too long for the store")]
    TooLong {
        /// The store.
        store: String,
        /// The operation.
        operation: Operation,
        /// The first characters of the key.
        begin: String,
        /// The length of the key in bytes.
        size: usize,
    },
    /// A key that the store keeps for its own use.
    #[error("{store}: key {key}: the name is reserved for temporary files")]
    Reserved {
        /// The store.
        store: String,
        /// The key.
        key: Key,
    },
    /// The file system, network or database below failed. See [`Error::failed`] and [`Error::io`].
    #[error("{store}: {operation} {key}")]
    Failed {
        /// The store.
        store: String,
        /// The operation.
        operation: Operation,
        /// The key or prefix; `/` for the store itself.
        key: String,
        /// The kind of the failure.
        kind: ErrorKind,
        /// The failure.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The stored bytes break the format of the store, or use a part of the format that is not supported.
    #[error("{store}: {fault}")]
    Format {
        /// The store.
        store: String,
        /// The kind of the error.
        kind: ErrorKind,
        /// The fault, of a type of the store's crate.
        fault: Box<dyn std::error::Error + Send + Sync>,
    },
    /// There is not enough memory for a value.
    #[error("not enough memory for {size} bytes")]
    Memory {
        /// How much was needed in bytes.
        size: u64,
    },
    /// A driver gave a job fewer or more replies than it made requests.
    #[error("{found} replies to {expected} requests")]
    Replies {
        /// Replies there are.
        found: usize,
        /// Requests there were.
        expected: usize,
    },
    /// A job, or the driver that runs it, is at fault: the driver answered another request than the job made, or a script waits for
    /// something else than replies, or goes on after its end.
    #[error("{0}")]
    Job(&'static str),
    /// A store broke its contract.
    #[error("{store}: key {key}: the store returned {found}, expected {expected}")]
    Contract {
        /// The store.
        store: String,
        /// The key.
        key: Key,
        /// The reply.
        found: String,
        /// The reply that the contract asks for.
        expected: String,
    },
}

impl fmt::Debug for Error {
    /// As `fn main() -> Result` prints it: the message, and a line for each cause that has more to say.
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

/// The kind of an [`Error`], by which callers decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The caller gave something that cannot be.
    Argument,
    /// A name or link leads out of the store or is no key.
    Path,
    /// There is no store at the address. A missing key is no error.
    NotFound,
    /// The caller is not known, or may not do this.
    Denied,
    /// The store asks for fewer requests. Another attempt after a pause may succeed.
    Throttled,
    /// There was no answer in time. Whether a write took effect is not known.
    TimedOut,
    /// A failure that may pass, such as a lost connection. Whether a write took effect is not known.
    Transient,
    /// The store takes no writes.
    ReadOnly,
    /// The store does not support this operation.
    Unsupported,
    /// A range is not inside the value.
    Range,
    /// A precondition did not hold.
    Precondition,
    /// The stored bytes break the store's own format.
    Invalid,
    /// A bound was exceeded.
    Limit,
    /// The file system, network or database failed for another reason.
    Io,
    /// A driver of jobs is at fault.
    Internal,
}

impl Error {
    /// The error of a job that is given a reply of another kind than its request.
    pub const OTHER_REPLY: Self = Self::Job("the driver answered another request");

    /// A failure of the file system, network or database below a store, of this kind.
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

    /// As [`Error::failed`], of the kind that an [`io::Error`] has.
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

    /// A reply that breaks the contract of stores.
    pub fn contract(
        store: &dyn fmt::Display,
        key: &Key,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self::Contract { store: store.to_string(), key: key.clone(), found: found.into(), expected: expected.into() }
    }

    /// A reply to a get with another number of pieces than there are ranges.
    pub fn pieces(store: &dyn fmt::Display, key: &Key, found: usize, expected: usize) -> Self {
        Self::contract(store, key, format!("{found} pieces of bytes"), format!("{expected}, one for each range"))
    }

    /// The kind of the [`io::Error`] that is the source of this error, if one is.
    #[must_use]
    pub fn io_kind(&self) -> Option<io::ErrorKind> {
        match self {
            Self::Failed { source, .. } => Some(source.downcast_ref::<io::Error>()?.kind()),
            _ => None,
        }
    }

    /// Its kind.
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

    /// The store, by its own `Display` or by the address as given, where the error names one.
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

    /// The key or prefix that the operation was about, where the error names one.
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

    /// Whether there is no store at the address. A missing key is no error: `get` says so in its value.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.kind() == ErrorKind::NotFound
    }

    /// Whether another attempt may succeed: the store was throttled, did not answer in time, or failed in a way that may pass.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self.kind(), ErrorKind::Throttled | ErrorKind::TimedOut | ErrorKind::Transient)
    }

    /// Whether the store takes no writes.
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

    /// Whether a name or a link leads out of the store, or is no key.
    #[must_use]
    pub fn is_path(&self) -> bool {
        self.kind() == ErrorKind::Path
    }
}

/// An operation of a store.
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

/// The fault of a text as a key or prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyFault {
    /// It is empty.
    Empty,
    /// It has an empty segment.
    EmptySegment,
    /// It has a segment `.` or `..`.
    Relative,
    /// It begins with a separator or a drive.
    Absolute,
    /// It has a NUL character.
    Nul,
    /// It is not empty and does not end with a slash, as a prefix must.
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
