//! Documents of a new node.

use crate::Result;
use crate::node::{order, reread};
use zarr_meta::{Dialect, Documents, Node, NodePath, StoredNode};
use zarr_store::{Capabilities, Key, Precondition, Request};

/// Keys of documents with their new bytes; `None` to erase the document.
pub(super) type Changes = Vec<(String, Option<Vec<u8>>)>;

/// Returns the documents of a new node, and the node as it will be found. `entry` has the document of the whole hierarchy, if there is one.
pub(super) fn of_new(
    dialect: Dialect,
    path: &NodePath,
    node: &Node,
    entry: &Documents,
) -> Result<(Changes, StoredNode)> {
    let written = zarr_meta::documents(dialect, path, node, Some(entry).filter(|entry| !entry.is_empty()))?;
    let mut documents = entry.clone();
    documents.apply(&written);
    // A node that cannot be read back is not written.
    let found = reread(dialect, path, &documents)?;
    Ok((written, found))
}

/// Returns the requests that write the documents `written`, in steps. Each is set on the condition that it does not exist, or that it stays
/// as it was `seen`. Seen documents that the new node does not have are erased first.
pub(super) fn steps(
    found: &StoredNode,
    written: &Changes,
    seen: &[(Key, Precondition)],
    capabilities: Capabilities,
) -> Result<Vec<Vec<Request>>> {
    let is_new = |key: &Key| written.iter().any(|(new, _)| new == key.as_str());
    let others = seen.iter().filter(|(key, _)| !is_new(key)).map(|(key, _)| Request::Erase { key: key.clone() });
    let mut steps = vec![others.collect::<Vec<_>>()];
    let when = |key: &Key, _| match seen.iter().find(|(seen, _)| seen == key) {
        _ if !capabilities.conditional => Precondition::None,
        Some((_, when)) => when.clone(),
        None => Precondition::NotExists,
    };
    steps.extend(order::requests(found.dialect, &found.path, &found.documents, written.clone(), when)?);
    Ok(steps)
}
