//! Removing values.

use std::io;

use crate::{Key, Operation, Prefix, Result};

use super::install::{lock, split};
use super::names::is_temporary;
use super::vfs::{Directory, Kind};
use super::{Durability, FilesystemStore, is_absent};

impl FilesystemStore {
    /// Removes a value and the directories that become empty.
    pub(super) fn remove(&self, key: &Key) -> Result<()> {
        let fail = |error| self.fail(Operation::Erase, key.as_str(), error);
        if is_temporary(key) {
            return Ok(());
        }
        let (parent, name) = split(key.as_str());
        let directory = match self.vfs.directory(parent) {
            Ok(directory) => directory,
            Err(error) if is_absent(&error) => return Ok(()),
            Err(error) => return Err(fail(error)),
        };
        let identity = self.vfs.identity(&directory).map_err(fail)?;
        let removed = {
            let _locked = lock(identity, name);
            self.vfs.remove_file(&directory, name)
        };
        match removed {
            Ok(()) => {}
            Err(error) if is_absent(&error) => return Ok(()),
            // A directory is no value. Systems that do not say so refuse it as not permitted.
            Err(error) => {
                return match self.current(Operation::Erase, key)? {
                    Some(stat) if stat.kind == Kind::Directory => Ok(()),
                    _ => Err(fail(error)),
                };
            }
        }
        self.sync_names(&directory, parent).map_err(fail)?;
        drop(directory);
        self.prune(parent);
        Ok(())
    }

    /// Waits for the names in a directory if that is asked for; if others have removed it meanwhile, for that.
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

    /// Removes a directory and those above it as long as they are empty. One that cannot be removed is no harm.
    fn prune(&self, mut path: &str) {
        while !path.is_empty() {
            let (parent, name) = split(path);
            let Ok(directory) = self.vfs.directory(parent) else { return };
            if self.vfs.remove_directory(&directory, name).is_err() {
                return;
            }
            path = parent;
        }
    }

    /// Removes all values under a prefix. Of a linked directory the link is removed, and nothing in what it leads to.
    pub(super) fn remove_tree(&self, prefix: &Prefix) -> Result<()> {
        let path = prefix.as_str().trim_end_matches('/');
        let (above, name) = split(path);
        if !prefix.is_root() {
            let above_prefix = &path[..path.len() - name.len()];
            match self.entries(above_prefix)?.into_iter().find(|entry| entry.name == name) {
                Some(entry) if entry.is_directory && entry.is_link => {
                    self.remove_from(above, &[name.to_owned()])?;
                    self.prune(above);
                    return Ok(());
                }
                Some(entry) if entry.is_directory => {}
                _ => return Ok(()),
            }
        }
        let mut visited = Vec::new();
        let mut todo = vec![path.to_owned()];
        while let Some(path) = todo.pop() {
            let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
            let (directories, values): (Vec<_>, Vec<_>) =
                self.entries(&prefix)?.into_iter().partition(|entry| entry.is_directory && !entry.is_link);
            todo.extend(directories.into_iter().map(|entry| format!("{prefix}{}", entry.name)));
            let names: Vec<String> = values.into_iter().map(|entry| entry.name).collect();
            self.remove_from(&path, &names)?;
            visited.push(path);
        }
        // Those further down come later, so that each is empty when its turn comes.
        visited.iter().rev().for_each(|path| self.prune(path));
        Ok(())
    }

    fn remove_from(&self, path: &str, names: &[String]) -> Result<()> {
        let fail = |error| self.fail(Operation::Erase, path, error);
        if names.is_empty() {
            return Ok(());
        }
        let directory = match self.vfs.directory(path) {
            Ok(directory) => directory,
            Err(error) if is_absent(&error) => return Ok(()),
            Err(error) => return Err(fail(error)),
        };
        let identity = self.vfs.identity(&directory).map_err(fail)?;
        for name in names {
            let _locked = lock(identity, name);
            match self.vfs.remove_file(&directory, name) {
                Err(error) if !is_absent(&error) => return Err(fail(error)),
                _ => {}
            }
        }
        self.sync_names(&directory, path).map_err(fail)
    }
}
