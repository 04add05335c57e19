//! Zarr codecs that change numbers: filters of numcodecs, and what Zarr v3 has in their place.
//!
//! | codec | Zarr v3 | numcodecs in Zarr v3 | Zarr v2 | elements |
//! |---|---|---|---|---|
//! | [`DELTA`] | | `numcodecs.delta` | `delta` | integers, floats, complex numbers, lengths of time |
//! | [`FIXED_SCALE_OFFSET`] | | `numcodecs.fixedscaleoffset` | `fixedscaleoffset` | integers, floats |
//! | [`SCALE_OFFSET`] | `scale_offset` | | | integers, floats |
//! | [`QUANTIZE`] | | `numcodecs.quantize` | `quantize` | float16, float32, float64 |
//! | [`BITROUND`] | `bitround` | `numcodecs.bitround` | `bitround` | integers, floats, complex numbers, times |
//! | [`ASTYPE`] | | `numcodecs.astype` | `astype` | bools, integers, floats, complex numbers, times |
//! | [`CAST_VALUE`] | `cast_value` | | | integers, floats |
//!
//! What numcodecs has is computed as numpy does, bit by bit. Its members `dtype`, `astype`, `encode_dtype` and `decode_dtype`
//! are type strings of numpy (`"<f4"`) or names (`"float32"`); the type of the array stands for a missing one. Their byte
//! order does not matter: encoded elements are stored in that of the codec `bytes`. The fill value goes through each codec as
//! an element does, so that shards behind it find theirs.
//!
//! Keeps shapes: a codec that changes how many elements there are is elsewhere.
//!
//! ```
//! use zarr_codec::{Codecs, testing};
//!
//! let mut codecs = Codecs::default();
//! codecs.add(zarr_codec_numeric::SCALE_OFFSET);
//! codecs.add(zarr_codec_numeric::CAST_VALUE);
//! # codecs.add(zarr_codec_bytes::BYTES);
//! let json = r#"[{"name": "scale_offset", "configuration": {"offset": 100, "scale": 2}},
//!                {"name": "cast_value", "configuration": {"data_type": "uint8", "out_of_range": "clamp",
//!                                                         "scalar_map": {"encode": [["NaN", 255]], "decode": [[255, "NaN"]]}}},
//!                {"name": "bytes"}]"#;
//! let mut element = testing::element("float32");
//! element.fill = zarr_dtype::FillValue::from_bytes(&element.data_type, &f32::NAN.to_ne_bytes()).expect("a float");
//! let chain = testing::pipeline(json, &element, &codecs)?;
//!
//! let items: Vec<u8> = [100.0_f32, 112.5, f32::NAN, 101.5].iter().flat_map(|value| value.to_ne_bytes()).collect();
//! assert_eq!(testing::chunk_round_trip(&chain, &[4], &items), [0, 25, 255, 3]);
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! ```
//! use zarr_codec::{Codecs, testing};
//!
//! let mut codecs = Codecs::default();
//! codecs.add(zarr_codec_numeric::DELTA);
//! # codecs.add(zarr_codec_bytes::BYTES);
//! let json = r#"[{"name": "numcodecs.delta", "configuration": {"dtype": "<i8", "astype": "|i1"}}, {"name": "bytes"}]"#;
//! let chain = testing::pipeline(json, &testing::element("int64"), &codecs)?;
//!
//! let items: Vec<u8> = [100_i64, 102, 104, 103].iter().flat_map(|value| value.to_ne_bytes()).collect();
//! assert_eq!(testing::chunk_round_trip(&chain, &[2, 2], &items), [100, 2, 2, 255]);
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs>,
//! <https://numcodecs.readthedocs.io/en/stable/filter/index.html>
#![warn(clippy::indexing_slicing)]

mod astype;
mod bitround;
mod cast_value;
mod codecs;
mod config;
mod convert;
mod delta;
mod dtype;
mod filter;
mod fixed_scale_offset;
mod number;
mod quantize;
mod real;
mod scale_offset;

pub use astype::ASTYPE;
pub use bitround::BITROUND;
pub use cast_value::CAST_VALUE;
pub use codecs::CODECS;
pub use delta::DELTA;
pub use fixed_scale_offset::FIXED_SCALE_OFFSET;
pub use quantize::QUANTIZE;
pub use scale_offset::SCALE_OFFSET;

#[cfg(test)]
mod tests;
