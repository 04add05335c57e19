//! Errors of arrays, groups and hierarchies, with their location.

use std::fmt;
use zarr_grid::ChunkIndex;
use zarr_meta::NodePath;

/// Result of an operation on arrays, groups and hierarchies.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Error of an operation: its kind, its location, and the values found and expected.
///
/// Printed as one line, from the outside in:
/// `file:///data/era5.zarr: /t2m: chunk [3, 0]: key t2m/c/3/0: codec zstd: ...`. [`std::error::Error::source`]
/// returns the first cause that is not part of this line, so that printing a chain of errors repeats nothing.
///
/// `{:?}`, which `fn main() -> Result<()>` and `unwrap` print, has further lines for each further cause, the hint and the kind:
///
/// ```
/// use zarr_hierarchy::Error;
/// let error = Error::argument("found elements of float64, expected uint8").with_hint("`read_as` converts numbers");
/// let printed = "found elements of float64, expected uint8\n  hint: `read_as` converts numbers\n  kind: argument";
/// assert_eq!(format!("{error:?}"), printed);
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    location: Location,
    message: String,
    hint: Option<String>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
    /// Whether the message contains the key, as messages of stores do.
    names_key: bool,
    is_absent_dialect: bool,
}

/// Location of an [`Error`]; parts that are unknown are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Location {
    /// Address of the store.
    pub store: Option<String>,
    /// Path of the node, such as `/a/b`.
    pub path: Option<String>,
    /// Index of the chunk in the chunk grid.
    pub chunk: Option<ChunkIndex>,
    /// Key in the store.
    pub key: Option<String>,
    /// JSON pointer to the value in a metadata document.
    pub pointer: Option<String>,
    /// Offset in bytes of a syntax error in a document.
    pub offset: Option<u64>,
}

/// Class of an [`Error`] by its cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Metadata document that is not JSON.
    InvalidJson,
    /// Metadata document that violates the specification.
    InvalidMetadata,
    /// Unknown member of a metadata document that must be understood.
    UnknownMember,
    /// Codec, data type, chunk grid or other extension that is unknown or not in this build.
    UnknownExtension,
    /// Node in a version of the format that is not supported.
    UnsupportedVersion,
    /// Node that the dialect cannot express.
    NotExpressible,
    /// Bytes of a chunk that violate their format.
    CorruptChunk,
    /// Bytes of a chunk that do not match their checksum.
    ChecksumMismatch,
    /// Broken index of a shard.
    ShardIndex,
    /// Exceeded limit or failed allocation.
    Limit,
    /// Key or path that is not safe or not allowed.
    Path,
    /// Node or store that does not exist.
    NotFound,
    /// Chunk that is not stored, if missing chunks are errors.
    MissingChunk,
    /// Node that exists already.
    Exists,
    /// Change that conflicts with another writer's change of the same metadata, or that other writers prevented again and again.
    Conflict,
    /// Invalid argument of the caller: a selection outside of the array, elements of another type.
    Argument,
    /// Operation that the caller cancelled.
    Cancelled,
    /// Failure of the store; [`Error::store_error`] has the details.
    Store,
    /// Fault of this library: neither the caller nor the stored data is the cause.
    Internal,
}

impl ErrorKind {
    /// Returns the kind in kebab case, as the `zarr` command prints it.
    pub fn name(self) -> &'static str {
        match self {
            Self::InvalidJson => "invalid-json",
            Self::InvalidMetadata => "invalid-metadata",
            Self::UnknownMember => "unknown-member",
            Self::UnknownExtension => "unknown-extension",
            Self::UnsupportedVersion => "unsupported-version",
            Self::NotExpressible => "not-expressible",
            Self::CorruptChunk => "corrupt-chunk",
            Self::ChecksumMismatch => "checksum-mismatch",
            Self::ShardIndex => "shard-index",
            Self::Limit => "limit",
            Self::Path => "path",
            Self::NotFound => "not-found",
            Self::MissingChunk => "missing-chunk",
            Self::Exists => "exists",
            Self::Conflict => "conflict",
            Self::Argument => "argument",
            Self::Cancelled => "cancelled",
            Self::Store => "store",
            Self::Internal => "internal",
        }
    }
}

impl Error {
    /// Returns an error of `kind`; `message` says the values found and expected.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let (location, message) = (Location::default(), message.into());
        Self(Box::new(Inner {
            kind,
            location,
            message,
            hint: None,
            source: None,
            names_key: false,
            is_absent_dialect: false,
        }))
    }

    /// Returns an error of kind [`ErrorKind::Argument`].
    pub fn argument(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Argument, message)
    }

    /// Returns an error of kind [`ErrorKind::Internal`]: an assumption of this library does not hold.
    #[must_use]
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message).with_hint("this is a fault of the library: please report it")
    }

    /// Sets the hint at a remedy.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Adds the location that `locate` fills in; parts of the location that are known already stay.
    #[must_use]
    pub fn at(mut self, locate: impl FnOnce(&mut Location)) -> Self {
        let mut outer = Location::default();
        locate(&mut outer);
        self.within(outer);
        self
    }

    fn within(&mut self, outer: Location) {
        let location = &mut self.0.location;
        location.store = location.store.take().or(outer.store);
        location.path = location.path.take().or(outer.path);
        location.chunk = location.chunk.take().or(outer.chunk);
        location.key = location.key.take().or(outer.key);
        location.pointer = location.pointer.take().or(outer.pointer);
        location.offset = location.offset.or(outer.offset);
    }

    /// Adds the path of the node to the location, unless the location has a path.
    #[must_use]
    pub fn at_path(self, path: &NodePath) -> Self {
        self.at(|location| location.path = Some(path.to_string()))
    }

    /// Replaces the JSON pointer of the location by the result of `map`; without a pointer, nothing changes.
    #[must_use]
    pub fn map_pointer(mut self, map: impl FnOnce(&str) -> String) -> Self {
        let pointer = &mut self.0.location.pointer;
        *pointer = pointer.take().map(|pointer| map(&pointer));
        self
    }

    /// Replaces the kind of the error.
    #[must_use]
    pub fn with_kind(mut self, kind: ErrorKind) -> Self {
        self.0.kind = kind;
        self
    }

    /// Converts an error of `zarr_grid` about the member at JSON pointer `pointer` of a metadata document: the kind says that the document
    /// is to blame.
    #[must_use]
    pub fn in_metadata(pointer: &str, error: zarr_grid::Error) -> Self {
        let kind = match error {
            zarr_grid::Error::UnknownName { .. } => ErrorKind::UnknownExtension,
            _ => ErrorKind::InvalidMetadata,
        };
        Self::from(error).with_kind(kind).at(|location| location.pointer = Some(pointer.to_owned()))
    }

    /// Returns the kind of the error: its cause.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the location of the error.
    pub fn location(&self) -> &Location {
        &self.0.location
    }

    /// Returns the message without the location: the value found and the expected value.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the error in one line: location, message, and each cause that they do not mention.
    ///
    /// ```
    /// use zarr_hierarchy::Error;
    /// use zarr_store::{ErrorKind, Operation};
    /// let failed = zarr_store::Error::failed(&"s3://bucket", Operation::Get, "a/c/0", ErrorKind::Throttled, "503 Slow Down");
    /// let error = Error::from(failed);
    /// assert_eq!(error.with_causes(), "s3://bucket: get a/c/0: 503 Slow Down");
    /// assert_eq!(error.message_with_causes(), "get a/c/0: 503 Slow Down");
    /// ```
    #[must_use]
    pub fn with_causes(&self) -> String {
        self.and_causes(self.to_string())
    }

    /// Returns the message, and each cause that the message does not mention, without the location.
    #[must_use]
    pub fn message_with_causes(&self) -> String {
        self.and_causes(self.0.message.clone())
    }

    fn and_causes(&self, mut text: String) -> String {
        self.each_cause(&mut text, ": ");
        text
    }

    /// Appends to `text` each cause that `text` does not contain, behind `separator`.
    fn each_cause(&self, text: &mut String, separator: &str) {
        let first = std::error::Error::source(self);
        for cause in std::iter::successors(first, |cause| cause.source()).map(ToString::to_string) {
            if !text.contains(&cause) {
                text.push_str(separator);
                text.push_str(&cause);
            }
        }
    }

    /// Returns a hint at a remedy; `None` if there is none.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// Returns the error of the store that caused this error, with its kind (denied, throttled, timed out...) and its source; `None` for
    /// other errors.
    pub fn store_error(&self) -> Option<&zarr_store::Error> {
        self.0.source.as_deref()?.downcast_ref()
    }

    /// Whether the node is of a dialect that this build lacks, such as a draft without the feature `drafts`. Such a node may be sound, and
    /// is not replaced.
    pub fn is_absent_dialect(&self) -> bool {
        self.0.is_absent_dialect
    }

    /// Whether the error may mean that the node is broken, so that it may be replaced. `false` if the store failed or if the build lacks
    /// the dialect.
    pub(crate) fn is_of_broken_node(&self) -> bool {
        self.kind() != ErrorKind::Store && !self.is_absent_dialect()
    }

    /// Whether another attempt may succeed: the store was throttled, did not answer in time, or had another temporary failure.
    pub fn is_retryable(&self) -> bool {
        self.store_error().is_some_and(zarr_store::Error::is_retryable)
    }

    /// Whether the node or store does not exist.
    pub fn is_not_found(&self) -> bool {
        self.kind() == ErrorKind::NotFound
    }

    /// Whether stored data or metadata is broken.
    pub fn is_corrupt(&self) -> bool {
        matches!(
            self.kind(),
            ErrorKind::InvalidJson
                | ErrorKind::InvalidMetadata
                | ErrorKind::CorruptChunk
                | ErrorKind::ChecksumMismatch
                | ErrorKind::ShardIndex
        )
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The message has the line and the column of an offset.
        let Location { store, path, chunk, key, pointer, offset: _ } = &self.0.location;
        if let Some(store) = store {
            write!(f, "{store}: ")?;
        }
        if let Some(path) = path {
            write!(f, "{path}: ")?;
        }
        if let Some(chunk) = chunk {
            write!(f, "chunk {:?}: ", chunk.as_slice())?;
        }
        if let Some(key) = key.as_ref().filter(|_| !self.0.names_key) {
            write!(f, "key {key}: ")?;
        }
        if let Some(pointer) = pointer.as_ref().filter(|pointer| !pointer.is_empty()) {
            write!(f, "{pointer}: ")?;
        }
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    /// Prints the error as `fn main() -> Result` and `unwrap` show it: location and message, then a line for each further cause, for the
    /// hint and for the kind.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = self.to_string();
        self.each_cause(&mut text, "\n  caused by: ");
        f.write_str(&text)?;
        self.hint().map_or(Ok(()), |hint| write!(f, "\n  hint: {hint}"))?;
        write!(f, "\n  kind: {}", self.kind().name())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let source = self.0.source.as_deref()?;
        // The message already contains the message of `source`.
        source.source()
    }
}

impl From<zarr_store::Error> for Error {
    fn from(error: zarr_store::Error) -> Self {
        use zarr_store::ErrorKind as Kind;
        let kind = match error.kind() {
            // A failure of the store says nothing about the node, whatever its kind.
            _ if matches!(error, zarr_store::Error::Failed { .. }) => ErrorKind::Store,
            Kind::NotFound => ErrorKind::NotFound,
            Kind::Range => ErrorKind::CorruptChunk,
            Kind::Path => ErrorKind::Path,
            Kind::Invalid => ErrorKind::InvalidMetadata,
            Kind::Limit => ErrorKind::Limit,
            Kind::Argument => ErrorKind::Argument,
            Kind::Internal => ErrorKind::Internal,
            _ => ErrorKind::Store,
        };
        // The store is the outermost part of the message, once.
        let message = error.to_string();
        let store = error.store().map(|store| (store.to_owned(), format!("{store}: ")));
        let inner = store.as_ref().and_then(|(_, prefix)| message.strip_prefix(prefix.as_str())).map(str::to_owned);
        let (store, message) = match (store, inner) {
            (Some((store, _)), Some(inner)) => (Some(store), inner),
            _ => (None, message),
        };
        let mut converted = Self::new(kind, message);
        converted.0.location.store = store;
        converted.0.location.key = error.key().map(str::to_owned);
        converted.0.names_key = error.key().is_some();
        converted.0.source = Some(Box::new(error));
        converted
    }
}

#[cfg(feature = "codec")]
impl From<zarr_codec::Error> for Error {
    fn from(error: zarr_codec::Error) -> Self {
        use zarr_codec::ErrorKind as Kind;
        let kind = match error.kind() {
            // Windows are cut along a plan of this library.
            _ if matches!(error, zarr_codec::Error::Windows { .. }) => ErrorKind::Internal,
            Kind::InvalidMetadata => ErrorKind::InvalidMetadata,
            Kind::UnknownExtension => ErrorKind::UnknownExtension,
            Kind::ChecksumMismatch => ErrorKind::ChecksumMismatch,
            Kind::ShardIndex => ErrorKind::ShardIndex,
            Kind::Limit => ErrorKind::Limit,
            Kind::Argument => ErrorKind::Argument,
            _ => ErrorKind::CorruptChunk,
        };
        let hint = match &error {
            zarr_codec::Error::Unknown { hint, .. } => hint.clone(),
            _ => None,
        };
        // The pointer is a part of the location, and not of the message.
        let (pointer, message) = match &error {
            zarr_codec::Error::Metadata { pointer, .. } | zarr_codec::Error::Unknown { pointer, .. }
                if !pointer.is_empty() =>
            {
                let message = error.to_string();
                let what = message.strip_prefix(&format!("{pointer}: ")).unwrap_or(&message).to_owned();
                (Some(pointer.clone()), what)
            }
            error => (None, error.to_string()),
        };
        let mut converted = Self::new(kind, message);
        converted.0.location.pointer = pointer;
        converted.0.hint = hint;
        converted.0.source = Some(Box::new(error));
        converted
    }
}

impl From<zarr_grid::Error> for Error {
    fn from(error: zarr_grid::Error) -> Self {
        let mut converted = Self::argument(error.to_string());
        converted.0.source = Some(Box::new(error));
        converted
    }
}

impl From<zarr_dtype::Error> for Error {
    fn from(error: zarr_dtype::Error) -> Self {
        let mut converted = Self::argument(error.to_string());
        if let zarr_dtype::Error::Unknown { hint, .. } = &error {
            converted.0.hint = hint.map(str::to_owned);
        }
        converted.0.source = Some(Box::new(error));
        converted
    }
}

impl From<zarr_meta::Error> for Error {
    fn from(error: zarr_meta::Error) -> Self {
        use zarr_meta::ErrorKind as Kind;
        let kind = match error.kind() {
            Kind::InvalidJson => ErrorKind::InvalidJson,
            Kind::UnknownMember => ErrorKind::UnknownMember,
            Kind::UnknownExtension => ErrorKind::UnknownExtension,
            Kind::UnsupportedVersion => ErrorKind::UnsupportedVersion,
            Kind::Path => ErrorKind::Path,
            Kind::NotExpressible => ErrorKind::NotExpressible,
            Kind::Limit => ErrorKind::Limit,
            _ => ErrorKind::InvalidMetadata,
        };
        let message = match (error.found(), error.expected()) {
            (found, "") => found.to_owned(),
            ("", expected) => format!("expected {expected}"),
            (found, expected) => format!("found {found}, expected {expected}"),
        };
        let message = match (error.line(), error.column()) {
            (Some(line), Some(column)) => format!("line {line}, column {column}: {message}"),
            _ => message,
        };
        let mut converted = Self::new(kind, message);
        converted.0.is_absent_dialect = error.is_absent_dialect();
        converted.at(|location| {
            location.key = error.key().map(str::to_owned);
            location.pointer = Some(error.pointer().to_owned()).filter(|pointer| !pointer.is_empty());
            location.offset = error.offset().map(|offset| offset as u64);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_main_prints_has_the_hint() {
        let error = Error::argument("found f64").with_hint("`read_as` converts");
        assert_eq!(format!("{error:?}"), "found f64\n  hint: `read_as` converts\n  kind: argument");
        assert_eq!(error.to_string(), "found f64");
    }

    #[test]
    fn what_main_prints_has_each_cause_once() {
        let kind = zarr_store::ErrorKind::Throttled;
        let failed =
            || zarr_store::Error::failed(&"s3://b", zarr_store::Operation::Get, "a/c/0", kind, "503 Slow Down");
        assert_eq!(format!("{:?}", failed()), "s3://b: get a/c/0\n  caused by: 503 Slow Down");
        let error = Error::from(failed());
        assert_eq!(format!("{error:?}"), "s3://b: get a/c/0\n  caused by: 503 Slow Down\n  kind: store");
        let grid = zarr_grid::ChunkGrid::regular(&[4], &[0]).unwrap_err();
        assert_eq!(format!("{grid:?}"), grid.to_string());
        let error = Error::from(grid.clone());
        assert_eq!(format!("{error:?}"), format!("{grid}\n  kind: argument"));
    }
}
