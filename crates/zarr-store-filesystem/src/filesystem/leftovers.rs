//! Temporary files that killed processes left behind.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::FilesystemStore;
use super::locks::is_refused;
use super::names::is_temporary_name;
use super::vfs::{Directory, Kind};

/// Where there are no locks, a temporary file that is older than this counts as left behind.
const OLD: Duration = Duration::from_secs(24 * 60 * 60);
/// How many directories are remembered; after that they are looked through again.
const REMEMBERED: usize = 4096;
/// A directory is looked through again after this time at the earliest, and after so many times the time that it took.
const PAUSE: Duration = Duration::from_secs(1);
const SHARE: u32 = 100;

/// The directories that this store has looked through, and when that is due again.
#[derive(Debug, Default)]
pub(super) struct LookedThrough(Mutex<HashMap<Box<str>, Instant>>);

impl LookedThrough {
    fn paths(&self) -> MutexGuard<'_, HashMap<Box<str>, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_due(&self, path: &str) -> bool {
        self.paths().get(path).is_none_or(|due| *due <= Instant::now())
    }

    /// Notes a directory that it took some time to look through.
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
    /// Notes a directory that was just made, so that it has no leftovers.
    pub(super) fn note_new(&self, path: &str) {
        self.looked_through.note(path, Duration::ZERO);
    }

    /// Removes the temporary files that killed processes left in a directory, when this store writes to it for the first time and from
    /// time to time after that. Failures are ignored.
    pub(super) fn remove_leftovers(&self, directory: &Directory, path: &str) {
        if !self.looked_through.is_due(path) {
            return;
        }
        let begun = Instant::now();
        let names = self.vfs.list(path, &is_temporary_name).unwrap_or_default();
        self.looked_through.note(path, begun.elapsed());
        for (name, kind) in names {
            let _ = self.remove_leftover(directory, &name, kind);
        }
    }

    /// Removes a temporary file or directory unless its owner lives, who holds its lock.
    fn remove_leftover(&self, directory: &Directory, name: &str, kind: Kind) -> std::io::Result<()> {
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
        match (is_dead, kind) {
            (false, _) => Ok(()),
            (true, Kind::Directory) => self.vfs.remove_tree(directory, name),
            (true, _) => self.vfs.remove_file(directory, name),
        }
    }
}
