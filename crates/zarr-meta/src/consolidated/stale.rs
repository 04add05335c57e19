//! Consolidated metadata that a change makes stale.

use super::V2_KEY;
use crate::dialect::p2020::CONSOLIDATED;
use crate::error::Result;
use crate::{Dialect, GroupMetadata, Node, StoredNode, documents};

/// What to write so that the group `found` has no consolidated metadata: keys with their new bytes, `None` to erase one.
///
/// For writers that change a hierarchy: the copy would be stale, and is dropped rather than left wrong. Empty where there is
/// nothing to drop.
///
/// # Errors
/// [`ErrorKind::NotExpressible`](crate::ErrorKind::NotExpressible) if the dialect is not written.
pub fn without_consolidated(found: &StoredNode) -> Result<Vec<(String, Option<Vec<u8>>)>> {
    match (found.dialect, &found.node) {
        (Dialect::V2, Node::Group(_)) => Ok(vec![(found.path.key_of(V2_KEY), None)]),
        (Dialect::V3Protocol2020, Node::Group(_)) if found.path.is_root() => Ok(vec![(CONSOLIDATED.to_owned(), None)]),
        (_, Node::Group(group)) if group.consolidated.is_some() => {
            let plain = Node::Group(GroupMetadata { consolidated: None, ..group.clone() });
            documents(found.dialect, &found.path, &plain, Some(&found.documents))
        }
        _ => Ok(Vec::new()),
    }
}

/// The key of the document that holds the consolidated metadata of a group, where that is not the group's own document.
pub fn document_key(found: &StoredNode) -> Option<String> {
    match (found.dialect, &found.node) {
        (Dialect::V2, Node::Group(_)) => Some(found.path.key_of(V2_KEY)),
        (Dialect::V3Protocol2020, Node::Group(_)) if found.path.is_root() => Some(CONSOLIDATED.to_owned()),
        _ => None,
    }
}
