//! Zarr codec `bz2`: bzip2 streams.
//!
//! It is named `numcodecs.bz2` in Zarr v3 and `bz2` in Zarr v2.
//!
//! `level` is 1 to 9, the size of blocks in steps of 100 kB; 1 if it is missing, as in numcodecs. Encoded data may consist of several
//! consecutive streams, as pbzip2 makes them. Checksums are verified, and bytes after the last stream are an error.
//!
//! The codec knows no array: it takes and returns bytes.
//!
//! ```
//! use zarr_codec_bz2::Bz2;
//!
//! let codec = Bz2::level(9)?;
//! let encoded = codec.encode(&[7; 5000])?;
//! assert!(encoded.starts_with(b"BZh9") && encoded.len() < 100);
//! assert_eq!(codec.decode(&encoded, 5000)?, [7; 5000]);
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! <https://numcodecs.readthedocs.io/en/stable/compression/bz2.html>
#![warn(clippy::indexing_slicing)]

mod codec;
mod stream;

pub use codec::{BZ2, Bz2, CODECS};

#[cfg(test)]
mod tests;
