//! Passes over all elements of arrays in bounded memory, in which each chunk is decoded once if memory suffices.
//!
//! A [`Scan`] reads arrays of one shape in [`Slabs`], boxes of whole chunks, several at the same time; comparisons and digests use it.
//! Conversions go through the slabs of the array that they write. [`ChunkParts`] are chunks in the order of the grid, in batches, for work
//! on each chunk by itself. One listing shows which chunks are stored ([`visit_stored`], [`Selected::some_stored`]), so that time and
//! requests depend on the stored chunks, and not on the shape. [`Memory`] says how many threads decode, and how many elements are in
//! memory.
//!
//! This crate writes nothing, and names no rule of a dialect, and no codec but `bytes`, which decodes nothing.
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicU64, Ordering};
//! use zarr_array::{Array, NewArray, Registry, Store};
//! use zarr_scan::{Division, Scan, Selected};
//! use zarr_store::MemoryStore;
//!
//! let mut registry = Registry::default();
//! registry.codecs.add(zarr_codec_bytes::BYTES);
//! let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
//! let new = NewArray::new(&[1000], "uint8").chunks(&[100]).codecs("bytes")?;
//! let array = Array::create(&store, "/", new, &Arc::new(registry))?;
//! array.write(100..300, &[1_u8; 200])?;
//!
//! let grid = array.chunk_grid().clone();
//! let division = Division { boxes: &grid, cut: &grid, parts: &array.part_shape() };
//! let scan = Scan::plan([Selected::new(array, None)?], &division, 64 << 20)?;
//! let (sum, done) = (AtomicU64::new(0), AtomicU64::new(0));
//! let count = |bytes: u128| {
//!     done.fetch_add(bytes as u64, Ordering::Relaxed);
//!     Ok(())
//! };
//! scan.each(scan.slabs().all(), &count, &|region| {
//!     let [block] = scan.read(region)?;
//!     let elements = block.view()?;
//!     let bytes = elements.as_contiguous().unwrap_or_default();
//!     sum.fetch_add(bytes.iter().map(|&byte| u64::from(byte)).sum(), Ordering::Relaxed);
//!     Ok(())
//! })?;
//! assert_eq!((sum.into_inner(), done.into_inner()), (200, 1000));
//! # Ok::<(), zarr_hierarchy::Error>(())
//! ```

mod block;
mod item;
mod location;
mod memory;
mod parallel;
mod parts;
mod scan;
mod selected;
mod slabs;
mod stored;

pub use block::Block;
pub use item::usual_item_size;
pub use memory::{Memory, OVERHEAD};
pub use parallel::{in_parallel, lock, processors, try_lock};
pub use parts::{ChunkParts, Layout};
pub use scan::{Division, Scan};
pub use selected::{Selected, SelectedGrid};
pub use slabs::{COMFORT, Slabs};
pub use stored::{OtherKeys, outermost, stored_among, visit_stored};
