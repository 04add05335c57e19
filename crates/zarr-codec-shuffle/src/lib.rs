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
//! use zarr_codec_shuffle::Shuffle;
//!
//! let codec = Shuffle::element_size(4)?;
//! assert_eq!(codec.encode(b"abcdABCD")?, b"aAbBcCdD");
//! assert_eq!(codec.decode(b"aAbBcCdD", 8)?, b"abcdABCD");
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! <https://numcodecs.readthedocs.io/en/stable/filter/shuffle.html>
#![warn(clippy::indexing_slicing)]

mod codec;

pub use codec::{CODECS, SHUFFLE, Shuffle};

#[cfg(test)]
mod tests;
