//! The end of a migration, which drops the old or the new hierarchy.

use super::changes;
use super::chunks::own_chunks;
use super::found::{nodes, old_root};
use super::record::{KEY, MigrationState, NodeRecord, Record, Side};
use std::collections::BTreeSet;
use zarr_drive::run;
use zarr_hierarchy::jobs::{Operation, TakeLock};
use zarr_hierarchy::node::{check_same_chunks, order};
use zarr_hierarchy::{Error, ErrorKind, Result, open_stored_node};
use zarr_meta::{Dialect, StoredNode};
use zarr_store::{Key, Lock, Prefix, Store, StoreExt, backoff};

/// Hint for an old node without a new node, although the migration is done.
const ADDED: &str = "it was added since, or the new one erased: erase it if it is not wanted; else undo, which is refused where it would \
    drop what was written to the new hierarchy, and migrate again";

/// Hint for a new node without an old node.
const LEFT: &str =
    "erase it if it is not wanted; --force drops the documents of the others nevertheless, and leaves it behind";

/// Greatest number of arrays that are locked: each lock keeps a file open, and a process may be limited to 256 open files.
const MAX_LOCKS: usize = 64;

/// Number of attempts to take the lock. Creating a node holds the lock for a moment, a migration holds it longer.
const MAX_TRIES: u32 = 50;

/// Locks the root, so that no other process migrates the store, as far as the locks of the store reach.
pub(super) fn lock(store: &dyn Store) -> Result<Lock> {
    for attempt in 1..=MAX_TRIES {
        if let Some(lock) = store.try_lock(&Prefix::root())? {
            return Ok(lock);
        }
        std::thread::sleep(backoff(attempt));
    }
    let message = "another process or thread holds the lock of the root: it migrates the store, or finishes or undoes a migration";
    Err(Error::new(ErrorKind::Conflict, message).with_hint("wait until it has ended"))
}

/// Locks up to [`MAX_LOCKS`] arrays among `nodes`, so that no other process changes their shapes until the locks are dropped. The caller
/// holds the lock of the root.
pub(super) fn lock_arrays<'n>(store: &dyn Store, nodes: impl IntoIterator<Item = &'n StoredNode>) -> Result<Vec<Lock>> {
    let arrays = nodes.into_iter().filter(|node| node.node.as_array().is_some());
    let prefixes = arrays.map(order::lock_prefix).collect::<Result<BTreeSet<Prefix>>>()?;
    // In one order, so that none waits for another that waits for it.
    let taken = prefixes.into_iter().filter(|prefix| !prefix.is_root()).take(MAX_LOCKS);
    taken.map(|prefix| run(store, TakeLock::new(prefix).job())).collect()
}

/// Returns the arrays of a recorded migration, old and new, that exist.
fn arrays_of(store: &dyn Store, record: &Record) -> Result<Vec<StoredNode>> {
    let mut arrays = Vec::new();
    for (entry, dialect) in record.nodes().iter().flat_map(|entry| [(entry, record.from), (entry, record.to)]) {
        match open_stored_node(store, &entry.path().to_string(), Some(dialect)) {
            Ok(found) => arrays.push(found),
            Err(error) if error.kind() == ErrorKind::Store => return Err(error),
            // Of one that is gone or broken nobody changes the shape.
            Err(_) => {}
        }
    }
    Ok(arrays)
}

/// Implements [`Migration::finish`](super::Migration::finish).
pub(super) fn finish(store: &dyn Store, to: Option<Dialect>) -> Result<()> {
    end(store, Side::Old, || to_finish(store, to))
}

/// Returns the migration that [`finish`] ends, with the nodes that exist now. Changes nothing.
pub(super) fn to_finish(store: &dyn Store, to: Option<Dialect>) -> Result<Record> {
    let Some(record) = Record::read(store)? else {
        let to = to.ok_or_else(unrecorded)?;
        let old = old_root(store, to)?;
        return Ok(Record::new(old.dialect, to, with_new(store, &old, to, "migrate first")?));
    };
    record.check(to)?;
    match record.state {
        MigrationState::Finishing => Ok(record),
        MigrationState::Done => {
            let old = open_stored_node(store, "/", Some(record.from)).map_err(nothing_dropped)?;
            check_unchanged(store, &old, &record)?;
            let pairs = with_new(store, &old, record.to, ADDED)?;
            Ok(record.with_nodes(pairs))
        }
        MigrationState::Running | MigrationState::Undoing => Err(record.in_the_way()),
    }
}

/// Implements [`Migration::undo`](super::Migration::undo), and `undo_with_changes` if `is_careful` is false.
pub(super) fn undo(store: &dyn Store, to: Option<Dialect>, is_careful: bool) -> Result<()> {
    end(store, Side::New, || {
        let record = to_undo(store, to, is_careful)?;
        match Record::read(store)? {
            _ if !is_careful => {}
            Some(before) if before.state == MigrationState::Done => {
                changes::check_no_others(store, &record, LEFT)?;
                changes::check_no_changes(store, &record)?;
                changes::check_shared_chunks(store, &before, &record)?;
            }
            // What an interrupted migration has written can be written again.
            Some(_) => {}
            None => {
                changes::check_no_others(store, &record, LEFT)?;
                changes::check_chunks(store, Side::New, &record)?;
            }
        }
        Ok(record)
    })
}

/// Ends the migration that `find` returns by dropping `side`. Locks exclude other migrations and appends to arrays before the chunks of
/// both sides are compared.
pub(super) fn end(store: &dyn Store, side: Side, find: impl Fn() -> Result<Record>) -> Result<()> {
    let _lock = lock(store)?;
    let _arrays = lock_arrays(store, &arrays_of(store, &find()?)?)?;
    let state = if side == Side::Old { MigrationState::Finishing } else { MigrationState::Undoing };
    let record = match find()? {
        record if record.state == state => record,
        record => record.write(store, state)?,
    };
    drop_side(store, record, side)
}

/// Returns the migration that [`undo`] ends, with the nodes that exist now. Changes nothing.
pub(super) fn to_undo(store: &dyn Store, to: Option<Dialect>, is_careful: bool) -> Result<Record> {
    let Some(record) = Record::read(store)? else {
        let to = to.ok_or_else(unrecorded)?;
        let old = old_root(store, to)?;
        let mut pairs = Vec::new();
        for old in nodes(store, &old)? {
            if let Some(new) = found(store, &old, to)? {
                pairs.push(NodeRecord::new(&old, &new));
            }
        }
        return Ok(Record::new(old.dialect, to, pairs));
    };
    record.check(to)?;
    match record.state {
        MigrationState::Undoing => Ok(record),
        MigrationState::Running | MigrationState::Done => {
            let entries = with_old(store, &record, is_careful)?;
            Ok(record.with_nodes(entries))
        }
        MigrationState::Finishing => Err(record.in_the_way()),
    }
}

/// Returns all nodes of the old hierarchy with their new nodes. Fails with `hint` if a new node is missing.
pub(super) fn with_new(store: &dyn Store, old: &StoredNode, to: Dialect, hint: &str) -> Result<Vec<NodeRecord>> {
    let mut pairs = Vec::new();
    for old in nodes(store, old)? {
        let error = match found(store, &old, to)? {
            // One without a document has not the attributes of the old one.
            Some(new) if new.implicit && !old.implicit => missing(to, hint),
            Some(new) if new.node.as_array().is_some() == old.node.as_array().is_some() => {
                pairs.push(NodeRecord::new(&old, &new));
                continue;
            }
            Some(_) => {
                let message = format!("the node of dialect {to} is of another kind; nothing was dropped");
                Error::new(ErrorKind::NotFound, message)
            }
            None => missing(to, hint),
        };
        return Err(error.at_path(&old.path));
    }
    Ok(pairs)
}

fn missing(to: Dialect, hint: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("no node of dialect {to} here yet; nothing was dropped")).with_hint(hint)
}

/// Checks that the old nodes are unchanged since they were migrated: the new nodes lack later changes.
pub(super) fn check_unchanged(store: &dyn Store, root: &StoredNode, record: &Record) -> Result<()> {
    let message =
        "the document was changed since it was migrated, and the new node is without that; nothing was dropped";
    let hint = "make the same change in the new node, and put the old document back; or undo, which is refused where it would \
        drop what was written to the new hierarchy, and migrate again";
    check_as_recorded(store, root, record, message, hint)
}

/// Checks that the old nodes are as they were when the migration of `record` was planned. `is_begun` says whether nodes that the migration
/// replaces were already dropped.
pub(super) fn check_as_planned(store: &dyn Store, record: &Record, is_begun: bool) -> Result<()> {
    let old = open_stored_node(store, "/", Some(record.from))?;
    let (message, hint) = match is_begun {
        false => ("the document was changed since the migration was planned; nothing was dropped", "migrate again"),
        true => (
            "the document was changed since the migration was planned; the nodes that it replaces were dropped, and no others written",
            "migrate again",
        ),
    };
    check_as_recorded(store, &old, record, message, hint)
}

fn check_as_recorded(store: &dyn Store, root: &StoredNode, record: &Record, message: &str, hint: &str) -> Result<()> {
    for old in nodes(store, root)? {
        let entry = record.nodes().iter().find(|entry| *entry.path() == old.path);
        if let Some(key) = entry.and_then(|entry| entry.changed(Side::Old, &old)) {
            let error = Error::new(ErrorKind::Conflict, message).with_hint(hint).at_path(&old.path);
            return Err(error.at(|location| location.key = Some(key)));
        }
    }
    Ok(())
}

/// Checks that the source nodes still exist: another process that started before the migration may have erased, moved or replaced one.
pub(super) fn check_there<'n>(store: &dyn Store, sources: impl IntoIterator<Item = &'n StoredNode>) -> Result<()> {
    for source in sources {
        let gone = || {
            let message = "the node was erased, moved or replaced while it was migrated";
            Error::new(ErrorKind::Conflict, message).with_hint("migrate again").at_path(&source.path)
        };
        let now = match open_stored_node(store, &source.path.to_string(), Some(source.dialect)) {
            Ok(now) if now.implicit && !source.implicit => return Err(gone()),
            Ok(now) => now,
            Err(error) if error.is_not_found() => return Err(gone()),
            Err(error) => return Err(error),
        };
        match (source.node.as_array(), now.node.as_array()) {
            (Some(_), Some(_)) => check_same_chunks(source, &now).map_err(|_| gone())?,
            (None, None) => {}
            _ => return Err(gone()),
        }
    }
    Ok(())
}

/// Returns the recorded nodes, each with its new node if that exists. If an old node is missing, another process has erased it; if
/// `is_careful`, its new node must be missing as well.
fn with_old(store: &dyn Store, record: &Record, is_careful: bool) -> Result<Vec<NodeRecord>> {
    let mut entries = Vec::new();
    for entry in record.nodes() {
        let at = |dialect| open_stored_node(store, &entry.path().to_string(), Some(dialect));
        let is_absent = |found: &Result<StoredNode>| found.as_ref().is_err_and(Error::is_not_found);
        let old = match at(record.from) {
            old if is_absent(&old) && !entry.path().is_root() && (!is_careful || is_absent(&at(record.to))) => {
                // Chunks may be left.
                entries.push(entry.clone());
                continue;
            }
            old => old.map_err(nothing_dropped)?,
        };
        let new = found(store, &old, record.to)?;
        // It may have become longer, or got attributes.
        let new = new.filter(|new| new.node.as_array().is_some() == old.node.as_array().is_some() && !new.implicit);
        entries.push(match new {
            Some(new) => entry.again(&old, &new),
            None => entry.clone(),
        });
    }
    Ok(entries)
}

/// Returns the node of the new dialect at the path of `old`; `None` if there is none.
fn found(store: &dyn Store, old: &StoredNode, to: Dialect) -> Result<Option<StoredNode>> {
    match open_stored_node(store, &old.path.to_string(), Some(to)) {
        Ok(new) => Ok(Some(new)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Drops the hierarchy of `side`, and then erases the record.
fn drop_side(store: &dyn Store, record: Record, side: Side) -> Result<()> {
    // The side that stays is on the disk before the other one is gone.
    store.barrier()?;
    erase_side(store, &record, side)?;
    store.flush()?;
    record.erase(store)
}

/// Erases the documents of `side`, and its chunks that are not chunks of the other side. Missing keys are no error.
pub(super) fn erase_side(store: &dyn Store, record: &Record, side: Side) -> Result<()> {
    erase_documents(store, record.nodes(), side)?;
    for entry in record.nodes() {
        let at = |error: Error| error.at_path(entry.path());
        for key in own_chunks(store, record, entry, side)? {
            store.erase(&key).map_err(|error| at(error.into()))?;
        }
    }
    Ok(())
}

/// Erases the documents of `side`, first those of the root: after that, readers find the other hierarchy at the root.
pub(super) fn erase_documents(store: &dyn Store, nodes: &[NodeRecord], side: Side) -> Result<()> {
    let (root, others): (Vec<&NodeRecord>, Vec<&NodeRecord>) = nodes.iter().partition(|entry| entry.path().is_root());
    for entries in [root, others] {
        let steps = entries.iter().map(|entry| entry.keys(side).len()).max();
        for step in 0..steps.unwrap_or_default() {
            for entry in &entries {
                let Some(key) = entry.keys(side).get(step) else { continue };
                store.erase(&Key::new(key)?).map_err(|error| Error::from(error).at_path(entry.path()))?;
            }
            // Nodes go before their attributes and arrays before their chunks, also where the power fails: no reader
            // may take attributes or chunks for missing.
            store.barrier()?;
        }
    }
    Ok(())
}

/// Returns the migration with the hashes of the new documents as they are stored now.
pub(super) fn with_new_hashes(store: &dyn Store, record: Record) -> Result<Record> {
    let mut entries = record.nodes().to_vec();
    for entry in &mut entries {
        match open_stored_node(store, &entry.path().to_string(), Some(record.to)) {
            Ok(new) => entry.set_new_hashes(&new),
            // A group that its children imply.
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(record.with_nodes(entries))
}

fn nothing_dropped(error: Error) -> Error {
    error
        .with_hint(format!("nothing was dropped: the nodes that the migration began with differ from its record {KEY}; --undo with --force drops the \
         new ones nevertheless"))
}

/// Returns the error for a migration without a record, which would show which hierarchy is the old one.
fn unrecorded() -> Error {
    let message = format!("no migration is recorded here (key {KEY}); nothing was dropped");
    let hint = "name the dialect that was migrated to, if that was done by hand or by a version that kept no record";
    Error::new(ErrorKind::NotFound, message).with_hint(hint)
}
