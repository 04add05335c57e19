//! The codec by its type.

use crate::OPTIONAL;
use zarr_codec::{IntoTypedCodecs, TypedCodec, array_codec};

/// Codec `optional`: which elements are present, and their values.
#[derive(Clone, Debug, PartialEq)]
pub struct Optional(TypedCodec);

impl Optional {
    /// `mask` encodes bools in the shape of the chunk, `data` the elements that are there, as a list.
    pub fn of(mask: impl IntoTypedCodecs, data: impl IntoTypedCodecs) -> Self {
        Self(TypedCodec::new(OPTIONAL).with_codecs("mask_codecs", mask).with_codecs("data_codecs", data))
    }
}

array_codec!(Optional);
