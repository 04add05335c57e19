//! The codec by its type.

use crate::N5_DEFAULT;
use zarr_codec::{IntoTypedCodecs, TypedCodec, array_codec};

/// Codec `n5_default`: blocks of N5.
#[derive(Clone, Debug, PartialEq)]
pub struct N5Default(TypedCodec);

impl N5Default {
    /// Blocks that these codecs encode: `transpose` with all axes reversed, `bytes` (big-endian), and at most one compressor.
    pub fn of(codecs: impl IntoTypedCodecs) -> Self {
        Self(TypedCodec::new(N5_DEFAULT).with_codecs("codecs", codecs))
    }
}

array_codec!(N5Default);
