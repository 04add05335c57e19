//! The codec by its type.

use crate::CONDITIONAL;
use zarr_codec::{IntoTypedCodecs, TypedCodec, bytes_codec};

/// Codec `conditional`: codecs of bytes that each chunk may leave out.
#[derive(Clone, Debug, PartialEq)]
pub struct Conditional(TypedCodec);

impl Conditional {
    /// These codecs, where they make a chunk shorter.
    pub fn of(codecs: impl IntoTypedCodecs) -> Self {
        Self(TypedCodec::new(CONDITIONAL).with_codecs("codecs", codecs))
    }

    /// With a header of so many bits, a multiple of 8.
    #[must_use]
    pub fn header_bits(self, bits: usize) -> Self {
        Self(self.0.with("header_bits", bits))
    }
}

bytes_codec!(Conditional);
