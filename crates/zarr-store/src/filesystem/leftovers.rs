//! Temporary files that killed processes left behind.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::FilesystemStore;
use super::locks::is_refused;
use super::names::is_temporary_name;
use super::vfs::{Directory, Kind};

/// Where there are no locks, what is older than this has no owner any more.
const OLD: Duration = Duration::from_secs(24 * 60 * 60);
/// How many directories are remembered; after that they are looked through again.
const REMEMBERED: usize = 4096;

/// The directories that this store has looked through.
#[derive(Debug, Default)]
pub(super) struct LookedThrough(Mutex<HashSet<Box<str>>>);

impl LookedThrough {
    /// Notes a directory. Says whether it was not noted before.
    fn note(&self, path: &str) -> bool {
        let mut paths = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if paths.contains(path) {
            return false;
        }
        if paths.len() >= REMEMBERED {
            paths.clear();
        }
        paths.insert(path.into())
    }
}

impl FilesystemStore {
    /// Notes a directory that was just made: nobody left anything in it.
    pub(super) fn note_new(&self, path: &str) {
        self.looked_through.note(path);
    }

    /// Removes what killed processes left in a directory, the first time that this store writes to it. That some cannot be
    /// removed is no reason not to write.
    pub(super) fn remove_leftovers(&self, directory: &Directory, path: &str) {
        if !self.looked_through.note(path) {
            return;
        }
        let Ok(names) = self.vfs.list(path, &is_temporary_name) else { return };
        for (name, kind) in names {
            let _ = self.remove_leftover(directory, &name, kind);
        }
    }

    /// Removes a temporary file or directory unless its owner lives, who holds its lock.
    fn remove_leftover(&self, directory: &Directory, name: &str, kind: Kind) -> std::io::Result<()> {
        let stat = self.vfs.stat_name(directory, name)?;
        let file = self.vfs.open_name(directory, name)?;
        let is_dead = match self.vfs.try_lock(&file) {
            Ok(free) => free,
            Err(error) if is_refused(&error) => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                i128::try_from(now.saturating_sub(OLD).as_nanos()).is_ok_and(|limit| stat.modified < limit)
            }
            Err(error) => return Err(error),
        };
        match (is_dead, kind) {
            (false, _) => Ok(()),
            (true, Kind::Directory) => self.vfs.remove_tree(directory, name),
            (true, _) => self.vfs.remove_file(directory, name),
        }
    }
}
