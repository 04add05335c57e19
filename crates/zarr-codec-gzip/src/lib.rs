//! Zarr codecs `gzip` and `zlib`: deflate in its two usual containers.
//!
//! | codec | Zarr v3 | numcodecs in Zarr v3 | Zarr v2 | format |
//! |---|---|---|---|---|
//! | [`GZIP`] | `gzip` | `numcodecs.gzip` | `gzip` | RFC 1952 |
//! | [`ZLIB`] | | `numcodecs.zlib` | `zlib` | RFC 1950 |
//!
//! `level` is 0 (stored) to 9 (smallest), 1 if it is missing, as in numcodecs; -1 in numcodecs means 6. Gzip data may consist of several
//! consecutive members, as bgzip makes them. Checksums and lengths are verified, and bytes after the last member, or after a zlib stream,
//! are an error. The codec `zlib` also decodes gzip data.
//!
//! With the feature `libdeflate`, that C library compresses chunks, and decompresses chunks whose size is known. It is faster, and makes
//! other bytes of about the same number. Streams that it rejects are decoded again without it, so that errors have the same messages. The
//! only difference is that it accepts streams with a correct checksum that use invalid symbols, which are refused without it.
//!
//! The codecs know no array: they take and return bytes.
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
