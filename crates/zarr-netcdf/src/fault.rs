//! Faults of netCDF-3 files.

use zarr_store::{Error, ErrorKind};

/// Fault of a netCDF-3 file: the `fault` of [`Error::Format`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NetcdfFault {
    /// The file does not begin as a netCDF-3 file does.
    #[error("found {found}, expected a netCDF-3 file, which begins with CDF and 1, 2 or 5")]
    Magic {
        /// First bytes of the file as a string literal, or their number if the file has too few.
        found: String,
    },
    /// A part of the header is invalid, or the file was replaced while its header was read.
    #[error("byte {at} of the header: found {found}, expected {expected}")]
    Header {
        /// Offset in the file, in bytes.
        at: u64,
        /// Description of the content at the offset.
        found: String,
        /// Description of the content that the format requires at the offset.
        expected: String,
    },
    /// The file ends within its header.
    #[error("byte {at}: the file ends within its header")]
    Truncated {
        /// Size of the file in bytes.
        at: u64,
    },
    /// The header is longer than the limit.
    #[error("found a header of more than {limit} bytes, which is the limit")]
    TooLong {
        /// Maximum size of a header in bytes.
        limit: u64,
    },
    /// The size in bytes of a variable, or of the records of the file, does not fit into 64 bits.
    #[error("variable {name:?}: its size is no number of 64 bits")]
    TooLarge {
        /// Name of the variable.
        name: String,
    },
    /// The variables up to this one have more chunks than the file has bytes.
    #[error("variable {name:?}: found {count} chunks, more than a file of {size} bytes has")]
    TooManyChunks {
        /// Name of the variable.
        name: String,
        /// Number of chunks of the variable.
        count: u64,
        /// Size of the file in bytes.
        size: u64,
    },
    /// The documents of the group and its arrays would need more memory than the limit.
    #[error("found variables whose documents take more than {limit} bytes, which is the limit")]
    Documents {
        /// Maximum number of bytes of memory of the documents.
        limit: u64,
    },
    /// Two variables have the same name.
    #[error("variable {name:?}: found two of this name")]
    Twice {
        /// Name of the variables.
        name: String,
    },
}

impl NetcdfFault {
    /// Makes an [`Error`] from the fault, in the file named `file`.
    #[must_use]
    pub fn of(self, file: impl Into<String>) -> Error {
        let kind = match self {
            Self::TooLong { .. } | Self::Documents { .. } => ErrorKind::Limit,
            _ => ErrorKind::Invalid,
        };
        Error::Format { store: file.into(), kind, fault: Box::new(self) }
    }
}
