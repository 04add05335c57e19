//! The formats of compressed data, and their checksums.

/// The name in errors.
pub(crate) const NAME: &str = "lzma";

/// The container of the compressed data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Headers, checksums and an index, by the xz specification.
    Xz,
    /// A header of 13 bytes: the older `.lzma` files.
    Alone,
    /// Nothing: filters come from the metadata.
    Raw,
}

/// The checksum of data in [`Format::Xz`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// None.
    None,
    /// CRC-32.
    Crc32,
    /// CRC-64 of ECMA-182.
    Crc64,
    /// SHA-256.
    Sha256,
}

impl Format {
    /// The number in metadata, as in Python.
    pub(crate) fn number(self) -> i64 {
        match self {
            Self::Xz => 1,
            Self::Alone => 2,
            Self::Raw => 3,
        }
    }
}

impl Check {
    /// The number in metadata, as in Python.
    pub(crate) fn number(self) -> i64 {
        match self {
            Self::None => 0,
            Self::Crc32 => 1,
            Self::Crc64 => 4,
            Self::Sha256 => 10,
        }
    }
}
