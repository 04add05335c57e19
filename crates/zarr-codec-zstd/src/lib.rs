//! Zarr codec `zstd`: Zstandard frames.
//!
//! The name is `zstd` in Zarr v3 and v2, and `numcodecs.zstd` if numcodecs is used with Zarr v3.
//!
//! `level` is -131072 (fastest) to 22 (smallest); 0 or a missing level is the default of the library, 3. With `checksum`, a checksum is
//! stored with the data; decoding verifies a checksum whenever there is one. Data may consist of several consecutive frames, with skippable
//! frames among them, and need not state the decoded size. Bytes that are not a frame are an error.
//!
//! The codec knows no array: it takes and returns bytes.
//!
//! ```
//! use zarr_codec_zstd::Zstd;
//!
//! let codec = Zstd::level(5)?.checksum(true);
//! let encoded = codec.encode(&[7; 5000])?;
//! assert!(encoded.len() < 100);
//! assert_eq!(codec.decode(&encoded, 5000)?, [7; 5000]);
//! // No more is decoded than the caller allows.
//! assert!(codec.decode(&encoded, 4999).is_err());
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/zstd>, RFC 8878
#![warn(clippy::indexing_slicing)]

mod codec;
mod decode;
mod encode;

pub use codec::{CODECS, ZSTD, Zstd};

#[cfg(test)]
mod tests;
