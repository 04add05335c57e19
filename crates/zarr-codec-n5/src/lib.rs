//! Zarr codec `n5_default`: chunks that are N5 blocks in the default mode.
//!
//! A block is a header followed by the elements as encoded by `codecs`: a `transpose` of all axes, `bytes` in big-endian order, and at most
//! one compressor. The header has three kinds of big-endian numbers: the mode in 16 bits (0), the number of axes in 16 bits, and the length
//! of each axis in 32 bits. A block may be smaller than the chunk at the end of the array; missing elements have the fill value. A block
//! may also be larger than the chunk, up to 16 MiB; elements outside of the chunk are ignored. Blocks are written in the shape of the
//! chunk.
//!
//! The data types are those of N5: integers of 8 to 64 bits, float32 and float64. Blocks of the modes "varlength" and "object" are errors.
//!
//! The codec knows nothing of N5's metadata: the array has a Zarr document.
//!
//! ```
//! use zarr_codec::{Chain, DataType};
//! use zarr_codec_bytes::Bytes;
//! use zarr_codec_n5::N5Default;
//! use zarr_codec_transpose::Transpose;
//!
//! let block = N5Default::of((Transpose::new([1, 0])?, Bytes::big_endian()));
//! let codec = Chain::new(&DataType::Int16, &[2, 3]).then(block).build()?;
//! let encoded = codec.encode_elements(&[1_i16, 2, 3, 4, 5, 6])?;
//! assert_eq!(codec.decode_elements::<i16>(&encoded)?, [1, 2, 3, 4, 5, 6]);
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/n5_default>, <https://github.com/saalfeldlab/n5>
#![warn(clippy::indexing_slicing)]

mod codec;
mod header;

pub use codec::{CODECS, N5_DEFAULT, N5Default};

#[cfg(test)]
mod tests;
