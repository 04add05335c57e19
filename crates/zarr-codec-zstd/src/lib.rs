//! Zarr codec `zstd`: Zstandard frames.
//!
//! It is named `zstd` in Zarr v3 and v2, and `numcodecs.zstd` where numcodecs is used with Zarr v3.
//!
//! `level` is -131072 (fastest) to 22 (smallest); 0, or none, is the library's default of 3. With `checksum` a checksum is
//! stored with the data; it is verified wherever there is one. Data may be several frames in a row, with frames to be
//! skipped among them, and need not say how large it is. Bytes that are no frame are an error.
//!
//! Knows no array: bytes in, bytes out.
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
