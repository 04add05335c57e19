//! The codec by its type.

use crate::BZ2;
use zarr_codec::{TypedCodec, bytes_codec};

/// Codec `bz2`.
#[derive(Clone, Debug, PartialEq)]
pub struct Bz2(TypedCodec);

impl Bz2 {
    /// Compression in blocks of 100 kB. Decodes any stream.
    pub fn new() -> Self {
        Self(TypedCodec::new(BZ2))
    }

    /// Compression in blocks of `level` times 100 kB, 1 to 9.
    pub fn level(level: u32) -> Self {
        Self(TypedCodec::new(BZ2).with("level", level))
    }
}

impl Default for Bz2 {
    fn default() -> Self {
        Self::new()
    }
}

bytes_codec!(Bz2);
