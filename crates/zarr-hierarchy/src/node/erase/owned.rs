//! Keys of a node that is erased, and of all nodes below it.

use crate::chunk_keys::ChunkKeys;
use crate::node::order;
use crate::node::unfinished::{
    CONVERSION_JOURNAL, MIGRATION_RECORD, REPLACEMENTS, is_part_journal, is_scratch, journal_key, replacements,
};
use crate::{Result, Walk};
use std::collections::{BTreeMap, BTreeSet};
use zarr_meta::{Dialect, Documents, NodePath, StoredNode, consolidated};
use zarr_store::{Key, Listing, Prefix};

/// Extent of the keys that are erased with a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EraseScope {
    /// All keys under the path of the node.
    Path,
    /// Keys of nodes, and all keys under the paths of arrays.
    Nodes,
    /// Documents and chunks of known nodes.
    Keys,
}

/// Keys to erase.
#[derive(Debug, Default)]
pub(super) struct OwnedKeys {
    /// Prefixes below which all keys are erased: prefixes of documents before prefixes of chunks.
    pub(super) prefixes: Vec<String>,
    /// Arrays whose chunks are stored among other keys.
    pub(super) chunks: Vec<ChunkKeys>,
    /// Documents by their rank; documents of lower rank are erased first.
    pub(super) documents: BTreeMap<usize, BTreeSet<String>>,
    /// Prefix below which only journals of conversions are erased.
    pub(super) journals: Option<String>,
    /// Nodes by the prefix of their group, which has the journals of parts of conversions to these nodes, and nodes that were to replace
    /// them.
    pub(super) groups: BTreeMap<String, Vec<NodePath>>,
    /// Prefixes of unfinished replacements of the erased nodes.
    pub(super) replacements: Vec<Prefix>,
}

/// Classification of keys into documents and chunks.
#[derive(Debug)]
pub(super) struct DocumentKeys<'d> {
    dialect: Dialect,
    known: &'d Documents,
    /// Names of documents that are stored below the path of their node, in the order of erasing.
    names: Vec<String>,
}

impl<'d> DocumentKeys<'d> {
    pub(super) fn new(dialect: Dialect, known: &'d Documents) -> Self {
        let (root, none) = (NodePath::root(), Documents::new());
        let mut names = Vec::new();
        for plain in Dialect::at_paths().filter(|_| dialect.has_documents_at_paths()) {
            names.extend(zarr_meta::document_keys(plain, &root, &none));
            names.extend(consolidated::document_key(&StoredNode::implicit(plain, root.clone())));
        }
        Self { dialect, known, names }
    }

    /// Returns the rank of the document or journal at `key` in the order of erasing; `None` for other keys.
    pub(super) fn rank(&self, key: &Key) -> Option<usize> {
        if let Some(rest) = key.name().strip_prefix(CONVERSION_JOURNAL) {
            return Some(if rest.starts_with('.') { PARTS } else { JOURNALS });
        }
        let index = if self.dialect.has_documents_at_paths() {
            self.names.iter().position(|name| name == key.name())
        } else {
            let path = zarr_meta::document_path(self.dialect, key.as_str(), self.known)?;
            let keys = zarr_meta::document_keys(self.dialect, &path, self.known);
            Some(keys.iter().position(|known| known == key.as_str()).unwrap_or(keys.len()))
        };
        index.map(|index| OTHERS + index)
    }
}

/// Rank of the journals of parts of conversions, and of elements that a conversion stores temporarily.
const PARTS: usize = 0;
/// Rank of the journals of conversions, which record the chunks that exist.
const JOURNALS: usize = PARTS + 1;
/// Lowest rank of documents of nodes below the erased node.
const OTHERS: usize = 16;
/// Lowest rank of the documents of the erased node.
const OWN: usize = 4 * OTHERS;
/// Rank of the record of a migration, which names documents that are to be dropped.
const RECORD: usize = OWN + OTHERS;

impl OwnedKeys {
    /// Returns all keys below the path of a node.
    pub(super) fn of_node(found: &StoredNode) -> Self {
        let owned = found.owned();
        let mut documents = BTreeMap::new();
        let own = order::to_erase(found);
        let others: BTreeSet<String> = owned.keys.into_iter().filter(|key| !own.contains(key)).collect();
        for (rank, key) in own.into_iter().enumerate() {
            documents.insert(OWN + rank, BTreeSet::from([key]));
        }
        documents.insert(OTHERS - 1, others.into_iter().chain(consolidated::document_key(found)).collect());
        // Journals are stored beside nodes, even if documents and chunks are stored elsewhere.
        let below = found.path.key_prefix();
        let is_apart = !owned.prefixes.iter().any(|prefix| below.starts_with(prefix.as_str()));
        let journals = (is_apart && found.node.as_group().is_some()).then_some(below);
        Self { prefixes: owned.prefixes, documents, journals, ..Self::default() }
    }

    /// Returns the keys of all nodes of a walk, whose first node is the one to erase.
    pub(super) fn of_nodes(walk: &Walk, dialect: Dialect, scope: EraseScope) -> Self {
        let (mut owned, mut prefixes) = (Self::default(), BTreeSet::new());
        let none = Documents::new();
        for (number, found) in walk.nodes.iter().enumerate() {
            let first = match number {
                0 if scope == EraseScope::Keys => 1,
                0 => OWN,
                _ => OTHERS,
            };
            // Journals of the first node and of groups above it were erased before.
            if let Ok(journal) = journal_key(&found.path, None)
                && number > 0
            {
                owned.documents.entry(JOURNALS).or_default().insert(journal.to_string());
                let above = found.path.parent().map_or_else(String::new, |parent| parent.key_prefix());
                owned.groups.entry(above).or_default().push(found.path.clone());
            }
            for (rank, key) in order::to_erase(found).into_iter().enumerate() {
                owned.documents.entry(first + rank.min(OTHERS - 1)).or_default().insert(key);
            }
            // Otherwise documents of version 2 beside documents of version 3, or the reverse, would make a node afterwards.
            let beside =
                Dialect::at_paths().rev().filter(|_| scope == EraseScope::Nodes && dialect.has_documents_at_paths());
            let beside = beside.flat_map(|other| zarr_meta::document_keys(other, &found.path, &none));
            for (rank, key) in beside.chain(consolidated::document_key(found)).enumerate() {
                owned.documents.entry(2 * OTHERS + rank).or_default().insert(key);
            }
            if found.node.as_array().is_none() {
                continue;
            }
            let prefix = found.chunk_prefix();
            match ChunkKeys::new(found) {
                Ok(keys) if scope == EraseScope::Keys || prefix.is_empty() => owned.chunks.push(keys),
                // Keys of an unknown form look like any other key.
                Err(_) if prefix.is_empty() => {}
                _ => drop(prefixes.insert(prefix)),
            }
        }
        for broken in walk.broken.iter().filter_map(|error| NodePath::parse(error.location().path.as_deref()?).ok()) {
            // Unreadable documents would prevent new nodes, and leftover chunks would become chunks of new arrays.
            let documents = zarr_meta::document_keys(dialect, &broken, &none);
            owned.documents.entry(2 * OTHERS).or_default().extend(documents);
            if !broken.is_root() {
                owned.prefixes.extend(zarr_meta::owned(dialect, &broken, &none).prefixes);
            }
        }
        if scope == EraseScope::Nodes {
            owned.documents.insert(RECORD, BTreeSet::from([MIGRATION_RECORD.to_owned()]));
        }
        owned.prefixes.extend(prefixes);
        owned
    }

    /// Whether `key` is under a prefix below which all keys are erased.
    pub(super) fn has_prefix(&self, key: &str) -> bool {
        self.prefixes.iter().any(|prefix| key.starts_with(prefix.as_str()))
    }

    /// Whether the listed `key` is to be erased.
    pub(super) fn has(&self, key: &Key) -> bool {
        let is_journal =
            |prefix: &String| key.as_str().starts_with(prefix.as_str()) && key.name().starts_with(CONVERSION_JOURNAL);
        self.has_prefix(key.as_str())
            || self.journals.as_ref().is_some_and(is_journal)
            || self.chunks.iter().any(|chunks| chunks.chunk_at(key).is_some())
    }

    /// Adds keys that unfinished conversions to the erased nodes left beside them: journals of parts, temporary elements, and, if the store
    /// `exchanges` prefixes, new nodes that were to replace old nodes. `listings` are the listings of the groups, in order.
    pub(super) fn add_unfinished(&mut self, listings: &[Listing], exchanges: bool) -> Result<()> {
        let found = self.documents.entry(PARTS).or_default();
        for ((group, nodes), listing) in self.groups.iter().zip(listings) {
            let is_of = |key: &Key| nodes.iter().any(|path| is_part_journal(path, key) || is_scratch(path, key));
            let keys = listing.keys.iter().filter(|key| key.name().starts_with(CONVERSION_JOURNAL) && is_of(key));
            found.extend(keys.map(ToString::to_string));
            let all = format!("{group}{REPLACEMENTS}/");
            if exchanges && listing.prefixes.iter().any(|prefix| prefix.as_str() == all) {
                for node in nodes {
                    self.replacements.extend(replacements(node)?);
                }
            }
        }
        Ok(())
    }
}
