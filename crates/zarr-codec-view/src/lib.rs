//! Zarr codec `array_view`: codecs of arrays behind codecs of bytes, or for elements of another type.
//!
//! Filters of numcodecs take any bytes for a one-dimensional array of the type that they name, `ndarray.view` of numpy. So
//! version 2 has chains such as `shuffle` and then `delta`, or `delta` with `dtype` `<i4` in an array of `<i2`, which no chain
//! of codecs of arrays, then of bytes can say. This codec of bytes says it: what `bytes_codecs` make of elements of `data_type`
//! is encoded by `codecs` instead.
//!
//! It is a part of the model for what version 2 stores, and is in no document: `zarr-meta` makes it from filters, and filters
//! from it.
//!
//! Knows no other codec: those that it applies are looked up in the table.
//!
//! ```
//! use zarr_codec::{Codecs, View, testing};
//!
//! let mut codecs = Codecs::default();
//! codecs.add(zarr_codec_view::ARRAY_VIEW);
//! # codecs.add(zarr_codec_bytes::BYTES);
//! # codecs.add(zarr_codec_numeric::DELTA);
//! let list = r#"[{"name": "bytes", "configuration": {"endian": "little"}},
//!                {"name": "array_view", "configuration": {
//!                    "data_type": "uint8", "bytes_codecs": [{"name": "bytes"}],
//!                    "codecs": [{"name": "numcodecs.delta", "configuration": {"dtype": "|u1"}}, {"name": "bytes"}]}}]"#;
//! let chain = testing::pipeline(list, &testing::element("uint16"), &codecs)?;
//! let items: Vec<u8> = [0x0201_u16, 0x0503].iter().flat_map(|item| item.to_ne_bytes()).collect();
//! assert_eq!(testing::chunk_round_trip(&chain, &[2], &items), [1, 1, 1, 2]);
//! # Ok::<(), zarr_codec::Error>(())
//! ```
#![warn(clippy::indexing_slicing)]

mod codec;

pub use codec::{ARRAY_VIEW, CODECS};

#[cfg(test)]
mod tests;
