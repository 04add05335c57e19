//! The codecs by their types.

use crate::{VLEN_ARRAY, VLEN_BYTES, VLEN_UTF8, ZARRS_VLEN, ZARRS_VLEN_V2};
use zarr_codec::{IntoTypedCodecs, TypedCodec, array_codec};
use zarr_dtype::{DataType, npy_descr};

/// Codec `vlen-utf8`: texts, each behind its length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VlenUtf8;

array_codec!(VlenUtf8 = VLEN_UTF8);

/// Codec `vlen-bytes`: byte strings, each behind its length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VlenBytes;

array_codec!(VlenBytes = VLEN_BYTES);

/// Codec `zarrs.vlen_v2`: texts or byte strings, each behind its length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZarrsVlenV2;

array_codec!(ZarrsVlenV2 = ZARRS_VLEN_V2);

/// Codec `vlen-array`: lists of numbers, each behind its length in bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct VlenArray(TypedCodec);

impl VlenArray {
    /// Lists of inner elements of this type, stored little-endian.
    pub fn of(inner: &DataType) -> Self {
        let dtype = npy_descr(inner).unwrap_or_else(|| inner.to_string());
        Self(TypedCodec::new(VLEN_ARRAY).with("dtype", dtype))
    }
}

array_codec!(VlenArray);

/// Codec `zarrs.vlen`: all elements one after another, and apart from them where each begins.
#[derive(Clone, Debug, PartialEq)]
pub struct ZarrsVlen(TypedCodec);

impl ZarrsVlen {
    /// `index` encodes where each element begins, numbers of 32 bits, and `data` the elements as bytes. The index lies in front.
    pub fn of(index: impl IntoTypedCodecs, data: impl IntoTypedCodecs) -> Self {
        let codec = TypedCodec::new(ZARRS_VLEN).with_codecs("index_codecs", index).with_codecs("data_codecs", data);
        Self(codec.with("index_data_type", "uint32"))
    }

    /// With numbers of 64 bits in the index.
    #[must_use]
    pub fn index_of_64_bits(self) -> Self {
        Self(self.0.with("index_data_type", "uint64"))
    }

    /// With the index behind the elements.
    #[must_use]
    pub fn index_at_end(self) -> Self {
        Self(self.0.with("index_location", "end"))
    }
}

array_codec!(ZarrsVlen);
