//! Zarr codec `array_view`: codecs of arrays after codecs of bytes, or for elements of another type.
//!
//! Filters of numcodecs interpret any bytes as a one-dimensional array of the type in their configuration, like `ndarray.view` of numpy.
//! Version 2 therefore has chains such as `shuffle` followed by `delta`, or `delta` with `dtype` `<i4` in an array of `<i2`, which no chain
//! of codecs of arrays followed by codecs of bytes can express. This codec of bytes can: `bytes_codecs` decode the bytes to elements of
//! `data_type`, and `codecs` encode the elements.
//!
//! The codec belongs to the model of version 2 chains, and occurs in no document: `zarr-meta` converts filters to this codec and back.
//!
//! This crate depends on no other codec: the codecs to apply come from the table.
//!
//! ```
//! use zarr_codec::DataType;
//! use zarr_codec_bytes::Bytes;
//! use zarr_codec_numeric::Delta;
//! use zarr_codec_view::ArrayView;
//!
//! // Differences of bytes, whatever they were.
//! let codec = ArrayView::of(&DataType::UInt8, Bytes::little_endian(), (Delta::new(), Bytes::little_endian()))?;
//! assert_eq!(codec.encode(&[1, 2, 3, 5])?, [1, 1, 1, 2]);
//! assert_eq!(codec.decode(&[1, 1, 1, 2], 4)?, [1, 2, 3, 5]);
//! # Ok::<(), zarr_codec::Error>(())
//! ```
#![warn(clippy::indexing_slicing)]

mod codec;

pub use codec::{ARRAY_VIEW, ArrayView, CODECS};

#[cfg(test)]
mod tests;
