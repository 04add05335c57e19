//! The codec by its type.

use crate::SHUFFLE;
use zarr_codec::{TypedCodec, bytes_codec};

/// Codec `shuffle`.
#[derive(Clone, Debug, PartialEq)]
pub struct Shuffle(TypedCodec);

impl Shuffle {
    /// The bytes of elements of `size` bytes, regrouped by their position in the element.
    pub fn element_size(size: usize) -> Self {
        Self(TypedCodec::new(SHUFFLE).with("elementsize", size))
    }
}

bytes_codec!(Shuffle);
