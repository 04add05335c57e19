//! Access to files by the standard library, for every system.

use std::cmp::Reverse;
use std::collections::hash_map::DefaultHasher;
use std::fs::{self, File, OpenOptions};
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use super::vfs::{Directory, Escapes, Kind, Stat, Vfs, sync_directory};

/// Files by their paths. A path is resolved before it is used, to check that no link leads out.
#[derive(Debug)]
pub(super) struct Plain {
    /// Resolved path of the root.
    root: PathBuf,
}

impl Plain {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let root = fs::canonicalize(path)?;
        if !root.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self { root })
    }

    /// Resolves a path below the root. Fails if it leads out.
    fn resolve(&self, path: &str) -> io::Result<PathBuf> {
        let mut full = self.root.clone();
        // By segments: on Windows a segment must not be read as several, or as a drive.
        for segment in path.split('/').filter(|segment| !segment.is_empty()) {
            if cfg!(windows) && segment.contains(['\\', ':']) {
                return Err(io::ErrorKind::InvalidFilename.into());
            }
            full.push(segment);
        }
        let resolved = fs::canonicalize(full)?;
        // `starts_with` compares whole components.
        if resolved.starts_with(&self.root) { Ok(resolved) } else { Err(io::Error::other(Escapes(resolved))) }
    }
}

fn within(directory: &Directory, name: &str) -> io::Result<PathBuf> {
    match directory {
        Directory::Path(path) => Ok(path.join(name)),
        #[cfg(target_os = "linux")]
        Directory::Handle(_) => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// Removes a directory with everything in it: files before directories, and hidden files first, since documents lie above the values that
/// they describe.
fn remove_tree(path: &Path) -> io::Result<()> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        entries.push((entry.file_type()?.is_dir(), !is_hidden, Reverse(entry.path())));
    }
    entries.sort_unstable();
    for (is_directory, _, Reverse(path)) in &entries {
        let removed = if *is_directory { remove_tree(path) } else { fs::remove_file(path) };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    fs::remove_dir(path)
}

impl Vfs for Plain {
    fn open(&self, path: &str) -> io::Result<File> {
        let path = self.resolve(path)?;
        // To open a pipe would be to wait for a writer.
        #[cfg(unix)]
        if std::os::unix::fs::FileTypeExt::is_fifo(&fs::metadata(&path)?.file_type()) {
            return Err(io::Error::other("found a pipe, expected a file"));
        }
        File::open(path)
    }

    fn stat(&self, path: &str) -> io::Result<Stat> {
        fs::metadata(self.resolve(path)?).map(|metadata| Stat::of(&metadata))
    }

    fn read_link(&self, path: &str) -> io::Result<PathBuf> {
        fs::read_link(self.root.join(path))
    }

    fn open_directory(&self, path: &str) -> io::Result<File> {
        File::open(self.resolve(path)?)
    }

    fn directory(&self, path: &str) -> io::Result<Directory> {
        let path = self.resolve(path)?;
        // Not `is_dir`, which takes one that was removed meanwhile for something else.
        if fs::metadata(&path)?.is_dir() { Ok(Directory::Path(path)) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    fn identity(&self, directory: &Directory) -> io::Result<(u64, u64)> {
        let mut hasher = DefaultHasher::new();
        within(directory, "")?.hash(&mut hasher);
        Ok((0, hasher.finish()))
    }

    fn stat_name(&self, parent: &Directory, name: &str) -> io::Result<Stat> {
        fs::symlink_metadata(within(parent, name)?).map(|metadata| Stat::of(&metadata))
    }

    fn open_name(&self, parent: &Directory, name: &str) -> io::Result<File> {
        File::open(within(parent, name)?)
    }

    fn make_directory(&self, parent: &Directory, name: &str) -> io::Result<()> {
        fs::create_dir(within(parent, name)?)
    }

    fn make_file(&self, parent: &Directory, name: &str) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).open(within(parent, name)?)
    }

    fn sync_directory(&self, directory: &Directory) -> io::Result<()> {
        sync_directory(&within(directory, "")?)
    }

    /// Syncs one file after another, since the standard library has no call for all at once.
    fn sync_all(&self) -> io::Result<()> {
        let mut todo = vec![self.root.clone()];
        while let Some(directory) = todo.pop() {
            let entries = match fs::read_dir(&directory) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                entries => entries?,
            };
            for entry in entries {
                let entry = entry?;
                let kind = entry.file_type()?;
                if kind.is_dir() {
                    todo.push(entry.path());
                } else if kind.is_file() {
                    match OpenOptions::new().read(true).write(cfg!(windows)).open(entry.path()) {
                        Ok(file) => file.sync_all()?,
                        // Replaced or removed meanwhile by another, who is not waited for.
                        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                        Err(error) => return Err(error),
                    }
                }
            }
            match sync_directory(&directory) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    fn rename(&self, parent: &Directory, from: &str, to: &str) -> io::Result<()> {
        fs::rename(within(parent, from)?, within(parent, to)?)
    }

    fn rename_directory(&self, parent: &Directory, from: &str, to_parent: &Directory, to: &str) -> io::Result<()> {
        fs::rename(within(parent, from)?, within(to_parent, to)?)
    }

    fn link(&self, parent: &Directory, from: &str, to: &str) -> io::Result<()> {
        fs::hard_link(within(parent, from)?, within(parent, to)?)
    }

    fn remove_file(&self, parent: &Directory, name: &str) -> io::Result<()> {
        fs::remove_file(within(parent, name)?)
    }

    fn remove_directory(&self, parent: &Directory, name: &str) -> io::Result<()> {
        fs::remove_dir(within(parent, name)?)
    }

    fn remove_tree(&self, parent: &Directory, name: &str) -> io::Result<()> {
        remove_tree(&within(parent, name)?)
    }

    fn list(&self, path: &str, wanted: &dyn Fn(&str) -> bool) -> io::Result<Vec<(String, Kind)>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(self.resolve(path)?)? {
            let entry = entry?;
            let name = match entry.file_name().into_string() {
                Ok(name) => name,
                Err(name) => {
                    entries.push((name.to_string_lossy().into_owned(), Kind::NotUtf8));
                    continue;
                }
            };
            if !wanted(&name) {
                continue;
            }
            let kind = match entry.file_type() {
                Ok(kind) if kind.is_file() => Kind::File,
                Ok(kind) if kind.is_dir() => Kind::Directory,
                Ok(kind) if kind.is_symlink() => Kind::Unknown,
                Ok(_) => Kind::Other,
                Err(_) => Kind::Unknown,
            };
            entries.push((name, kind));
        }
        Ok(entries)
    }
}
