//! Search for the consolidated metadata of a group whose dialect is not known.

use super::Consolidated;
use crate::dialect::rules::Rules;
use crate::dialect::table::{all_rules, rules};
use crate::{Dialect, Documents, NodePath, StoredNode, Warning};

/// Consolidated metadata of a group, as found in a store.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FoundConsolidated {
    /// Dialect of the documents in the consolidated metadata.
    pub dialect: Dialect,
    /// Path of the group that has the consolidated metadata.
    pub group: NodePath,
    /// Whether the group has a main document besides the consolidated metadata. If not, the consolidated metadata is all that is known of
    /// the group.
    pub has_document: bool,
    /// Consolidated metadata of the group.
    pub consolidated: Consolidated,
}

/// Returns the keys of the documents that [`found`] needs: the documents of the group at `group` and of its consolidated metadata, in
/// `dialect`, or without `dialect` in all dialects with consolidated metadata.
pub fn keys(group: &NodePath, dialect: Option<Dialect>) -> Vec<String> {
    let mut keys = Vec::new();
    for rules in candidates(group, dialect) {
        keys.extend(rules.document_keys(group));
        keys.extend(rules.consolidation().key(group));
    }
    keys.sort();
    keys.dedup();
    keys
}

/// Returns the consolidated metadata of the group at `group` in `documents`, one result for each dialect. Consolidated metadata that cannot
/// be read is skipped.
pub fn found(group: &NodePath, dialect: Option<Dialect>, documents: &Documents) -> Vec<FoundConsolidated> {
    let copy = |rules: &'static dyn Rules| {
        let dialect = *rules.dialects().first()?;
        let node = StoredNode::read(dialect, group.clone(), documents).ok().flatten();
        let consolidated = match rules.consolidation().key(group) {
            Some(key) => rules.parse_consolidated(&key, &documents.shared(&key)?).ok()??,
            None => node.as_ref()?.node.as_group()?.consolidated.clone()?,
        };
        Some(FoundConsolidated { dialect, group: group.clone(), has_document: node.is_some(), consolidated })
    };
    candidates(group, dialect).filter_map(copy).collect()
}

fn candidates(group: &NodePath, dialect: Option<Dialect>) -> impl Iterator<Item = &'static dyn Rules> {
    let all: Vec<_> = match dialect {
        Some(dialect) => vec![rules(dialect)],
        None => all_rules().collect(),
    };
    let group = group.clone();
    all.into_iter().filter(move |rules| rules.consolidation().at(&group))
}

impl FoundConsolidated {
    /// Creates the description of consolidated metadata that was found for the group at `group`.
    pub fn new(dialect: Dialect, group: NodePath, has_document: bool, consolidated: Consolidated) -> Self {
        Self { dialect, group, has_document, consolidated }
    }

    /// Returns the node at `path` as the consolidated metadata describes it, including a group that nodes below `path` imply; `None` if
    /// there is no such node, or if it cannot be read.
    pub fn node(&self, path: &NodePath) -> Option<StoredNode> {
        let found = match self.consolidated.documents_of(&self.group, path) {
            Some(documents) => match StoredNode::read(self.dialect, path.clone(), &documents).ok()? {
                Some(found) => found,
                None => StoredNode::implied(self.dialect, path.clone(), &documents),
            },
            None if self.consolidated.has_below(&self.group, path) => StoredNode::implicit(self.dialect, path.clone()),
            None => return None,
        };
        Some(self.marked(found))
    }

    /// Returns the nodes below `path` as the consolidated metadata describes them. Nodes that cannot be read are skipped.
    pub fn nodes_below(&self, path: &NodePath) -> Vec<StoredNode> {
        let nodes = self.consolidated.nodes(&self.group).into_iter();
        let below = nodes.filter(|(at, _)| at.is_within(path) && at != path);
        let read = below.filter_map(|(at, documents)| StoredNode::read(self.dialect, at, &documents).ok().flatten());
        read.map(|found| self.marked(found)).collect()
    }

    /// Adds a warning to `found` that its own document is missing.
    fn marked(&self, mut found: StoredNode) -> StoredNode {
        let key = found.own_documents().next().map(str::to_owned);
        if let Some(key) = key {
            let what = format!("is not there, and is read from the consolidated metadata of {}", self.group);
            found.warnings.push(Warning::new(key, "", what));
        }
        found
    }
}
