//! Zarr codec `pcodec`: the numbers of a chunk, in C order, as a standalone pco file.
//!
//! The name is `numcodecs.pcodec` in Zarr v3 and `pcodec` in Zarr v2. The codec turns the array into bytes, so no codec `bytes` is needed.
//! Elements are integers or floats of 16, 32 or 64 bits, including dates and durations.
//!
//! | member | means | default |
//! |---|---|---|
//! | `level` | 0 (fast) to 12 (small) | 8 |
//! | `mode_spec` | `auto`, or `classic`: numbers are not split into multiples of a number and a rest | `auto` |
//! | `delta_spec` | `auto`, `no_op` (or `none`), `try_consecutive`, `try_lookback` | `auto` |
//! | `delta_encoding_order` | number of times that differences are taken, 0 to 7, with `try_consecutive`; `auto` with this member means `try_consecutive` | |
//! | `paging_spec` | `equal_pages_up_to` | |
//! | `equal_pages_up_to` | maximum number of numbers in a part that is compressed on its own | 262144 |
//!
//! No member matters for decoding. A file must contain exactly the numbers of the chunk, of their type, and nothing may follow.
//!
//! The codec has no byte order: numbers are native in memory, and in the file as pco defines.
//!
//! ```
//! use zarr_codec::{Chain, DataType};
//! use zarr_codec_pcodec::Pcodec;
//!
//! let codec = Chain::new(&DataType::Int32, &[50, 100]).then(Pcodec::level(8)?).build()?;
//! let numbers: Vec<i32> = (0..5000).map(|number| number * 10).collect();
//! let encoded = codec.encode_elements(&numbers)?;
//! assert!(encoded.starts_with(b"pco!") && encoded.len() < 100);
//! assert_eq!(codec.decode_elements::<i32>(&encoded)?, numbers);
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! <https://numcodecs.readthedocs.io/en/stable/compression/pcodec.html>,
//! <https://github.com/pcodec/pcodec/blob/main/docs/format.md>
#![warn(clippy::indexing_slicing)]

mod claims;
mod codec;
mod numbers;

pub use codec::{CODECS, Delta, PCODEC, Pcodec};

#[cfg(test)]
mod tests;
