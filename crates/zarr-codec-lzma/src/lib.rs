//! Zarr codec `lzma`: the formats of Python's module `lzma`.
//!
//! It is named `numcodecs.lzma` in Zarr v3 and `lzma` in Zarr v2.
//!
//! | member | means | default |
//! |---|---|---|
//! | `format` | 1 xz, 2 lzma-alone, 3 raw: no container around the data | 1 |
//! | `check` | checksum in xz: 0 none, 1 CRC-32, 4 CRC-64, 10 SHA-256, -1 CRC-64 | -1 |
//! | `preset` | 0 (fast) to 9 (small); plus 2^31 for more effort | 6 |
//! | `filters` | filters to apply to the data, instead of a preset; required for raw data | none |
//!
//! Filters are objects with an `id` and options, numbered as in Python and liblzma: 3 delta (`dist`), 4 to 9 the branch converters x86,
//! PowerPC, IA-64, ARM, ARM Thumb and SPARC (`start_offset`), and as the last filter 4611686018427387905 LZMA1 or 33 LZMA2 (`preset`,
//! `dict_size`, `lc`, `lp`, `pb`, `mode`, `nice_len`, `mf`, `depth`).
//!
//! Data in the xz format may consist of several consecutive streams, each followed by zeros. All checksums are verified. Bytes after the
//! end are an error. Dictionaries grow with the decoded bytes, regardless of their size in headers.
//!
//! The codec knows no array: it takes and returns bytes.
//!
//! ```
//! use zarr_codec_lzma::{Format, Lzma};
//!
//! let codec = Lzma::preset(6)?.format(Format::Alone)?;
//! let encoded = codec.encode(&[7; 5000])?;
//! assert!(encoded.len() < 100);
//! assert_eq!(codec.decode(&encoded, 5000)?, [7; 5000]);
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! <https://numcodecs.readthedocs.io/en/stable/compression/lzma.html>,
//! <https://docs.python.org/3/library/lzma.html#specifying-custom-filter-chains>
#![warn(clippy::indexing_slicing)]

mod codec;
mod decode;
mod encode;
mod filter;
mod format;

pub use codec::{CODECS, LZMA, Lzma};
pub use format::{Check, Format};

#[cfg(test)]
mod tests;
