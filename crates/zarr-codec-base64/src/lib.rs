//! Zarr codec `base64`: bytes as text of the standard alphabet (RFC 4648, section 4), with padding.
//!
//! It is named `numcodecs.base64` in Zarr v3 and `base64` in Zarr v2, and has no configuration. Anything that is not of
//! the alphabet, line breaks included, is an error.
//!
//! Knows no array: bytes in, bytes out.
//!
//! ```
//! use zarr_codec::{Size, testing};
//!
//! let codec = testing::bytes_to_bytes(&zarr_codec_base64::BASE64, "{}", &testing::element("uint8"));
//! let mut encoded = Vec::new();
//! codec.encode(b"zarr", &mut encoded)?;
//! assert_eq!(encoded, b"emFycg==");
//! assert_eq!(testing::decode_bytes(&*codec, &encoded, Size::Exact(4))?, b"zarr");
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! <https://numcodecs.readthedocs.io/en/stable/other/base64.html>
#![warn(clippy::indexing_slicing)]

mod codec;

pub use codec::{BASE64, CODECS};

#[cfg(test)]
mod tests;
