//! Symbolic links in the way of a move.

use zarr_hierarchy::{Error, Result};
use zarr_meta::StoredNode;
use zarr_store::{Prefix, Store};
/// Checks that neither the node is a symbolic link nor one lies below it: erasing it key by key would erase the target
/// of a link.
pub(super) fn check_links(store: &dyn Store, node: &StoredNode) -> Result<()> {
    for prefix in node.own_prefixes() {
        if let Some(link) = store.find_link(&Prefix::new(&prefix)?)? {
            let message = format!("{link} is a symbolic link: to move it would erase its target");
            let error = Error::argument(message)
                .with_hint("copy the node, then erase it: erasing removes links, not their targets");
            return Err(error.at_path(&node.path));
        }
    }
    Ok(())
}
