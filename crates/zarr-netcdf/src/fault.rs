//! Faults of a netCDF file.

use zarr_store::{Error, ErrorKind};

/// A fault of a netCDF file: the `fault` of [`Error::Format`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NetcdfFault {
    /// The first bytes are of no netCDF-3 file.
    #[error("found {found}, expected a netCDF-3 file, which begins with CDF and 1, 2 or 5")]
    Magic {
        /// The first bytes, as text.
        found: String,
    },
    /// Something in the header is not as the format has it.
    #[error("byte {at} of the header: found {found}, expected {expected}")]
    Header {
        /// The offset in the file.
        at: u64,
        /// Description of the content that is there.
        found: String,
        /// Description of the content that should be there.
        expected: String,
    },
    /// The file ends within its header.
    #[error("byte {at}: the file ends within its header")]
    Truncated {
        /// The size of the file in bytes.
        at: u64,
    },
    /// The header is longer than the limit.
    #[error("found a header of more than {limit} bytes, which is the limit")]
    TooLong {
        /// The limit in bytes.
        limit: u64,
    },
    /// A variable has more bytes than there are numbers for.
    #[error("variable {name:?}: its size is no number of 64 bits")]
    TooLarge {
        /// The variable.
        name: String,
    },
    /// A variable has more chunks than the file has bytes left for.
    #[error("variable {name:?}: found {count} chunks, more than a file of {size} bytes has")]
    TooManyChunks {
        /// The variable.
        name: String,
        /// Number of its chunks.
        count: u64,
        /// The size of the file in bytes.
        size: u64,
    },
    /// The documents of the variables would be longer than the limit.
    #[error("found variables whose documents take more than {limit} bytes, which is the limit")]
    Documents {
        /// The limit in bytes.
        limit: u64,
    },
    /// Two variables have one name.
    #[error("variable {name:?}: found two of this name")]
    Twice {
        /// The variable.
        name: String,
    },
}

impl NetcdfFault {
    /// The error of the file with this name.
    #[must_use]
    pub fn of(self, file: impl Into<String>) -> Error {
        let kind = match self {
            Self::TooLong { .. } | Self::Documents { .. } => ErrorKind::Limit,
            _ => ErrorKind::Invalid,
        };
        Error::Format { store: file.into(), kind, fault: Box::new(self) }
    }
}
