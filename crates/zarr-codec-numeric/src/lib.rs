//! Zarr codecs that change numbers: filters of numcodecs, and the codecs that Zarr v3 has instead.
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
//! Codecs of numcodecs compute as numpy, bit for bit. Their members `dtype`, `astype`, `encode_dtype` and `decode_dtype` are type strings
//! of numpy (`"<f4"`) or names (`"float32"`); a missing one is the type of the array. Their byte order is ignored: encoded elements are
//! stored in the order of the codec `bytes`. The fill value is encoded like an element, so that later codecs, such as shards, have the
//! encoded fill value.
//!
//! The codecs do not change the shape of chunks.
//!
//! ```
//! use zarr_codec::{Chain, DataType};
//! use zarr_codec_bytes::Bytes;
//! use zarr_codec_numeric::{CastValue, Delta, ScaleOffset};
//!
//! let cast = CastValue::to(&DataType::UInt8).clamp().encode_as("NaN", 255).decode_as(255, "NaN");
//! let chain = Chain::new(&DataType::Float32, &[4]).then((ScaleOffset::new(100, 2), cast, Bytes::little_endian()));
//! let chain = chain.fill_value(zarr_dtype::FillValue::parse(&DataType::Float32, &"NaN".into()).expect("a float"));
//! let codec = chain.build()?;
//! assert_eq!(codec.encode_elements(&[100.0_f32, 112.5, f32::NAN, 101.5])?, [0, 25, 255, 3]);
//! assert_eq!(codec.decode_elements::<f32>(&[0, 25, 255, 3])?[1], 112.5);
//!
//! let delta = Delta::new().astype(&DataType::Int8)?;
//! let codec = Chain::new(&DataType::Int64, &[2, 2]).then((delta, Bytes::little_endian())).build()?;
//! assert_eq!(codec.encode_elements(&[100_i64, 102, 104, 103])?, [100, 2, 2, 255]);
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

pub use astype::{ASTYPE, AsType};
pub use bitround::{BITROUND, Bitround};
pub use cast_value::{CAST_VALUE, CastValue};
pub use codecs::CODECS;
pub use delta::{DELTA, Delta};
pub use fixed_scale_offset::{FIXED_SCALE_OFFSET, FixedScaleOffset};
pub use quantize::{QUANTIZE, Quantize};
pub use scale_offset::{SCALE_OFFSET, ScaleOffset};

#[cfg(test)]
mod tests;
