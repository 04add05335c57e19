//! Zarr codec `shuffle`: the first bytes of all elements, then the second ones, and so on.
//!
//! It is named `numcodecs.shuffle` in Zarr v3 and `shuffle` in Zarr v2.
//!
//! `elementsize` is the number of bytes of an element; if it is missing it is that of the array's elements. Nothing
//! moves where it is 0 or 1. Bytes beyond the last whole element stay where they are, as HDF5 and NCZarr have it;
//! numcodecs knows whole elements only, so no others are written.
//!
//! Knows no array: bytes in, bytes out.
//!
//! ```
//! use zarr_codec::{Size, testing};
//!
//! let codec = testing::bytes_to_bytes(&zarr_codec_shuffle::SHUFFLE, r#"{"elementsize": 2}"#, &testing::element("int16"));
//! let mut encoded = Vec::new();
//! codec.encode(b"a1b2c3", &mut encoded)?;
//! assert_eq!(encoded, b"abc123");
//! assert_eq!(testing::decode_bytes(&*codec, &encoded, Size::Exact(6))?, b"a1b2c3");
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! <https://numcodecs.readthedocs.io/en/stable/filter/shuffle.html>
#![warn(clippy::indexing_slicing)]

mod codec;

pub use codec::{CODECS, SHUFFLE, ShuffleConfig};

#[cfg(test)]
mod tests;
