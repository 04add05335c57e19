//! The old hierarchy of a store that is migrated.

use zarr_hierarchy::node::same_hierarchy;
use zarr_hierarchy::{Error, ErrorKind, Result, Walk, open_stored_node, walk, walk_stored};
use zarr_meta::{Dialect, NodePath, StoredNode};
use zarr_store::Store;

/// Finds the root of the hierarchy whose dialect is not `new`.
pub(super) fn old_root(store: &dyn Store, new: Dialect) -> Result<StoredNode> {
    let same = |dialect| same_hierarchy(dialect, new);
    // Dialects with a `zarr.json` are detected by it; others may lie beside them.
    let beside = Dialect::beside_entry_point().filter(|dialect| !same(*dialect)).map(Some);
    for dialect in std::iter::once(None).chain(beside) {
        match open_stored_node(store, "/", dialect) {
            Ok(found) if !same(found.dialect) => return Ok(found),
            Ok(_) => {}
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error),
        }
    }
    let message = format!("no hierarchy of a dialect other than {new} here");
    Err(Error::new(ErrorKind::NotFound, message).at_path(&NodePath::root()))
}

/// Finds the nodes of a hierarchy. Fails if a node is broken, lies below an array, or exists only in consolidated metadata, since the end
/// of the migration would lose it.
pub(super) fn nodes(store: &dyn Store, root: &StoredNode) -> Result<Vec<StoredNode>> {
    let Walk { nodes, broken, below_arrays, .. } = walk_stored(store, "/", Some(root.dialect))?;
    let all = walk(store, "/", Some(root.dialect))?.nodes;
    if let Some(copied) = all.iter().find(|node| nodes.iter().all(|stored| stored.path != node.path)) {
        let message = "the document of the node is nowhere but in consolidated metadata: it would be lost";
        let hint = "nothing was changed; `zarr convert` makes a hierarchy that has all documents";
        return Err(Error::argument(message).with_hint(hint).at_path(&copied.path));
    }
    match (broken.into_iter().next(), below_arrays.first()) {
        (None, None) => Ok(nodes),
        (Some(error), _) => Err(error.with_hint("nothing was changed")),
        (None, Some(node)) => {
            let message = "the node lies below an array, which cannot have nodes: it would be lost";
            Err(Error::argument(message).with_hint("nothing was changed; move or erase it").at_path(&node.path))
        }
    }
}
