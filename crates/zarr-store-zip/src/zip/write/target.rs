//! Temporary file that replaces the zip file.

use std::fmt;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Seek};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::lock::{beside, is_at};
use crate::zip::file::{read_exact_at, write_all_at};

/// File with a temporary name beside the zip file. It is removed when it is dropped before it gets the name of the zip file.
///
/// The temporary name is always the same: the holder of the lock of the zip file may remove a leftover.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) file: Arc<File>,
    path: PathBuf,
    is_installed: bool,
}

impl Target {
    /// Removes the leftover of a killed process.
    pub(super) fn clean(zip: &Path) -> io::Result<()> {
        match fs::remove_file(beside(zip, ".zarr-tmp")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Creates an empty temporary file for the zip file at `zip`.
    pub(super) fn create(zip: &Path) -> io::Result<Self> {
        Self::clean(zip)?;
        let path = beside(zip, ".zarr-tmp");
        // `create_new` does not follow a link that another process made meanwhile.
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        Ok(Self { file: Arc::new(file), path, is_installed: false })
    }

    /// Creates an empty temporary file with the permissions of `like`, for the zip file at `zip`.
    pub(super) fn create_like(zip: &Path, like: &File) -> io::Result<Self> {
        let target = Self::create(zip)?;
        target.file.set_permissions(like.metadata()?.permissions())?;
        Ok(target)
    }

    /// Creates a temporary file with the first `len` bytes and the permissions of `from`, for the zip file at `zip`. The bytes are shared
    /// if the file system supports that.
    pub(super) fn copy(zip: &Path, from: &File, len: u64) -> io::Result<Self> {
        let target = Self::create(zip)?;
        if cfg!(unix) {
            // All other reads name their offset, and leave the position alone.
            let mut source = from;
            source.rewind()?;
            if io::copy(&mut source.take(len), &mut &*target.file)? != len {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        } else {
            copy_range(from, 0..len, &target.file, 0)?;
        }
        target.file.set_permissions(from.metadata()?.permissions())?;
        Ok(target)
    }

    /// Waits until all bytes are on the disk, and renames the file to `zip`. If `is_new`, no file may exist there.
    pub(super) fn install(&mut self, zip: &Path, is_new: bool) -> io::Result<()> {
        self.file.sync_all()?;
        if !is_at(&self.file, &self.path)? {
            // Another writer has replaced the file, which can happen where there are no locks.
            return Err(io::Error::other(format!("{} was removed or replaced", self.path.display())));
        }
        if !is_new {
            fs::rename(&self.path, zip)?;
        } else if let Err(error) = fs::hard_link(&self.path, zip) {
            if error.kind() == io::ErrorKind::AlreadyExists || fs::symlink_metadata(zip).is_ok() {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            // A file system without links.
            fs::rename(&self.path, zip)?;
        } else {
            // If this fails, the next writer removes the file.
            let _ = fs::remove_file(&self.path);
        }
        self.is_installed = true;
        Ok(())
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if !self.is_installed {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Copies a range of a file to an offset of another file.
pub(super) fn copy_range(from: &File, range: Range<u64>, to: &File, mut offset: u64) -> io::Result<()> {
    const PIECE: usize = 1 << 20;
    let mut rest = range.end.saturating_sub(range.start);
    let mut buffer = vec![0; usize::try_from(rest).unwrap_or(PIECE).min(PIECE)];
    let mut at = range.start;
    while rest > 0 {
        let len = usize::try_from(rest).unwrap_or(PIECE).min(PIECE);
        let piece = &mut buffer[..len];
        read_exact_at(from, piece, at)?;
        write_all_at(to, piece, offset)?;
        let len = len as u64;
        (rest, at, offset) = (rest - len, at + len, offset + len);
    }
    Ok(())
}

/// Identity and state of the file at a path, by which changes without the lock are detected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::zip) struct Stamp {
    len: u64,
    modified: Option<SystemTime>,
    /// Device and inode.
    number: (u64, u64),
}

impl Stamp {
    pub(in crate::zip) fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let number = (std::os::unix::fs::MetadataExt::dev(metadata), std::os::unix::fs::MetadataExt::ino(metadata));
        #[cfg(not(unix))]
        let number = (0, 0);
        Self { len: metadata.len(), modified: metadata.modified().ok(), number }
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let since = self.modified.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok()).unwrap_or_default();
        write!(f, "{} bytes, changed {}.{:09} s after 1970", self.len, since.as_secs(), since.subsec_nanos())
    }
}

/// Waits until the name of a file is on the disk.
pub(super) fn sync_name(path: &Path) -> io::Result<()> {
    if cfg!(unix) {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(parent)?.sync_all()?;
    }
    Ok(())
}
