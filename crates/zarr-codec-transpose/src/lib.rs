//! Zarr codec `transpose`: the axes of a chunk in another order.
//!
//! The name is `transpose` in Zarr v3. Zarr v2 has the member `order` of the array instead: readers of v2 metadata add this codec to the
//! chain for order `F`.
//!
//! `order` is a permutation of the axes: encoded axis `i` is decoded axis `order[i]`. Drafts of v3, and old versions of zarrita and
//! tensorstore, also used `"C"` (unchanged) and `"F"` (all axes reversed).
//!
//! The codec moves bytes only by copying between views whose axes are permuted.
//!
//! ```
//! use zarr_codec::{Chain, DataType};
//! use zarr_codec_bytes::Bytes;
//! use zarr_codec_transpose::Transpose;
//!
//! let chain = Chain::new(&DataType::UInt8, &[2, 3]).then(Transpose::new([1, 0])?).then(Bytes::little_endian());
//! let codec = chain.build()?;
//! assert_eq!(codec.encode(&[1, 2, 3, 4, 5, 6])?, [1, 4, 2, 5, 3, 6]);
//! assert_eq!(codec.decode(&[1, 4, 2, 5, 3, 6])?, [1, 2, 3, 4, 5, 6]);
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! <https://zarr-specs.readthedocs.io/en/latest/v3/codecs/transpose/index.html>
#![warn(clippy::indexing_slicing)]

mod codec;

pub use codec::{CODECS, TRANSPOSE, Transpose};

#[cfg(test)]
mod tests;
