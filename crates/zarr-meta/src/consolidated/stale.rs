//! Removal of consolidated metadata that a change makes stale.

use crate::dialect::table::rules;
use crate::error::Result;
use crate::{GroupMetadata, Node, StoredNode, documents};

/// Returns the writes that remove the consolidated metadata of the group `found`: keys with their new bytes, or `None` to erase a key.
///
/// Writers that change a hierarchy use it, since the consolidated metadata would be stale. Empty if the group has no consolidated metadata.
///
/// # Errors
/// Fails with [`ErrorKind::NotExpressible`](crate::ErrorKind::NotExpressible) if the dialect cannot be written.
pub fn without_consolidated(found: &StoredNode) -> Result<Vec<(String, Option<Vec<u8>>)>> {
    if let Some(key) = document_key(found) {
        return Ok(vec![(key, None)]);
    }
    match &found.node {
        Node::Group(group) if group.consolidated.is_some() => {
            let plain = Node::Group(GroupMetadata { consolidated: None, ..group.clone() });
            documents(found.dialect, &found.path, &plain, Some(&found.documents))
        }
        _ => Ok(Vec::new()),
    }
}

/// Returns the key of the separate document for the consolidated metadata of a group; `None` if `found` is an array, or its dialect has no
/// such document.
pub fn document_key(found: &StoredNode) -> Option<String> {
    found.node.as_group()?;
    rules(found.dialect).consolidation().key(&found.path)
}
