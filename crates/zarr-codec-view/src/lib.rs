//! Zarr codec `array_view`: codecs of arrays behind codecs of bytes, or for elements of another type.
//!
//! Filters of numcodecs take any bytes for a one-dimensional array of the type that they name, `ndarray.view` of numpy. So
//! version 2 has chains such as `shuffle` and then `delta`, or `delta` with `dtype` `<i4` in an array of `<i2`, which
//! no chain of codecs of arrays, then of bytes can express. This codec of bytes expresses it: `bytes_codecs` decode the
//! bytes to elements of `data_type`, and `codecs` encode these instead.
//!
//! It is a part of the model for chains of version 2, and is in no document: `zarr-meta` makes it from filters, and
//! filters from it.
//!
//! This crate depends on no other codec: the table has the codecs that it applies.
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
