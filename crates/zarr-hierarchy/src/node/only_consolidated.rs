//! Documents that only consolidated metadata has.

use crate::hierarchy::prefix_below;
use crate::node::order;
use crate::{Error, Result};
use zarr_drive::Io;
use zarr_meta::consolidated::FoundConsolidated;
use zarr_meta::{NodePath, StoredNode};
use zarr_store::{Capabilities, Key};

/// Refuses a change that drops consolidated metadata with the only documents of nodes. Some software writes consolidated metadata without
/// writing the documents of nodes.
///
/// Consolidated metadata has the only document of a node if the node's own document is missing and the node was not erased, by the rules of
/// [`open_node`](crate::open_node).
///
/// Checks the documents of all nodes in `copies`, except nodes at and below `but`, which are erased or replaced, and groups without
/// attributes that are in `made`, the paths of groups that will be created.
pub(crate) async fn check_only_consolidated(
    io: &Io,
    copies: Vec<FoundConsolidated>,
    but: Option<&NodePath>,
    made: &[NodePath],
    capabilities: Capabilities,
) -> Result<()> {
    let copied = Copied::all(&copies, but, made);
    // Consolidated metadata may be large.
    drop(copies);
    let first = |copied: &Copied| order::to_erase(&copied.node).into_iter().next().unwrap_or_default();
    let keys = copied.iter().map(|copied| Ok(Key::new(&first(copied))?)).collect::<Result<_>>()?;
    let sizes = io.sizes(keys).await?;
    let missing: Vec<Copied> =
        copied.into_iter().zip(sizes).filter(|(_, size)| size.is_none()).map(|(copied, _)| copied).collect();
    if let Some(copied) = missing.iter().find(|copied| copied.is_sure || !capabilities.list) {
        return Err(lost(&copied.node.path, &copied.group));
    }
    let below = missing.iter().map(|copied| prefix_below(&copied.node)).collect::<Result<_>>()?;
    match missing.iter().zip(io.list(below).await?).find(|(_, listing)| !listing.is_empty()) {
        Some((copied, _)) => Err(lost(&copied.node.path, &copied.group)),
        None => Ok(()),
    }
}

/// Node of consolidated metadata, and whether it exists even if nothing is stored at its path.
#[derive(Debug)]
struct Copied {
    node: StoredNode,
    group: NodePath,
    is_sure: bool,
}

impl Copied {
    fn all(copies: &[FoundConsolidated], but: Option<&NodePath>, made: &[NodePath]) -> Vec<Self> {
        let is_made = |node: &StoredNode| {
            let group = node.node.as_group().filter(|_| made.contains(&node.path));
            group.is_some_and(|group| group.attributes.is_empty() && group.extra.is_empty())
        };
        let mut nodes = Vec::new();
        for copy in copies {
            let own = (!copy.has_document).then(|| copy.node(&copy.group)).flatten();
            let all = own.into_iter().chain(copy.nodes_below(&copy.group));
            let stays = all.filter(|node| but.is_none_or(|gone| !node.path.is_within(gone)) && !is_made(node));
            nodes.extend(stays.map(|node| Self { node, group: copy.group.clone(), is_sure: !copy.has_document }));
        }
        // Without a key there is nothing to lose.
        nodes.retain(|copied| copied.node.own_documents().next().is_some());
        nodes
    }
}

fn lost(path: &NodePath, at: &NodePath) -> Error {
    let message = format!(
        "the document of {path} is nowhere but in the consolidated metadata, which a change makes stale and drops"
    );
    let hint = "`zarr convert` makes a hierarchy that has all documents";
    Error::argument(message).with_hint(hint).at_path(at)
}
