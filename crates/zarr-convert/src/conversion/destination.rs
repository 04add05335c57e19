//! The target of a conversion: nodes that exist there already, and documents that are written.

use super::{Conversion, PlannedNode};
use std::collections::BTreeSet;
use std::sync::Arc;
use zarr_array::{Group, NewGroup};
use zarr_drive::{Script, run};
use zarr_hierarchy::chunk_keys::ChunkKeys;
use zarr_hierarchy::jobs::{Made, Operation, document_options, document_range, in_steps};
use zarr_hierarchy::node::{
    Ancestors, CONVERSION_JOURNAL, EraseBroken, EraseNode, is_one_prefix, new_id, order, replacement, reread,
    same_hierarchy, unclaimed,
};
use zarr_hierarchy::{Error, ErrorKind, Result, open_stored_node};
use zarr_meta::{Dialect, NodePath, StoredNode};
use zarr_store::{Key, Precondition, Prefix, Request, Store, StoreExt};

/// Documents that exist in the target and stay: those of the groups above the node, and the document of the whole hierarchy.
#[derive(Clone, Debug, Default)]
pub(super) struct ExistingDocuments {
    kept: Vec<NodePath>,
    entry: zarr_meta::Documents,
}

impl ExistingDocuments {
    /// Returns whether the group at `path` exists and stays.
    pub(super) fn is_there(&self, path: &NodePath) -> bool {
        self.kept.contains(path)
    }

    /// Returns the document that says how nodes of the hierarchy are stored; empty if there is none.
    pub(super) fn entry(&self) -> &zarr_meta::Documents {
        &self.entry
    }
}

/// Treatment of existing nodes at the target path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InTheWay {
    /// An existing node is an error.
    Refuse,
    Erase,
    /// Existing nodes stay until the conversion has ended, and are replaced then.
    Replace,
    /// Existing nodes belong to this conversion and stay.
    Keep,
}

/// Makes sure that no node exists at the target path, or erases existing nodes if `in_the_way` allows it.
pub(super) fn prepare(
    target: &Arc<dyn Store>,
    conversion: &Conversion,
    in_the_way: InTheWay,
) -> Result<ExistingDocuments> {
    let (from, path) = conversion.paths();
    let Some(dialect) = conversion.nodes.first().map(|node| node.dialect) else {
        return Ok(ExistingDocuments::default());
    };
    let mut existing = groups_above(target, conversion)?;
    let above = || Ancestors::new(&StoredNode::implicit(dialect, path.clone()), target.capabilities());
    let is_replaced = matches!(in_the_way, InTheWay::Erase | InTheWay::Replace);
    clear(target, &path, dialect, from.name(), in_the_way)?;
    if in_the_way != InTheWay::Replace {
        // A copy of all metadata would not know the new node.
        run(&**target, if is_replaced { above().replaced() } else { above() }.job())?;
    }
    if let Some(name) = zarr_meta::entry_point_key(dialect)
        && let Some(entry) = target.get_ranges(&Key::new(name)?, &[document_range(name)])?
    {
        existing.entry.insert(name, entry.part(0));
    }
    Ok(existing)
}

/// Finds the groups that exist above the target path.
pub(super) fn groups_above(target: &Arc<dyn Store>, conversion: &Conversion) -> Result<ExistingDocuments> {
    let (_, path) = conversion.paths();
    match conversion.nodes.first().map(|node| node.dialect) {
        Some(dialect) => groups_above_path(target, &path, dialect),
        None => Ok(ExistingDocuments::default()),
    }
}

/// Finds the groups that exist above the path of a node, and checks that a node of `dialect` can be put there.
pub(super) fn groups_above_path(
    target: &Arc<dyn Store>,
    path: &NodePath,
    dialect: Dialect,
) -> Result<ExistingDocuments> {
    let mut existing = ExistingDocuments::default();
    for above in path.ancestors() {
        let found = match open_stored_node(&**target, &above.to_string(), None) {
            Ok(found) if !found.implicit => found,
            Ok(_) => continue,
            Err(error) if error.is_not_found() => continue,
            Err(error) => return Err(error),
        };
        let at = |error: Error| error.at(|location| location.path = Some(above.to_string()));
        if found.node.as_array().is_some() {
            return Err(at(Error::argument("found an array, expected a group")));
        }
        if !same_hierarchy(dialect, found.dialect) {
            let message = format!("the hierarchy there is of dialect {}, not of the one to be written", found.dialect);
            return Err(at(Error::argument(message)));
        }
        existing.kept.push(above);
    }
    Ok(existing)
}

/// Checks, before anything is changed, that consolidated metadata of the groups above a replaced node can be removed.
pub(super) fn check_above(target: &Arc<dyn Store>, conversion: &Conversion) -> Result<()> {
    let (_, path) = conversion.paths();
    let Some(dialect) = conversion.nodes.first().map(|node| node.dialect) else { return Ok(()) };
    let above = Ancestors::new(&StoredNode::implicit(dialect, path), target.capabilities());
    run(&**target, above.replaced().only_checking().job()).map(drop)
}

/// Removes consolidated metadata of the groups above a node that is replaced.
pub(super) fn drop_above(target: &Arc<dyn Store>, conversion: &Conversion) -> Result<()> {
    let (_, path) = conversion.paths();
    let Some(dialect) = conversion.nodes.first().map(|node| node.dialect) else { return Ok(()) };
    let above = Ancestors::new(&StoredNode::implicit(dialect, path), target.capabilities());
    run(&**target, above.replaced().job()).map(drop)
}

/// Returns the prefix to which the existing node can be renamed. The name has the form of names for replacement nodes, so that the code
/// which finds and removes leftover replacements removes this node as well. `None` if there is no node, or if parts of the node lie outside
/// its path.
pub(super) fn aside(target: &Arc<dyn Store>, conversion: &Conversion) -> Result<Option<Prefix>> {
    let (_, path) = conversion.paths();
    // A store that cannot exchange prefixes has no staged replacements, so there is no prefix to look at.
    if !target.capabilities().exchanges {
        return Ok(None);
    }
    match open_stored_node(&**target, &path.to_string(), None) {
        Ok(found) if is_one_prefix(found.dialect, &path) => replacement(&path, new_id()),
        Ok(_) => Ok(None),
        Err(error) if error.kind() == ErrorKind::Store => Err(error),
        // Erasing says what is wrong with it.
        Err(_) => Ok(None),
    }
}

/// Creates the missing groups above the target path, which are not part of the conversion.
pub(super) fn make_parents(
    target: &Arc<dyn Store>,
    conversion: &Conversion,
    existing: &ExistingDocuments,
) -> Result<()> {
    let (_, path) = conversion.paths();
    let Some(dialect) = conversion.nodes.first().map(|node| node.dialect) else { return Ok(()) };
    if let (Some(_), Some(parent)) = (&conversion.options.to, path.parent())
        && !dialect.implies_groups()
        && !existing.is_there(&parent)
    {
        let new = NewGroup::default().dialect(dialect);
        Group::create(target, &parent.to_string(), new, &conversion.registry)?;
    }
    Ok(())
}

/// Makes sure that there is no node at `path` before a node of `dialect` is written there, unless `in_the_way` says that it stays. Never
/// erases keys that belong to no node. `name` is the name of the node in the source; `None` for the root.
pub(super) fn clear(
    target: &Arc<dyn Store>,
    path: &NodePath,
    dialect: Dialect,
    name: Option<&str>,
    in_the_way: InTheWay,
) -> Result<()> {
    let overwrite = match in_the_way {
        InTheWay::Refuse => false,
        InTheWay::Erase => true,
        InTheWay::Replace | InTheWay::Keep => return Ok(()),
    };
    let found = match open_stored_node(&**target, &path.to_string(), None) {
        Err(error) if error.is_not_found() => {
            if overwrite || !has_others(target, path, dialect)? {
                return Ok(());
            }
            return Err(exists(path, "there are other files already", "--overwrite writes between them"));
        }
        // A node that cannot be reached is unknown.
        Err(error) if error.kind() == ErrorKind::Store || error.is_absent_dialect() => return Err(error),
        found => found,
    };
    if !overwrite {
        let what = match &found {
            Ok(found) if found.node.as_array().is_some() => "there is an array already",
            Ok(_) => "there is a group already",
            Err(_) => "there is a broken node already",
        };
        // Replacing a group erases all its contents, which is not meant by a caller who wants to put a node into the group.
        let hint = match (&found, name) {
            (Ok(found), _) if found.node.as_array().is_some() => "--overwrite replaces it".to_owned(),
            (Ok(_), Some(name)) => {
                let within = path.join(name)?;
                format!("to put it into that group, name {within}; --overwrite would erase the group with all in it")
            }
            (Ok(_), None) => "name another path or store; --overwrite would erase all that is there".to_owned(),
            (Err(_), _) => "`zarr check` tells what is broken; --overwrite replaces it".to_owned(),
        };
        return Err(exists(path, what, &hint));
    }
    match found {
        Ok(found) => Ok(run(&**target, EraseNode::new(found, target.capabilities()).keeping_journals().job())?),
        Err(_) => Ok(run(&**target, EraseBroken::new(path.clone(), Dialect::NEWEST, target.capabilities()).job())?),
    }
}

/// Returns whether `target` has keys that a node at `path`, or a node below it, would have. Journals do not count.
fn has_others(target: &Arc<dyn Store>, path: &NodePath, dialect: Dialect) -> Result<bool> {
    if !target.capabilities().list {
        return Ok(false);
    }
    // A node path may have the name of a folder that holds documents or chunks of all nodes.
    let spaces = zarr_meta::key_spaces(dialect);
    let at_path = path.key_prefix();
    let is_apart = !spaces.iter().any(|space| at_path.starts_with(space.as_str()));
    let own = zarr_meta::owned(dialect, path, &zarr_meta::Documents::new()).prefixes;
    let prefixes: BTreeSet<String> = own.into_iter().chain(is_apart.then_some(at_path)).collect();
    let is_journal = |key: &Key| key.name().starts_with(CONVERSION_JOURNAL);
    for prefix in prefixes {
        let listing = target.list_dir(&Prefix::new(&prefix)?)?;
        if !listing.keys.iter().all(is_journal) || !listing.prefixes.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the error for a node that another writer created during the conversion.
pub(super) fn created_meanwhile(path: &NodePath) -> Error {
    Error::new(ErrorKind::Exists, "another writer created this node meanwhile").at_path(path)
}

/// Returns whether a document describes a node at `path`, in any dialect.
pub(super) fn has_node(target: &dyn Store, path: &NodePath) -> Result<bool> {
    match open_stored_node(target, &path.to_string(), None) {
        Ok(found) => Ok(!found.implicit),
        Err(error) if error.is_not_found() => Ok(false),
        Err(error) => Err(error),
    }
}

/// Checks that no other writer has created the node since the conversion began.
pub(super) fn check_free(target: &dyn Store, planned: &PlannedNode) -> Result<()> {
    match open_stored_node(target, &planned.path.to_string(), Some(planned.dialect)) {
        Ok(found) if !found.implicit => Err(created_meanwhile(&planned.path)),
        Err(error) if error.kind() == ErrorKind::Store => Err(error),
        _ => Ok(()),
    }
}

/// Erases the stored chunks of an array for which `is_own` returns true. `is_own` gets the chunk index, or `None` for a chunk beyond the
/// shape. Calls `confirm` before each erase; it fails if the chunk may belong to another run.
pub(super) fn erase_chunks(
    store: &dyn Store,
    array: &StoredNode,
    is_own: &dyn Fn(Option<&[u64]>) -> bool,
    confirm: &dyn Fn() -> Result<()>,
) -> Result<()> {
    if !store.capabilities().list {
        return Ok(());
    }
    let keys = ChunkKeys::new(array)?;
    let prefixes: BTreeSet<&str> = keys.prefixes().collect();
    for prefix in prefixes {
        let stored = store.list_prefix(&Prefix::new(prefix)?)?;
        let is_left = |key: &&Key| keys.has_form(key) && is_own(keys.chunk_at(key).as_deref());
        stored.iter().filter(is_left).try_for_each(|key| confirm().and_then(|()| Ok(store.erase(key)?)))?;
    }
    Ok(())
}

fn exists(path: &NodePath, message: &str, hint: &str) -> Error {
    let error = Error::new(ErrorKind::Exists, message).with_hint(hint);
    error.at(|location| location.path = Some(path.to_string()))
}

/// Documents that are written for a node.
#[derive(Debug)]
pub(super) struct NodeDocuments {
    changes: Vec<(String, Option<Vec<u8>>)>,
    /// The document of the whole hierarchy, if the target lacks it; otherwise empty.
    inherited: zarr_meta::Documents,
    found: StoredNode,
}

/// Documents of a new node, each with its key.
pub(super) struct KeyedDocuments {
    pub(super) path: NodePath,
    /// Documents that have to be on the disk before `deciding`.
    pub(super) before: Vec<(Key, Vec<u8>)>,
    pub(super) deciding: (Key, Vec<u8>),
}

impl KeyedDocuments {
    /// Checks that no other writer has created the node meanwhile.
    pub(super) fn check_free(&self, target: &Arc<dyn Store>) -> Result<()> {
        if target.get_all(&self.deciding.0)?.is_some() { Err(created_meanwhile(&self.path)) } else { Ok(()) }
    }
}

impl NodeDocuments {
    /// Builds the documents of the node `planned`, in a hierarchy whose shared document is `entry` (empty if there is none).
    ///
    /// If the node keeps its dialect, the documents keep their spelling and unknown members.
    pub(super) fn new(planned: &PlannedNode, entry: &zarr_meta::Documents) -> Result<Self> {
        let (path, source, dialect) = (&planned.path, &planned.source, planned.dialect);
        let mut node = planned.target.clone();
        // A new hierarchy of the same dialect takes over the document that says how the others are called.
        let inherited: zarr_meta::Documents = zarr_meta::entry_point_key(dialect)
            .filter(|_| source.dialect == dialect && entry.is_empty())
            .and_then(|key| Some((key.to_owned(), source.documents.get(key)?.to_vec())))
            .into_iter()
            .collect();
        let entry = if inherited.is_empty() { entry } else { &inherited };
        if !entry.is_empty() {
            zarr_meta::fit_in(&mut node, dialect, entry);
        }
        let mut previous = entry.clone();
        if source.dialect == dialect {
            let from = zarr_meta::document_keys(dialect, &source.path, &source.documents);
            let to = zarr_meta::document_keys(dialect, path, entry);
            for (from, to) in from.iter().zip(to) {
                if let Some(document) = source.documents.get(from).filter(|_| previous.get(&to).is_none()) {
                    // Whoever appends to the source does not append to the copy.
                    previous.insert(to, unclaimed(document));
                }
            }
        }
        // What others read with a warning, or refuse, is not written anew.
        let previous = zarr_meta::corrected(dialect, path, &previous);
        // The node has such numbers only where the conversion left them.
        let previous_documents = Some(&previous).filter(|it| !it.is_empty());
        let changes = zarr_meta::documents_with_nan_literals(dialect, path, &node, previous_documents)?;
        let mut documents = previous;
        documents.apply(&changes);
        let found = reread(dialect, path, &documents)?;
        Ok(Self { changes, inherited, found })
    }

    /// Returns the node as a reader will find it.
    pub(super) fn found(&self) -> &StoredNode {
        &self.found
    }

    /// Returns the keys of the documents with their contents; `None` for a document that must not exist.
    pub(super) fn changes(&self) -> impl Iterator<Item = (&str, Option<&[u8]>)> {
        self.changes.iter().map(|(key, document)| (key.as_str(), document.as_deref()))
    }

    /// Returns whether all documents are stored in `target` with exactly these contents.
    pub(super) fn are_stored(&self, target: &dyn Store) -> Result<bool> {
        for (key, document) in self.changes() {
            let stored = target.get_ranges(&Key::new(key)?, &[document_range(key)])?;
            if stored.as_ref().map(|stored| stored.part(0)) != document {
                return Ok(false);
            }
        }
        Ok(!self.changes.is_empty())
    }

    /// Writes the documents; the document that makes the node visible is written last.
    pub(super) fn write(self, target: &Arc<dyn Store>) -> Result<()> {
        self.write_if(target, &Precondition::None)
    }

    /// Returns the steps of the writes. The precondition `when` applies to the last write.
    fn steps(&self, changes: Vec<(String, Option<Vec<u8>>)>, when: &Precondition) -> Result<Vec<Vec<Request>>> {
        let StoredNode { dialect, path, documents, .. } = &self.found;
        let when = |_: &Key, is_last| if is_last { when.clone() } else { Precondition::None };
        order::requests(*dialect, path, documents, changes, when)
    }

    /// Writes the documents of a node that must not exist yet.
    pub(super) fn create(self, target: &Arc<dyn Store>) -> Result<()> {
        let is_conditional = target.capabilities().conditional;
        self.write_if(target, if is_conditional { &Precondition::NotExists } else { &Precondition::None })
    }

    /// Writes the documents. The precondition `when` applies to the last write.
    fn write_if(mut self, target: &Arc<dyn Store>, when: &Precondition) -> Result<()> {
        for (key, bytes) in self.inherited.iter() {
            target.set(&Key::new(key)?, bytes, &document_options(Precondition::None, false))?;
        }
        let changes = std::mem::take(&mut self.changes);
        let steps = self.steps(changes, when)?;
        match run(&**target, Script::new(|io| async move { in_steps(&io, steps).await }))? {
            Made::All => Ok(()),
            Made::Conflict { .. } => Err(created_meanwhile(&self.found.path)),
        }
    }

    /// Returns the documents of a node that must not exist yet, split into those that are written before and the document that makes the
    /// node visible. `None` if documents have to be erased, or if several documents make the node visible.
    pub(super) fn apart(&self) -> Result<Option<KeyedDocuments>> {
        if self.changes.iter().any(|(_, document)| document.is_none()) {
            return Ok(None);
        }
        let inherited = self.inherited.iter().map(|(key, bytes)| Ok((Key::new(key)?, bytes.to_vec())));
        let mut before = inherited.collect::<Result<Vec<_>>>()?;
        let mut steps = self.steps(self.changes.clone(), &Precondition::NotExists)?;
        let set = |request| match request {
            Request::Set { key, value, .. } => Some((key, value)),
            _ => None,
        };
        let mut last: Vec<_> = steps.pop().into_iter().flatten().filter_map(set).collect();
        let deciding = last.pop().filter(|_| last.is_empty());
        before.extend(steps.into_iter().flatten().filter_map(set));
        Ok(deciding.map(|deciding| KeyedDocuments { path: self.found.path.clone(), before, deciding }))
    }

    /// Writes all documents except the document at `key`, and returns the contents of that document.
    pub(super) fn write_without(mut self, key: Option<&str>, target: &Arc<dyn Store>) -> Result<Option<Vec<u8>>> {
        let at = self.changes.iter().position(|(changed, _)| Some(changed.as_str()) == key);
        let kept = at.and_then(|at| self.changes.remove(at).1);
        self.write(target)?;
        Ok(kept)
    }
}
