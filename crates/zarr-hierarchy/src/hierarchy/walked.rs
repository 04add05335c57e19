//! Result of a walk.

use crate::Error;
use std::collections::BTreeMap;
use zarr_meta::{Consolidated, StoredNode};
use zarr_store::Listing;

/// Nodes and errors that a walk over a hierarchy found.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Walk {
    /// Nodes, sorted by path, including the root of the walk.
    pub nodes: Vec<StoredNode>,
    /// Errors of broken nodes; each error has the path of the node. Broken nodes do not hide other nodes.
    pub broken: Vec<Error>,
    /// Nodes below an array, which are no part of the hierarchy and can only be opened by their paths. In v3 and v2 they are not searched,
    /// since arrays have their chunks there.
    pub below_arrays: Vec<StoredNode>,
    /// Consolidated metadata of the root of the walk, as stored, which may be stale; `None` if there is none. A walk does not compare it
    /// with the nodes.
    pub consolidated: Option<Consolidated>,
    /// Error of a store that returns values but denies listings; `None` if the store lists. The nodes are then those of the consolidated
    /// metadata, and further nodes may exist.
    pub unlisted: Option<Error>,
    /// Errors of consolidated metadata of the root of the walk and of groups below. They do not affect the nodes.
    pub bad_consolidated: Vec<Error>,
    /// Keys and prefixes directly under each prefix that was listed.
    pub(crate) listed: BTreeMap<String, Listing>,
}
