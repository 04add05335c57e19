//! The result of a walk.

use crate::Error;
use std::collections::BTreeMap;
use zarr_meta::{Consolidated, StoredNode};
use zarr_store::Listing;

/// The result of a walk.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Walk {
    /// The nodes, sorted by path, including the root of the walk.
    pub nodes: Vec<StoredNode>,
    /// Nodes that are there but broken, each with its path in the error. They do not hide their siblings.
    pub broken: Vec<Error>,
    /// Nodes below an array, which may have none: they are no part of the hierarchy, and can be opened by their paths alone. Of
    /// v3 and v2 they are not looked for, since arrays have their chunks there.
    pub below_arrays: Vec<StoredNode>,
    /// The consolidated metadata of the group that the walk began with, as stored: a copy, which may be stale.
    pub consolidated: Option<Consolidated>,
    /// The refusal of a store that gives values and lists nothing. The nodes are those of the consolidated metadata: whether others are
    /// there is not known.
    pub unlisted: Option<Error>,
    /// Faults of consolidated metadata, that of groups below included. The nodes are not affected by them.
    pub bad_copies: Vec<Error>,
    /// Keys and prefixes directly under the prefixes that were listed.
    pub(crate) listed: BTreeMap<String, Listing>,
}
