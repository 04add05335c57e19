//! Why a document or a path is refused.

use std::fmt;
use zarr_json::pointer::{At, ValueError};

/// The result of an operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The largest metadata document that is parsed, in bytes: 16 MiB.
///
/// Real documents stay below 100 KiB. Consolidated metadata have a limit of their own, [`MAX_CONSOLIDATED_SIZE`].
pub const MAX_DOCUMENT_SIZE: usize = 16 << 20;

/// The largest document with consolidated metadata that is parsed, in bytes: 256 MiB, enough for 300,000 nodes. Each document in it, and
/// what is around them, is bounded by [`MAX_DOCUMENT_SIZE`].
pub const MAX_CONSOLIDATED_SIZE: usize = 256 << 20;

/// The kind of fault of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The document is not JSON.
    InvalidJson,
    /// A member is missing or has a value it must not have.
    InvalidMetadata,
    /// A member that no version of the format defines and that may not be ignored.
    UnknownMember,
    /// A data type, codec, storage transformer or other extension that is not known.
    UnknownExtension,
    /// A version of Zarr that cannot be read.
    UnsupportedVersion,
    /// A node path or name that is not allowed.
    Path,
    /// The node cannot be said in the dialect asked for.
    NotExpressible,
    /// The document is larger than [`MAX_DOCUMENT_SIZE`] or [`MAX_CONSOLIDATED_SIZE`], or the array that it describes has more than 1,000
    /// dimensions.
    Limit,
}

/// A fault, the document that has it, and its location there.
///
/// Displayed as `KEY:LINE:COLUMN POINTER: found .., expected ..`, each part as far as known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    key: Option<String>,
    pointer: String,
    position: Option<Position>,
    found: String,
    expected: String,
    is_absent: bool,
}

/// A position in the text of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// Number of the line, from 1.
    pub(crate) line: usize,
    /// Column in bytes, from 1.
    pub(crate) column: usize,
    /// Offset in bytes, from 0.
    pub(crate) offset: usize,
}

impl Error {
    /// An error about the value at `pointer`, a JSON pointer (RFC 6901; empty: the whole document).
    ///
    /// `found` and `expected` complete the sentence "found .., expected ..". An empty `expected` leaves that part out.
    pub fn new(
        kind: ErrorKind,
        pointer: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self(Box::new(Inner {
            kind,
            key: None,
            pointer: pointer.into(),
            position: None,
            found: found.into(),
            expected: expected.into(),
            is_absent: false,
        }))
    }

    /// An error of this kind about a value of a document.
    pub fn about(at: &At<'_>, kind: ErrorKind, expected: impl Into<String>) -> Self {
        Self::from(at.invalid(expected)).with_kind(kind)
    }

    /// The same error in the document at `key`, unless one is named already.
    #[must_use]
    pub fn in_document(mut self, key: &str) -> Self {
        self.0.key.get_or_insert_with(|| key.to_owned());
        self
    }

    /// The same error, about a value that lies below `pointer`.
    #[must_use]
    pub(crate) fn below(mut self, pointer: &str) -> Self {
        self.0.pointer.insert_str(0, pointer);
        self
    }

    /// The same error with another kind.
    #[must_use]
    pub(crate) fn with_kind(mut self, kind: ErrorKind) -> Self {
        self.0.kind = kind;
        self
    }

    /// The same error, about a dialect that this build lacks.
    #[must_use]
    pub(crate) fn of_absent_dialect(mut self) -> Self {
        self.0.is_absent = true;
        self
    }

    /// The same error at a position in the text of the document.
    #[must_use]
    pub(crate) fn at_position(mut self, position: Position) -> Self {
        self.0.position = Some(position);
        self
    }

    /// Refuses documents larger than [`MAX_DOCUMENT_SIZE`].
    pub(crate) fn if_too_large(key: &str, size: usize) -> Result<()> {
        if size <= MAX_DOCUMENT_SIZE {
            return Ok(());
        }
        let expected = format!("at most {MAX_DOCUMENT_SIZE}");
        // It may have more: whoever reads documents stops behind the limit.
        Err(Self::new(ErrorKind::Limit, "", format!("a document of {size} bytes or more"), expected).in_document(key))
    }

    /// Refuses documents with consolidated metadata that are larger than [`MAX_CONSOLIDATED_SIZE`].
    pub(crate) fn if_consolidated_too_large(key: &str, size: usize) -> Result<()> {
        if size <= MAX_CONSOLIDATED_SIZE {
            return Ok(());
        }
        let expected = format!(
            "at most {MAX_CONSOLIDATED_SIZE} with consolidated metadata: consolidate groups below instead, each for itself"
        );
        Err(Self::new(ErrorKind::Limit, "", format!("a document of {size} bytes or more"), expected).in_document(key))
    }

    /// The error for a part of consolidated metadata that is too large: a document in it, which begins at `offset`, or, with 0, the text
    /// around all documents.
    pub(crate) fn part_too_large(key: &str, offset: usize) -> Self {
        let found = match offset {
            0 => format!("a document of {} bytes or more", MAX_DOCUMENT_SIZE + 1),
            _ => format!("an entry of {} bytes or more at byte {offset}", MAX_DOCUMENT_SIZE + 1),
        };
        let expected = format!("at most {MAX_DOCUMENT_SIZE}");
        Self::new(ErrorKind::Limit, "", found, expected).in_document(key)
    }

    /// The kind of this fault.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The key of the document, relative to the root of the store, where there is one.
    pub fn key(&self) -> Option<&str> {
        self.0.key.as_deref()
    }

    /// Where in the document, as a JSON pointer; empty for the document as a whole.
    pub fn pointer(&self) -> &str {
        &self.0.pointer
    }

    /// The line in the document, from 1, for syntax errors.
    pub fn line(&self) -> Option<usize> {
        self.0.position.map(|position| position.line)
    }

    /// The column in the document in bytes, from 1, for syntax errors.
    pub fn column(&self) -> Option<usize> {
        self.0.position.map(|position| position.column)
    }

    /// The offset in the document in bytes, from 0, for syntax errors.
    pub fn offset(&self) -> Option<usize> {
        self.0.position.map(|position| position.offset)
    }

    /// Whether the fault is that this build lacks a dialect: the documents may be sound. See
    /// [`Dialect::is_supported`](crate::Dialect::is_supported).
    pub fn is_absent_dialect(&self) -> bool {
        self.0.is_absent
    }

    /// The value or form found.
    pub fn found(&self) -> &str {
        &self.0.found
    }

    /// The value or form expected; empty where it cannot be said.
    pub fn expected(&self) -> &str {
        &self.0.expected
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { key, pointer, position, found, expected, .. } = &*self.0;
        let mut location = key.clone().unwrap_or_default();
        if let Some(Position { line, column, .. }) = position {
            location.push_str(&format!(":{line}:{column}"));
        }
        if !pointer.is_empty() {
            location.push_str(if location.is_empty() { "" } else { " " });
            location.push_str(pointer);
        }
        if !location.is_empty() {
            write!(f, "{location}: ")?;
        }
        match (found.is_empty(), expected.is_empty()) {
            (false, true) => f.write_str(found),
            (true, _) => write!(f, "expected {expected}"),
            (false, false) => write!(f, "found {found}, expected {expected}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<ValueError> for Error {
    /// An error of kind [`ErrorKind::InvalidMetadata`].
    fn from(error: ValueError) -> Self {
        Self::new(ErrorKind::InvalidMetadata, error.pointer(), error.found(), error.expected())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_where() {
        let error = Error::new(ErrorKind::InvalidMetadata, "/shape/0", "\"4\"", "an integer");
        assert_eq!(error.to_string(), "/shape/0: found \"4\", expected an integer");
        let error = error.in_document("a/zarr.json").in_document("other");
        assert_eq!(error.to_string(), "a/zarr.json /shape/0: found \"4\", expected an integer");
        let position = Position { line: 3, column: 7, offset: 29 };
        let error = Error::new(ErrorKind::InvalidJson, "", "`}`", "").in_document("zarr.json").at_position(position);
        assert_eq!(error.to_string(), "zarr.json:3:7: `}`");
        assert!(Error::if_too_large("k", MAX_DOCUMENT_SIZE).is_ok());
        assert!(Error::if_consolidated_too_large("k", MAX_CONSOLIDATED_SIZE).is_ok());
        let error = Error::if_consolidated_too_large("k", MAX_CONSOLIDATED_SIZE + 1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
        assert!(error.to_string().ends_with("consolidate groups below instead, each for itself"), "{error}");
        assert_eq!(Error::if_too_large("k", MAX_DOCUMENT_SIZE + 1).unwrap_err().kind(), ErrorKind::Limit);
    }
}
