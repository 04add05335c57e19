//! Faults of references.

use zarr_store::{Error, ErrorKind};

/// Fault of references: the `fault` of [`Error::Format`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReferencesFault {
    /// The file is not JSON, or a value does not have the form of a reference.
    #[error("byte {at}: found {found}, expected {expected}")]
    Syntax {
        /// Offset in the file, in bytes.
        at: u64,
        /// Description of the content at the offset.
        found: String,
        /// Description of the content that the format requires at the offset.
        expected: String,
    },
    /// The version of the format is not supported.
    #[error("version {found} of references, expected 0 or 1")]
    Version {
        /// Version as the file has it.
        found: String,
    },
    /// The file of references is larger than the limit, or the documents in other files are larger together.
    #[error("found {size} bytes, of which at most {limit} are read")]
    TooLong {
        /// Number of bytes that were found.
        size: u64,
        /// Maximum number of bytes that are read.
        limit: u64,
    },
    /// A file of references in Parquet is invalid, or exceeds a limit.
    #[error("{file}: {place}: found {found}, expected {expected}")]
    Record {
        /// Path of the file in the folder of the references.
        file: String,
        /// Column and row in the file, or offset in bytes.
        place: String,
        /// Description of the content at the place.
        found: String,
        /// Description of the content that is expected at the place.
        expected: String,
        /// Whether a limit is exceeded, and the file may be valid.
        is_limit: bool,
    },
    /// A reference names a file that it must not name.
    #[error("key {key}: refers to {url}, {reason}")]
    NotAllowed {
        /// Key of the reference.
        key: String,
        /// URL of the file.
        url: String,
        /// Reason why the file is not read.
        reason: String,
    },
    /// The document of an array is invalid, or has a chunk grid or chunk key encoding that is not supported.
    #[error("{key}: {what}")]
    Document {
        /// Key of the document, or the prefix of its array.
        key: String,
        /// Description of the fault.
        what: String,
    },
    /// The file that contains a document does not exist.
    #[error("key {key}: found no file {url}, in which the document lies")]
    NoFile {
        /// Key of the document.
        key: String,
        /// URL of the file.
        url: String,
    },
    /// An expression of a template is invalid.
    #[error("template {text:?}: {what}")]
    Template {
        /// Beginning of the template.
        text: String,
        /// Description of the fault.
        what: String,
    },
    /// Filled-in templates, or the URLs made of them, have more bytes than the size of the file allows.
    #[error("found templates that make texts of more than {limit} bytes, which is the limit for a file of this size")]
    Work {
        /// Maximum number of bytes of filled-in templates.
        limit: u64,
    },
    /// The generators of the file make more references than the limit.
    #[error("found more than {limit} generated references, which is the limit")]
    TooMany {
        /// Maximum number of generated references.
        limit: u64,
    },
}

impl ReferencesFault {
    /// Makes an [`Error`] from the fault, in the file named `file`.
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
