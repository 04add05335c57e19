//! Statistics of the elements of arrays, usage of a store, maps of stored chunks, and codecs measured on a sample.
//!
//! [`Statistics`] read an array once, part by part, in bounded memory. [`Usage`], [`ChunkMap`] and [`InnerChunks`] come from listings, and
//! [`CodecBench`] from encoding and decoding some chunks in memory. [`advise`] finds chunks, shards and codecs that suit the reads and
//! writes of an array.
//!
//! ```
//! use std::sync::Arc;
//! use zarr_array::{Array, NewArray, Registry, Store};
//! use zarr_stats::{ChunkMap, Statistics, StatsOptions};
//!
//! let mut registry = Registry::default();
//! zarr_codec_bytes::CODECS.iter().for_each(|entry| registry.codecs.add(*entry));
//! let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
//! let new = NewArray::new(&[4, 6], "int32").chunks(&[2, 3]).codecs("bytes")?;
//! let array = Array::create(&store, "/a", new, &Arc::new(registry))?;
//! array.write((0..2, 0..3), &[5, 1, 4, 1, 3, 2])?;
//!
//! let statistics = Statistics::of(&array, .., &StatsOptions::default())?;
//! assert_eq!((statistics.elements, statistics.unstored), (24, Some(18)));
//! assert_eq!(statistics.numbers.integer_sum, Some(16));
//! let map = ChunkMap::of(&array, [20, 70], None)?;
//! assert_eq!(map.stored, [1, 0, 0, 0]);
//! # Ok::<(), zarr_array::Error>(())
//! ```

pub mod advise;
mod bench;
mod chunk_map;
mod compute;
mod distribution;
mod element_source;
mod float_form;
mod information;
mod inner;
mod keyed_number;
mod kind;
mod lossless;
mod moments;
mod options;
mod part_statistics;
mod positions;
mod present;
mod rounding;
mod sample;
mod scan;
mod sketch;
mod statistics;
mod totals;
mod usage;
mod words;

pub use bench::{
    BenchOptions, CANDIDATES, CodecBench, CodecMeasurement, CodecResult, LargestError, candidates, chunk_codecs,
};
pub use chunk_map::ChunkMap;
pub use information::{BitInformation, Unmeasurable};
pub use inner::InnerChunks;
pub use kind::Kind;
pub use lossless::keeps_numbers;
pub use options::StatsOptions;
pub use present::Scalar;
pub use rounding::{ErrorBound, RoundingOptions};
pub use statistics::{Extreme, Histogram, Numbers, Quantile, Row, Rows, Statistics, Texts};
pub use usage::{ArrayUsage, NodeUsage, Usage};
pub use zarr_array::{Error, ErrorKind, IntoFlow, Result};
