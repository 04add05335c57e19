//! Repair of what can be repaired without loss.

use crate::{Code, Finding};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use zarr_array::{Array, CheckDepth, ChunkFaultKind, Options, Registry, Store};
use zarr_grid::ChunkIndex;
use zarr_hierarchy::{Error, Result, consolidate};
use zarr_meta::Dialect;
use zarr_store::{Key, Prefix};

/// What is to be repaired, gathered from findings: temporary files that nobody holds, directories without anything in them, and
/// consolidated metadata that is stale or broken. None of these holds a value.
///
/// With [`drop_torn`](Self::drop_torn) chunks that cannot be decoded are erased as well. Their elements are the fill value then.
#[derive(Clone, Debug, Default)]
pub struct Repair {
    torn_only: bool,
    drop_torn: bool,
    folders: BTreeSet<String>,
    temporary: BTreeSet<String>,
    groups: BTreeSet<String>,
    torn: BTreeSet<(String, String, ChunkIndex)>,
    kept: BTreeSet<String>,
}

/// One thing that was repaired, or would be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Repaired {
    /// A temporary file was removed.
    Temporary(String),
    /// An empty directory was removed.
    Folder(String),
    /// The consolidated metadata of a group was written again.
    Consolidated(String),
    /// A chunk that cannot be decoded was erased, with its key.
    Torn(String),
    /// A shard was left, since some of its inner chunks can be read.
    KeptShard(String),
}

impl Repaired {
    /// What was done, in a word.
    #[must_use]
    pub fn action(&self) -> &'static str {
        match self {
            Self::Temporary(_) | Self::Folder(_) => "removed",
            Self::Consolidated(_) => "consolidated",
            Self::Torn(_) => "erased",
            Self::KeptShard(_) => "kept",
        }
    }

    /// The key, prefix, or path of a group.
    #[must_use]
    pub fn place(&self) -> &str {
        match self {
            Self::Temporary(place)
            | Self::Folder(place)
            | Self::Consolidated(place)
            | Self::Torn(place)
            | Self::KeptShard(place) => place,
        }
    }
}

impl fmt::Display for Repaired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.action(), self.place())
    }
}

impl Repair {
    /// Of nothing so far.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether chunks that cannot be decoded are erased.
    #[must_use]
    pub fn drop_torn(self, drop_torn: bool) -> Self {
        Self { drop_torn, ..self }
    }

    /// Repairs nothing but chunks.
    #[must_use]
    pub fn torn_only(self) -> Self {
        Self { torn_only: true, ..self }
    }

    /// Takes note of a finding that can be repaired.
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
                    true => drop(self.torn.insert((path, key, chunk))),
                    false => drop(self.kept.insert(key)),
                }
            }
            _ => {}
        }
    }

    /// Repairs, or with `dry_run` only says what it would repair. Whoever holds a temporary file or puts something into a directory
    /// meanwhile keeps it, and a chunk that can be decoded by now stays.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](zarr_hierarchy::ErrorKind::Store); the errors of [`consolidate`].
    pub fn run(
        &self,
        store: &Arc<dyn Store>,
        registry: &Arc<Registry>,
        dialect: Option<Dialect>,
        dry_run: bool,
    ) -> Result<Vec<Repaired>> {
        let mut done = Vec::new();
        self.remove_temporary(&**store, dry_run, &mut done)?;
        self.remove_folders(&**store, dry_run, &mut done)?;
        for (path, key, chunk) in &self.torn {
            if dry_run || drop_torn(store, registry, dialect, path, key, chunk)? {
                done.push(Repaired::Torn(key.clone()));
            }
        }
        let torn = |key: &&String| self.torn.iter().any(|(_, torn, _)| torn == *key);
        done.extend(self.kept.iter().filter(|key| !torn(key)).cloned().map(Repaired::KeptShard));
        for path in &self.groups {
            if !dry_run {
                consolidate(&**store, path, dialect)?;
            }
            done.push(Repaired::Consolidated(path.clone()));
        }
        Ok(done)
    }

    fn remove_temporary(&self, store: &dyn Store, dry_run: bool, done: &mut Vec<Repaired>) -> Result<()> {
        let folders: BTreeSet<&str> = self
            .temporary
            .iter()
            .map(|key| key.rfind('/').map_or("", |at| key.get(..=at).unwrap_or_default()))
            .collect();
        for folder in folders {
            let removed = store.leftovers(&Prefix::new(folder)?, !dry_run)?;
            done.extend(removed.into_iter().map(Repaired::Temporary));
        }
        Ok(())
    }

    fn remove_folders(&self, store: &dyn Store, dry_run: bool, done: &mut Vec<Repaired>) -> Result<()> {
        for folder in &self.folders {
            let prefix = Prefix::new(folder)?;
            let is_empty = |listing: zarr_store::Listing| listing.keys.is_empty() && listing.prefixes.is_empty();
            // Somebody may have begun to write there.
            if !is_empty(store.list_dir(&prefix)?) {
                continue;
            }
            if !dry_run {
                store.leftovers(&prefix, true)?;
            }
            done.push(Repaired::Folder(folder.clone()));
        }
        Ok(())
    }
}

/// Erases a chunk if it still cannot be decoded.
fn drop_torn(
    store: &Arc<dyn Store>,
    registry: &Arc<Registry>,
    dialect: Option<Dialect>,
    path: &str,
    key: &str,
    chunk: &ChunkIndex,
) -> Result<bool> {
    let found = zarr_hierarchy::open_node(&**store, path, dialect)?;
    let array = Array::from_found(store, found, registry, Options::default())?;
    let key = Key::new(key)?;
    let is_torn = Mutex::new(false);
    array.check_chunks(&[(key.clone(), chunk.clone())], CheckDepth::Values, &|checked| {
        let torn = checked.faults.iter().any(|fault| match &fault.kind {
            ChunkFaultKind::Broken(error) => fault.inner.is_empty() && error.is_corrupt(),
            _ => false,
        });
        *is_torn.lock().unwrap_or_else(PoisonError::into_inner) = torn;
    })?;
    let is_torn = is_torn.into_inner().unwrap_or_else(PoisonError::into_inner);
    if is_torn {
        store.erase(&key).map_err(Error::from)?;
    }
    Ok(is_torn)
}
