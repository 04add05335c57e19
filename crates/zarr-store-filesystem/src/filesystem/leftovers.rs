//! Removal of temporary files that killed processes left behind.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use zarr_store::{Leftover, Operation, Prefix, Result};

use super::erase::prune;
use super::install::split;
use super::locks::is_refused;
use super::names::is_temporary_name;
use super::vfs::{Directory, Kind};
use super::{FilesystemStore, is_absent};

/// Age at which a temporary file counts as left behind, if there are no locks.
const OLD: Duration = Duration::from_secs(24 * 60 * 60);
/// Greatest number of remembered directories. Beyond that, all are forgotten and looked through again.
const REMEMBERED: usize = 4096;
/// Least time before a directory is looked through again. The time is also at least `SHARE` times the duration of the last look.
const PAUSE: Duration = Duration::from_secs(1);
const SHARE: u32 = 100;

/// Record of the directories in which stores have looked for leftovers of killed processes, and of the time of the next look. Empty
/// at first. Does not keep directories open. See [`FilesystemStore::sharing`].
#[derive(Clone, Debug, Default)]
pub struct LookedThrough(Arc<Mutex<HashMap<Box<str>, Instant>>>);

impl LookedThrough {
    fn paths(&self) -> MutexGuard<'_, HashMap<Box<str>, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_due(&self, path: &str) -> bool {
        self.paths().get(path).is_none_or(|due| *due <= Instant::now())
    }

    /// Records a directory that was looked through, and the duration of the look.
    fn note(&self, path: &str, took: Duration) {
        let due = Instant::now() + PAUSE.max(took.saturating_mul(SHARE));
        let mut paths = self.paths();
        match paths.get_mut(path) {
            Some(noted) => *noted = due,
            None => {
                if paths.len() >= REMEMBERED {
                    paths.clear();
                }
                paths.insert(path.into(), due);
            }
        }
    }
}

impl FilesystemStore {
    /// Records a new directory, which has no leftovers.
    pub(super) fn note_new(&self, path: &str) {
        self.looked_through.note(path, Duration::ZERO);
    }

    /// Removes temporary files that killed processes left in a directory, before the first write of this store to the directory and from
    /// time to time. Ignores failures.
    pub(super) fn remove_leftovers(&self, directory: &Directory, path: &str) {
        if !self.looked_through.is_due(path) {
            return;
        }
        let begun = Instant::now();
        let names = self.vfs.list(path, &is_temporary_name).unwrap_or_default();
        self.looked_through.note(path, begun.elapsed());
        for (name, kind) in names.into_iter().filter(|(_, kind)| *kind != Kind::NotUtf8) {
            let _ = self.leftover(directory, &name, kind, true);
        }
    }

    /// Finds the temporary files directly under a prefix whose owners are dead, and removes them if `remove`. Implements
    /// [`leftovers`](zarr_store::StoreExt::leftovers).
    pub(super) fn find_leftovers(&self, prefix: &Prefix, remove: bool) -> Result<Vec<Leftover>> {
        let path = prefix.as_str().trim_end_matches('/');
        let fail = |error| self.fail(Operation::List, path, error);
        let directory = match self.vfs.directory(path) {
            Ok(directory) => directory,
            Err(error) if is_absent(&error) => return Ok(Vec::new()),
            Err(error) => return Err(fail(error)),
        };
        let mut found = Vec::new();
        let names = self.vfs.list(path, &is_temporary_name).map_err(fail)?;
        for (name, kind) in names.into_iter().filter(|(_, kind)| *kind != Kind::NotUtf8) {
            let path = format!("{prefix}{name}");
            let bytes = self.bytes_below(&directory, &path, kind);
            match self.leftover(&directory, &name, kind, remove) {
                Ok(true) => found.push(Leftover { path, bytes }),
                Ok(false) => {}
                // The owner has renamed or removed this file meanwhile.
                Err(error) if is_absent(&error) => {}
                Err(error) => return Err(self.fail(Operation::Erase, &format!("{prefix}{name}"), error)),
            }
        }
        drop(directory);
        if remove {
            prune(&*self.vfs, path);
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Returns the size in bytes of a temporary file, or of all files in a temporary directory, as far as they are readable.
    fn bytes_below(&self, parent: &Directory, path: &str, kind: Kind) -> u64 {
        let size =
            |parent: &Directory, path: &str| self.vfs.stat_name(parent, split(path).1).map_or(0, |stat| stat.len);
        if kind != Kind::Directory {
            return size(parent, path);
        }
        let (mut bytes, mut todo) = (0_u64, vec![path.to_owned()]);
        while let Some(path) = todo.pop() {
            let Ok(directory) = self.vfs.directory(&path) else { continue };
            for (name, kind) in self.vfs.list(&path, &|_| true).unwrap_or_default() {
                let below = format!("{path}/{name}");
                match kind {
                    Kind::Directory => todo.push(below),
                    Kind::NotUtf8 => {}
                    _ => bytes = bytes.saturating_add(size(&directory, &below)),
                }
            }
        }
        bytes
    }

    /// Returns whether the owner of a temporary file or directory is dead: a living owner holds its lock. If `remove`, removes the leftover
    /// of a dead owner.
    fn leftover(&self, directory: &Directory, name: &str, kind: Kind, remove: bool) -> std::io::Result<bool> {
        let stat = self.vfs.stat_name(directory, name)?;
        // Windows does not open directories.
        let opened = self.vfs.open_name(directory, name);
        let is_dead =
            match opened.as_ref().map_or_else(|error| Err(error.kind().into()), |file| self.vfs.try_lock(file)) {
                Ok(free) => free,
                Err(error) if is_refused(&error) => {
                    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                    i128::try_from(now.saturating_sub(OLD).as_nanos()).is_ok_and(|limit| stat.modified < limit)
                }
                Err(error) => return Err(error),
            };
        match kind {
            _ if !is_dead || !remove => {}
            Kind::Directory => self.vfs.remove_tree(directory, name)?,
            _ => self.vfs.remove_file(directory, name)?,
        }
        Ok(is_dead)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::super::names::temporary;
    use super::*;
    use zarr_store::{Key, StoreExt};

    #[test]
    fn stores_that_share_it_do_not_look_again() {
        let folder = tempfile::tempdir().expect("a directory");
        let left = folder.path().join("d").join(temporary());
        let open = || FilesystemStore::open(folder.path()).expect("opened");
        let set = |store: &FilesystemStore| store.set_all(&Key::new("d/a").expect("a key"), b"1").expect("set");
        set(&open());
        std::fs::write(&left, b"half").expect("written");
        let begun = Instant::now();
        let known = LookedThrough::default();
        set(&open().sharing(&known));
        assert!(!left.exists());
        std::fs::write(&left, b"half").expect("written");
        set(&open().sharing(&known));
        // It is due after that time, which a loaded machine may take.
        assert!(left.exists() || begun.elapsed() >= PAUSE);
        set(&open());
        assert!(!left.exists());
    }
}
