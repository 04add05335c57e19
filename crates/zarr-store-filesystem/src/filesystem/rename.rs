//! Renaming and removal of directories, with all values in them at once.

use std::io;

use zarr_store::{Operation, Prefix, Result};

use super::erase::prune;
use super::install::split;
use super::names::temporary;
use super::retry::Retry;
use super::vfs::{Directory, Kind};
use super::{FilesystemStore, is_absent};

impl FilesystemStore {
    /// Renames the directory of a prefix. Returns false if it cannot be renamed, or if it contains links, whose targets could change with
    /// their directory.
    pub(super) fn rename_tree(&self, from: &Prefix, to: &Prefix) -> Result<bool> {
        let (from, to) = (from.as_str().trim_end_matches('/'), to.as_str().trim_end_matches('/'));
        if from.is_empty() || to.is_empty() {
            return Ok(false);
        }
        let fail = |error| self.fail(Operation::Set, to, error);
        let ((from_path, from_name), (to_path, to_name)) = (split(from), split(to));
        let Some(from_parent) = self.existing(from_path, Operation::Set)? else { return Ok(false) };
        match self.vfs.stat_name(&from_parent, from_name) {
            Ok(stat) if stat.kind == Kind::Directory => {}
            Ok(_) => return Ok(false),
            Err(error) if is_absent(&error) => return Ok(false),
            Err(error) => return Err(fail(error)),
        }
        if self.first_link(from).map_err(fail)?.is_some() {
            return Ok(false);
        }
        let to_parent = self.make_directories(to_path, &mut Retry::default())?;
        match self.vfs.rename_directory(&from_parent, from_name, &to_parent, to_name) {
            Ok(()) => {}
            // Something is there, it is another file system, or it may not be renamed.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::DirectoryNotEmpty
                        | io::ErrorKind::AlreadyExists
                        | io::ErrorKind::NotADirectory
                        | io::ErrorKind::CrossesDevices
                        | io::ErrorKind::NotFound
                        // On Windows also a file that somebody has open.
                        | io::ErrorKind::PermissionDenied
                ) =>
            {
                prune(&*self.vfs, to_path);
                return Ok(false);
            }
            Err(error) => return Err(fail(error)),
        }
        self.sync_names(&to_parent, to_path).map_err(fail)?;
        self.sync_names(&from_parent, from_path).map_err(fail)?;
        prune(&*self.vfs, from_path);
        Ok(true)
    }

    /// Returns the first symbolic link at or below a path; `None` if there is none.
    pub(super) fn first_link(&self, path: &str) -> io::Result<Option<String>> {
        let mut todo = vec![path.to_owned()];
        if !path.is_empty() && self.kind_of(path)? == Some(Kind::Unknown) {
            return Ok(todo.pop());
        }
        while let Some(path) = todo.pop() {
            let entries = match self.vfs.list(&path, &|_| true) {
                Err(error) if is_absent(&error) => continue,
                entries => entries?,
            };
            for (name, listed) in entries {
                let inner = if path.is_empty() { name } else { format!("{path}/{name}") };
                // If the listing does not tell the kind of an entry, look at the entry itself.
                let kind = if listed == Kind::Unknown { self.kind_of(&inner)? } else { Some(listed) };
                match kind {
                    Some(Kind::Unknown) => return Ok(Some(inner)),
                    Some(Kind::Directory) => todo.push(inner),
                    Some(Kind::File | Kind::Other | Kind::NotUtf8) | None => {}
                }
            }
        }
        Ok(None)
    }

    /// Returns the kind of the entry at a path without following links (`Unknown` for a link); `None` if there is none.
    fn kind_of(&self, path: &str) -> io::Result<Option<Kind>> {
        let (parent, name) = split(path);
        let found = self.vfs.directory(parent).and_then(|parent| self.vfs.stat_name(&parent, name));
        match found {
            Ok(stat) => Ok(Some(stat.kind)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Removes a directory: first its name, so that all values in it vanish at once, and then its entries. Holds its lock meanwhile, so
    /// that other processes do not take it for a leftover.
    pub(super) fn remove_directory(&self, parent: &Directory, name: &str) -> io::Result<()> {
        let doomed = temporary();
        let held = self.vfs.open_name(parent, name);
        if let Ok(held) = &held {
            // Whoever appends to an entry of it has the lock of it, too.
            let _ = self.vfs.try_lock(held);
        }
        match self.vfs.rename_directory(parent, name, parent, &doomed) {
            Ok(()) => {
                if self.options.sync_on_request {
                    // Otherwise a power loss could leave documents whose chunks are gone.
                    self.vfs.sync_directory(parent)?;
                }
                self.vfs.remove_tree(parent, &doomed)
            }
            Err(error) if is_absent(&error) => Ok(()),
            // Renaming failed, for example since something is mounted there: remove the values in place.
            Err(_) => self.vfs.remove_tree(parent, name),
        }
    }

    /// Opens a directory; `None` if it does not exist.
    pub(super) fn existing(&self, path: &str, operation: Operation) -> Result<Option<Directory>> {
        match self.vfs.directory(path) {
            Ok(directory) => Ok(Some(directory)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(self.fail(operation, path, error)),
        }
    }
}
