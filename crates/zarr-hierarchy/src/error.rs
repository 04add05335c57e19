//! Errors with their location.

use std::fmt;
use zarr_grid::ChunkIndex;
use zarr_meta::NodePath;

/// The result of an operation on arrays, groups and hierarchies.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation failed: its kind, its location, and the values found and expected.
///
/// Printed as one line, from the outside in:
/// `file:///data/era5.zarr: /t2m: chunk [3, 0]: key t2m/c/3/0: codec zstd: ...`. [`std::error::Error::source`]
/// continues behind the printed part, so nothing is said twice when a chain of errors is shown.
///
/// `{:?}`, which `fn main() -> Result<()>` and `unwrap` print, has a line each for further causes, the hint and the kind:
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
    /// Whether the message names the key, as messages of stores do.
    names_key: bool,
    is_absent_dialect: bool,
}

/// Where an [`Error`] happened, as far as is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Location {
    /// The store, by its address.
    pub store: Option<String>,
    /// The node, `/a/b`.
    pub path: Option<String>,
    /// The chunk, by its index in the grid.
    pub chunk: Option<ChunkIndex>,
    /// The key in the store.
    pub key: Option<String>,
    /// The value in a metadata document, as a JSON pointer.
    pub pointer: Option<String>,
    /// For a syntax error in a document: its offset in bytes.
    pub offset: Option<u64>,
}

/// Who is to blame for an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A metadata document is no JSON.
    InvalidJson,
    /// A metadata document breaks the specification.
    InvalidMetadata,
    /// A metadata document has a member that must be understood and is not known.
    UnknownMember,
    /// A codec, data type, chunk grid or other extension is not known, or not in this build.
    UnknownExtension,
    /// The node is stored in a version of the format that is not supported.
    UnsupportedVersion,
    /// A dialect cannot express the node that is to be written in it.
    NotExpressible,
    /// The bytes of a chunk break their format.
    CorruptChunk,
    /// The bytes of a chunk do not match their checksum.
    ChecksumMismatch,
    /// The index of a shard is broken.
    ShardIndex,
    /// A limit was exceeded, or there is no memory.
    Limit,
    /// A key or path is not safe or not allowed.
    Path,
    /// There is no such node or store.
    NotFound,
    /// A chunk is not stored, and missing chunks were to be an error.
    MissingChunk,
    /// A node is there already.
    Exists,
    /// Another writer changed the same metadata in another way, or changes it again and again.
    Conflict,
    /// The arguments of the caller are impossible: a selection outside the array, elements of another type.
    Argument,
    /// The caller cancelled it.
    Cancelled,
    /// The store failed: [`Error::store_error`] says how.
    Store,
    /// This library did: neither the caller nor the stored data is to blame.
    Internal,
}

impl ErrorKind {
    /// The kind in kebab case, as the `zarr` command prints it.
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
    /// An error of a kind, with a message that says the values found and expected.
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

    /// An error of impossible arguments.
    pub fn argument(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Argument, message)
    }

    /// An error of this library: an assumption of it does not hold.
    #[must_use]
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message).with_hint("this is a fault of the library: please report it")
    }

    /// The same error, with a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Adds where it happened; known parts of the location stay.
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

    /// The same error, at a node.
    #[must_use]
    pub fn at_path(self, path: &NodePath) -> Self {
        self.at(|location| location.path = Some(path.to_string()))
    }

    /// The same error with another JSON pointer into a metadata document, made from its own.
    #[must_use]
    pub fn map_pointer(mut self, map: impl FnOnce(&str) -> String) -> Self {
        let pointer = &mut self.0.location.pointer;
        *pointer = pointer.take().map(|pointer| map(&pointer));
        self
    }

    /// The same error with another kind.
    #[must_use]
    pub fn with_kind(mut self, kind: ErrorKind) -> Self {
        self.0.kind = kind;
        self
    }

    /// An error of `zarr_grid` about a member of a metadata document, at a JSON pointer: the document is to blame.
    #[must_use]
    pub fn in_metadata(pointer: &str, error: zarr_grid::Error) -> Self {
        let kind = match error {
            zarr_grid::Error::UnknownName { .. } => ErrorKind::UnknownExtension,
            _ => ErrorKind::InvalidMetadata,
        };
        Self::from(error).with_kind(kind).at(|location| location.pointer = Some(pointer.to_owned()))
    }

    /// Who is to blame.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Where it happened.
    pub fn location(&self) -> &Location {
        &self.0.location
    }

    /// The value found and the one expected, without the location.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The error in one line: location, message, and each cause that these do not name.
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

    /// The same without the location: the message, and each cause that it does not name.
    #[must_use]
    pub fn message_with_causes(&self) -> String {
        self.and_causes(self.0.message.clone())
    }

    fn and_causes(&self, mut text: String) -> String {
        self.each_cause(&mut text, ": ");
        text
    }

    /// Adds each cause that `text` does not name, behind a separator.
    fn each_cause(&self, text: &mut String, separator: &str) {
        let first = std::error::Error::source(self);
        for cause in std::iter::successors(first, |cause| cause.source()).map(ToString::to_string) {
            if !text.contains(&cause) {
                text.push_str(separator);
                text.push_str(&cause);
            }
        }
    }

    /// A hint at a remedy.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// The error of the store that this one is of, with its kind (denied, throttled, timed out...) and its source.
    pub fn store_error(&self) -> Option<&zarr_store::Error> {
        self.0.source.as_deref()?.downcast_ref()
    }

    /// Whether the node is of a dialect that this build lacks, such as a draft without the feature `drafts`: it may be sound, and is not
    /// replaced.
    pub fn is_absent_dialect(&self) -> bool {
        self.0.is_absent_dialect
    }

    /// Whether what was found cannot be told from a broken node, which may be replaced: not so where the store failed.
    pub(crate) fn is_of_broken_node(&self) -> bool {
        self.kind() != ErrorKind::Store && !self.is_absent_dialect()
    }

    /// Whether another attempt may succeed: the store was throttled, did not answer in time, or failed in a way that may pass.
    pub fn is_retryable(&self) -> bool {
        self.store_error().is_some_and(zarr_store::Error::is_retryable)
    }

    /// Whether there is no such node or store.
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
    /// As `fn main() -> Result` and `unwrap` print it: location and message, then a line for each cause that has more to say, for the
    /// hint, and for the kind.
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
        // The message holds the words of the source itself.
        source.source()
    }
}

impl From<zarr_store::Error> for Error {
    fn from(error: zarr_store::Error) -> Self {
        use zarr_store::ErrorKind as Kind;
        let kind = match error.kind() {
            // A failure says nothing about the node, whatever kind a store gives it.
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
