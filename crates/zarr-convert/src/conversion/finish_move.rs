//! Completion of a move that was interrupted while it erased the source.

use super::is_same;
use super::journal::FoundJournal;
use super::links::check_links;
use super::others::erase_copied_keys;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use zarr_drive::run;
use zarr_hierarchy::chunk_keys::ChunkKeys;
use zarr_hierarchy::in_store;
use zarr_hierarchy::jobs::Operation;
use zarr_hierarchy::jobs::document_range;
use zarr_hierarchy::node::{Ancestors, order, parse_path, reread, unclaimed};
use zarr_hierarchy::{Error, ErrorKind, Result, open_stored_node, walk};
use zarr_meta::{Dialect, Documents, NodePath, StoredNode, consolidated};
use zarr_store::{Key, Prefix, Store, StoreExt};

/// Finishes a move by copying ([`Conversion::run_move`](crate::Conversion::run_move)) from `from` to `to` that was interrupted while
/// it erased the source: compares the rest of the source with the node at `to`, and erases the rest. Returns false if nothing shows
/// that there was such a move.
///
/// Three conditions show such a move: the document of the node is gone from `from` (or the document of some node of an implicit
/// group); documents or chunks are left there; and each of them equals its copy at `to`. So nothing is lost even if there was no
/// move.
///
/// # Errors
/// [`ErrorKind::Conflict`] with the key of a value that differs from its copy, with nothing erased; [`ErrorKind::Exists`] if the move
/// is running, with its process; [`ErrorKind::Store`].
pub fn finish_move(source: &Arc<dyn Store>, from: &str, target: &Arc<dyn Store>, to: &str) -> Result<bool> {
    let in_source = |error| in_store(&**source, error);
    let (from, to) = (parse_path(from).map_err(in_source)?, parse_path(to)?);
    if is_same(source, target) && (from.is_within(&to) || to.is_within(&from)) {
        return Ok(false);
    }
    let is_implied = match open_stored_node(&**source, &from.to_string(), None) {
        Ok(found) if found.implicit => true,
        Err(error) if error.is_not_found() => false,
        // It is whole, or broken.
        _ => return Ok(false),
    };
    let copies = match walk(&**target, &to.to_string(), None) {
        Ok(walk) if walk.broken.is_empty() => walk.nodes,
        Err(error) if !error.is_not_found() => return Err(error),
        _ => return Ok(false),
    };
    let rest = Rest::find(&**source, &from, &**target, &to, &copies).map_err(in_source)?;
    let in_target = |error| in_store(&**target, error);
    // The source is that of a move that is at work as long as its journal says so.
    let journal = || FoundJournal::read_end_of_move(&**source, &from, &**target, &to).map_err(in_target);
    match rest {
        Ok(rest) if rest.is_of_move(is_implied) => {
            let journal = journal()?;
            if let Some(node) = rest.nodes.first() {
                check_links(&**source, node).map_err(in_source)?;
            }
            // The copy is on the disk before the rest is gone.
            target.barrier().map_err(|error| in_target(error.into()))?;
            rest.erase(&**source).map_err(in_source)?;
            erase_copied_keys((&**source, &from), (&**target, &to)).map_err(in_source)?;
            journal.map_or(Ok(()), |journal| journal.erase_end_of_move(&**target, &to)).map_err(in_target)?;
            Ok(true)
        }
        // Nothing is left but the journal.
        Ok(rest) if !is_implied && rest.is_empty() => {
            let Some(journal) = journal()? else { return Ok(false) };
            erase_copied_keys((&**source, &from), (&**target, &to)).map_err(in_source)?;
            journal.erase_end_of_move(&**target, &to).map(|()| true).map_err(in_target)
        }
        // A group that is there is in the way of no other message.
        Ok(_) => Ok(false),
        Err(_) if is_implied => Ok(false),
        Err(key) => {
            let message = format!("this may be the rest of an interrupted move to {to}, but differs from the copy");
            let error = Error::new(ErrorKind::Conflict, message).with_hint("nothing was erased");
            Err(in_source(error.at_path(&from).at(|location| location.key = Some(key.to_string()))))
        }
    }
}

/// The keys of a node that an interrupted move left in the source.
#[derive(Debug, Default)]
struct Rest {
    /// The nodes as they were before the move, the moved node first.
    nodes: Vec<StoredNode>,
    documents: BTreeSet<String>,
    chunks: Vec<Key>,
    /// Whether the document of a node is missing.
    has_gaps: bool,
}

impl Rest {
    /// Compares the rest of the source with the copies. The inner error is the key of a value that differs from its copy.
    fn find(
        source: &dyn Store,
        from: &NodePath,
        target: &dyn Store,
        to: &NodePath,
        copies: &[StoredNode],
    ) -> Result<std::result::Result<Self, Key>> {
        let mut rest = Self::default();
        let Some(dialect) = copies.first().map(|root| root.dialect) else { return Ok(Ok(rest)) };
        let entry = entry(source, dialect)?;
        let mut known = BTreeSet::new();
        for copy in copies {
            let below = copy.path.as_relative().strip_prefix(to.as_relative()).unwrap_or_default();
            let path = match below.trim_start_matches('/') {
                "" => from.clone(),
                below => from.join(below)?,
            };
            let keys = zarr_meta::document_keys(dialect, &path, &entry);
            let pairs: Vec<(String, String)> =
                keys.into_iter().zip(zarr_meta::document_keys(dialect, &copy.path, &copy.documents)).collect();
            let mut is_gone = !copy.implicit;
            for (key, copied) in &pairs {
                known.insert(key.clone());
                let key = Key::new(key)?;
                let Some(left) = source.get_all(&key)? else { continue };
                if copy.documents.get(copied).map(unclaimed) != Some(unclaimed(&left)) {
                    return Ok(Err(key));
                }
                is_gone = false;
                rest.documents.insert(key.to_string());
            }
            rest.has_gaps |= is_gone;
            let node = as_it_was(copy, path, &entry, &pairs)?;
            if let Some(key) = consolidated::document_key(&node) {
                known.insert(key);
            }
            if copy.node.as_array().is_some() {
                let copied = ChunkKeys::new(copy)?;
                for (key, chunk) in ChunkKeys::new(&node)?.stored(source)? {
                    let left = source.get_all(&key)?;
                    if left.is_none() || left != target.get_all(&copied.key(&chunk)?)? {
                        return Ok(Err(key));
                    }
                    rest.chunks.push(key);
                }
            }
            rest.nodes.push(node);
        }
        // A node that was never copied.
        Ok(match other_document(source, dialect, from, &entry, &known)? {
            Some(key) => Err(key),
            None => Ok(rest),
        })
    }

    /// Returns whether an interrupted move may have left this rest. For an implicit group, the document of at least one node has to be
    /// missing.
    fn is_of_move(&self, is_implied: bool) -> bool {
        (self.has_gaps || !is_implied) && !self.is_empty()
    }

    fn is_empty(&self) -> bool {
        self.documents.is_empty() && self.chunks.is_empty()
    }

    /// Erases documents and then chunks, in the order in which the move erased them.
    fn erase(&self, source: &dyn Store) -> Result<()> {
        let mut ranked: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for (number, node) in self.nodes.iter().enumerate() {
            if number == 0 {
                run(source, Ancestors::of_erased(node, source.capabilities()).job())?;
            }
            let keys = order::to_erase(node).into_iter().filter(|key| self.documents.contains(key));
            for (rank, key) in keys.chain(consolidated::document_key(node)).enumerate() {
                ranked.entry(rank).or_default().push(key);
            }
        }
        // In this order through a loss of power as well.
        for keys in ranked.into_values() {
            keys.iter().try_for_each(|key| source.erase(&Key::new(key)?))?;
            source.barrier()?;
        }
        self.chunks.iter().try_for_each(|key| source.erase(key))?;
        Ok(source.flush()?)
    }
}

/// Returns the document of the whole hierarchy; empty if there is none.
fn entry(store: &dyn Store, dialect: Dialect) -> Result<Documents> {
    let mut entry = Documents::new();
    if let Some(key) = zarr_meta::entry_point_key(dialect)
        && let Some(fetched) = store.get_ranges(&Key::new(key)?, &[document_range(key)])?
    {
        entry.insert(key, fetched.part(0));
    }
    Ok(entry)
}

/// Rebuilds the source node at `path` from its copy. `keys` pairs each document key of the source with the key of the copy.
fn as_it_was(copy: &StoredNode, path: NodePath, entry: &Documents, keys: &[(String, String)]) -> Result<StoredNode> {
    if copy.implicit {
        return Ok(StoredNode::implicit(copy.dialect, path));
    }
    let mut documents = entry.clone();
    for (key, copied) in keys {
        if let Some(document) = copy.documents.get(copied) {
            documents.insert(key.as_str(), document);
        }
    }
    reread(copy.dialect, &path, &documents)
}

/// Finds a document of a node at or below `path` that is not in `known`.
fn other_document(
    store: &dyn Store,
    dialect: Dialect,
    path: &NodePath,
    entry: &Documents,
    known: &BTreeSet<String>,
) -> Result<Option<Key>> {
    if !store.capabilities().list {
        return Ok(None);
    }
    let names = zarr_meta::document_keys(dialect, &NodePath::root(), entry);
    let is_document = |key: &Key| match dialect.implies_groups() {
        true => zarr_meta::document_path(dialect, key.as_str(), entry).is_some_and(|of| of.is_within(path)),
        false => names.iter().any(|name| name == key.name()),
    };
    for prefix in zarr_meta::owned(dialect, path, entry).prefixes {
        let keys = store.list_prefix(&Prefix::new(&prefix)?)?;
        if let Some(key) = keys.into_iter().find(|key| !known.contains(key.as_str()) && is_document(key)) {
            return Ok(Some(key));
        }
    }
    Ok(None)
}
