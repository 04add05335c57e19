//! Zarr codec `lz4`: one LZ4 block behind its decoded size, as numcodecs stores it.
//!
//! It is named `numcodecs.lz4` in Zarr v3 and `lz4` in Zarr v2.
//!
//! The size is four bytes, little-endian; neither the LZ4 frame format nor the one of N5 is this format.
//! `acceleration` (1) makes compression faster and weaker. The output is that of the C library, to the byte.
//!
//! Knows no array: bytes in, bytes out.
//!
//! ```
//! use zarr_codec_lz4::Lz4;
//!
//! let codec = Lz4::acceleration(1);
//! let encoded = codec.encode(&[7; 5000])?;
//! assert_eq!(encoded[..4], 5000u32.to_le_bytes());
//! assert!(encoded.len() < 100);
//! assert_eq!(codec.decode(&encoded, 5000)?, [7; 5000]);
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/numcodecs.lz4>,
//! <https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md>
#![warn(clippy::indexing_slicing)]

mod codec;

pub use codec::{CODECS, LZ4, Lz4};

#[cfg(test)]
mod tests;
