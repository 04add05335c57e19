//! The Zarr codec `sharding_indexed`: many inner chunks in one stored value, with an index of where each lies.
//!
//! Source: Zarr v3 codec "sharding codec", version 1.0
//! (<https://zarr-specs.readthedocs.io/en/latest/v3/codecs/sharding-indexed/index.html>). In the draft of 2022 the same
//! layout is the storage transformer "sharding", whose index has no checksum.
//!
//! ```
//! # use zarr_codec::{Codecs, testing};
//! # let mut codecs = Codecs::default();
//! # codecs.add(zarr_codec_sharding::SHARDING_INDEXED);
//! # codecs.add(zarr_codec_bytes::BYTES);
//! # codecs.add(zarr_codec_checksum::CRC32C);
//! let chain = r#"[{
//!     "name": "sharding_indexed",
//!     "configuration": {
//!         "chunk_shape": [32, 32],
//!         "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
//!         "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
//!         "index_location": "end"
//!     }
//! }]"#;
//! let pipeline = testing::pipeline(chain, &testing::element("float32"), &codecs)?;
//! assert!(pipeline.check(&[64, 32]).is_ok());
//! assert!(pipeline.check(&[64, 40]).is_err());
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! Knows no store: a partial read says which bytes of the shard it wants.
#![warn(clippy::indexing_slicing)]

mod build;
mod codec;
mod index;
mod read;
mod sharding;
mod write;

pub use build::{CODECS, SHARDING_INDEXED};
