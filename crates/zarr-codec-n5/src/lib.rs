//! Zarr codec `n5_default`: chunks that are blocks of N5, in its default mode.
//!
//! A block is a header and what `codecs` make of the elements: a `transpose` of all axes, `bytes` in big-endian order, and
//! at most one compressor. The header has three big-endian numbers: the mode in 16 bits (0), the number of axes in 16 bits,
//! and the length of each axis in 32 bits. A block may be smaller than the chunk where the array ends; what it lacks is the
//! fill value. It may be larger as well, by up to 16 MiB; what is too much is left
//! out. What is written has the shape of the chunk.
//!
//! The data types are those of N5: integers of 8 to 64 bits, float32 and float64. Blocks of the modes "varlength" and
//! "object" are errors.
//!
//! Knows nothing of N5's metadata: the array has a document of Zarr.
//!
//! ```
//! use zarr_codec::{Codecs, View, testing};
//!
//! let mut codecs = Codecs::default();
//! [zarr_codec_n5::N5_DEFAULT, zarr_codec_transpose::TRANSPOSE, zarr_codec_bytes::BYTES].into_iter().for_each(|it| codecs.add(it));
//! let chain = r#"[{"name": "n5_default", "configuration": {"codecs": [
//!     {"name": "transpose", "configuration": {"order": [1, 0]}},
//!     {"name": "bytes", "configuration": {"endian": "big"}}
//! ]}}]"#;
//! let chain = testing::pipeline(chain, &testing::element("uint16"), &codecs)?;
//! let items = [1_u16, 2, 3, 4].map(u16::to_ne_bytes).concat();
//! let mut block = Vec::new();
//! chain.encode(&View::new(&items, 2, &[2, 2])?, &mut block)?;
//! assert_eq!(block, b"\0\0\0\x02\0\0\0\x02\0\0\0\x02\0\x01\0\x03\0\x02\0\x04");
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/n5_default>, <https://github.com/saalfeldlab/n5>
#![warn(clippy::indexing_slicing)]

mod codec;
mod header;

pub use codec::{CODECS, N5_DEFAULT};

#[cfg(test)]
mod tests;
