//! Access to files. Every access of a store goes through [`Vfs`], so that tests can simulate failures.

use std::fmt;
use std::fs::{File, FileTimes, Metadata, TryLockError};
use std::io::{self, IoSliceMut, Read, Write};
#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Access to the files under one root.
///
/// A `path` is relative to the root, with `/` between its segments, and empty for the root; it is followed through
/// symbolic links only as long as they stay under the root, and fails with [`Escapes`] otherwise. A `name` is one
/// segment in an open directory, and is not followed.
pub(super) trait Vfs: Send + Sync + fmt::Debug {
    /// Opens a file for reading. A directory may open too.
    fn open(&self, path: &str) -> io::Result<File>;

    /// Opens a file for reading, as [`open`](Self::open); `None` if nothing is there and no symbolic link is on the path, where the system tells
    /// so with the same call. Else that is the error of `open`.
    fn open_unless_absent(&self, path: &str) -> io::Result<Option<File>> {
        self.open(path).map(Some)
    }

    /// The stat of a path.
    fn stat(&self, path: &str) -> io::Result<Stat>;

    /// The target of a symbolic link, which is not followed. Fails where the path is no link.
    fn read_link(&self, path: &str) -> io::Result<PathBuf>;

    /// The stat of an open file.
    fn stat_file(&self, file: &File) -> io::Result<Stat> {
        file.metadata().map(|metadata| Stat::of(&metadata))
    }

    /// Opens a file so that it can be locked: for writing where that is allowed, since network file systems want it.
    fn open_to_lock(&self, path: &str) -> io::Result<File> {
        self.open(path)
    }

    /// Opens a directory, so that it can be locked. Fails where the system cannot.
    fn open_directory(&self, path: &str) -> io::Result<File>;

    /// Waits until no other open file holds the lock of this one, and takes it until the file is closed.
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

    /// Takes the lock of a file until it is closed; false if another open file holds it.
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

    /// Closes a file that was written, with the errors that a network file system has kept until then.
    fn close(&self, file: File) -> io::Result<()> {
        #[cfg(unix)]
        nix::unistd::close(file)?;
        #[cfg(not(unix))]
        drop(file);
        Ok(())
    }

    /// Reads from an offset; fewer bytes only at the end or by chance.
    fn read_at(&self, file: &File, into: &mut [u8], offset: u64) -> io::Result<usize> {
        read_at(file, into, offset)
    }

    /// Reads from the beginning of a file that was just opened, first into `into`, then, where the system can do both in
    /// one call, into `more`; fewer bytes only at the end or by chance.
    fn read_first(&self, mut file: &File, into: &mut [u8], more: &mut [u8]) -> io::Result<usize> {
        file.read_vectored(&mut [IoSliceMut::new(into), IoSliceMut::new(more)])
    }

    /// Opens a directory, so that it stays the same whatever happens to its path.
    fn directory(&self, path: &str) -> io::Result<Directory>;

    /// Opens a directory, as the root of paths that lead to what lies below it, whatever happens to its own path. One that a symbolic link
    /// leads out of it fails with `CrossesDevices`. `None` for the root, which is open in any case, and where the system has no such
    /// handles.
    fn hold(&self, _path: &str) -> io::Result<Option<Box<dyn Vfs>>> {
        Ok(None)
    }

    /// Whether the directory that is held still lies at its path; true if none is.
    fn is_in_place(&self) -> io::Result<bool> {
        Ok(true)
    }

    /// Whether the directory that is held, or the root, was removed, so that nothing can be made in it any more.
    fn is_gone(&self) -> bool {
        false
    }

    /// Identifies a directory within the process: equal for equal directories.
    fn identity(&self, directory: &Directory) -> io::Result<(u64, u64)>;

    /// The stat of a name in a directory, which is not followed. Of a directory and a link only the kind counts.
    fn stat_name(&self, parent: &Directory, name: &str) -> io::Result<Stat>;

    /// Opens a name in a directory, which is not followed, for reading: a file or a directory.
    fn open_name(&self, parent: &Directory, name: &str) -> io::Result<File>;

    /// Makes a directory.
    fn make_directory(&self, parent: &Directory, name: &str) -> io::Result<()>;

    /// Makes a file that was not there, for writing.
    fn make_file(&self, parent: &Directory, name: &str) -> io::Result<File>;

    /// Makes a file without a name in a directory, for writing: it vanishes unless it is [given one](Self::give_name). `None`
    /// where the system cannot do both.
    fn make_unnamed(&self, _parent: &Directory) -> io::Result<Option<File>> {
        Ok(None)
    }

    /// Gives a file of [`Self::make_unnamed`] a name that was not there.
    fn give_name(&self, _file: &File, _parent: &Directory, _name: &str) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Writes all bytes.
    fn write(&self, mut file: &File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    /// Writes all bytes at an offset. What lies between there and the end of the file is zeros.
    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        write_at(file, bytes, offset)
    }

    /// Sets the time of change.
    fn stamp(&self, file: &File, time: SystemTime) -> io::Result<()> {
        file.set_times(FileTimes::new().set_modified(time))
    }

    /// Waits until a file's bytes are on the disk.
    fn sync_file(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    /// Waits until the names in a directory are on the disk.
    fn sync_directory(&self, directory: &Directory) -> io::Result<()>;

    /// Waits until everything under the root is on the disk.
    fn sync_all(&self) -> io::Result<()>;

    /// Renames a file within its directory, replacing the file of the new name.
    fn rename(&self, parent: &Directory, from: &str, to: &str) -> io::Result<()>;

    /// Gives a file another name that was not there.
    fn link(&self, parent: &Directory, from: &str, to: &str) -> io::Result<()>;

    /// Renames a directory, from one directory to another, if there is nothing of the new name, or an empty directory.
    fn rename_directory(&self, parent: &Directory, from: &str, to_parent: &Directory, to: &str) -> io::Result<()>;

    /// Exchanges two names, of a directory and a directory or a link, in one step. Fails with `Unsupported` where the system or the
    /// file system cannot.
    fn exchange(&self, _parent: &Directory, _a: &str, _other: &Directory, _b: &str) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Removes a file.
    fn remove_file(&self, parent: &Directory, name: &str) -> io::Result<()>;

    /// Removes an empty directory.
    fn remove_directory(&self, parent: &Directory, name: &str) -> io::Result<()>;

    /// Removes a directory with all that is in it. Links are removed and not followed.
    fn remove_tree(&self, parent: &Directory, name: &str) -> io::Result<()>;

    /// The names in a directory that are wanted, in any order, and those that are not UTF-8.
    fn list(&self, path: &str, wanted: &dyn Fn(&str) -> bool) -> io::Result<Vec<(String, Kind)>>;
}

/// An open directory.
#[derive(Debug)]
pub(super) enum Directory {
    /// By a handle.
    #[cfg(target_os = "linux")]
    Handle(OwnedFd),
    /// By its path, free of symbolic links when it was looked up.
    Path(PathBuf),
}

/// The stat of a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) kind: Kind,
    /// In bytes.
    pub(super) len: u64,
    /// Device and number of the inode; zero where there is none.
    pub(super) inode: (u64, u64),
    /// The time of change in nanoseconds.
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

/// The kind of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Directory,
    /// A symbolic link, or unknown from a listing: a stat is needed.
    Unknown,
    /// A pipe or a device, which a store ignores.
    Other,
    /// Anything in a listing whose name is not UTF-8, which the name there stands for with replacement characters.
    NotUtf8,
}

/// A path leads out of the root, to here.
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

/// Reads from an offset without moving the file's position.
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

/// Reads until `into` is full or the value ends.
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
