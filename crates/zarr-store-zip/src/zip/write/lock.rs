//! Lock for writers of a zip file.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// Lock of a zip file, which is released when this value is dropped.
///
/// The lock is of a separate file beside the zip file, since the zip file is replaced. That file is removed with the lock.
#[derive(Debug)]
pub(super) struct WriteLock {
    file: File,
    path: PathBuf,
}

/// Outcome of an attempt to take the lock.
pub(super) enum Taken {
    Lock(WriteLock),
    /// Another store holds the lock.
    Busy,
    /// The file system has no locks.
    Refused(io::Error),
}

impl WriteLock {
    /// Takes the lock of the zip file at `zip`.
    pub(super) fn take(zip: &Path) -> io::Result<Taken> {
        let path = beside(zip, ".zarr-lock");
        loop {
            let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(Taken::Busy),
                Err(TryLockError::Error(error)) => {
                    // A lock file that cannot be locked is of no use.
                    let _ = fs::remove_file(&path);
                    return Ok(Taken::Refused(error));
                }
            }
            // The previous holder of the lock may have removed the file.
            if is_at(&file, &path)? {
                return Ok(Taken::Lock(Self { file, path }));
            }
        }
    }
}

impl Drop for WriteLock {
    fn drop(&mut self) {
        // On other systems it cannot be seen that a file was removed, so that it stays.
        if cfg!(unix) {
            let _ = fs::remove_file(&self.path);
        }
        // Also if a process that was forked has the file open. Closing gives it back where this fails.
        let _ = self.file.unlock();
    }
}

/// Returns whether an open file is still the file at `path`.
#[cfg(unix)]
pub(super) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        found => found?,
    };
    let held = file.metadata()?;
    Ok((held.dev(), held.ino()) == (found.dev(), found.ino()))
}

/// Returns true, since other systems do not tell whether an open file is the file at a path.
#[cfg(not(unix))]
pub(super) fn is_at(_file: &File, _path: &Path) -> io::Result<bool> {
    Ok(true)
}

/// Returns the path of a hidden file beside the zip file, with `end` after the name.
pub(super) fn beside(zip: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(zip.file_name().unwrap_or_default());
    name.push(end);
    zip.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holds_the_lock() {
        let folder = tempfile::tempdir().expect("a directory");
        let zip = folder.path().join("x.zip");
        let Ok(Taken::Lock(lock)) = WriteLock::take(&zip) else { panic!("free") };
        assert!(matches!(WriteLock::take(&zip), Ok(Taken::Busy)));
        assert!(matches!(WriteLock::take(&folder.path().join("y.zip")), Ok(Taken::Lock(_))));
        drop(lock);
        let Ok(Taken::Lock(lock)) = WriteLock::take(&zip) else { panic!("free again") };
        drop(lock);
        if cfg!(unix) {
            assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 0, "nothing is left");
        }
    }
}
