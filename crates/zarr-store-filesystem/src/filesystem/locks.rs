//! Advisory locks between processes, by `flock`.

use std::collections::hash_map::DefaultHasher;
use std::fs::File;
use std::hash::{Hash, Hasher};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use zarr_store::{Error, Key, Lock, Operation, Prefix, Result};

use super::{FilesystemStore, is_absent};

/// Whether the file system has refused a lock, and whether the user was warned.
#[derive(Debug, Default)]
pub(super) struct Refused {
    refused: AtomicBool,
    warned: AtomicBool,
}

impl Refused {
    /// Returns a warning once after locks were refused; otherwise `None`.
    pub(super) fn take_warning(&self, store: &FilesystemStore) -> Option<String> {
        let due = self.refused.load(Ordering::Relaxed) && !self.warned.swap(true, Ordering::Relaxed);
        due.then(|| {
            format!(
                "{store}: the file system has no advisory locks, so that writes of parts of the same chunk, changes of the same \
                 metadata and appends by several processes at once may be lost"
            )
        })
    }
}

impl FilesystemStore {
    /// Locks the file of a value against other processes that replace it on a condition. `None` if there is no such file, or locks are
    /// turned off or not supported.
    ///
    /// The lock belongs to the file and not to its name: after taking it, the caller looks at the name, and finds another file if the
    /// value was replaced meanwhile.
    pub(super) fn lock_value(&self, key: &Key) -> Result<Option<Locked>> {
        if !self.options.locks || self.refused.refused.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let file = match self.vfs.open_to_lock(key.as_str()) {
            Ok(file) => file,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(self.fail(Operation::Set, key.as_str(), error)),
        };
        match self.vfs.lock(&file) {
            Ok(()) => Ok(Some(Locked(file))),
            Err(error) if is_refused(&error) => {
                self.refused.refused.store(true, Ordering::Relaxed);
                Ok(None)
            }
            Err(error) => Err(self.fail(Operation::Set, key.as_str(), error)),
        }
    }

    /// Takes the lock of the directory of a prefix; `None` if another process or thread holds it. The store itself locks a directory only
    /// when it is about to remove it.
    pub(super) fn lock_prefix(&self, prefix: &Prefix) -> Result<Option<Lock>> {
        let path = prefix.as_str().trim_end_matches('/');
        // Threads of this process exclude each other in any case.
        let Some(threads) = Lock::in_process(self, prefix) else { return Ok(None) };
        if !self.options.locks {
            return Ok(Some(threads));
        }
        let fail = |error| Error::io(self, Operation::Lock, prefix.as_str(), error);
        let directory = match self.vfs.open_directory(path) {
            Ok(directory) => directory,
            Err(error) if is_absent(&error) => return Ok(Some(threads)),
            // Missing permission does not show whether other processes hold locks.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(Some(threads)),
            Err(error) if is_refused(&error) => return Ok(Some(self.without(threads))),
            Err(error) => return Err(fail(error)),
        };
        match self.vfs.try_lock(&directory) {
            Ok(true) => Ok(Some(Lock::between_processes((Locked(directory), threads)))),
            Ok(false) => Ok(None),
            Err(error) if is_refused(&error) => Ok(Some(self.without(threads))),
            Err(error) => Err(fail(error)),
        }
    }

    /// Records that the file system has refused locks, and returns the lock among threads.
    fn without(&self, threads: Lock) -> Lock {
        self.refused.refused.store(true, Ordering::Relaxed);
        threads
    }
}

/// Locked file or directory. The lock is released even if a process that was forked meanwhile has the file open, too.
#[derive(Debug)]
pub(super) struct Locked(File);

impl Drop for Locked {
    fn drop(&mut self) {
        // If this fails, closing the file releases the lock.
        let _ = self.0.unlock();
    }
}

/// Returns whether an error means that the system or file system does not support locks, or not for this file.
pub(super) fn is_refused(error: &io::Error) -> bool {
    #[cfg(unix)]
    {
        use nix::errno::Errno;
        let number = error.raw_os_error().map(Errno::from_raw);
        if matches!(number, Some(Errno::ENOLCK | Errno::EOPNOTSUPP | Errno::ENOSYS | Errno::EBADF | Errno::EINVAL)) {
            return true;
        }
    }
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied)
}

/// Locks a name among all stores of this process, so that comparing a version and replacing the value are one step.
pub(super) fn lock_name(directory: (u64, u64), name: &str) -> MutexGuard<'static, ()> {
    const STRIPES: usize = 64;
    static LOCKS: [Mutex<()>; STRIPES] = [const { Mutex::new(()) }; STRIPES];
    let mut hasher = DefaultHasher::new();
    (directory, name).hash(&mut hasher);
    let stripe = usize::try_from(hasher.finish() % STRIPES as u64).unwrap_or(0);
    LOCKS[stripe].lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_given_back_though_a_forked_process_has_the_file_open() {
        let folder = tempfile::tempdir().expect("a directory");
        let open = || File::open(folder.path()).expect("opened");
        let file = open();
        file.try_lock().expect("free");
        // The child of a fork.
        let copy = file.try_clone().expect("a copy");
        drop(Locked(file));
        open().try_lock().expect("free again");
        drop(copy);
    }
}
