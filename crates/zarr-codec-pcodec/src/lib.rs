//! Zarr codec `pcodec`: the numbers of a chunk, in C order, as a standalone pco file.
//!
//! It is named `numcodecs.pcodec` in Zarr v3 and `pcodec` in Zarr v2, and replaces `bytes`: it turns the array
//! into bytes. Elements are integers or floats of 16, 32 or 64 bits, dates and durations included.
//!
//! | member | means | default |
//! |---|---|---|
//! | `level` | 0 (fast) to 12 (small) | 8 |
//! | `mode_spec` | `auto`, or `classic`: numbers as they are, not split into multiples | `auto` |
//! | `delta_spec` | `auto`, `no_op` (or `none`), `try_consecutive`, `try_lookback` | `auto` |
//! | `delta_encoding_order` | 0 to 7, how often differences are taken: with `try_consecutive`, which `auto` then means | |
//! | `paging_spec` | `equal_pages_up_to` | |
//! | `equal_pages_up_to` | most numbers of a part that is compressed on its own | 262144 |
//!
//! None of them matters to decoding. A file must hold exactly the numbers of the chunk, of their type, and nothing may come
//! behind it.
//!
//! Knows no byte order: numbers are native ones in memory, and pco's in the file.
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
