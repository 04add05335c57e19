//! Consolidated metadata that a change makes stale.

use crate::dialect::table::rules;
use crate::error::Result;
use crate::{GroupMetadata, Node, StoredNode, documents};

/// The writes by which the group `found` loses its consolidated metadata: keys with their new bytes, `None` to erase a
/// key.
///
/// For writers that change a hierarchy: the copy would be stale, and is dropped rather than left wrong. Empty where there is
/// nothing to drop.
///
/// # Errors
/// [`ErrorKind::NotExpressible`](crate::ErrorKind::NotExpressible) if the dialect is not written.
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

/// The key of the document that holds the consolidated metadata of a group, where that is not the group's own document.
pub fn document_key(found: &StoredNode) -> Option<String> {
    found.node.as_group()?;
    rules(found.dialect).consolidation().key(&found.path)
}
