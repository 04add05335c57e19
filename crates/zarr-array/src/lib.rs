//! Zarr arrays, groups and hierarchies over any store: open, create, read, write, resize, list.
//!
//! What touches a store is a job that says what it wants and does no I/O itself; [`Array`] runs jobs on blocking stores,
//! [`AsyncArray`] the same ones on stores that do not block.
//!
//! Names no concrete codec and no rule of a dialect: codecs come in a [`Registry`], documents are `zarr-meta`'s.

mod array;
mod async_array;
mod buffer;
mod cache;
mod chunk_keys;
mod consolidate;
mod convert;
mod core;
mod create;
mod data;
mod drive;
mod error;
mod execute;
mod field;
mod gather;
mod group;
mod hierarchy;
mod jobs;
mod node;
mod options;
mod plan;
mod read;
mod reshape;
mod write;

pub use array::Array;
pub use async_array::AsyncArray;
pub use cache::ChunkCache;
pub use consolidate::{
    Staleness, consolidate, consolidate_async, drop_consolidated, drop_consolidated_async, staleness, staleness_async,
};
pub use convert::{
    Conversion, ConvertOptions, Examined, How, Migration, MigrationState, Planned, Progress, Shards, StoredSize,
    copy_node, finish_move, move_node,
};
pub use create::NewArray;
pub use data::ArrayData;
pub use error::{Error, ErrorKind, Location, Result};
pub use group::{Group, NewGroup};
pub use hierarchy::{
    Walk, children, children_async, erase_node, erase_node_async, node_exists, node_exists_async, open_node,
    open_node_and_others, open_node_and_others_async, open_node_async, set_attributes, set_attributes_async, walk,
    walk_async, walk_consolidated, walk_consolidated_async,
};
pub use node::with_place;
pub use options::{Checksums, Defaults, MakeShard, MissingChunks, MissingReport, Options, Registry, check_strictly};
pub use zarr_codec::{Limits, View, ViewMut};
pub use zarr_grid::{IntoSelection, Selection};
pub use zarr_meta::{Dialect, Found, Node, NodePath, Note, Warning, json};
pub use zarr_store::{AsyncStore, Store};
