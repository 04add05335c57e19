//! Zarr codec `lz4`: one LZ4 block preceded by its decoded size, as numcodecs stores it.
//!
//! It is named `numcodecs.lz4` in Zarr v3 and `lz4` in Zarr v2.
//!
//! The size has four bytes, little-endian. The LZ4 frame format and the LZ4 format of N5 are different formats. A higher `acceleration`
//! (default 1) is faster and compresses less. The output equals that of the C library to the byte.
//!
//! The codec knows no array: it takes and returns bytes.
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
