//! Consolidated metadata: copies of the documents of all nodes below a group.
//!
//! It is a snapshot and may be stale; whether to trust it is the caller's business.

mod build;
mod read;
mod stale;

pub use stale::{document_key, without_consolidated};

use crate::dialect::p2020::{ENTRY, path_of};
use crate::error::{Error, ErrorKind, Result};
use crate::{Documents, NodePath};
use std::collections::BTreeMap;
use zarr_json::Map;

/// The key of the consolidated metadata of version 2, below the prefix of the group it is for.
pub const V2_KEY: &str = ".zmetadata";

/// The documents of all nodes below a group, as they were when somebody collected them.
///
/// In version 3 a member `consolidated_metadata` of the group's document, in version 2 a document `.zmetadata`, in the protocol
/// drafts as zarr-python 2 wrote them a document `meta/root/consolidated/.zmetadata`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Consolidated {
    /// The documents by their keys relative to the group, `a/zarr.json` or `a/.zarray`, in the order stored. In the protocol
    /// drafts, where they are those of the whole hierarchy, by their keys, the entry point document `zarr.json` among them.
    pub documents: Map,
    /// Names that could lead out of the hierarchy. Their documents are left out.
    pub refused: Vec<String>,
}

impl Consolidated {
    /// Checks that no name had to be refused.
    ///
    /// # Errors
    /// [`ErrorKind::Path`] naming the first one.
    pub fn check(&self) -> Result<()> {
        match self.refused.first() {
            None => Ok(()),
            Some(name) => {
                let found = format!("{name:?} in consolidated metadata");
                Err(Error::new(ErrorKind::Path, "", found, "the path of a node below the group"))
            }
        }
    }

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
