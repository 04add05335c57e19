//! The formats of compressed data, and their checksums.

/// Name of the codec in errors.
pub(crate) const NAME: &str = "lzma";

/// Container of the compressed data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// xz format: headers, checksums and an index.
    Xz,
    /// Format of the older `.lzma` files: a header of 13 bytes.
    Alone,
    /// No container: the filters come from the metadata.
    Raw,
}

/// Checksum of data in [`Format::Xz`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Container without a checksum.
    None,
    /// Checksum CRC-32.
    Crc32,
    /// Checksum CRC-64 of ECMA-182.
    Crc64,
    /// Hash SHA-256.
    Sha256,
}

impl Format {
    /// Returns the number of the format in metadata, as in Python.
    pub(crate) fn number(self) -> i64 {
        match self {
            Self::Xz => 1,
            Self::Alone => 2,
            Self::Raw => 3,
        }
    }
}

impl Check {
    /// Returns the number of the checksum in metadata, as in Python.
    pub(crate) fn number(self) -> i64 {
        match self {
            Self::None => 0,
            Self::Crc32 => 1,
            Self::Crc64 => 4,
            Self::Sha256 => 10,
        }
    }
}
