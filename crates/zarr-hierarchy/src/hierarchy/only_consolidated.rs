//! Nodes that consolidated metadata has and a walk lacks, and whether values are stored at their paths.

use super::Walk;
use crate::Result;
use std::collections::BTreeSet;
use zarr_drive::Io;
use zarr_meta::consolidated::FoundConsolidated;
use zarr_meta::{NodePath, StoredNode};
use zarr_store::Prefix;

/// Returns the nodes up to `depth` levels below `path` that consolidated metadata has and `walk` lacks, each with whether the node exists
/// even if nothing is stored at its path.
pub(super) fn only_in(
    copies: &[FoundConsolidated],
    walk: &Walk,
    path: &NodePath,
    depth: Option<usize>,
) -> Vec<(StoredNode, bool)> {
    let broken = walk.broken.iter().filter_map(|error| NodePath::parse(error.location().path.as_deref()?).ok());
    let mut known: BTreeSet<NodePath> = walk.nodes.iter().map(|node| node.path.clone()).chain(broken).collect();
    let level = |below: &NodePath| below.names().count().saturating_sub(path.names().count());
    let mut only = Vec::new();
    for copy in copies {
        for node in copy.nodes_below(path) {
            if depth.is_none_or(|most| level(&node.path) <= most) && known.insert(node.path.clone()) {
                only.push((node, !copy.has_document));
            }
        }
    }
    only
}

/// Returns the prefix under which keys are stored if `node`, or a node below it, exists.
pub(crate) fn prefix_below(node: &StoredNode) -> Result<Prefix> {
    let prefix = match node.node.as_array() {
        Some(_) => node.chunk_prefix(),
        None => node.own_prefixes().into_iter().next().unwrap_or_default(),
    };
    Ok(Prefix::new(&prefix)?)
}

/// Filters `nodes`: keeps the nodes with stored keys at or below their paths.
pub(super) async fn with_values(io: &Io, nodes: Vec<StoredNode>) -> Result<Vec<StoredNode>> {
    let listings = io.list(nodes.iter().map(prefix_below).collect::<Result<_>>()?).await?;
    let stored = nodes.into_iter().zip(listings).filter(|(_, listing)| !listing.is_empty());
    Ok(stored.map(|(node, _)| node).collect())
}
