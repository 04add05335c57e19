//! Functions on nodes by their paths: find nodes, walk over them, change their attributes, consolidate their metadata, erase them.
//!
//! Open groups and arrays have methods for these tasks ([`Group::walk`](crate::Group::walk),
//! [`Group::consolidate`](crate::Group::consolidate)), and so have [`AsyncGroup`](crate::AsyncGroup) and
//! [`AsyncArray`](crate::AsyncArray). The functions of this module are for programs that have a path and no handle, such as tools; their
//! async forms are in the crate `zarr-hierarchy`.

pub use zarr_array::{ArraySizes, Note, StoredSizes, Summary, Warning};
pub use zarr_hierarchy::{
    DroppedConsolidated, EraseProgress, Erasure, IntoFlow, Location, OtherKey, Staleness, Walk, attribute,
    attributes_as, check_dimension_names, check_strict_writers, check_strictly, children, consolidate,
    consolidated_above, consolidated_below, drop_consolidated, erase_node, node_exists, open_group, open_node,
    open_node_and_others, open_stored_node, other_keys, renew_consolidated, set_attributes, set_dimension_names,
    staleness, stray_key, walk, walk_consolidated, walk_stored, with_hierarchy_hint,
};
pub use zarr_meta::{Copies, Node, StoredNode};
