//! Zarr codec `conditional`: codecs of bytes that each chunk may leave out.
//!
//! `codecs` lists them. A chunk begins with `header_bits` bits, by default as many bytes as have a bit for each codec: bit 0, the
//! lowest one of the first byte, says whether the first codec was applied, and so on. Then come the bytes that the
//! applied codecs made of the chunk. Bits for which there is no codec must be 0.
//!
//! A chunk is written as all codecs encode it where that is shorter, and else as it is.
//!
//! This crate depends on no other codec: the table has the codecs that it applies.
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
