//! Access to files by `openat2` from a handle of the root. The kernel refuses links that lead out (Linux 5.6 and later).

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, ResolveFlags};
use rustix::io::Errno;

use super::vfs::{Directory, Escapes, Kind, Stat, Vfs};

/// Number of attempts of `openat2` after EAGAIN, which any rename on the system may cause.
const ATTEMPTS: usize = 128;

/// Files below an open directory: one system call opens a file and checks that it is inside.
#[derive(Debug)]
pub(super) struct OpenAt {
    root: OwnedFd,
    /// Handle of the root that can be synced, opened at the first sync.
    synced: OnceLock<OwnedFd>,
    /// Resolved path of the root when it was opened, needed for links only. `None` if the root is the directory of a pinned node, which
    /// may have been renamed since.
    path: Option<PathBuf>,
    /// Whether files without names can be created and named: `UNKNOWN` until the first attempt, `REFUSED` after the first failure in any
    /// directory.
    unnamed: AtomicU8,
}

const UNKNOWN: u8 = 0;
const GRANTED: u8 = 1;
const REFUSED: u8 = 2;

impl OpenAt {
    /// Opens the root; `None` if the kernel lacks the call, or a sandbox forbids it.
    pub(super) fn open(path: &Path) -> io::Result<Option<Self>> {
        let root = rustix::fs::open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let (path, unnamed) = (Some(fs::canonicalize(path)?), AtomicU8::new(UNKNOWN));
        let opened = Self { root, synced: OnceLock::new(), path, unnamed };
        match opened.try_open("", OFlags::PATH) {
            Ok(_) => Ok(Some(opened)),
            Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn try_open(&self, path: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        self.try_open_as(path, flags, ResolveFlags::NO_MAGICLINKS)
    }

    fn try_open_as(&self, path: &str, flags: OFlags, resolve: ResolveFlags) -> rustix::io::Result<OwnedFd> {
        let path = if path.is_empty() { "." } else { path };
        let mut attempt = 0;
        loop {
            let resolve = resolve | ResolveFlags::BENEATH;
            match rustix::fs::openat2(&self.root, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve) {
                Err(Errno::AGAIN | Errno::INTR) if attempt < ATTEMPTS => attempt += 1,
                other => return other,
            }
        }
    }

    fn open_at(&self, path: &str, flags: OFlags) -> io::Result<OwnedFd> {
        match self.try_open(path, flags) {
            // A link that is absolute or has led out on its way; it may still end inside.
            Err(Errno::XDEV) => {
                let Some(root) = &self.path else { return Err(Errno::XDEV.into()) };
                let resolved = fs::canonicalize(root.join(path))?;
                match resolved.strip_prefix(root) {
                    Ok(inside) => Ok(self.try_open(inside.to_str().ok_or(io::ErrorKind::InvalidFilename)?, flags)?),
                    Err(_) => Err(io::Error::other(Escapes(resolved))),
                }
            }
            other => Ok(other?),
        }
    }
}

fn handle(directory: &Directory) -> io::Result<BorrowedFd<'_>> {
    match directory {
        Directory::Handle(fd) => Ok(fd.as_fd()),
        Directory::Path(_) => Err(io::ErrorKind::Unsupported.into()),
    }
}

fn link_handle(file: BorrowedFd<'_>, parent: BorrowedFd<'_>, name: &str) -> rustix::io::Result<()> {
    rustix::fs::linkat(file, "", parent, name, AtFlags::EMPTY_PATH)
}

/// Returns the stat of a name in a directory. Does not follow links.
fn stat_at(parent: BorrowedFd<'_>, name: impl rustix::path::Arg) -> rustix::io::Result<Stat> {
    let stat = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(Stat {
        kind: kind(FileType::from_raw_mode(stat.st_mode)),
        len: u64::try_from(stat.st_size).unwrap_or(0),
        inode: (stat.st_dev, stat.st_ino),
        modified: i128::from(stat.st_mtime) * 1_000_000_000 + i128::from(stat.st_mtime_nsec),
    })
}

fn kind(file_type: FileType) -> Kind {
    match file_type {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::Symlink | FileType::Unknown => Kind::Unknown,
        _ => Kind::Other,
    }
}

/// Opens a directory again for syncing, which path-only handles (`O_PATH`) do not allow.
fn readable(directory: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    Ok(rustix::fs::openat(directory, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

/// Removes a directory with everything in it, by handles, so that nothing outside is removed if an entry is moved meanwhile.
fn remove_tree(parent: BorrowedFd<'_>, name: &OsStr) -> rustix::io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = rustix::fs::openat(parent, name, flags, Mode::empty())?;
    // A writer that opened the directory before may still add files.
    for _ in 0..ATTEMPTS {
        let mut entries = Vec::new();
        for entry in Dir::read_from(&directory)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes()).to_owned();
            if name != "." && name != ".." {
                let is_directory = entry.file_type() == FileType::Directory;
                entries.push((is_directory, !name.as_bytes().starts_with(b"."), Reverse(name)));
            }
        }
        // Files before directories, hidden ones first, and then those whose names come last: documents lie above the values that they
        // describe, or beside those, which have numbers in their names.
        entries.sort_unstable();
        for (is_directory, _, Reverse(name)) in &entries {
            let removed = match is_directory {
                true => remove_tree(directory.as_fd(), name),
                false => rustix::fs::unlinkat(&directory, name.as_os_str(), AtFlags::empty()),
            };
            match removed {
                // Some file systems do not list kinds.
                Err(Errno::ISDIR) => remove_tree(directory.as_fd(), name)?,
                Err(error) if error != Errno::NOENT => return Err(error),
                _ => {}
            }
        }
        match rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR) {
            Err(Errno::NOTEMPTY | Errno::EXIST) => {}
            removed => return removed,
        }
    }
    Err(Errno::NOTEMPTY)
}

impl Vfs for OpenAt {
    fn open(&self, path: &str) -> io::Result<File> {
        // NONBLOCK: opening a pipe would otherwise wait for a writer; for files it means nothing.
        self.open_at(path, OFlags::RDONLY | OFlags::NONBLOCK).map(File::from)
    }

    fn open_unless_absent(&self, path: &str) -> io::Result<Option<File>> {
        match self.try_open_as(path, OFlags::RDONLY | OFlags::NONBLOCK, ResolveFlags::NO_SYMLINKS) {
            Ok(file) => Ok(Some(File::from(file))),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            // A link on the path, or another error, which the next call has as well.
            Err(_) => self.open(path).map(Some),
        }
    }

    fn stat(&self, path: &str) -> io::Result<Stat> {
        self.stat_file(&self.open_at(path, OFlags::PATH).map(File::from)?)
    }

    fn read_link(&self, path: &str) -> io::Result<PathBuf> {
        let target = rustix::fs::readlinkat(&self.root, path, Vec::new())?;
        Ok(PathBuf::from(OsStr::from_bytes(target.to_bytes())))
    }

    fn open_to_lock(&self, path: &str) -> io::Result<File> {
        match self.open_at(path, OFlags::RDWR | OFlags::NONBLOCK) {
            Ok(file) => Ok(File::from(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(error),
            Err(_) => self.open(path),
        }
    }

    fn open_directory(&self, path: &str) -> io::Result<File> {
        self.open_at(path, OFlags::RDONLY | OFlags::DIRECTORY).map(File::from)
    }

    fn directory(&self, path: &str) -> io::Result<Directory> {
        self.open_at(path, OFlags::PATH | OFlags::DIRECTORY).map(Directory::Handle)
    }

    fn hold(&self, path: &str) -> io::Result<Option<Box<dyn Vfs>>> {
        if path.is_empty() {
            return Ok(None);
        }
        let root = self.open_at(path, OFlags::PATH | OFlags::DIRECTORY)?;
        Ok(Some(Box::new(Self { root, synced: OnceLock::new(), path: None, unnamed: AtomicU8::new(UNKNOWN) })))
    }

    fn is_gone(&self) -> bool {
        rustix::fs::fstat(&self.root).is_ok_and(|stat| stat.st_nlink == 0)
    }

    fn identity(&self, directory: &Directory) -> io::Result<(u64, u64)> {
        let stat = rustix::fs::fstat(handle(directory)?)?;
        Ok((stat.st_dev, stat.st_ino))
    }

    fn stat_name(&self, parent: &Directory, name: &str) -> io::Result<Stat> {
        Ok(stat_at(handle(parent)?, name)?)
    }

    fn open_name(&self, parent: &Directory, name: &str) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(handle(parent)?, name, flags, Mode::empty()).map(File::from)?)
    }

    fn make_directory(&self, parent: &Directory, name: &str) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(handle(parent)?, name, Mode::from_raw_mode(0o777))?)
    }

    fn make_file(&self, parent: &Directory, name: &str) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(handle(parent)?, name, flags, Mode::from_raw_mode(0o666)).map(File::from)?)
    }

    fn make_unnamed(&self, parent: &Directory) -> io::Result<Option<File>> {
        let known = self.unnamed.load(Ordering::Relaxed);
        if known == REFUSED {
            return Ok(None);
        }
        let parent = handle(parent)?;
        let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(parent, ".", flags, Mode::from_raw_mode(0o666)) {
            // File systems that do not have such files, and some that do not know the flag.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => {
                self.unnamed.store(REFUSED, Ordering::Relaxed);
                return Ok(None);
            }
            other => other?,
        };
        // Before Linux 6.10 only privileged processes may name a file by its handle; others get ENOENT. No file can get the name
        // `.`, so that a process that may gets EEXIST.
        if known == UNKNOWN {
            let may_name = link_handle(file.as_fd(), parent, ".") == Err(Errno::EXIST);
            self.unnamed.store(if may_name { GRANTED } else { REFUSED }, Ordering::Relaxed);
            if !may_name {
                return Ok(None);
            }
        }
        Ok(Some(File::from(file)))
    }

    fn give_name(&self, file: &File, parent: &Directory, name: &str) -> io::Result<()> {
        link_handle(file.as_fd(), handle(parent)?, name).map_err(|error| {
            // A file system, or a rule of the system, that does not let files be linked.
            if matches!(error, Errno::PERM | Errno::ACCESS | Errno::OPNOTSUPP | Errno::NOSYS | Errno::MLINK) {
                self.unnamed.store(REFUSED, Ordering::Relaxed);
            }
            error.into()
        })
    }

    fn sync_directory(&self, directory: &Directory) -> io::Result<()> {
        Ok(rustix::fs::fsync(readable(handle(directory)?)?)?)
    }

    fn sync_all(&self) -> io::Result<()> {
        let root = match self.synced.get() {
            Some(root) => root,
            None => {
                let root = readable(self.root.as_fd())?;
                self.synced.get_or_init(|| root)
            }
        };
        Ok(rustix::fs::syncfs(root)?)
    }

    fn rename(&self, parent: &Directory, from: &str, to: &str) -> io::Result<()> {
        let parent = handle(parent)?;
        Ok(rustix::fs::renameat(parent, from, parent, to)?)
    }

    fn rename_directory(&self, parent: &Directory, from: &str, to_parent: &Directory, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(handle(parent)?, from, handle(to_parent)?, to)?)
    }

    fn exchange(&self, parent: &Directory, a: &str, other: &Directory, b: &str) -> io::Result<()> {
        let exchanged = rustix::fs::renameat_with(handle(parent)?, a, handle(other)?, b, RenameFlags::EXCHANGE);
        match exchanged {
            // A file system that does not know the flag, a kernel that does not know the call.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Err(io::ErrorKind::Unsupported.into()),
            exchanged => Ok(exchanged?),
        }
    }

    fn link(&self, parent: &Directory, from: &str, to: &str) -> io::Result<()> {
        let parent = handle(parent)?;
        Ok(rustix::fs::linkat(parent, from, parent, to, AtFlags::empty())?)
    }

    fn remove_file(&self, parent: &Directory, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(handle(parent)?, name, AtFlags::empty())?)
    }

    fn remove_directory(&self, parent: &Directory, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(handle(parent)?, name, AtFlags::REMOVEDIR)?)
    }

    fn remove_tree(&self, parent: &Directory, name: &str) -> io::Result<()> {
        Ok(remove_tree(handle(parent)?, name.as_ref())?)
    }

    fn list(&self, path: &str, wanted: &dyn Fn(&str) -> bool) -> io::Result<Vec<(String, Kind)>> {
        let directory = self.open_at(path, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let mut entries = Vec::new();
        for entry in Dir::read_from(&directory)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else {
                entries.push((entry.file_name().to_string_lossy().into_owned(), Kind::NotUtf8));
                continue;
            };
            if matches!(name, "." | "..") || !wanted(name) {
                continue;
            }
            let kind = match entry.file_type() {
                // Some file systems do not list kinds.
                FileType::Unknown => stat_at(directory.as_fd(), name).map_or(Kind::Unknown, |stat| stat.kind),
                known => kind(known),
            };
            entries.push((name.to_owned(), kind));
        }
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn one_call_tells_a_missing_file_from_a_link_to_nothing() {
        let folder = tempfile::tempdir().expect("a directory");
        let root = folder.path();
        fs::create_dir(root.join("a")).expect("made");
        fs::write(root.join("a/file"), b"value").expect("written");
        symlink("a", root.join("inside")).expect("linked");
        symlink("nowhere", root.join("a/dangling")).expect("linked");
        let Some(files) = OpenAt::open(root).expect("opened") else { return };
        for path in ["a/file", "inside/file"] {
            assert!(files.open_unless_absent(path).expect("opened").is_some(), "{path}");
        }
        for path in ["b", "a/b", "b/c/d", "a/file/b"] {
            assert!(files.open_unless_absent(path).expect("asked").is_none(), "{path}");
        }
        // Links are followed by the call that all paths are opened by, and who asked looks for their targets.
        for path in ["a/dangling", "inside/dangling", "inside/b"] {
            let error = files.open_unless_absent(path).expect_err("nothing is there");
            assert_eq!(error.kind(), io::ErrorKind::NotFound, "{path}");
        }
    }
}
