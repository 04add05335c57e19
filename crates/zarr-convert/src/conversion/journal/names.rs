//! Keys of journals, and of elements that are stored temporarily.

use super::super::part::Part;
use zarr_hierarchy::Result;
use zarr_hierarchy::node::{self, is_part_journal, is_scratch, is_scratch_of, journal_key};
use zarr_meta::NodePath;
use zarr_store::{Key, Prefix, Store, StoreExt};

/// Returns the key of the journal of a conversion to `path`, beside the node. `part` is `None` for the shared or only journal.
pub(in super::super) fn key(path: &NodePath, part: Option<Part>) -> Result<Key> {
    journal_key(path, part.map(numbers))
}

/// Returns the key of elements that a conversion to `path`, or one part, stores temporarily between reading and writing.
pub(in super::super) fn scratch_key(path: &NodePath, part: Option<Part>, number: u64) -> Result<Key> {
    node::scratch_key(path, part.map(numbers), number)
}

fn numbers(part: Part) -> (u64, u64) {
    (part.number(), part.of())
}

/// Returns the keys of the journals of all `of` parts of a conversion to `path`.
pub(in super::super) fn parts(path: &NodePath, of: u64) -> impl Iterator<Item = Result<Key>> {
    (1..=of).map(move |number| key(path, Some(Part::new(number, of)?)))
}

/// Erases the journals of all `of` parts of a conversion to `path`.
pub(in super::super) fn erase_parts(store: &dyn Store, path: &NodePath, of: u64) -> Result<()> {
    parts(path, of).try_for_each(|key| Ok(store.erase(&key?)?))
}

/// Returns the keys of the journals of parts of any conversion to `path`. Empty if the store does not list keys.
pub(in super::super) fn listed_parts(store: &dyn Store, path: &NodePath) -> Result<Vec<Key>> {
    listed(store, path, |key| is_part_journal(path, key))
}

/// Erases temporary elements of an interrupted conversion to `path` and its parts, or of `part` alone. Does nothing if the store does not
/// list keys.
pub(in super::super) fn erase_scratch(store: &dyn Store, path: &NodePath, part: Option<Part>) -> Result<()> {
    let is_left = |key: &Key| match part {
        Some(part) => is_scratch_of(path, Some(numbers(part)), key),
        None => is_scratch(path, key),
    };
    listed(store, path, is_left)?.iter().try_for_each(|key| Ok(store.erase(key)?))
}

/// Erases all keys that earlier conversions to `path` left: journals of parts, and temporary elements. `of` is the number of parts of the
/// last conversion; it is needed for stores that do not list keys, where only the journals of its parts are erased.
pub(in super::super) fn erase_left(store: &dyn Store, path: &NodePath, of: Option<u64>) -> Result<()> {
    match of {
        Some(of) if !store.capabilities().list => erase_parts(store, path, of),
        _ => {
            let is_left = |key: &Key| is_part_journal(path, key) || is_scratch(path, key);
            listed(store, path, is_left)?.iter().try_for_each(|key| Ok(store.erase(key)?))
        }
    }
}

/// Returns the keys beside the node at `path` for which `holds` is true. Empty if the store does not list keys.
fn listed(store: &dyn Store, path: &NodePath, holds: impl Fn(&Key) -> bool) -> Result<Vec<Key>> {
    if !store.capabilities().list {
        return Ok(Vec::new());
    }
    let above = path.parent().map_or_else(String::new, |parent| parent.key_prefix());
    Ok(store.list_dir(&Prefix::new(&above)?)?.keys.into_iter().filter(holds).collect())
}
