//! The documents of single nodes in consolidated metadata.

use super::Consolidated;
use crate::dialect::p2020::{ENTRY, path_of};
use crate::{Documents, NodePath};
use std::collections::BTreeMap;

impl Consolidated {
    /// The documents of each node, under their keys relative to the root of the store, if the group that this belongs to is at
    /// `group`: as they would be in the store, to be given to [`StoredNode::read`](crate::StoredNode::read). Their text is made when it is asked for.
    pub fn nodes(&self, group: &NodePath) -> BTreeMap<NodePath, Documents> {
        let mut nodes = BTreeMap::<NodePath, Documents>::new();
        if let Some(entry) = self.documents.get(ENTRY) {
            for (key, document) in self.documents.iter() {
                let Some(Ok(path)) = path_of(key, entry) else { continue };
                if path.is_within(group) {
                    let documents = nodes.entry(path).or_default();
                    documents.insert_value(ENTRY, entry.clone());
                    documents.insert_value(key, document.clone());
                }
            }
            return nodes;
        }
        for (key, document) in self.documents.iter() {
            let (below, name) = key.rsplit_once('/').unwrap_or(("", key));
            let path = if below.is_empty() { Ok(group.clone()) } else { group.join(below) };
            // Names that are not safe were left out on reading.
            let Ok(path) = path else { continue };
            let key = path.key_of(name);
            nodes.entry(path).or_default().insert_value(key, document.clone());
        }
        nodes
    }
}
