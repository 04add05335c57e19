//! The codec by its type.

use crate::TRANSPOSE;
use zarr_codec::{TypedCodec, array_codec};

/// Codec `transpose`: the axes of a chunk in another order.
#[derive(Clone, Debug, PartialEq)]
pub struct Transpose(TypedCodec);

impl Transpose {
    /// Encoded axis `i` is decoded axis `order[i]`; each axis is there once.
    pub fn new(order: impl IntoIterator<Item = usize>) -> Self {
        Self(TypedCodec::new(TRANSPOSE).with("order", order.into_iter().collect::<Vec<_>>()))
    }
}

array_codec!(Transpose);
