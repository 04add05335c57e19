//! Errors: reasons why a document or a path is refused.

use std::fmt;
use zarr_json::pointer::{At, ValueError};

/// The result of an operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Maximum size of a metadata document that is parsed, in bytes: 16 MiB.
///
/// Real documents stay below 100 KiB. Consolidated metadata has its own limit, [`MAX_CONSOLIDATED_SIZE`].
pub const MAX_DOCUMENT_SIZE: usize = 16 << 20;

/// Maximum size of a document with consolidated metadata that is parsed, in bytes: 256 MiB, enough for 300,000 nodes. Each entry, and the
/// text around all entries, is limited by [`MAX_DOCUMENT_SIZE`].
pub const MAX_CONSOLIDATED_SIZE: usize = 256 << 20;

/// Kind of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The document is not JSON.
    InvalidJson,
    /// A required member is missing, or a member has an invalid value.
    InvalidMetadata,
    /// The document has a member that no version of the format defines and that must not be ignored.
    UnknownMember,
    /// The document uses an unknown data type, codec, storage transformer or other extension.
    UnknownExtension,
    /// The document has a version of Zarr that is not supported.
    UnsupportedVersion,
    /// A node path or name is not allowed.
    Path,
    /// The requested dialect cannot express the node.
    NotExpressible,
    /// The document is larger than [`MAX_DOCUMENT_SIZE`] or [`MAX_CONSOLIDATED_SIZE`], or the array that it describes has more than 1,000
    /// dimensions.
    Limit,
}

/// Error with its kind, the key of the document, and the location in the document.
///
/// Displayed as `KEY:LINE:COLUMN POINTER: found .., expected ..`; unknown parts are left out.
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
    /// Line number, from 1.
    pub(crate) line: usize,
    /// Column in bytes, from 1.
    pub(crate) column: usize,
    /// Offset in bytes, from 0.
    pub(crate) offset: usize,
}

impl Error {
    /// Creates an error about the value at `pointer`, a JSON pointer (RFC 6901; empty: the whole document).
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

    /// Creates an error of the given kind about the value at a position in a document.
    pub fn about(at: &At<'_>, kind: ErrorKind, expected: impl Into<String>) -> Self {
        Self::from(at.invalid(expected)).with_kind(kind)
    }

    /// Sets the key of the document, unless the error has a key already.
    #[must_use]
    pub fn in_document(mut self, key: &str) -> Self {
        self.0.key.get_or_insert_with(|| key.to_owned());
        self
    }

    /// Puts `pointer` in front of the error's JSON pointer.
    #[must_use]
    pub(crate) fn below(mut self, pointer: &str) -> Self {
        self.0.pointer.insert_str(0, pointer);
        self
    }

    /// Replaces the kind of the error.
    #[must_use]
    pub(crate) fn with_kind(mut self, kind: ErrorKind) -> Self {
        self.0.kind = kind;
        self
    }

    /// Marks the error as one about a dialect that this build lacks.
    #[must_use]
    pub(crate) fn of_absent_dialect(mut self) -> Self {
        self.0.is_absent = true;
        self
    }

    /// Sets the position in the text of the document.
    #[must_use]
    pub(crate) fn at_position(mut self, position: Position) -> Self {
        self.0.position = Some(position);
        self
    }

    /// Returns an error if `size`, the size of the document at `key` in bytes, exceeds [`MAX_DOCUMENT_SIZE`].
    pub(crate) fn if_too_large(key: &str, size: usize) -> Result<()> {
        if size <= MAX_DOCUMENT_SIZE {
            return Ok(());
        }
        let expected = format!("at most {MAX_DOCUMENT_SIZE}");
        // It may have more: whoever reads documents stops behind the limit.
        Err(Self::new(ErrorKind::Limit, "", format!("a document of {size} bytes or more"), expected).in_document(key))
    }

    /// Returns an error if `size`, the size in bytes of a document with consolidated metadata, exceeds [`MAX_CONSOLIDATED_SIZE`].
    pub(crate) fn if_consolidated_too_large(key: &str, size: usize) -> Result<()> {
        if size <= MAX_CONSOLIDATED_SIZE {
            return Ok(());
        }
        let expected = format!(
            "at most {MAX_CONSOLIDATED_SIZE} with consolidated metadata: consolidate groups below instead, each for itself"
        );
        Err(Self::new(ErrorKind::Limit, "", format!("a document of {size} bytes or more"), expected).in_document(key))
    }

    /// Returns the error for a part of consolidated metadata that is too large: the entry at byte `offset`, or the text around all entries
    /// if `offset` is 0.
    pub(crate) fn part_too_large(key: &str, offset: usize) -> Self {
        let found = match offset {
            0 => format!("a document of {} bytes or more", MAX_DOCUMENT_SIZE + 1),
            _ => format!("an entry of {} bytes or more at byte {offset}", MAX_DOCUMENT_SIZE + 1),
        };
        let expected = format!("at most {MAX_DOCUMENT_SIZE}");
        Self::new(ErrorKind::Limit, "", found, expected).in_document(key)
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the key of the document, relative to the root of the store; `None` if the error is not about a document.
    pub fn key(&self) -> Option<&str> {
        self.0.key.as_deref()
    }

    /// Returns the JSON pointer to the faulty value in the document; empty for the whole document.
    pub fn pointer(&self) -> &str {
        &self.0.pointer
    }

    /// Returns the line in the document, from 1; `None` unless it is a syntax error.
    pub fn line(&self) -> Option<usize> {
        self.0.position.map(|position| position.line)
    }

    /// Returns the column in the document in bytes, from 1; `None` unless it is a syntax error.
    pub fn column(&self) -> Option<usize> {
        self.0.position.map(|position| position.column)
    }

    /// Returns the offset in the document in bytes, from 0; `None` unless it is a syntax error.
    pub fn offset(&self) -> Option<usize> {
        self.0.position.map(|position| position.offset)
    }

    /// Returns whether the reason is that this build lacks a dialect, so that the documents may be valid. See
    /// [`Dialect::is_supported`](crate::Dialect::is_supported).
    pub fn is_absent_dialect(&self) -> bool {
        self.0.is_absent
    }

    /// Returns the value or form that was found.
    pub fn found(&self) -> &str {
        &self.0.found
    }

    /// Returns the value or form that was expected; empty if there is no short description.
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
    /// Converts a [`ValueError`] into an error of kind [`ErrorKind::InvalidMetadata`].
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
