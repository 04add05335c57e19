//! Zarr codec `conditional`: bytes-to-bytes codecs, each of which can be skipped for a chunk.
//!
//! `codecs` is the list of codecs. A chunk begins with a header of `header_bits` bits, by default as many bytes as needed for one bit per
//! codec. Bit 0, the lowest bit of the first byte, says whether the first codec was applied, and so on; surplus bits must be 0. The header
//! is followed by the chunk as encoded by the applied codecs.
//!
//! When a chunk is written, all codecs are applied if the result is shorter than the chunk, else none.
//!
//! This crate depends on no other codec: the codecs come from the table of codecs.
//!
//! ```
//! use zarr_codec_conditional::Conditional;
//! use zarr_codec_gzip::Gzip;
//!
//! let codec = Conditional::of(Gzip::level(1)?)?;
//! // One byte in front says whether the bytes behind it are compressed.
//! assert_eq!(codec.encode(b"zarr")?, b"\0zarr");
//! let encoded = codec.encode(&[7; 5000])?;
//! assert_eq!(encoded[0], 1);
//! assert_eq!(codec.decode(&encoded, 5000)?, [7; 5000]);
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! <https://github.com/zarr-developers/zarr-extensions/pull/27>
#![warn(clippy::indexing_slicing)]

mod codec;

pub use codec::{CODECS, CONDITIONAL, Conditional};

#[cfg(test)]
mod tests;
