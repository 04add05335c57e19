//! Access to files. All stores use [`Vfs`], so that tests can simulate failures.

use std::fmt;
use std::fs::{File, FileTimes, Metadata, TryLockError};
use std::io::{self, IoSliceMut, Read, Write};
#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Access to the files under one root.
///
/// A `path` is relative to the root, with `/` between segments, and empty for the root. Symbolic links in it are followed as long as
/// they stay under the root; otherwise it fails with [`Escapes`]. A `name` is one segment in an open directory. Links at a `name` are
/// not followed.
pub(super) trait Vfs: Send + Sync + fmt::Debug {
    /// Opens a file for reading. A directory may open as well.
    fn open(&self, path: &str) -> io::Result<File>;

    /// Opens a file for reading as [`open`](Self::open) does; `None` if nothing exists at the path and no symbolic link is in it, provided
    /// that the system tells both with one call. Otherwise fails like `open`.
    fn open_unless_absent(&self, path: &str) -> io::Result<Option<File>> {
        self.open(path).map(Some)
    }

    /// Returns the stat of a path.
    fn stat(&self, path: &str) -> io::Result<Stat>;

    /// Returns the target of a symbolic link, which is not followed. Fails if the path is no link.
    fn read_link(&self, path: &str) -> io::Result<PathBuf>;

    /// Returns the stat of an open file.
    fn stat_file(&self, file: &File) -> io::Result<Stat> {
        file.metadata().map(|metadata| Stat::of(&metadata))
    }

    /// Opens a file so that it can be locked: for writing if that is allowed, since network file systems require it.
    fn open_to_lock(&self, path: &str) -> io::Result<File> {
        self.open(path)
    }

    /// Opens a directory so that it can be locked. Fails if the system cannot do that.
    fn open_directory(&self, path: &str) -> io::Result<File>;

    /// Waits until no other open file holds the lock of `file`, and takes it until `file` is closed.
    fn lock(&self, file: &File) -> io::Result<()> {
        if !cfg!(unix) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        loop {
            match file.lock() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                locked => return locked,
            }
        }
    }

    /// Takes the lock of a file until it is closed. Returns false if another open file holds the lock.
    fn try_lock(&self, file: &File) -> io::Result<bool> {
        // Elsewhere the lock of a file keeps others from reading it.
        if !cfg!(unix) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        match file.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Closes a written file. Returns errors that a network file system reports only at the close.
    fn close(&self, file: File) -> io::Result<()> {
        #[cfg(unix)]
        nix::unistd::close(file)?;
        #[cfg(not(unix))]
        drop(file);
        Ok(())
    }

    /// Reads from an offset. May return fewer bytes than requested, not only at the end.
    fn read_at(&self, file: &File, into: &mut [u8], offset: u64) -> io::Result<usize> {
        read_at(file, into, offset)
    }

    /// Reads from the beginning of a newly opened file, into `into` and then, if the system can do both in one call, into `more`. May
    /// return fewer bytes than requested, not only at the end.
    fn read_first(&self, mut file: &File, into: &mut [u8], more: &mut [u8]) -> io::Result<usize> {
        file.read_vectored(&mut [IoSliceMut::new(into), IoSliceMut::new(more)])
    }

    /// Opens a directory, so that it stays the same even if its path changes.
    fn directory(&self, path: &str) -> io::Result<Directory>;

    /// Opens a directory as the root of a new access that stays the same even if its path changes. A path that a symbolic link leads out of
    /// the directory fails with `CrossesDevices`. `None` for the root, which is open anyway, and if the system has no such handles.
    fn hold(&self, _path: &str) -> io::Result<Option<Box<dyn Vfs>>> {
        Ok(None)
    }

    /// Returns whether the held directory is still at its path; true if none is held.
    fn is_in_place(&self) -> io::Result<bool> {
        Ok(true)
    }

    /// Returns whether the held directory, or the root, was removed, so that nothing can be created in it any more.
    fn is_gone(&self) -> bool {
        false
    }

    /// Returns an identity of a directory within the process, which is equal only for the same directory.
    fn identity(&self, directory: &Directory) -> io::Result<(u64, u64)>;

    /// Returns the stat of a name in a directory, without following links. For directories and links only the kind is meaningful.
    fn stat_name(&self, parent: &Directory, name: &str) -> io::Result<Stat>;

    /// Opens a file or directory with a name in a directory for reading, without following links.
    fn open_name(&self, parent: &Directory, name: &str) -> io::Result<File>;

    /// Creates a directory.
    fn make_directory(&self, parent: &Directory, name: &str) -> io::Result<()>;

    /// Creates a new file for writing.
    fn make_file(&self, parent: &Directory, name: &str) -> io::Result<File>;

    /// Creates a file without a name in a directory, for writing. It vanishes unless it is [given a name](Self::give_name). `None` if the
    /// system cannot do both.
    fn make_unnamed(&self, _parent: &Directory) -> io::Result<Option<File>> {
        Ok(None)
    }

    /// Gives a file of [`Self::make_unnamed`] a name that must not exist.
    fn give_name(&self, _file: &File, _parent: &Directory, _name: &str) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Writes all bytes at the current position of the file.
    fn write(&self, mut file: &File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    /// Writes all bytes at an offset. A gap after the end of the file is filled with zeros.
    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        write_at(file, bytes, offset)
    }

    /// Sets the time of the last change of a file.
    fn stamp(&self, file: &File, time: SystemTime) -> io::Result<()> {
        file.set_times(FileTimes::new().set_modified(time))
    }

    /// Waits until the bytes of a file are on the disk.
    fn sync_file(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    /// Waits until the names in a directory are on the disk.
    fn sync_directory(&self, directory: &Directory) -> io::Result<()>;

    /// Waits until everything under the root is on the disk.
    fn sync_all(&self) -> io::Result<()>;

    /// Renames a file within its directory, replacing a file of the new name.
    fn rename(&self, parent: &Directory, from: &str, to: &str) -> io::Result<()>;

    /// Gives a file an additional name that must not exist.
    fn link(&self, parent: &Directory, from: &str, to: &str) -> io::Result<()>;

    /// Renames a directory, possibly into another directory. Nothing, or only an empty directory, may have the new name.
    fn rename_directory(&self, parent: &Directory, from: &str, to_parent: &Directory, to: &str) -> io::Result<()>;

    /// Exchanges two names in one step: those of two directories, or of a directory and a link. Fails with `Unsupported` if the system or
    /// file system cannot do that.
    fn exchange(&self, _parent: &Directory, _a: &str, _other: &Directory, _b: &str) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Removes a file.
    fn remove_file(&self, parent: &Directory, name: &str) -> io::Result<()>;

    /// Removes an empty directory.
    fn remove_directory(&self, parent: &Directory, name: &str) -> io::Result<()>;

    /// Removes a directory with everything in it. Links are removed and not followed.
    fn remove_tree(&self, parent: &Directory, name: &str) -> io::Result<()>;

    /// Returns the names in a directory for which `wanted` is true, in any order, and those that are not UTF-8.
    fn list(&self, path: &str, wanted: &dyn Fn(&str) -> bool) -> io::Result<Vec<(String, Kind)>>;
}

/// Open directory.
#[derive(Debug)]
pub(super) enum Directory {
    /// Directory by its handle.
    #[cfg(target_os = "linux")]
    Handle(OwnedFd),
    /// Directory by its path, which had no symbolic links when it was looked up.
    Path(PathBuf),
}

/// Properties of a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) kind: Kind,
    /// Size in bytes.
    pub(super) len: u64,
    /// Device and number of the inode; zero if there is none.
    pub(super) inode: (u64, u64),
    /// Time of the last change in nanoseconds since 1970.
    pub(super) modified: i128,
}

impl Stat {
    pub(super) fn of(metadata: &Metadata) -> Self {
        let file_type = metadata.file_type();
        let kind = if file_type.is_file() {
            Kind::File
        } else if file_type.is_symlink() {
            Kind::Unknown
        } else if file_type.is_dir() {
            Kind::Directory
        } else {
            Kind::Other
        };
        #[cfg(unix)]
        let (inode, modified) = {
            use std::os::unix::fs::MetadataExt;
            (
                (metadata.dev(), metadata.ino()),
                i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec()),
            )
        };
        #[cfg(not(unix))]
        let (inode, modified) = {
            let since = metadata.modified().ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
            ((0, 0), since.map_or(0, |since| i128::try_from(since.as_nanos()).unwrap_or(0)))
        };
        Self { kind, len: metadata.len(), inode, modified }
    }
}

/// Kind of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Directory,
    /// Symbolic link, or entry of unknown kind in a listing: a stat is needed.
    Unknown,
    /// Pipe, device or socket. A store lists it, and getting it is an error.
    Other,
    /// Entry whose name is not UTF-8. The listing has its name with replacement characters.
    NotUtf8,
}

/// Error of a path that leads out of the root, with its target.
#[derive(Debug, thiserror::Error)]
#[error("leads out to {}", .0.display())]
pub(super) struct Escapes(pub(super) PathBuf);

/// Waits until the names in a directory are on the disk.
pub(super) fn sync_directory(path: &Path) -> io::Result<()> {
    // Windows cannot open a directory as a file, and writes names through by itself.
    if cfg!(windows) {
        return Ok(());
    }
    File::open(path)?.sync_all()
}

/// Reads from an offset without moving the position of the file.
pub(super) fn read_at(file: &File, into: &mut [u8], offset: u64) -> io::Result<usize> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_at(file, into, offset);
    #[cfg(windows)]
    return std::os::windows::fs::FileExt::seek_read(file, into, offset);
}

/// Writes all bytes at an offset.
fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::write_all_at(file, bytes, offset);
    #[cfg(windows)]
    {
        let mut done = 0;
        while let Some(rest) = bytes.get(done..).filter(|rest| !rest.is_empty()) {
            match std::os::windows::fs::FileExt::seek_write(file, rest, offset.saturating_add(done as u64)) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => done += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Reads until `into` is full or the value ends. Returns the number of bytes read.
pub(super) fn read_full_at(
    mut read: impl FnMut(&mut [u8], u64) -> io::Result<usize>,
    into: &mut [u8],
    offset: u64,
) -> io::Result<usize> {
    let mut done = 0;
    while let Some(rest) = into.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match read(rest, offset.saturating_add(done as u64)) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}
