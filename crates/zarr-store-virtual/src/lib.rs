//! Zarr stores whose values are not stored under their keys: documents are in memory, and chunks are ranges of files of other formats.
//!
//! Readers of other formats fill a [`VirtualStore`] by its [builder](VirtualStore::builder): with documents, with the files, and for each
//! array with a [`ChunkTable`] or with a [`FindChunks`] that looks chunks up. All code that works on a store then works on the files.
//!
//! ```
//! use std::sync::Arc;
//! use zarr_store::{Bytes, Key, MemoryStore, Prefix, StoreExt};
//! use zarr_store_virtual::{Chunk, ChunkKeyForm, ChunkTableBuilder, Separator, VirtualStore};
//!
//! // A file of another format, with four chunks of eight bytes behind a header of four.
//! let files = Arc::new(MemoryStore::new());
//! files.set_all(&Key::new("x.bin")?, b"HEADaaaaaaaabbbbbbbbccccccccdddddddd")?;
//!
//! let mut builder = VirtualStore::builder("x.bin");
//! let file = builder.source(files, Key::new("x.bin")?);
//! let mut table = ChunkTableBuilder::new(4);
//! for i in 0..4 {
//!     table.set(i, Chunk::Range { source: file, offset: 4 + 8 * i, length: 8 })?;
//! }
//! builder.document(Key::new("a/zarr.json")?, Bytes::from_static(b"{}"));
//! builder.chunks(Prefix::new("a/")?, ChunkKeyForm::Default(Separator::Slash), &[2, 2], table.build()?);
//! let store = builder.build()?;
//! assert_eq!(store.get_all(&Key::new("a/c/1/0")?)?.as_deref(), Some(&b"cccccccc"[..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod blocks;
mod builder;
mod contents;
mod copies;
mod fault;
mod found;
mod get;
mod key_form;
mod listing;
#[cfg(feature = "lookup")]
pub mod lookup;
mod making;
mod not_blocking;
mod outside;
mod parts;
mod source;
mod store;
mod table;
mod together;

#[cfg(test)]
mod tests;

pub use blocks::{Blocks, KeptBlocks};
pub use builder::VirtualStoreBuilder;
pub use copies::{zlib_copy, zlib_copy_size, zstd_copy, zstd_copy_size};
pub use fault::VirtualFault;
pub use found::{FindChunks, FoundChunk};
pub use key_form::{ChunkKeyForm, Separator};
pub use outside::{FileFinder, OutsideError, OutsideFiles};
pub use parts::{SourceFile, VirtualArray};
pub use source::{MakeChunk, SourceId};
pub use store::VirtualStore;
pub use table::{Chunk, ChunkTable, ChunkTableBuilder};
