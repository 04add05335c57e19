//! Zarr codecs `zfp` and `zfpy`: blocks of 4 numbers along each of 1 to 4 axes, at a chosen rate, precision or accuracy, or without loss.
//!
//! | codec | Zarr v3 | Zarr v2 | elements | stored |
//! |---|---|---|---|---|
//! | [`ZFP`] | `zfp`, `zarrs.zfp` | | integers of 8 to 64 bits, floats | the stream |
//! | [`ZFPY`] | `numcodecs.zfpy` | `zfpy` | `int32`, `int64`, `float32`, `float64`, dates | a header and the stream |
//!
//! Both codecs turn the array into bytes, so no codec `bytes` is needed. The last axis of a chunk is the first axis of zfp.
//!
//! Codec `zfp` has a `mode` with parameters: `fixed_rate` with `rate` (bits per number), `fixed_precision` with `precision` (bit planes),
//! `fixed_accuracy` with `tolerance` (the largest error), `reversible`, or `expert` with `minbits`, `maxbits`, `maxprec` and `minexp`.
//! Codec `zfpy` has the numbers 2, 3 and 4 for the first three modes; if the parameter of the mode is missing or negative, compression is
//! without loss. When `zfpy` decodes, the header determines mode and parameters.
//!
//! Integers of 8 and 16 bits are stored as the upper bits of integers of 31 bits, unsigned ones after subtracting half of their range;
//! floats of 16 bits are stored as `float32`. Unsigned integers of 32 and 64 bits are stored as signed integers of the same value, and
//! larger values are refused.
//!
//! The codecs have no byte order: numbers are native in memory, and streams are words of 64 bits, little-endian.
//!
//! ```
//! use zarr_codec::{Chain, DataType};
//! use zarr_codec_zfp::Zfp;
//!
//! let numbers: Vec<f32> = (0..5000_u16).map(f32::from).collect();
//! let codec = Chain::new(&DataType::Float32, &[50, 100]).then(Zfp::reversible()).build()?;
//! let encoded = codec.encode_elements(&numbers)?;
//! assert!(encoded.len() < 10_000);
//! assert_eq!(codec.decode_elements::<f32>(&encoded)?, numbers);
//!
//! // 8 bits for each number.
//! let codec = Chain::new(&DataType::Float32, &[52, 100]).then(Zfp::rate(8.0)?).build()?;
//! assert_eq!(codec.encode_elements(&[1.5_f32; 5200])?.len(), 5200);
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/zfp>,
//! <https://numcodecs.readthedocs.io/en/stable/compression/zfpy.html>, <https://zfp.readthedocs.io/en/latest/modes.html>
#![warn(clippy::indexing_slicing)]

mod bound;
mod codec;
mod form;
mod item;
mod mode;
mod numbers;
mod stream;

pub use codec::{CODECS, ZFP, ZFPY, Zfp, Zfpy};
pub use mode::Mode;

#[cfg(test)]
mod tests;
