//! Documents of single nodes in consolidated metadata.

use super::Consolidated;
#[cfg(feature = "drafts")]
use super::Copied;
#[cfg(feature = "drafts")]
use crate::drafts::p2020::{ENTRY, path_of};
use crate::{Documents, NodePath};
use std::collections::BTreeMap;

impl Consolidated {
    /// Returns the documents of each node, as they would be in the store: with keys relative to the root of the store, ready for
    /// [`StoredNode::read`](crate::StoredNode::read). `group` is the path of the group that the consolidated metadata belongs to. Documents
    /// are parsed, and their bytes made, when they are requested.
    pub fn nodes(&self, group: &NodePath) -> BTreeMap<NodePath, Documents> {
        let mut nodes = BTreeMap::new();
        self.collect_nodes(group, &mut nodes, |_| true);
        nodes
    }

    /// Returns the documents of the node at `path`, as [`nodes`](Self::nodes) does; `None` if there is no such node.
    pub(crate) fn documents_of(&self, group: &NodePath, path: &NodePath) -> Option<Documents> {
        let mut nodes = BTreeMap::new();
        self.collect_nodes(group, &mut nodes, |at| at == path);
        nodes.remove(path)
    }

    /// Returns whether there is a node at or below `path`.
    pub(crate) fn has_below(&self, group: &NodePath, path: &NodePath) -> bool {
        let mut nodes = BTreeMap::new();
        self.collect_nodes(group, &mut nodes, |at| at.is_within(path));
        !nodes.is_empty()
    }

    /// Adds the documents of the nodes whose paths are `wanted` to `nodes`.
    fn collect_nodes(
        &self,
        group: &NodePath,
        nodes: &mut BTreeMap<NodePath, Documents>,
        wanted: impl Fn(&NodePath) -> bool,
    ) {
        #[cfg(feature = "drafts")]
        if let Some((_, first)) = self.documents.entries().find(|(key, _)| *key == ENTRY) {
            let entry = first.value();
            for (key, document) in self.documents.entries() {
                let Some(Ok(path)) = path_of(key, &entry) else { continue };
                if path.is_within(group) && wanted(&path) {
                    let documents = nodes.entry(path).or_default();
                    documents.insert_copy(ENTRY, Copied::Value(entry.clone()));
                    documents.insert_copy(key, document.clone());
                }
            }
            return;
        }
        for (key, document) in self.documents.entries() {
            let (below, name) = key.rsplit_once('/').unwrap_or(("", key));
            let path = if below.is_empty() { Ok(group.clone()) } else { group.join(below) };
            // Names that are not safe were left out on reading.
            let Ok(path) = path else { continue };
            if wanted(&path) {
                let key = path.key_of(name);
                nodes.entry(path).or_default().insert_copy(key, document.clone());
            }
        }
    }
}
