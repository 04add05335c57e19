//! Looking for consolidated metadata of a group whose dialect is not known.

use super::Consolidated;
use crate::dialect::rules::Rules;
use crate::dialect::table::{all_rules, rules};
use crate::{Dialect, Documents, NodePath, StoredNode, Warning};

/// Consolidated metadata of a group, as it was found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FoundCopy {
    /// The dialect of the documents in it.
    pub dialect: Dialect,
    /// The path of the group.
    pub group: NodePath,
    /// Whether the group has a document of its own, apart from the consolidated metadata. If not, they are all that is known.
    pub has_document: bool,
    /// The documents.
    pub consolidated: Consolidated,
}

/// The keys of the documents that [`found`] takes: those of a group at `path` and of its consolidated metadata, in the dialects that have
/// some, or the one that is given.
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

/// The consolidated metadata of the group at `path` in these documents. What cannot be read is left out.
pub fn found(group: &NodePath, dialect: Option<Dialect>, documents: &Documents) -> Vec<FoundCopy> {
    let copy = |rules: &'static dyn Rules| {
        let dialect = *rules.dialects().first()?;
        let node = StoredNode::read(dialect, group.clone(), documents).ok().flatten();
        let consolidated = match rules.consolidation().key(group) {
            Some(key) => rules.parse_consolidated(&key, &documents.shared(&key)?).ok()??,
            None => node.as_ref()?.node.as_group()?.consolidated.clone()?,
        };
        Some(FoundCopy { dialect, group: group.clone(), has_document: node.is_some(), consolidated })
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

impl FoundCopy {
    /// Consolidated metadata of the group at `group`.
    pub fn new(dialect: Dialect, group: NodePath, has_document: bool, consolidated: Consolidated) -> Self {
        Self { dialect, group, has_document, consolidated }
    }

    /// The node at `path` as it is here, a group that nodes below imply included; `None` if there is none, or if it cannot be read.
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

    /// The nodes below `path` as they are here, those that cannot be read left out.
    pub fn nodes_below(&self, path: &NodePath) -> Vec<StoredNode> {
        let nodes = self.consolidated.nodes(&self.group).into_iter();
        let below = nodes.filter(|(at, _)| at.is_within(path) && at != path);
        let read = below.filter_map(|(at, documents)| StoredNode::read(self.dialect, at, &documents).ok().flatten());
        read.map(|found| self.marked(found)).collect()
    }

    /// The node with a warning that its own document is missing.
    fn marked(&self, mut found: StoredNode) -> StoredNode {
        let key = found.own_documents().next().map(str::to_owned);
        if let Some(key) = key {
            let what = format!("is not there, and is read from the consolidated metadata of {}", self.group);
            found.warnings.push(Warning::new(key, "", what));
        }
        found
    }
}
