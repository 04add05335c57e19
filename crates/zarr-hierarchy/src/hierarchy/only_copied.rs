//! Nodes that consolidated metadata have and a walk has not, and whether anything is stored at them.

use super::Walk;
use crate::Result;
use std::collections::BTreeSet;
use zarr_drive::Io;
use zarr_meta::consolidated::FoundCopy;
use zarr_meta::{NodePath, StoredNode};
use zarr_store::Prefix;

/// The nodes below `path` that consolidated metadata have and a walk has not, up to `depth` levels, each with whether it is there whatever
/// is stored.
pub(super) fn only_in(
    copies: &[FoundCopy],
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

/// The prefix under which something is stored if a node is there, or one below it.
pub(crate) fn prefix_below(node: &StoredNode) -> Result<Prefix> {
    let prefix = match node.node.as_array() {
        Some(_) => node.chunk_prefix(),
        None => node.own_prefixes().into_iter().next().unwrap_or_default(),
    };
    Ok(Prefix::new(&prefix)?)
}

/// The nodes at or below whose paths something is stored.
pub(super) async fn with_values(io: &Io, nodes: Vec<StoredNode>) -> Result<Vec<StoredNode>> {
    let listings = io.list(nodes.iter().map(prefix_below).collect::<Result<_>>()?).await?;
    let stored = nodes.into_iter().zip(listings).filter(|(_, listing)| !listing.is_empty());
    Ok(stored.map(|(node, _)| node).collect())
}
