//! The codec by its type.

use crate::LZ4;
use zarr_codec::{TypedCodec, bytes_codec};

/// Codec `lz4`.
#[derive(Clone, Debug, PartialEq)]
pub struct Lz4(TypedCodec);

impl Lz4 {
    /// Compression at acceleration 1. Decodes any block.
    pub fn new() -> Self {
        Self(TypedCodec::new(LZ4))
    }

    /// Compression that is so much faster and weaker; less than 1 counts as 1.
    pub fn acceleration(acceleration: i64) -> Self {
        Self(TypedCodec::new(LZ4).with("acceleration", acceleration))
    }
}

impl Default for Lz4 {
    fn default() -> Self {
        Self::new()
    }
}

bytes_codec!(Lz4);
