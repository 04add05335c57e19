//! Locks between processes, by files beside the store.
//!
//! SQLite's own locks are of the SQLite file, last for one transaction, and stop all writers.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use sha2::{Digest, Sha256};
use zarr_store::{Error, Lock, Operation, Prefix, Result};

use super::SqliteStore;

impl SqliteStore {
    pub(super) fn lock_prefix(&self, prefix: &Prefix) -> Result<Option<Lock>> {
        // Threads of this process exclude each other in any case.
        let Some(threads) = Lock::in_process(&self.pool.path().display(), prefix) else { return Ok(None) };
        if self.pool.is_read_only() {
            return Ok(Some(threads));
        }
        match take(self.lock_path(prefix)) {
            Ok(Some(held)) => Ok(Some(Lock::between_processes((held, threads)))),
            Ok(None) => Ok(None),
            // Lock files cannot be made in this directory, or cannot be locked.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::Unsupported
                ) =>
            {
                Ok(Some(threads))
            }
            Err(error) => Err(Error::io(self, Operation::Lock, prefix.as_str(), error)),
        }
    }

    /// Returns the path of the lock file of a prefix. Prefixes with equal hashes would exclude each other, which is harmless.
    fn lock_path(&self, prefix: &Prefix) -> PathBuf {
        // The name of the lock file must be the same in every program.
        let hash = Sha256::digest(prefix.as_str());
        let mut path = self.pool.path().as_os_str().to_owned();
        path.push("-lock-");
        for byte in hash.iter().take(8) {
            path.push(format!("{byte:02x}"));
        }
        path.into()
    }
}

/// Locked file, which is removed when the lock is released.
#[derive(Debug)]
struct Held {
    path: PathBuf,
    file: File,
}

impl Drop for Held {
    fn drop(&mut self) {
        // While the lock is held, the name is that of this file. What fails here leaves an empty file that anyone can lock.
        let _ = fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
}

/// Creates and locks a file; `None` if another process has locked it.
fn take(path: PathBuf) -> io::Result<Option<Held>> {
    loop {
        let file = File::options().create(true).truncate(false).write(true).open(&path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // The one who held it before may have removed the file meanwhile: then another may lock a new one of that name.
        let id = |metadata: &fs::Metadata| (metadata.dev(), metadata.ino());
        match fs::metadata(&path) {
            Ok(named) if id(&named) == id(&file.metadata()?) => return Ok(Some(Held { path, file })),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
}
