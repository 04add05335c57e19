//! Consolidated metadata: copies of the documents of all nodes below a group.
//!
//! It is a snapshot and may be stale; whether to trust it is the caller's business.

mod build;
mod read;
mod stale;

pub use stale::without_consolidated;

use crate::error::{Error, ErrorKind, Result};
use crate::json::{Map, Value};
use crate::{Documents, NodePath};

/// The key of the consolidated metadata of version 2, below the prefix of the group it is for.
pub const V2_KEY: &str = ".zmetadata";

/// The documents of all nodes below a group, as they were when somebody collected them.
///
/// In version 3 a member `consolidated_metadata` of the group's document, in version 2 a document `.zmetadata`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Consolidated {
    /// The documents by their keys relative to the group, `a/zarr.json` or `a/.zarray`, in the order stored.
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

    /// The documents of the node at `path`, as they would be in the store, if the group that this belongs to is at
    /// `group`.
    pub fn documents_of(&self, group: &NodePath, path: &NodePath) -> Documents {
        let prefix = group.key_prefix();
        let node = path.key_prefix();
        let Some(below) = node.strip_prefix(prefix.as_str()) else { return Documents::new() };
        let names = ["zarr.json", ".zarray", ".zgroup", ".zattrs"];
        names
            .iter()
            .filter_map(|name| {
                let document = self.documents.get(&format!("{below}{name}"))?;
                Some((format!("{node}{name}"), document.to_string().into_bytes()))
            })
            .collect()
    }

    /// All documents, under their keys relative to the root of the store, if the group that this belongs to is at `group`.
    pub fn all_documents(&self, group: &NodePath) -> impl Iterator<Item = (String, &Value)> {
        let prefix = group.key_prefix();
        self.documents.iter().map(move |(key, document)| (format!("{prefix}{key}"), document))
    }

    /// The paths of the nodes that have documents here, sorted, if the group that this belongs to is at `group`.
    pub fn paths(&self, group: &NodePath) -> Vec<NodePath> {
        let name_of = |key: &str| key.rsplit_once('/').map_or(String::new(), |(path, _)| path.to_owned());
        let is_node = |key: &&str| !key.ends_with(".zattrs");
        let mut paths: Vec<_> = self
            .documents
            .keys()
            .filter(is_node)
            .filter_map(|key| {
                let below = name_of(key);
                if below.is_empty() { Some(group.clone()) } else { group.join(&below).ok() }
            })
            .collect();
        paths.sort();
        paths.dedup();
        paths
    }
}
