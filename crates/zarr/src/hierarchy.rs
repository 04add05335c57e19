//! Nodes of a hierarchy: find, walk, change their attributes, consolidate their metadata, erase them.

pub use zarr_array::{ArraySizes, Note, StoredSizes, Summary, Warning};
pub use zarr_hierarchy::{
    DroppedCopies, EraseProgress, Erasure, IntoFlow, Location, OtherKey, Staleness, Walk, attribute, attributes_as,
    check_dimension_names, check_strict_writers, check_strictly, children, children_async, consolidate,
    consolidate_async, consolidated_above, consolidated_below, drop_consolidated, drop_consolidated_async, erase_node,
    erase_node_async, node_exists, node_exists_async, open_group, open_group_async, open_node, open_node_and_others,
    open_node_and_others_async, open_node_async, open_stored_node, other_keys, other_keys_async, renew_copies,
    renew_copies_async, set_attributes, set_attributes_async, set_dimension_names, set_dimension_names_async,
    staleness, staleness_async, stray_key, walk, walk_async, walk_consolidated, walk_consolidated_async, walk_stored,
    with_location,
};
pub use zarr_meta::{Copies, Node, StoredNode};
