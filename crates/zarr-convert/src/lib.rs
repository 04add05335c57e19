//! Conversion of Zarr hierarchies and arrays into another dialect, other chunks or other codecs; also copies, moves and migrations.
//!
//! A [`Conversion`] is planned from metadata alone, and the plan can be inspected before anything is written. A [`Migration`] converts a
//! hierarchy in its own store.
//!
//! This crate names no concrete codec and no rule of a dialect: codecs are in a [`Registry`](zarr_array::Registry), and `zarr-meta` reads
//! and writes documents.
//!
//! ```
//! use std::sync::Arc;
//! use zarr_array::{Array, Dialect, NewArray, Registry, Store};
//! use zarr_convert::{Conversion, ConvertOptions};
//! use zarr_store::MemoryStore;
//!
//! let mut registry = Registry::default();
//! registry.codecs.add(zarr_codec_bytes::BYTES);
//! let registry = Arc::new(registry);
//!
//! let source: Arc<dyn Store> = Arc::new(MemoryStore::new());
//! let new = NewArray::new(&[4], "int16").codecs("bytes")?.dialect(Dialect::V2);
//! Array::create(&source, "/a", new, &registry)?.write(.., &[1_i16, 2, 3, 4])?;
//!
//! let target: Arc<dyn Store> = Arc::new(MemoryStore::new());
//! let options = ConvertOptions::default().dialect(Dialect::V3);
//! Conversion::plan(&source, &registry, options)?.run(&target, |_| {})?;
//! let array = Array::open(&target, "/a", &registry)?;
//! assert_eq!((array.dialect(), array.read::<i16>(..)?), (Dialect::V3, vec![1, 2, 3, 4]));
//! # Ok::<(), zarr_hierarchy::Error>(())
//! ```

mod conversion;

pub use conversion::{
    Action, Conversion, ConvertOptions, CopiedKey, DocumentRemoval, DryRun, IntoFlow, Level, Method, Migration,
    MigrationState, Part, PlannedNode, Progress, Pyramid, PyramidOptions, Shards, SkippedChunk, SkippedKey, StoredSize,
    Transfer, finish_move,
};
