//! Zarr codecs `reshape`, which gives the same elements another shape and keeps them in C order, and `zarrs.squeeze`, which removes axes of
//! length 1.
//!
//! The member `shape` has an entry for each encoded axis: a length, a list of decoded axes whose lengths are multiplied, or -1, at most
//! once, for the number of elements that is left. Chunks must have exactly the number of elements of that shape. The axes in lists must be
//! where they were among the decoded elements, so that reshaping cannot look like a transpose.
//!
//! No element is moved: a decoded chunk is the encoded chunk with other axes.
//!
//! ```
//! use zarr_codec::{Chain, DataType};
//! use zarr_codec_bytes::Bytes;
//! use zarr_codec_reshape::{Reshape, ReshapeAxis};
//!
//! let reshape = Reshape::to([ReshapeAxis::Axes(vec![0, 1]), ReshapeAxis::Length(3)])?;
//! let chain = |shape: &[u64]| Chain::new(&DataType::UInt8, shape).then((reshape.clone(), Bytes::little_endian()));
//! let codec = chain(&[2, 1, 3]).build()?;
//! assert_eq!(codec.decode(&codec.encode(&[1, 2, 3, 4, 5, 6])?)?, [1, 2, 3, 4, 5, 6]);
//! // The last axis must be 3 long.
//! assert!(chain(&[2, 1, 4]).build().is_err());
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/reshape>
#![warn(clippy::indexing_slicing)]

mod codec;
mod copy;
mod squeeze;

pub use codec::{CODECS, RESHAPE, Reshape, ReshapeAxis};
pub use squeeze::{ZARRS_SQUEEZE, ZarrsSqueeze};

#[cfg(test)]
mod tests;
