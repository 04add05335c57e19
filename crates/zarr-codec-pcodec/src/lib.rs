//! Zarr codec `pcodec`: the numbers of a chunk, in C order, as a standalone pco file.
//!
//! It is named `numcodecs.pcodec` in Zarr v3 and `pcodec` in Zarr v2, and takes the place of `bytes`: it turns the array
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
//! use zarr_codec::{Codecs, testing};
//!
//! let mut codecs = Codecs::default();
//! codecs.add(zarr_codec_pcodec::PCODEC);
//! let json = r#"[{"name": "numcodecs.pcodec", "configuration": {"level": 8}}]"#;
//! let chain = testing::pipeline(json, &testing::element("int32"), &codecs)?;
//!
//! let items: Vec<u8> = (0..5000i32).flat_map(|number| (number * 10).to_ne_bytes()).collect();
//! let encoded = testing::chunk_round_trip(&chain, &[50, 100], &items);
//! assert!(encoded.starts_with(b"pco!") && encoded.len() < 100);
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! <https://numcodecs.readthedocs.io/en/stable/compression/pcodec.html>,
//! <https://github.com/pcodec/pcodec/blob/main/docs/format.md>
#![warn(clippy::indexing_slicing)]

mod claims;
mod codec;
mod config;
mod numbers;

pub use codec::{CODECS, PCODEC};
pub use config::{Delta, PcodecConfig};

#[cfg(test)]
mod tests;
