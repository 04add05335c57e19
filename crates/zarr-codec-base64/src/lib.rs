//! Zarr codec `base64`: bytes as characters of the standard alphabet (RFC 4648, section 4), with padding.
//!
//! It is named `numcodecs.base64` in Zarr v3 and `base64` in Zarr v2, and has no configuration. Any character outside of the alphabet, line
//! breaks included, is an error.
//!
//! The codec knows no array: it takes and returns bytes.
//!
//! ```
//! use zarr_codec_base64::Base64;
//!
//! assert_eq!(Base64.encode(b"zarr")?, b"emFycg==");
//! assert_eq!(Base64.decode(b"emFycg==", 100)?, b"zarr");
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! <https://numcodecs.readthedocs.io/en/stable/other/base64.html>
#![warn(clippy::indexing_slicing)]

mod codec;

pub use codec::{BASE64, Base64, CODECS};

#[cfg(test)]
mod tests;
