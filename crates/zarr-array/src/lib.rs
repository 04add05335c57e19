//! Zarr arrays and groups over any store: open, create, read, write, resize, list.
//!
//! An operation on a store is a job that returns requests and does no I/O itself; [`Array`] runs jobs on blocking
//! stores, [`AsyncArray`] the same ones on stores that do not block.
//!
//! Names no concrete codec and no rule of a dialect: codecs come in a [`Registry`], documents are `zarr-meta`'s.
//!
//! ```
//! use std::sync::Arc;
//! use zarr_array::{Array, NewArray, Registry, Store};
//!
//! // The facade crate `zarr` has a registry of all codecs of its features.
//! let mut registry = Registry::default();
//! registry.codecs.add(zarr_codec_bytes::BYTES);
//! let registry = Arc::new(registry);
//!
//! let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
//! let new = NewArray::new(&[4, 6], "int32").chunks(&[2, 3]).codecs("bytes")?;
//! let array = Array::create(&store, "/a", new, &registry)?;
//! array.write((0..2, ..), &[7; 12])?;
//! assert_eq!(array.read::<i32>((1..3, 5))?, [7, 0]);
//! # Ok::<(), zarr_array::Error>(())
//! ```

mod accessors;
mod advanced_selection;
mod appender;
mod array;
mod async_array;
mod async_group;
mod attributes;
mod buffer;
mod cache;
mod check;
mod chunk_keys;
mod core;
mod create;
mod data;
mod display;
mod drive;
mod element;
mod elements;
mod execute;
mod field;
mod group;
mod jobs;
mod kept_chunk;
mod kept_indexes;
#[cfg(feature = "ndarray")]
mod nd;
mod options;
mod plan;
mod read;
mod read_many;
mod reshape;
mod seen;
mod selected_memory;
mod sizes;
mod summary;
mod typed;
mod verbs;
mod write;
mod write_buffer;
mod writer;

pub use appender::{Appender, AsyncAppender};
pub use array::Array;
pub use async_array::AsyncArray;
pub use async_group::AsyncGroup;
pub use cache::ChunkCache;
pub use check::{CheckDepth, CheckedChunk, ChunkFault, ChunkFaultKind};
pub use create::NewArray;
pub use data::ArrayData;
pub use element::{element_spec, instead_of_fallback};
pub use elements::{Destination, Elements, ReadInto, WriteFrom};
pub use group::{Group, NewGroup};
pub use options::{Checksums, Defaults, MakeShard, MissingChunks, MissingReport, Options, Registry};
pub use plan::{Plan, PlannedRequest};
pub use sizes::{ArraySizes, StoredSizes};
pub use summary::Summary;
pub use writer::{AsyncWriter, Writer};
pub use zarr_codec::{Limits, Protection, View, ViewMut};
pub use zarr_dtype::Cast;
pub use zarr_grid::{IntoSelection, Selection};
pub use zarr_hierarchy::{EraseProgress, Error, ErrorKind, IntoFlow, Location, Result, Walk};
pub use zarr_json::{self as json, json};
pub use zarr_meta::{Dialect, Node, NodePath, Note, StoredNode, Warning};
pub use zarr_store::{AsyncStore, Store};
