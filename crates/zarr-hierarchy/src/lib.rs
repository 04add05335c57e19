//! Zarr hierarchies in any store: finds nodes by their paths, walks over all nodes, changes attributes, consolidates metadata and erases
//! nodes.
//!
//! The documents of a node define it: `zarr-meta` reads and writes them. Of arrays this crate has only the keys of
//! chunks, by which they are erased or copied ([`chunk_keys`]); `zarr-array` reads and writes chunks.
//!
//! ```
//! use zarr_hierarchy::{open_node, set_attributes, walk};
//! use zarr_store::{Key, MemoryStore, Store, StoreExt};
//!
//! let store = MemoryStore::new();
//! let group = br#"{"zarr_format": 3, "node_type": "group"}"#;
//! for key in ["zarr.json", "a/zarr.json"] {
//!     store.set_all(&Key::new(key)?, group)?;
//! }
//! let found = open_node(&store, "/a", None)?;
//! set_attributes(&store, &found, [("units".to_owned(), "K".into())].into_iter().collect())?;
//! let paths: Vec<String> = walk(&store, "/", None)?.nodes.iter().map(|node| node.path.to_string()).collect();
//! assert_eq!(paths, ["/", "/a"]);
//! # Ok::<(), zarr_hierarchy::Error>(())
//! ```
//!
//! Each operation on a store is a job ([`zarr_drive::Job`]) that returns requests and does no I/O itself. The functions
//! here run jobs on blocking stores, the functions named `_async` run the same jobs on stores that do not block. The
//! jobs are in [`node`], to be combined with others.
//!
//! # Errors
//! The crates below report facts, as fields of their errors. [`Error`] adds the cause ([`ErrorKind`]) and the location: store, node,
//! chunk, key, JSON pointer. Each part of the location is added once, by the layer that knows it. [`ErrorKind::Internal`] is a fault of
//! this library.

mod attributes;
pub mod chunk_keys;
mod consolidate;
mod erasure;
mod error;
mod hierarchy;
pub mod jobs;
pub mod node;
mod progress;
mod stray;
mod strict;

pub use attributes::{attribute, attributes_as, attributes_from, with_attribute};
pub use consolidate::{
    Staleness, compare_consolidated, consolidate, consolidate_async, consolidated_above, drop_consolidated,
    drop_consolidated_async, renew_consolidated, renew_consolidated_async, staleness, staleness_async,
};
pub use erasure::{Erasure, erase_node, erase_node_async};
pub use error::{Error, ErrorKind, Location, Result};
pub use hierarchy::{
    CopiedAbove, OtherKey, Walk, WalkJob, check_dimension_names, children, children_async, consolidated_below,
    have_equal_bytes, in_store, is_temporary, node_exists, node_exists_async, open_group, open_group_async, open_node,
    open_node_and_others, open_node_and_others_async, open_node_async, open_stored_node, other_keys, other_keys_async,
    set_attributes, set_attributes_async, set_dimension_names, set_dimension_names_async, walk, walk_async,
    walk_consolidated, walk_consolidated_async, walk_stored,
};
pub use node::{DroppedConsolidated, with_hierarchy_hint};
pub use progress::{EraseProgress, IntoFlow};
pub use stray::stray_key;
pub use strict::{check_strict_writers, check_strictly, check_warnings};
