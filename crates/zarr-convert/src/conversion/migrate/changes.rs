//! Checks for changes that were made after a migration and would be lost if one hierarchy is dropped.

use super::chunks::own_chunks;
use super::found::nodes;
use super::record::{NodeRecord, Record, Side};
use std::collections::BTreeSet;
use zarr_hierarchy::{Error, ErrorKind, Result, open_stored_node};
use zarr_json::Value;
use zarr_store::Store;

/// Hint if more would be dropped than documents that can be written again.
const DROPPED: &str = "--force drops the documents and their chunks nevertheless, with all that was written to them";

/// Checks that all documents of the new hierarchy are recorded: a node that was created after the migration has no old node.
pub(super) fn check_no_others(store: &dyn Store, record: &Record, hint: &str) -> Result<()> {
    let root = match open_stored_node(store, "/", Some(record.to)) {
        Err(error) if error.is_not_found() => return Ok(()),
        root => root?,
    };
    let keys: BTreeSet<&str> =
        record.nodes().iter().flat_map(|entry| entry.keys(Side::New)).map(String::as_str).collect();
    match nodes(store, &root)?.iter().find(|node| !node.own_documents().all(|key| keys.contains(key))) {
        None => Ok(()),
        Some(node) => {
            let message = format!(
                "the node was created since the store was migrated, and has none of dialect {}; nothing was dropped",
                record.from
            );
            Err(Error::new(ErrorKind::NotFound, message).with_hint(hint).at_path(&node.path))
        }
    }
}

/// Checks that dropping the new documents loses no data that was written to the new nodes after the migration.
pub(super) fn check_no_changes(store: &dyn Store, record: &Record) -> Result<()> {
    check_changes(store, record, true)
}

/// Checks that the new nodes are as the migration wrote them.
pub(super) fn check_unchanged(store: &dyn Store, record: &Record) -> Result<()> {
    check_changes(store, record, false)
}

/// Checks that the new nodes have no changes. If `is_lenient`, changes by which no data is lost are accepted.
fn check_changes(store: &dyn Store, record: &Record, is_lenient: bool) -> Result<()> {
    if !record.has_new_hashes() {
        return Ok(());
    }
    for entry in record.nodes() {
        let changed = match open_stored_node(store, &entry.path().to_string(), Some(record.to)) {
            // A group that its children implied has become one of its own.
            Ok(new) if entry.hashes(Side::New).is_empty() => new.own_documents().next().map(str::to_owned),
            Ok(new) => entry.changed(Side::New, &new),
            Err(error) if error.is_not_found() && is_lenient => None,
            Err(error) if error.is_not_found() => entry.hashes(Side::New).first().map(|(key, _)| key.clone()),
            Err(error) => return Err(error),
        };
        if let Some(key) = changed {
            let mut message = format!("the document was changed since the store was migrated to {}", record.to);
            match lost_with(store, entry, record)? {
                // Of a group there is nothing else but consolidated metadata.
                MigrationLoss::Nothing if is_lenient => continue,
                MigrationLoss::Nothing | MigrationLoss::Unknown => {}
                MigrationLoss::Some(lost) => message += &format!(": {lost} would be dropped"),
            }
            message += "; nothing was dropped";
            let error = Error::new(ErrorKind::Conflict, message).with_hint(DROPPED).at_path(entry.path());
            return Err(error.at(|location| location.key = Some(key)));
        }
    }
    Ok(())
}

/// Data that would be lost with a new node, compared to the old node at its path.
enum MigrationLoss {
    Nothing,
    Some(String),
    /// Other changes of an array, or documents that cannot be read.
    Unknown,
}

/// Compares a new node with the old node.
fn lost_with(store: &dyn Store, entry: &NodeRecord, record: &Record) -> Result<MigrationLoss> {
    let path = entry.path().to_string();
    let mut sides = Vec::new();
    for dialect in [record.from, record.to] {
        match open_stored_node(store, &path, Some(dialect)) {
            Ok(found) => sides.push(found),
            Err(error) if error.kind() == ErrorKind::Store => return Err(error),
            Err(_) => return Ok(MigrationLoss::Unknown),
        }
    }
    let [old, new] = sides.as_slice() else { return Ok(MigrationLoss::Unknown) };
    let mut lost = Vec::new();
    let (before, after) = (old.node.attributes(), new.node.attributes());
    let is_other = |(name, value): &(&str, &Value)| before.get(name) != Some(*value);
    let names: Vec<&str> = after.iter().filter(is_other).map(|(name, _)| name).collect();
    if !names.is_empty() {
        lost.push(format!("the attributes {}", names.join(", ")));
    }
    let removed: Vec<&str> = before.iter().map(|(name, _)| name).filter(|name| after.get(name).is_none()).collect();
    if !removed.is_empty() {
        lost.push(format!("the removal of the attributes {}", removed.join(", ")));
    }
    if let (Some(old), Some(new)) = (old.node.as_array(), new.node.as_array())
        && old.shape != new.shape
    {
        lost.push(format!("the shape {:?}, which is {:?} in dialect {}", new.shape, old.shape, record.from));
    }
    Ok(match lost.is_empty() {
        false => MigrationLoss::Some(lost.join(" and ")),
        true if new.node.as_group().is_some() => MigrationLoss::Nothing,
        true => MigrationLoss::Unknown,
    })
}

/// Checks that no chunks are dropped of arrays that shared all chunks with the old arrays according to the record `before`: chunks that an
/// array does not share any more were written after the migration.
pub(super) fn check_shared_chunks(store: &dyn Store, before: &Record, record: &Record) -> Result<()> {
    let shared = |entry: &&NodeRecord| matches!(entry.arrays(Side::New, before.from, before.to), Ok(None));
    let shared: BTreeSet<_> = before.nodes().iter().filter(shared).map(NodeRecord::path).collect();
    let entries = record.nodes().iter().filter(|entry| shared.contains(entry.path())).cloned().collect();
    check_chunks(store, Side::New, &Record::new(record.from, record.to, entries))
}

/// Checks that dropping the documents of `side` drops no chunks.
pub(super) fn check_chunks(store: &dyn Store, side: Side, record: &Record) -> Result<()> {
    let (own, other) = if side == Side::Old { (record.from, record.to) } else { (record.to, record.from) };
    for entry in record.nodes() {
        let count = own_chunks(store, record, entry, side)?.len();
        if count > 0 {
            let chunks = if count == 1 { "1 chunk".to_owned() } else { format!("{count} chunks") };
            let message = format!(
                "{chunks} of the array of dialect {own}, with what was written to them, would be dropped: that of {other} has others; \
                nothing was dropped"
            );
            return Err(Error::new(ErrorKind::Exists, message).with_hint(DROPPED).at_path(entry.path()));
        }
    }
    Ok(())
}
