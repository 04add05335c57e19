//! Zarr arrays and groups over any store: open, create, read, write, resize, list.
//!
//! An operation on a store is a job, which returns requests and does no I/O itself. [`Array`] runs jobs on blocking stores, and
//! [`AsyncArray`] runs the same jobs on async stores.
//!
//! This crate names no concrete codec and no rule of a dialect: codecs come in a [`Registry`], and `zarr-meta` reads and writes documents.
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
//!
//! # A read
//! ```text
//! selection ─► overlaps with chunks, axis by axis ─► windows of the output ─► a job: requests, decoded chunks ─► driver ─► store
//! ```
//! A read resolves the selection, divides it into windows of the output, one for each chunk, and reads chunks again that others replaced
//! meanwhile. Chunks are fetched and decoded in groups. Inner chunks of a shard are read like chunks, after the index of the shard.
//!
//! - **Selections.** Ranges, with steps or without, are one *region*; a descending axis flips the output. Lists, masks and coordinates
//!   are divided by chunk: the box around the selected elements of each chunk is read into a staging buffer, and they are copied from
//!   there. Several regions that are read at once go the same way, so that each chunk is read once.
//! - **Overlaps.** A region and a grid overlap along each axis independently. The overlaps take memory for the sum of the axes, not for
//!   their product: the plan of a million chunks stores none of them. If a region has very many chunks, and the first of them are not
//!   stored, one listing finds the stored ones.
//! - **Groups.** A job reads a group of chunks, of a few hundred KiB, or a few MiB if the store is remote; larger spans fork. The codecs of
//!   a chunk say whether they need less than all of its bytes; if not, the whole value is fetched and decoded at once. Bytes that equal the
//!   bytes of the output are read directly into the output.
//! - **Shards.** A shard *splits* when its index was received, into a span of inner chunks, which the code for spans of chunks reads. So a
//!   chunked array is read with its chunks in parallel, a sharded array with the inner chunks of all shards in parallel, and shards may lie
//!   within shards. Inner chunks whose bytes are all needed are fetched together. For several points in one shard, the index of the shard
//!   is read once.
//! - **One state.** All parts of a value are read from one state of it. If others replace the value meanwhile, its chunk is noted, and read
//!   again after the rest.
//! - **Retained indexes.** An opened array retains indexes of shards of a remote store. Inner chunks are then requested in the newest
//!   state, and if a reply has another version than the index, the shard is read again.
//!
//! `Array::plan` runs the same jobs on an output whose elements have no bytes. It makes only the requests on which further requests depend:
//! those for indexes. So the requests of a read are described in one place only.
//!
//! # A write
//! If all elements of a chunk that lie in the array are written, the chunk is encoded and set without a read; beyond the edge of the array
//! it has the fill value. If the chunk has nothing but fill values it is erased instead, unless the options ask for it to be stored, the
//! write has a condition, or other software would read a missing chunk as other values. The value of any other chunk is read with its
//! version, patched, and set on the condition that the version is unchanged. If another writer was faster, the write of that chunk pauses
//! for a random time and begins again. So partial writes lose nothing, between threads and, on stores with conditional sets, between
//! machines. They need no lock, and a retry is necessary only if two writers meet.
//!
//! Points, lists and masks are divided by stored chunk before the first request, so that each stored value is read and written once. The
//! part of a shard is divided by inner chunk, with a separate sort for each level of shards. If an element is selected twice, the last
//! value stays.
//!
//! In a patched shard, the inner chunks that the selection meets are decoded and encoded, the other inner chunks are copied as bytes, and
//! the whole value is set. The value could grow instead, with changed inner chunks and a new index behind the old ones; but it would grow
//! with each write, concurrent readers would need offsets that stay valid, and files and objects are replaced as a whole anyway. In large
//! shards, and if there are fewer shards than threads, inner chunks are encoded in runs on several threads, and encoded runs are appended
//! to the value that is being set, so that a few runs are in memory, and not the shard. The bytes are the same as those of a shard that is
//! encoded as a whole.
//!
//! An `Appender` buffers pieces along one axis until they fill chunks. A `Writer` buffers parts of chunks anywhere, as elements and a mask
//! of the new elements; a chunk that cannot be written goes back into the buffer.
//!
//! # Beside other writers
//! An opened array is tied to the node from which it was opened: each operation pins its directory if the store can do that, and looks at
//! its document, so that another array that took its place is not mistaken for it. If requests take long, a look soon after another look is
//! left out. A change of the shape holds a lock of the store from reading the shape to setting it. If the lock does not exclude other
//! processes, an append makes a claim in the document of the array. Reads and writes of elements take no lock.
//!
//! # Blocking and async
//! The methods of [`Array`] and [`AsyncArray`] are written once. An operation of an `AsyncArray` that returns its output runs as the
//! blocking operation on another thread, while the future polls its requests, and drops them when it is dropped. Small operations, and
//! operations on borrowed memory, run in the task that polls the future.

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
mod field;
mod group;
mod jobs;
mod kept_chunk;
mod kept_indexes;
#[cfg(feature = "ndarray")]
mod nd;
mod options;
mod plan;
mod prefetch;
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
pub use prefetch::{AsyncPrefetch, Prefetch};
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
