//! Zarr codec `transpose`: the axes of a chunk in another order.
//!
//! It is named `transpose` in Zarr v3. In Zarr v2 the order is the member `order`, and what reads v2 metadata puts this
//! codec in the place of order `F`.
//!
//! `order` is a permutation of the axes: encoded axis `i` is decoded axis `order[i]`. Drafts of v3, and old versions of
//! zarrita and tensorstore, also wrote `"C"` (the order as it is) and `"F"` (all axes reversed).
//!
//! Moves no bytes by itself: it says how axes are permuted, and the views permute theirs.
//!
//! ```
//! use zarr_codec::{Codecs, testing};
//!
//! let mut codecs = Codecs::default();
//! codecs.add(zarr_codec_transpose::TRANSPOSE);
//! # codecs.add(zarr_codec_bytes::BYTES);
//! let json = r#"[{"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "bytes"}]"#;
//! let chain = testing::pipeline(json, &testing::element("uint8"), &codecs)?;
//!
//! assert_eq!(testing::chunk_round_trip(&chain, &[2, 3], &[1, 2, 3, 4, 5, 6]), [1, 4, 2, 5, 3, 6]);
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! <https://zarr-specs.readthedocs.io/en/latest/v3/codecs/transpose/index.html>
#![warn(clippy::indexing_slicing)]

mod codec;
mod config;

pub use codec::{CODECS, TRANSPOSE};
pub use config::{Order, TransposeConfig};

#[cfg(test)]
mod tests;
