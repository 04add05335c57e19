//! The codec by its type.

use crate::BYTES;
use zarr_codec::{TypedCodec, array_codec};

/// Codec `bytes`: the elements of a chunk in C order, in a byte order.
#[derive(Clone, Debug, PartialEq)]
pub struct Bytes(TypedCodec);

impl Bytes {
    /// Numbers begin with their lowest byte.
    pub fn little_endian() -> Self {
        Self(TypedCodec::new(BYTES).with("endian", "little"))
    }

    /// Numbers begin with their highest byte.
    pub fn big_endian() -> Self {
        Self(TypedCodec::new(BYTES).with("endian", "big"))
    }
}

array_codec!(Bytes);
