//! The codecs by their types.

use crate::{GZIP, ZLIB};
use zarr_codec::{TypedCodec, bytes_codec};

/// Codec `gzip`.
#[derive(Clone, Debug, PartialEq)]
pub struct Gzip(TypedCodec);

impl Gzip {
    /// Compression at level 5. Decodes any stream.
    pub fn new() -> Self {
        Self(TypedCodec::new(GZIP))
    }

    /// Compression at `level`, 0 (stored) to 9 (smallest).
    pub fn level(level: u32) -> Self {
        Self(TypedCodec::new(GZIP).with("level", level))
    }
}

impl Default for Gzip {
    fn default() -> Self {
        Self::new()
    }
}

bytes_codec!(Gzip);

/// Codec `zlib`.
#[derive(Clone, Debug, PartialEq)]
pub struct Zlib(TypedCodec);

impl Zlib {
    /// Compression at level 1. Decodes any stream.
    pub fn new() -> Self {
        Self(TypedCodec::new(ZLIB))
    }

    /// Compression at `level`, 0 (stored) to 9 (smallest).
    pub fn level(level: u32) -> Self {
        Self(TypedCodec::new(ZLIB).with("level", level))
    }
}

impl Default for Zlib {
    fn default() -> Self {
        Self::new()
    }
}

bytes_codec!(Zlib);
