//! Erasing of values.

use std::io;

use zarr_store::{Durability, Key, Operation, Prefix, Result, Version};

use super::install::split;
use super::list::Entry;
use super::locks::lock_name;
use super::names::{is_temporary, version};
use super::vfs::{Directory, Kind, Vfs};
use super::{FilesystemStore, escape, is_absent};

impl FilesystemStore {
    /// Erases a value if it still has this version. Returns whether it did. Conditional sets are excluded meanwhile, so that none of them
    /// is lost.
    ///
    /// # Errors
    /// The errors of [`erase`](zarr_store::StoreExt::erase).
    pub fn erase_version(&self, key: &Key, version: &Version) -> Result<bool> {
        self.remove(key, Some(version))
    }

    /// Removes a value if it has the version `expected`, or any version for `None`, and the directories that become empty. Returns false if
    /// the value has another version.
    pub(super) fn remove(&self, key: &Key, expected: Option<&Version>) -> Result<bool> {
        let fail = |error| self.fail(Operation::Erase, key.as_str(), error);
        if is_temporary(key) {
            return Ok(expected.is_none());
        }
        let (parent, name) = split(key.as_str());
        let directory = match self.vfs.directory(parent) {
            Ok(directory) => directory,
            Err(error) if is_absent(&error) => return Ok(expected.is_none()),
            Err(error) => return Err(fail(error)),
        };
        self.remove_leftovers(&directory, parent);
        let identity = self.vfs.identity(&directory).map_err(fail)?;
        let removed = {
            let _threads = lock_name(identity, name);
            let _processes = if expected.is_some() { self.lock_value(key)? } else { None };
            if expected.is_some() {
                let found = self.named(&directory, key)?.filter(|stat| stat.kind == Kind::File);
                if found.map(|stat| version(&stat)).as_ref() != expected {
                    return Ok(false);
                }
            }
            self.vfs.remove_file(&directory, name)
        };
        match removed {
            Ok(()) => {}
            Err(error) if is_absent(&error) => return Ok(expected.is_none()),
            // A directory is no value. Systems that do not say so refuse it as not permitted.
            Err(error) => {
                return match self.current(Operation::Erase, key)? {
                    Some(stat) if stat.kind == Kind::Directory => Ok(expected.is_none()),
                    _ => Err(fail(error)),
                };
            }
        }
        self.sync_names(&directory, parent).map_err(fail)?;
        drop(directory);
        prune(&*self.vfs, parent);
        Ok(true)
    }

    /// Syncs the names in a directory if the durability is `Full`. If another process has removed the directory, syncs the names in the
    /// nearest existing directory above.
    pub(super) fn sync_names(&self, directory: &Directory, mut path: &str) -> io::Result<()> {
        if self.options.durability != Durability::Full {
            return Ok(());
        }
        let mut synced = self.vfs.sync_directory(directory);
        while let Err(error) = &synced
            && is_absent(error)
            && !path.is_empty()
        {
            path = split(path).0;
            synced = self.vfs.directory(path).and_then(|directory| self.vfs.sync_directory(&directory));
        }
        synced
    }

    /// Syncs the names in a directory in which a value was set, and in all directories above.
    pub(super) fn sync_path(&self, directory: &Directory, mut path: &str) -> io::Result<()> {
        let mut synced = self.vfs.sync_directory(directory);
        loop {
            match synced {
                // Go on if the directory is absent: another process has removed it, and the value with it.
                Err(error) if !is_absent(&error) => return Err(error),
                _ if path.is_empty() => return Ok(()),
                _ => {}
            }
            path = split(path).0;
            synced = self.vfs.directory(path).and_then(|directory| self.vfs.sync_directory(&directory));
        }
    }

    /// Removes all values under a prefix. For a linked directory, removes the link and nothing in its target.
    pub(super) fn remove_tree(&self, prefix: &Prefix) -> Result<()> {
        let path = prefix.as_str().trim_end_matches('/');
        if path.is_empty() {
            let Some(root) = self.existing("", Operation::Erase)? else { return Ok(()) };
            let mut entries = self.entries("")?;
            // As in a directory that cannot be renamed away: documents before the values that they describe.
            entries.sort_by(|a, b| {
                let rank = |entry: &Entry| (entry.is_directory, !entry.name.starts_with('.'));
                rank(a).cmp(&rank(b)).then_with(|| b.name.cmp(&a.name))
            });
            for entry in entries {
                let kind = if entry.is_directory && !entry.is_link { Kind::Directory } else { Kind::File };
                self.remove_entry(&root, "", &entry.name, kind)?;
            }
            return Ok(());
        }
        let (above, name) = split(path);
        let Some(parent) = self.existing(above, Operation::Erase)? else { return Ok(()) };
        self.remove_leftovers(&parent, above);
        match self.vfs.stat_name(&parent, name).map(|stat| stat.kind) {
            // A link to a file is a value itself, so nothing lies under the prefix.
            Ok(Kind::Unknown) if !self.leads_to_directory(path) => return Ok(()),
            Ok(kind @ (Kind::Directory | Kind::Unknown)) => self.remove_entry(&parent, above, name, kind)?,
            Ok(_) => return Ok(()),
            // What was left there may have been all that was in the directory above.
            Err(error) if is_absent(&error) => {}
            Err(error) => return Err(self.fail(Operation::Erase, path, error)),
        }
        prune(&*self.vfs, above);
        Ok(())
    }

    /// Returns whether a link leads to a directory, inside or outside the store.
    pub(super) fn leads_to_directory(&self, path: &str) -> bool {
        match self.vfs.stat(path) {
            Ok(stat) => stat.kind == Kind::Directory,
            Err(error) => escape(&error).is_some_and(std::path::Path::is_dir),
        }
    }

    fn remove_entry(&self, parent: &Directory, path: &str, name: &str, kind: Kind) -> Result<()> {
        let fail = |error| self.fail(Operation::Erase, &format!("{path}/{name}"), error);
        let removed = match kind {
            Kind::Directory => self.remove_directory(parent, name),
            _ => {
                let identity = self.vfs.identity(parent).map_err(fail)?;
                let _threads = lock_name(identity, name);
                self.vfs.remove_file(parent, name)
            }
        };
        match removed {
            Err(error) if !is_absent(&error) => Err(fail(error)),
            _ => self.sync_names(parent, path).map_err(fail),
        }
    }
}

/// Removes a directory and its ancestors as long as they are empty. Ignores failures.
pub(super) fn prune(vfs: &dyn Vfs, mut path: &str) {
    while !path.is_empty() {
        let (parent, name) = split(path);
        let Ok(directory) = vfs.directory(parent) else { return };
        if vfs.remove_directory(&directory, name).is_err() {
            return;
        }
        path = parent;
    }
}
