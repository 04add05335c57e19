//! The codec by its type.

use crate::ARRAY_VIEW;
use zarr_codec::{IntoTypedCodecs, TypedCodec, bytes_codec};
use zarr_dtype::DataType;

/// Codec `array_view`: bytes as an array of one axis, encoded by codecs of arrays.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayView(TypedCodec);

impl ArrayView {
    /// `bytes_codecs` decode the bytes to elements of `data_type`, and `codecs` encode these instead.
    pub fn of(data_type: &DataType, bytes_codecs: impl IntoTypedCodecs, codecs: impl IntoTypedCodecs) -> Self {
        let codec = TypedCodec::new(ARRAY_VIEW).with("data_type", data_type.to_config().short_value());
        Self(codec.with_codecs("bytes_codecs", bytes_codecs).with_codecs("codecs", codecs))
    }
}

bytes_codec!(ArrayView);
