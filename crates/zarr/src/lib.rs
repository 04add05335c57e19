//! Zarr in Rust: chunked, compressed arrays of any number of dimensions, in every format that Zarr ever had.
//!
//! ```
//! use zarr::prelude::*;
//!
//! # fn main() -> zarr::Result<()> {
//! # let directory = tempfile::tempdir().expect("a temporary directory");
//! # let url = &directory.path().join("weather.zarr").display().to_string();
//! // A store: a directory, a zip file, memory.
//! let store = zarr::create_store(url)?;
//!
//! // An array of 365 days on a grid, in chunks of 30 days, compressed.
//! let new = NewArray::new(&[365, 18, 36], "float32").chunks(&[30, 18, 36]).dimension_names(&["time", "lat", "lon"]);
//! let array = zarr::create_array(&store, "/temperature", new)?;
//! array.write((0..2, .., ..), &vec![287.5f32; 2 * 18 * 36])?;
//!
//! // Any part of it: ranges, steps, single indices, lists, masks.
//! let array = zarr::open_array(&store, "/temperature")?;
//! assert_eq!(array.read::<f32>((1, 3..5, 7))?, [287.5, 287.5]);
//! assert_eq!(array.read::<f32>("::100, 0, 0")?, [287.5, 0.0, 0.0, 0.0]);
//! # Ok(())
//! # }
//! ```
//!
//! Parts of the same chunks that are read again and again are best read through a cache, which several arrays may share:
//!
//! ```
//! # use zarr::prelude::*;
//! # fn main() -> zarr::Result<()> {
//! # let store = zarr::create_store("memory:")?;
//! # zarr::create_array(&store, "/temperature", NewArray::new(&[365, 18, 36], "float32").chunks(&[30, 18, 36]))?;
//! let cache = ChunkCache::new(256 << 20);
//! let array = zarr::open_array(&store, "/temperature")?;
//! let array = array.with(Options { cache: Some(cache.clone()), ..array.options().clone() })?;
//! for day in 0..365_u64 {
//!     // Decodes 13 chunks, each once.
//!     array.read::<f32>((day, 7, 7))?;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! This crate puts the layers together and has no logic of its own: JSON values are in `zarr-json`, metadata is in `zarr-meta`,
//! data types in `zarr-dtype`, geometry in `zarr-grid`, codecs in `zarr-codec` and a crate for each family, stores in
//! `zarr-store` and a crate for each kind, hierarchies in `zarr-hierarchy`, arrays in `zarr-array`,
//! conversions in `zarr-convert`. Each can be used alone.

pub mod meta;
mod open;
pub mod prelude;
mod registry;
pub mod store;

/// The version of `ndarray` whose arrays are read into and written from.
#[cfg(feature = "ndarray")]
pub use ndarray;
pub use open::{create_array, create_group, create_store, open_array, open_group, open_store};
pub use registry::{registry, registry_without_defaults};
pub use zarr_array::{
    Array, ArrayData, AsyncArray, AsyncStore, Cast, Checksums, ChunkCache, Defaults, Dialect, Group, IntoSelection,
    Limits, MakeShard, MissingChunks, MissingReport, NewArray, NewGroup, Node, NodePath, Note, Options, ReadInto,
    Registry, Selection, Store, StoredNode, View, ViewMut, Warning, WriteFrom,
};
pub use zarr_codec as codec;
#[cfg(feature = "object")]
pub use zarr_codec_object::PICKLE;
pub use zarr_convert::{
    Action, Conversion, ConvertOptions, DryRun, Migration, MigrationState, PlannedNode, Progress, Shards, StoredSize,
    copy_node, finish_move, move_node,
};
pub use zarr_dtype as dtype;
pub use zarr_grid as grid;
pub use zarr_hierarchy::{
    Error, ErrorKind, Location, Result, Staleness, Walk, check_strictly, children, children_async, consolidate,
    consolidate_async, drop_consolidated, drop_consolidated_async, erase_node, erase_node_async, node_exists,
    node_exists_async, open_node, open_node_and_others, open_node_and_others_async, open_node_async, set_attributes,
    set_attributes_async, staleness, staleness_async, walk, walk_async, walk_consolidated, walk_consolidated_async,
    with_location,
};
pub use zarr_json::{self as json, json};
