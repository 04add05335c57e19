//! Faults of a TIFF file.

use std::fmt;

use zarr_store::{Error, ErrorKind};

use crate::tags::Tag;

/// A fault of a TIFF file: the `fault` of [`Error::Format`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TiffFault {
    /// The first bytes are of no TIFF file.
    #[error("found {found}, expected a TIFF file, which begins with II or MM and 42 or 43")]
    Magic {
        /// The first bytes, as text.
        found: String,
    },
    /// Something outside of the tags is not as the format has it.
    #[error("byte {at}: found {found}, expected {expected}")]
    Structure {
        /// The offset in the file.
        at: u64,
        /// Description of the content that is there.
        found: String,
        /// Description of the content that should be there.
        expected: String,
    },
    /// A tag has a value that the format does not allow.
    #[error("page {page}, tag {tag} at byte {at}: found {found}, expected {expected}")]
    Tag {
        /// The page, counted from 0 in the order of the file.
        page: usize,
        /// The name of the tag and its number.
        tag: String,
        /// The offset of its entry in the file.
        at: u64,
        /// Description of the value.
        found: String,
        /// Description of a value that is allowed.
        expected: String,
    },
    /// A chunk cannot be decoded.
    #[error("array {array}, chunk {chunk} of page {page} of it at byte {at}: {reason}")]
    Chunk {
        /// The path of the array.
        array: String,
        /// The number of the page among those of the array.
        page: u32,
        /// The number of the chunk in the tables of the page.
        chunk: u64,
        /// The offset of its bytes in the file.
        at: u64,
        /// The reason.
        reason: String,
    },
    /// The file was replaced after it was opened.
    #[error("the file was replaced after it was opened")]
    Replaced,
    /// A file has more than a limit allows.
    #[error("found more than {limit} {what}, which is the limit")]
    Limit {
        /// Description of the things that are too many.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
}

impl TiffFault {
    /// The error of the file with this name.
    #[must_use]
    pub fn of(self, file: impl Into<String>) -> Error {
        let kind = match self {
            Self::Limit { .. } => ErrorKind::Limit,
            _ => ErrorKind::Invalid,
        };
        Error::Format { store: file.into(), kind, fault: Box::new(self) }
    }

    pub(crate) fn structure(at: u64, found: impl ToString, expected: impl ToString) -> Self {
        Self::Structure { at, found: found.to_string(), expected: expected.to_string() }
    }

    pub(crate) fn tag(page: usize, tag: Tag, at: u64, found: impl ToString, expected: impl ToString) -> Self {
        Self::Tag { page, tag: tag.to_string(), at, found: found.to_string(), expected: expected.to_string() }
    }
}

/// The reason why a page, or a part of it, is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal(String);

impl Refusal {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An error of the store below, or a fault of the file.
#[derive(Debug)]
pub(crate) enum Failure {
    Store(Error),
    Fault(TiffFault),
}

impl Failure {
    pub(crate) fn of(self, file: &str) -> Error {
        match self {
            Self::Store(error) => error,
            Self::Fault(fault) => fault.of(file),
        }
    }

    /// A fault of a page as the reason why the page is left out. Limits are those of the whole file.
    pub(crate) fn refusal(self) -> Result<Refusal, Self> {
        match self {
            Self::Fault(fault @ (TiffFault::Tag { .. } | TiffFault::Structure { .. })) => {
                Ok(Refusal::new(fault.to_string()))
            }
            failure => Err(failure),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl From<TiffFault> for Failure {
    fn from(fault: TiffFault) -> Self {
        Self::Fault(fault)
    }
}
