//! Zarr codec `conditional`: codecs of bytes that each chunk may leave out.
//!
//! `codecs` lists them. A chunk begins with `header_bits` bits, by default as many bytes as have a bit for each codec: bit 0, the
//! lowest one of the first byte, says whether the first codec was applied, and so on. What follows is what the codecs that were
//! made of it. Bits for which there is no codec must be 0.
//!
//! Written is what all codecs make of a chunk where that is shorter, and the bytes as they are where not.
//!
//! Knows no other codec: those that it applies are looked up in the table.
//!
//! ```
//! use zarr_codec::{Codecs, View, testing};
//!
//! let mut codecs = Codecs::default();
//! codecs.add(zarr_codec_conditional::CONDITIONAL);
//! codecs.add(zarr_codec_bytes::BYTES);
//! codecs.add(zarr_codec_gzip::GZIP);
//! let list = r#"[{"name": "bytes"}, {"name": "conditional", "configuration": {"codecs": [{"name": "gzip", "configuration": {"level": 1}}]}}]"#;
//! let chain = testing::pipeline(list, &testing::element("uint8"), &codecs)?;
//! let mut encoded = Vec::new();
//! chain.encode(&View::new(&[1, 2, 3], 1, &[3])?, &mut encoded)?;
//! assert_eq!(encoded, [0, 1, 2, 3]);
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! <https://github.com/zarr-developers/zarr-extensions/pull/27>
#![warn(clippy::indexing_slicing)]

mod codec;

pub use codec::{CODECS, CONDITIONAL};

#[cfg(test)]
mod tests;
