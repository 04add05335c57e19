//! The keys of a node that is erased, and of all nodes below it.

use crate::chunk_keys::ChunkKeys;
use crate::node::order;
use crate::node::unfinished::{
    CONVERSION_JOURNAL, REPLACEMENTS, is_part_journal, is_scratch, journal_key, replacements,
};
use crate::{Result, Walk};
use std::collections::{BTreeMap, BTreeSet};
use zarr_meta::{Dialect, Documents, NodePath, StoredNode, consolidated};
use zarr_store::{Key, Listing, Prefix};

/// The key at the root under which the state of a migration is recorded. No dialect has it for a document or a chunk.
pub const MIGRATION_RECORD: &str = ".zmigration";

/// How much is taken to be a node's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EraseScope {
    /// All under its path.
    Path,
    /// Keys of nodes, and all under the paths of arrays.
    Nodes,
    /// Documents and chunks of nodes that are known.
    Keys,
}

/// The keys to be erased.
#[derive(Debug, Default)]
pub(super) struct OwnedKeys {
    /// Prefixes below which everything is erased, prefixes of documents before prefixes of chunks.
    pub(super) prefixes: Vec<String>,
    /// Arrays whose chunks lie among other things.
    pub(super) chunks: Vec<ChunkKeys>,
    /// Documents; the first ones decide whether there is a node.
    pub(super) documents: BTreeMap<usize, BTreeSet<String>>,
    /// A prefix below which, of all that there is, journals of conversions are erased.
    pub(super) journals: Option<String>,
    /// Groups, each with the nodes in it, of which the journals of parts of conversions lie there, and nodes that were to replace them.
    pub(super) groups: BTreeMap<String, Vec<NodePath>>,
    /// Prefixes of nodes that were to replace those that are erased.
    pub(super) replacements: Vec<Prefix>,
}

/// Tells documents from chunks by their keys.
#[derive(Debug)]
pub(super) struct DocumentKeys<'d> {
    dialect: Dialect,
    known: &'d Documents,
    /// The names of documents that lie below the path of their node; the first ones decide.
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

    /// The rank of the document or journal at this key in the order of erasing; `None` if it is none.
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

/// The rank of the journals of parts of conversions, and of elements between reading and writing.
const PARTS: usize = 0;
/// The rank of the journals of conversions, which say of chunks that they are there.
const JOURNALS: usize = PARTS + 1;
/// The rank of the first documents that are not of the node itself.
const OTHERS: usize = 16;
/// The rank of the documents of the node itself.
const OWN: usize = 4 * OTHERS;
/// The rank of the record of a migration, which says the documents that are to be dropped.
const RECORD: usize = OWN + OTHERS;

impl OwnedKeys {
    /// All below the path of a node.
    pub(super) fn of_node(found: &StoredNode) -> Self {
        let owned = found.owned();
        let mut documents = BTreeMap::new();
        let own = order::to_erase(found);
        let others: BTreeSet<String> = owned.keys.into_iter().filter(|key| !own.contains(key)).collect();
        for (rank, key) in own.into_iter().enumerate() {
            documents.insert(OWN + rank, BTreeSet::from([key]));
        }
        documents.insert(OTHERS - 1, others.into_iter().chain(consolidated::document_key(found)).collect());
        // They lie beside nodes, also where documents and chunks lie elsewhere.
        let below = found.path.key_prefix();
        let is_apart = !owned.prefixes.iter().any(|prefix| below.starts_with(prefix.as_str()));
        let journals = (is_apart && found.node.as_group().is_some()).then_some(below);
        Self { prefixes: owned.prefixes, documents, journals, ..Self::default() }
    }

    /// The keys of each of the nodes, of which the first is the one to be erased.
    pub(super) fn of_nodes(walk: &Walk, dialect: Dialect, scope: EraseScope) -> Self {
        let (mut owned, mut prefixes) = (Self::default(), BTreeSet::new());
        let none = Documents::new();
        for (number, found) in walk.nodes.iter().enumerate() {
            let first = match number {
                0 if scope == EraseScope::Keys => 1,
                0 => OWN,
                _ => OTHERS,
            };
            // Those of the first node, and above it, are gone.
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
            // Documents of version 2 beside documents of version 3, and the other way around, would be found again.
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
            // Documents that cannot be read would be in the way of others, and chunks would become theirs.
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

    /// Whether a key lies under a prefix below which everything goes.
    pub(super) fn has_prefix(&self, key: &str) -> bool {
        self.prefixes.iter().any(|prefix| key.starts_with(prefix.as_str()))
    }

    /// Whether a key that is listed is to be erased.
    pub(super) fn has(&self, key: &Key) -> bool {
        let is_journal =
            |prefix: &String| key.as_str().starts_with(prefix.as_str()) && key.name().starts_with(CONVERSION_JOURNAL);
        self.has_prefix(key.as_str())
            || self.journals.as_ref().is_some_and(is_journal)
            || self.chunks.iter().any(|chunks| chunks.chunk_at(key).is_some())
    }

    /// Adds what unfinished conversions to nodes that are erased have left beside them, as the listings of the groups, in their order, show it: journals of
    /// parts, what these stored temporarily, and nodes that were to replace others, in a store that `exchanges` prefixes.
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
