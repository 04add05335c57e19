//! Check for symbolic links before a move.

use zarr_hierarchy::{Error, Result};
use zarr_meta::StoredNode;
use zarr_store::{Prefix, Store, StoreExt};
/// Checks that `node` is no symbolic link and contains none: erasing the node key by key would erase the target of the link.
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
