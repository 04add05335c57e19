//! The Zarr codec `sharding_indexed`: many inner chunks in a single stored value, with an index of their positions.
//!
//! Source: Zarr v3 codec "sharding codec", version 1.0
//! (<https://zarr-specs.readthedocs.io/en/latest/v3/codecs/sharding-indexed/index.html>). In the draft of 2022 the same
//! layout is the storage transformer "sharding", whose index has no checksum.
//!
//! ```
//! use zarr_codec::{Chain, DataType};
//! use zarr_codec_bytes::Bytes;
//! use zarr_codec_checksum::Crc32c;
//! use zarr_codec_sharding::Sharding;
//!
//! let sharding = Sharding::of([2, 2], Bytes::little_endian())?.index_codecs((Bytes::little_endian(), Crc32c::new()));
//! let codec = Chain::new(&DataType::UInt8, &[4, 2]).then(sharding.clone()).build()?;
//! let encoded = codec.encode(&[1, 2, 3, 4, 0, 0, 0, 0])?;
//! // The second inner chunk is nothing but fill values, and not stored; the index has 16 bytes for each, and a checksum.
//! assert_eq!(encoded.len(), 4 + 2 * 16 + 4);
//! assert_eq!(codec.decode(&encoded)?, [1, 2, 3, 4, 0, 0, 0, 0]);
//! // Inner chunks divide the shard.
//! assert!(Chain::new(&DataType::UInt8, &[3, 2]).then(sharding).build().is_err());
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! The codec accesses no store: a partial read requests byte ranges of the shard.
#![warn(clippy::indexing_slicing)]

mod codec;
mod index;
mod read;
mod sharding;
mod shards;
mod split;
mod write;

pub use sharding::{CODECS, SHARDING_INDEXED, Sharding};
