//! Faults of a file of references.

use zarr_store::{Error, ErrorKind};

/// A fault of a file of references: the `fault` of [`Error::Format`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReferencesFault {
    /// The text is no JSON, or a value is not of the form that references have.
    #[error("byte {at}: found {found}, expected {expected}")]
    Syntax {
        /// The offset in the file.
        at: u64,
        /// Description of the content that is there.
        found: String,
        /// Description of the content that should be there.
        expected: String,
    },
    /// The version of the format is not known.
    #[error("version {found} of references, expected 0 or 1")]
    Version {
        /// The version.
        found: String,
    },
    /// The file, or a document in another one, is longer than the limit.
    #[error("found {size} bytes, of which at most {limit} are read")]
    TooLong {
        /// The bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// A file of references in Parquet is malformed, or exceeds a limit.
    #[error("{file}: {place}: found {found}, expected {expected}")]
    Record {
        /// The file, in the folder of the references.
        file: String,
        /// The column and the row, or the byte.
        place: String,
        /// Description of the content that is there.
        found: String,
        /// Description of the content that should be there.
        expected: String,
        /// Whether a limit is exceeded.
        is_limit: bool,
    },
    /// A file lies where references may not lead.
    #[error("key {key}: refers to {url}, {reason}")]
    NotAllowed {
        /// The key.
        key: String,
        /// The file.
        url: String,
        /// Why it is not read.
        reason: String,
    },
    /// A document of an array does not say which chunks there are.
    #[error("{key}: {what}")]
    Document {
        /// The key of the document.
        key: String,
        /// The fault.
        what: String,
    },
    /// The file that a document lies in is not there.
    #[error("key {key}: found no file {url}, in which the document lies")]
    NoFile {
        /// The key.
        key: String,
        /// The file.
        url: String,
    },
    /// A template cannot be filled in.
    #[error("template {text:?}: {what}")]
    Template {
        /// The template.
        text: String,
        /// The fault.
        what: String,
    },
    /// Templates are filled in with more text than the size of the file explains.
    #[error("found templates that make texts of more than {limit} bytes, which is the limit for a file of this size")]
    Work {
        /// The limit in bytes.
        limit: u64,
    },
    /// Generated references are more than the limit.
    #[error("found more than {limit} generated references, which is the limit")]
    TooMany {
        /// The limit.
        limit: u64,
    },
}

impl ReferencesFault {
    /// The error of the file with this name.
    #[must_use]
    pub fn of(self, file: impl Into<String>) -> Error {
        let kind = match self {
            Self::TooLong { .. } | Self::TooMany { .. } | Self::Work { .. } => ErrorKind::Limit,
            Self::Record { is_limit: true, .. } => ErrorKind::Limit,
            Self::NotAllowed { .. } => ErrorKind::Denied,
            _ => ErrorKind::Invalid,
        };
        Error::Format { store: file.into(), kind, fault: Box::new(self) }
    }
}
