//! Zarr codecs `gzip` and `zlib`: deflate in either of its two usual wrappings.
//!
//! | codec | Zarr v3 | numcodecs in Zarr v3 | Zarr v2 | format |
//! |---|---|---|---|---|
//! | [`GZIP`] | `gzip` | `numcodecs.gzip` | `gzip` | RFC 1952 |
//! | [`ZLIB`] | | `numcodecs.zlib` | `zlib` | RFC 1950 |
//!
//! `level` is 0 (stored) to 9 (smallest), 1 if it is missing, as in numcodecs; its -1 stands for 6. Gzip data may be
//! several members in a row, as bgzip makes them. Checksums and lengths are verified, and bytes after the last member, or
//! after a zlib stream, are an error. Where a zlib stream is expected and gzip data are found, these are decoded.
//!
//! With the feature `libdeflate`, chunks are compressed by that library, in C, and decompressed by it where their size is
//! known: faster, and in other bytes of about the same number. Streams that it does not take are decoded without it, so
//! that their faults are reported in the same words. Only streams that break the rules for symbols that must not occur,
//! and have the right checksum all the same, are taken with it and refused without.
//!
//! Knows no array: bytes in, bytes out.
//!
//! ```
//! use zarr_codec_gzip::{Gzip, Zlib};
//!
//! let codec = Gzip::level(5)?;
//! let encoded = codec.encode(&[7; 5000])?;
//! assert!(encoded.len() < 100);
//! assert_eq!(codec.decode(&encoded, 5000)?, [7; 5000]);
//!
//! let encoded = Zlib::level(1)?.encode(b"zarr")?;
//! let mut buffer = [0; 10];
//! assert_eq!(Zlib::level(1)?.decode_into(&encoded, &mut buffer)?, 4);
//! assert!(buffer.starts_with(b"zarr"));
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! <https://zarr-specs.readthedocs.io/en/latest/v3/codecs/gzip/index.html>,
//! <https://numcodecs.readthedocs.io/en/stable/compression/zlib.html>
#![warn(clippy::indexing_slicing)]

mod codecs;
#[cfg(not(feature = "libdeflate"))]
mod deflate;
mod gzip;
mod inflate;
mod level;
#[cfg(feature = "libdeflate")]
mod libdeflate;
mod zlib;

pub use codecs::CODECS;
pub use gzip::{GZIP, Gzip};
pub use zlib::{ZLIB, Zlib};

#[cfg(test)]
mod tests;
