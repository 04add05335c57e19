//! Exchange of two directories, with all values in them.

use std::io;

use zarr_store::{Operation, Prefix, Result};

use super::install::split;
use super::names::temporary;
use super::vfs::{Directory, Kind};
use super::{FilesystemStore, is_absent};

/// Name in an open directory.
struct Name<'p> {
    directory: Directory,
    /// Path of the directory.
    parent: &'p str,
    name: &'p str,
}

impl FilesystemStore {
    /// Exchanges the directories of two prefixes, or a directory and a link to one. Returns false if one does not exist or may not be
    /// renamed.
    pub(super) fn exchange_trees(&self, a: &Prefix, b: &Prefix) -> Result<bool> {
        let paths = [a, b].map(|prefix| prefix.as_str().trim_end_matches('/'));
        if a.is_root() || b.is_root() || a.as_str().starts_with(b.as_str()) || b.as_str().starts_with(a.as_str()) {
            return Ok(false);
        }
        let [Some(a), Some(b)] = [self.named_directory(paths[0])?, self.named_directory(paths[1])?] else {
            return Ok(false);
        };
        let fail = |error| self.fail(Operation::Set, paths[0], error);
        let exchanged = match self.vfs.exchange(&a.directory, a.name, &b.directory, b.name) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => self.exchange_by_renames(&a, &b),
            exchanged => exchanged,
        };
        match exchanged {
            Ok(()) => {}
            Err(error) if may_not_be_renamed(&error) => return Ok(false),
            Err(error) => return Err(fail(error)),
        }
        if self.options.sync_on_request {
            // Otherwise a power loss could undo the exchange after the values of one prefix are erased.
            [&a, &b].into_iter().try_for_each(|name| self.vfs.sync_directory(&name.directory)).map_err(fail)?;
        } else {
            [&a, &b].into_iter().try_for_each(|name| self.sync_names(&name.directory, name.parent)).map_err(fail)?;
        }
        Ok(true)
    }

    /// Opens the parent of a directory, or of a link to one; `None` if there is no such directory.
    fn named_directory<'p>(&self, path: &'p str) -> Result<Option<Name<'p>>> {
        let (parent, name) = split(path);
        let Some(directory) = self.existing(parent, Operation::Set)? else { return Ok(None) };
        match self.vfs.stat_name(&directory, name) {
            Ok(stat) if stat.kind == Kind::Directory => {}
            Ok(stat) if stat.kind == Kind::Unknown && self.leads_to_directory(path) => {}
            Ok(_) => return Ok(None),
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(self.fail(Operation::Set, path, error)),
        }
        Ok(Some(Name { directory, parent, name }))
    }

    /// Exchanges two names by three renames, for systems without an exchange. The directory of `a` has no usable name for a moment.
    fn exchange_by_renames(&self, a: &Name<'_>, b: &Name<'_>) -> io::Result<()> {
        let aside = temporary();
        // The lock keeps other processes from taking the directory for a leftover while it has a temporary name.
        let held = self.vfs.open_name(&a.directory, a.name);
        if let Ok(held) = &held {
            let _ = self.vfs.try_lock(held);
        }
        let restore = || self.vfs.rename_directory(&a.directory, &aside, &a.directory, a.name);
        self.vfs.rename_directory(&a.directory, a.name, &a.directory, &aside)?;
        let renamed = self.vfs.rename_directory(&b.directory, b.name, &a.directory, a.name);
        if renamed.is_err() {
            restore().map_err(|error| half_done(&aside, &error))?;
            return renamed;
        }
        let renamed = self.vfs.rename_directory(&a.directory, &aside, &b.directory, b.name);
        if renamed.is_err() {
            let undone = self.vfs.rename_directory(&a.directory, a.name, &b.directory, b.name).and_then(|()| restore());
            undone.map_err(|error| half_done(&aside, &error))?;
        }
        renamed
    }
}

/// Returns the error of an exchange that could be neither completed nor undone, so that one of the directories has a temporary name.
fn half_done(aside: &str, error: &io::Error) -> io::Error {
    io::Error::other(format!("two directories are half exchanged, and one has the name {aside}: {error}"))
}

/// Returns whether an error means that the names cannot be exchanged: one is gone, on another file system or a mount point, or may not be
/// renamed.
fn may_not_be_renamed(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::CrossesDevices
            | io::ErrorKind::ResourceBusy
            | io::ErrorKind::PermissionDenied
    )
}
