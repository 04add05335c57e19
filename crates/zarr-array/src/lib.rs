//! Zarr arrays and groups over any store: open, create, read, write, resize, list.
//!
//! An operation on a store is a job that returns requests and does no I/O itself; [`Array`] runs jobs on blocking
//! stores, [`AsyncArray`] the same ones on stores that do not block.
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
//! A read resolves the selection, divides it into windows of the output, one for each chunk, and has chunks read again
//! that others replaced meanwhile. Chunks are fetched and decoded in groups. Inner chunks of a shard are read as chunks are, behind the
//! index of the shard.
//!
//! - **Selections.** Ranges, with steps or without, are one *region*; a descending axis flips the output. Lists, masks and coordinates
//!   are divided by chunk: the box around the selected elements of each chunk is read into a staging buffer, and they are copied from
//!   there. Several regions that are read at once go the same way, so that each chunk is read once.
//! - **Overlaps.** A region and a grid overlap along each axis by itself. That costs the sum of the axes, not their product: the plan
//!   of a million chunks holds none of them. Where a region has very many chunks, of which the first are not stored, one listing
//!   answers for the others.
//! - **Groups.** A job has a group of chunks, of a few hundred KiB, or a few MiB where the store is remote, and larger spans fork. Of
//!   each chunk the codecs say whether they can do with less than all of its bytes; if not, the whole value is fetched and decoded at
//!   once. Bytes that are those of the output are read straight into it.
//! - **Shards.** A shard *splits* when its index has come. A run of inner chunks follows, which the code for a run of chunks reads. So
//!   in a chunked array chunks are read in parallel, in a sharded one the inner chunks of all shards, and shards nest. Inner chunks of
//!   which all bytes are needed are fetched together. For points in one shard its index is read once.
//! - **One state.** A value that is read in parts is read of one state. If others replace it meanwhile the chunk is noted and left, and
//!   these chunks alone are read again when the rest is read.
//! - **Kept indexes.** An opened array keeps indexes of shards of a remote store. Inner chunks are then asked for in the newest state,
//!   and if a reply has another version than the index, the shard is read again.
//!
//! `Array::plan` runs the same jobs on an output whose elements have no bytes. Only requests on which further ones depend are made,
//! those for indexes. So the plan is no second account of the requests of a read.
//!
//! # A write
//! A chunk of which all that lies in the array is written is encoded and set without a read; beyond the edge it has the fill value. If
//! it has nothing but fill values it is erased instead, unless the options ask for it to be stored, the write has a condition, or some
//! software would read a missing chunk as other values. The value of any other chunk is read with its version, patched, and set on the
//! condition that it still has that version. If somebody was faster, the write of that chunk pauses for a random time and begins again.
//! So partial writes lose nothing, between threads and, on stores with conditional sets, between machines. They need no lock, and a
//! retry costs only where two writers meet.
//!
//! Points, lists and masks are divided by stored chunk before the first request, so that each stored value is read and written once. A
//! shard divides its part by inner chunk, each level of shards in a sort of its own. Of an element that is selected twice, the last
//! value stays.
//!
//! In a patched shard the inner chunks that are met are decoded and encoded, and the others are copied as bytes. The value is set anew.
//! It could grow instead, by changed inner chunks and a new index behind the old ones; but it would grow with each write, readers
//! beside the writer would need offsets that stay true, and files and objects are replaced as a whole anyway. Of large shards, and
//! where there are fewer shards than threads, inner chunks are encoded in runs on several threads, and encoded runs are appended to the
//! value that is being set: a few runs are in memory, not the shard. The bytes are those of a shard that is encoded as a whole.
//!
//! An `Appender` keeps pieces along one axis until they fill chunks. A `Writer` keeps parts of chunks anywhere, the elements and a mask
//! of those that are there; a chunk that cannot be written goes back to the kept ones.
//!
//! # Beside other writers
//! An opened array is tied to the node that it was opened from: for each operation the directory is held where the store can do that,
//! and its document is looked at, so that an array which came to its place is not taken for it. Where requests take long, a look soon
//! after another one is left out. Whoever changes the shape holds a lock of the store from reading the shape to setting it. Where that
//! lock does not exclude other processes, an append claims the array in its document. Reads and writes of elements take no lock.
//!
//! # Blocking and async
//! The methods of [`Array`] and [`AsyncArray`] are written once. Work of an `AsyncArray` with an output of its own goes to a thread
//! that runs the blocking verb, while the future polls the requests that it makes and drops them when it is dropped; little work, and
//! work on borrowed memory, is done where the future is polled.

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
