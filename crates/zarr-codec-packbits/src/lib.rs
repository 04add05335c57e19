//! Zarr codecs that store numbers of few bits without gaps.
//!
//! | codec | Zarr v3 | numcodecs in Zarr v3 | Zarr v2 | kind | elements | first bit of a byte |
//! |---|---|---|---|---|---|---|
//! | [`PACKBITS`] | `packbits` | | | array to bytes | numbers | the least significant |
//! | [`NUMCODECS_PACKBITS`] | | `numcodecs.packbits` | `packbits` | array to array | bools | the most significant |
//!
//! The register of extensions calls `packbits` with `padding_encoding: "first_byte"` compatible with the filter of numcodecs, and also says
//! that whole types are stored as little-endian bytes. The two statements contradict each other. zarrs follows the second, and so does this
//! crate: the two codecs store bools in different bit orders.
//!
//! Bits are packed one after another, without the run lengths of PackBits in TIFF.
//!
//! ```
//! use zarr_codec::{Chain, DataType};
//! use zarr_codec_bytes::Bytes;
//! use zarr_codec_packbits::{NumcodecsPackbits, Packbits, Padding};
//!
//! let bools = [true, true, false, false, false, false, false, false, true, false];
//! let chain = || Chain::new(&DataType::Bool, &[2, 5]);
//!
//! let codec = chain().then(Packbits::new().padding(Padding::FirstByte)).build()?;
//! let encoded = codec.encode_elements(&bools)?;
//! assert_eq!(encoded, [6, 0b0000_0011, 0b0000_0001]);
//! assert_eq!(codec.decode_elements::<bool>(&encoded)?, bools);
//!
//! let codec = chain().then((NumcodecsPackbits, Bytes::little_endian())).build()?;
//! assert_eq!(codec.encode_elements(&bools)?, [6, 0b1100_0000, 0b1000_0000]);
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/packbits>,
//! <https://numcodecs.readthedocs.io/en/stable/filter/packbits.html>
#![warn(clippy::indexing_slicing)]

mod bits;
mod codec;
mod codecs;
mod filter;
mod packed;
mod padding;
mod partial;
mod positions;

pub use codec::{PACKBITS, Packbits};
pub use codecs::CODECS;
pub use filter::{NUMCODECS_PACKBITS, NumcodecsPackbits};
pub use padding::Padding;

#[cfg(test)]
mod tests;
