//! Zarr codec `shuffle`: the first bytes of all elements, then the second bytes of all elements, and so on.
//!
//! The name is `numcodecs.shuffle` in Zarr v3 and `shuffle` in Zarr v2.
//!
//! `elementsize` is the number of bytes of an element, by default that of the elements of the array. With 0 or 1 no byte moves. When
//! decoding, bytes after the last whole element stay in place, as in HDF5 and NCZarr; encoding refuses data with such bytes, since
//! numcodecs supports only whole elements.
//!
//! The codec knows no array: it takes and returns bytes.
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
