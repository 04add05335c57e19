//! Repair of faults that can be repaired without loss, and on demand erasure of chunks that cannot be decoded.

use crate::documents::only_in_copy;
use crate::{CheckOptions, Code, Finding};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use zarr_array::{Array, CheckDepth, CheckedChunk, ChunkFaultKind, Registry, Store};
use zarr_grid::ChunkIndex;
use zarr_hierarchy::{Result, consolidate, walk_stored};
use zarr_store::{GetOptions, Key, Prefix, StoreExt};

/// Number of chunks that are checked again together, before the torn ones among them are erased.
const BATCH: usize = 64;

/// Collection of repairs, made from findings: removal of temporary files that no process holds and of empty directories, and renewal of
/// consolidated metadata that is stale or broken. None of them removes a value, or metadata that is nowhere else in the store: consolidated
/// metadata with documents that the nodes do not have is left alone.
///
/// With [`drop_torn`](Self::drop_torn) chunks that cannot be decoded are erased as well, so that their elements have the fill value. Chunks
/// of which a part can be read stay: shards, and chunks that are not compressed.
#[derive(Clone, Debug, Default)]
pub struct Repair {
    torn_only: bool,
    drop_torn: bool,
    folders: BTreeSet<String>,
    temporary: BTreeSet<String>,
    groups: BTreeSet<String>,
    /// Torn chunks by their keys, for each array by its path.
    torn: BTreeMap<String, BTreeMap<String, ChunkIndex>>,
    kept: BTreeSet<String>,
}

/// Action of a repair on one file, directory, chunk or group; with `dry_run` the action that would be done.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RepairAction {
    /// Removed a temporary file, with this path.
    Temporary(String),
    /// Removed an empty directory, with this prefix.
    Folder(String),
    /// Wrote the consolidated metadata of the group at this path again.
    Consolidated(String),
    /// Erased the chunk at this key, which cannot be decoded.
    Torn(String),
    /// Left the shard at this key alone, since some of its inner chunks can be read.
    KeptShard(String),
    /// Left the chunk at this key alone: it cannot be decoded as a whole, but its codecs let parts of it be read.
    KeptChunk(String),
    /// Left the consolidated metadata of the group at this path alone, since it has documents that are nowhere else in the store.
    KeptConsolidated(String),
}

/// Result of a repair: the actions that were done, and those that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepairReport {
    /// Actions that were done, or with `dry_run` would be done.
    pub done: Vec<RepairAction>,
    /// Actions that failed.
    pub failed: Vec<FailedRepair>,
}

/// Action of a repair that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FailedRepair {
    /// Action that was to be done. Its place may stand for several: a directory for its temporary files, an array for its chunks.
    pub repair: RepairAction,
    /// Message of the error.
    pub message: String,
}

impl RepairReport {
    fn note(&mut self, done: Result<()>, repair: RepairAction) {
        match done {
            Ok(()) => self.done.push(repair),
            Err(error) => self.failed.push(FailedRepair { repair, message: error.to_string() }),
        }
    }
}

impl RepairAction {
    /// Action in a word, such as `removed` or `kept`.
    #[must_use]
    pub fn action(&self) -> &'static str {
        match self {
            Self::Temporary(_) | Self::Folder(_) => "removed",
            Self::Consolidated(_) => "consolidated",
            Self::Torn(_) => "erased",
            Self::KeptShard(_) | Self::KeptChunk(_) | Self::KeptConsolidated(_) => "kept",
        }
    }

    /// Place of the action: a key, a prefix, or the path of a group.
    #[must_use]
    pub fn place(&self) -> &str {
        match self {
            Self::Temporary(place)
            | Self::Folder(place)
            | Self::Consolidated(place)
            | Self::Torn(place)
            | Self::KeptShard(place)
            | Self::KeptChunk(place)
            | Self::KeptConsolidated(place) => place,
        }
    }

    /// Reason why something was left alone; `None` for an action that repaired something.
    #[must_use]
    pub fn reason(&self) -> Option<&'static str> {
        match self {
            Self::KeptShard(_) => Some("some of its inner chunks can be read"),
            Self::KeptChunk(_) => Some("it is not compressed, and parts of it can be read"),
            Self::KeptConsolidated(_) => Some("it has documents that are nowhere else"),
            _ => None,
        }
    }
}

impl fmt::Display for RepairAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.action(), self.place())
    }
}

impl Repair {
    /// Makes an empty collection of repairs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether chunks that cannot be decoded are erased; by default they are not.
    #[must_use]
    pub fn drop_torn(self, drop_torn: bool) -> Self {
        Self { drop_torn, ..self }
    }

    /// Restricts the repair to chunks: temporary files, directories and consolidated metadata are left alone.
    #[must_use]
    pub fn torn_only(self) -> Self {
        Self { torn_only: true, ..self }
    }

    /// Adds the repair of a finding, if the finding can be repaired.
    pub fn add(&mut self, finding: &Finding) {
        let (key, path) = (finding.key.clone().unwrap_or_default(), finding.path.clone());
        match finding.code {
            Code::TemporaryFile | Code::EmptyFolder | Code::StaleConsolidated | Code::BadConsolidated
                if self.torn_only => {}
            Code::TemporaryFile => drop(self.temporary.insert(key)),
            Code::EmptyFolder => drop(self.folders.insert(key)),
            Code::StaleConsolidated | Code::BadConsolidated => self.groups.extend(path),
            Code::BrokenChunk | Code::ChecksumMismatch | Code::ShardIndex if self.drop_torn => {
                let (Some(path), Some(chunk)) = (path, finding.chunk.clone()) else { return };
                match finding.inner.is_empty() {
                    true => drop(self.torn.entry(path).or_default().insert(key, chunk)),
                    false => drop(self.kept.insert(key)),
                }
            }
            // A fault of a shard as a whole is its only one: these are of inner chunks.
            Code::MoreFaults if self.drop_torn => drop(self.kept.insert(key)),
            _ => {}
        }
    }

    /// Does the repairs, or with `dry_run` only reports what it would do. A temporary file that a process holds stays, and so does a
    /// directory into which something was put meanwhile. A chunk stays if it can be decoded by now, or if others replaced it since it was
    /// checked, in stores with versions. A repair that fails does not prevent others.
    pub fn run(
        &self,
        store: &Arc<dyn Store>,
        registry: &Arc<Registry>,
        options: &CheckOptions,
        dry_run: bool,
    ) -> RepairReport {
        let mut report = RepairReport::default();
        self.remove_temporary(&**store, dry_run, &mut report);
        self.remove_folders(&**store, dry_run, &mut report);
        for (path, chunks) in &self.torn {
            drop_torn(store, registry, options, path, chunks, dry_run, &mut report);
        }
        let is_torn = |key: &&String| self.torn.values().any(|chunks| chunks.contains_key(*key));
        report.done.extend(self.kept.iter().filter(|key| !is_torn(key)).cloned().map(RepairAction::KeptShard));
        for path in &self.groups {
            match has_last_copy(&**store, path, options) {
                Ok(true) => report.done.push(RepairAction::KeptConsolidated(path.clone())),
                Ok(false) => {
                    let done = if dry_run { Ok(0) } else { consolidate(&**store, path, options.dialect) };
                    report.note(done.map(drop), RepairAction::Consolidated(path.clone()));
                }
                Err(error) => report.note(Err(error), RepairAction::Consolidated(path.clone())),
            }
        }
        report
    }

    fn remove_temporary(&self, store: &dyn Store, dry_run: bool, report: &mut RepairReport) {
        let folders: BTreeSet<&str> = self
            .temporary
            .iter()
            .map(|key| key.rfind('/').map_or("", |at| key.get(..=at).unwrap_or_default()))
            .collect();
        for folder in folders {
            let look = |prefix: &Prefix| match dry_run {
                true => store.leftovers(prefix),
                false => store.remove_leftovers(prefix),
            };
            match Prefix::new(folder).and_then(|prefix| look(&prefix)) {
                Ok(removed) => report.done.extend(removed.into_iter().map(|left| RepairAction::Temporary(left.path))),
                Err(error) => report.note(Err(error.into()), RepairAction::Temporary(folder.to_owned())),
            }
        }
    }

    fn remove_folders(&self, store: &dyn Store, dry_run: bool, report: &mut RepairReport) {
        let mut gone = BTreeSet::new();
        // Directories below others come first.
        for folder in self.folders.iter().rev() {
            if let Err(error) = self.remove_folder(store, folder, dry_run, &mut gone, &mut report.done) {
                report.note(Err(error), RepairAction::Folder(folder.clone()));
            }
        }
        report.done.extend(gone.into_iter().map(RepairAction::Folder));
    }

    /// Removes a directory, and the directories above it that have nothing else in them. Adds the removed directories to `gone`.
    fn remove_folder(
        &self,
        store: &dyn Store,
        folder: &str,
        dry_run: bool,
        gone: &mut BTreeSet<String>,
        done: &mut Vec<RepairAction>,
    ) -> Result<()> {
        let mut prefix = Prefix::new(folder)?;
        // Somebody may have begun to write there.
        if gone.contains(folder) || !self.is_empty(store, &prefix, gone)? {
            return Ok(());
        }
        if !dry_run {
            let removed = store.remove_leftovers(&prefix)?;
            done.extend(removed.into_iter().map(|left| RepairAction::Temporary(left.path)));
        }
        while !prefix.is_root() {
            let above = above(&prefix)?;
            let is_gone = match dry_run {
                true => self.is_empty(store, &prefix, gone)?,
                // A file that is no key may be there, or one that somebody writes.
                false => !store.list_dir(&above)?.prefixes.contains(&prefix),
            };
            if !is_gone {
                return Ok(());
            }
            gone.insert(prefix.to_string());
            prefix = above;
        }
        Ok(())
    }

    /// Whether a directory has nothing in it except directories in `gone` and temporary files that are to be removed.
    fn is_empty(&self, store: &dyn Store, prefix: &Prefix, gone: &BTreeSet<String>) -> Result<bool> {
        let listing = store.list_dir(prefix)?;
        let left = store.leftovers(prefix)?;
        Ok(listing.keys.is_empty()
            && listing.prefixes.iter().all(|below| gone.contains(below.as_str()))
            && left.iter().all(|left| self.temporary.contains(&left.path)))
    }
}

/// Whether the consolidated metadata of a group now has documents that are nowhere else in the store.
fn has_last_copy(store: &dyn Store, path: &str, options: &CheckOptions) -> Result<bool> {
    let walk = walk_stored(store, path, options.dialect)?;
    let (Some(copy), Some(group)) = (&walk.consolidated, walk.nodes.first()) else { return Ok(false) };
    // While a node is broken, no copy is made.
    let broken: HashSet<&str> = walk.broken.iter().filter_map(|error| error.location().path.as_deref()).collect();
    Ok(!only_in_copy(&group.path, copy, &walk.nodes, |path| broken.contains(path.to_string().as_str())).is_empty())
}

/// Returns the prefix of the directory above `prefix`.
fn above(prefix: &Prefix) -> Result<Prefix> {
    let text = prefix.as_str().trim_end_matches('/');
    let end = text.rfind('/').map_or(0, |at| at + 1);
    Ok(Prefix::new(text.get(..end).unwrap_or_default())?)
}

/// Erases chunks of an array that still cannot be decoded, and of which no part can be read.
fn drop_torn(
    store: &Arc<dyn Store>,
    registry: &Arc<Registry>,
    options: &CheckOptions,
    path: &str,
    chunks: &BTreeMap<String, ChunkIndex>,
    dry_run: bool,
    report: &mut RepairReport,
) {
    let opened = zarr_hierarchy::open_node(&**store, path, options.dialect)
        .and_then(|found| Array::from_found(store, found, registry, options.arrays.clone()));
    let array = match opened {
        Ok(array) => array,
        Err(error) => return report.note(Err(error), RepairAction::Torn(path.to_owned())),
    };
    let keys = chunks.iter().map(|(key, chunk)| Ok((Key::new(key)?, chunk.clone())));
    let chunks: Vec<(Key, ChunkIndex)> = match keys.collect::<Result<_>>() {
        Ok(chunks) => chunks,
        Err(error) => return report.note(Err(error), RepairAction::Torn(path.to_owned())),
    };
    for batch in chunks.chunks(BATCH) {
        let torn = match still_torn(&array, batch) {
            Ok(torn) => torn,
            Err(error) => return report.note(Err(error), RepairAction::Torn(path.to_owned())),
        };
        for chunk in torn {
            let key = chunk.key.to_string();
            if chunk.is_read_in_parts {
                report.done.push(RepairAction::KeptChunk(key));
                continue;
            }
            match erase(&**store, &chunk, dry_run) {
                Ok(true) => report.done.push(RepairAction::Torn(key)),
                Ok(false) => {}
                Err(error) => report.note(Err(error), RepairAction::Torn(key)),
            }
        }
    }
}

/// Erases a chunk, unless others have replaced it since it was checked, as far as the store has versions. Returns whether it was erased.
fn erase(store: &dyn Store, chunk: &CheckedChunk, dry_run: bool) -> Result<bool> {
    if dry_run {
        return Ok(true);
    }
    let Some(now) = store.get(&chunk.key, &[], &GetOptions::default())? else { return Ok(false) };
    if let (Some(now), Some(seen)) = (&now.version, &chunk.version)
        && now != seen
    {
        return Ok(false);
    }
    store.erase(&chunk.key)?;
    Ok(true)
}

/// Checks `chunks` again. Returns those that cannot be decoded as a whole, in the order of their keys.
fn still_torn(array: &Array, chunks: &[(Key, ChunkIndex)]) -> Result<Vec<CheckedChunk>> {
    let torn = Mutex::new(Vec::new());
    array.check_chunks(chunks, CheckDepth::Values, &|checked| {
        let is_torn = checked.faults.iter().any(|fault| match &fault.kind {
            ChunkFaultKind::Broken(error) => fault.inner.is_empty() && error.is_corrupt(),
            _ => false,
        });
        if is_torn {
            torn.lock().unwrap_or_else(PoisonError::into_inner).push(checked);
        }
    })?;
    let mut torn = torn.into_inner().unwrap_or_else(PoisonError::into_inner);
    torn.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(torn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_array::NewArray;
    use zarr_store::{MemoryStore, StoreExt};

    #[test]
    fn a_chunk_that_was_replaced_since_it_was_looked_at_is_not_erased() {
        let mut registry = Registry::default();
        registry.codecs.add(zarr_codec_bytes::BYTES);
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let new = NewArray::new(&[4], "int16").chunks(&[2]).codecs("bytes").unwrap();
        let array = Array::create(&store, "/a", new, &Arc::new(registry)).unwrap();
        let key = Key::new("a/c/0").unwrap();
        let chunks = [(key.clone(), [0].into_iter().collect())];
        store.set_all(&key, &[]).unwrap();
        let [torn] = still_torn(&array, &chunks).unwrap().try_into().unwrap();
        store.set_all(&key, &[1, 0, 2, 0]).unwrap();
        assert!(!erase(&*store, &torn, false).unwrap());
        assert!(store.exists(&key).unwrap() && still_torn(&array, &chunks).unwrap().is_empty());
        store.set_all(&key, &[]).unwrap();
        let [torn] = still_torn(&array, &chunks).unwrap().try_into().unwrap();
        assert!(erase(&*store, &torn, true).unwrap() && store.exists(&key).unwrap());
        assert!(erase(&*store, &torn, false).unwrap() && !store.exists(&key).unwrap());
    }
}
