//! Creation of many values with one wait for the disk.

use std::fs::File;

use zarr_store::{Durability, Key, Operation, Precondition, Result};

use super::FilesystemStore;
use super::install::split;
use super::names::is_temporary;
use super::retry::Retry;
use super::vfs::Directory;

/// Greatest number of values that wait for the disk together: the file and directory of each are open meanwhile.
const TOGETHER: usize = 128;

/// Value whose file is filled and has no name yet.
pub(super) struct Filled<'v> {
    key: &'v Key,
    value: &'v [u8],
    directory: Directory,
    file: File,
}

impl FilesystemStore {
    /// Creates values that must not exist, with the durability `asked`.
    pub(super) fn create_together(&self, values: &[(&Key, &[u8])], asked: Durability) -> Result<()> {
        let level = self.level(asked);
        let one_by_one =
            |values: &[(&Key, &[u8])]| values.iter().try_for_each(|(key, value)| self.create_one(key, value, level));
        if level == Durability::None {
            return one_by_one(values);
        }
        let mut rest = values;
        while rest.len() > 1 {
            let filled = self.fill_without_names(rest)?;
            // Without such files, as with one that none could be made for, each value waits for itself.
            let count = filled.len().max(1);
            if filled.len() > 1 {
                self.sync_and_name(filled, level)?;
            } else {
                one_by_one(rest.get(..count).unwrap_or(rest))?;
            }
            rest = rest.get(count..).unwrap_or_default();
        }
        one_by_one(rest)
    }

    fn create_one(&self, key: &Key, value: &[u8], level: Durability) -> Result<()> {
        self.install(key, &[value], &Precondition::NotExists, level).map(drop)
    }

    /// Writes as many of the first values as possible to files without names.
    pub(super) fn fill_without_names<'v>(&self, values: &[(&'v Key, &'v [u8])]) -> Result<Vec<Filled<'v>>> {
        let mut filled = Vec::new();
        // One call waits for one device, and another may be mounted below.
        let device = |directory: &Directory| self.vfs.identity(directory).map(|(device, _)| device).ok();
        let root = self.vfs.directory("").ok().and_then(|root| device(&root));
        for (key, value) in values.iter().take(TOGETHER) {
            if is_temporary(key) {
                break;
            }
            let parent = split(key.as_str()).0;
            // Whatever is wrong shows when the value is set by itself, also too many open files.
            let directory = match self.make_directories(parent, &mut Retry::default()) {
                Ok(directory) => directory,
                Err(_) if !filled.is_empty() => break,
                Err(error) => return Err(error),
            };
            if root.is_none() || device(&directory) != root {
                break;
            }
            self.remove_leftovers(&directory, parent);
            let Ok(Some(file)) = self.vfs.make_unnamed(&directory) else { break };
            self.fill(&file, &[value], Durability::None, &|_| Ok(()))
                .map_err(|error| self.fail(Operation::Set, key.as_str(), error))?;
            filled.push(Filled { key, value, directory, file });
        }
        Ok(filled)
    }

    /// Waits until the bytes of all files are on the disk, and then gives the files their names.
    fn sync_and_name(&self, filled: Vec<Filled<'_>>, level: Durability) -> Result<()> {
        let failed = |error| self.fail(Operation::Set, filled.first().map_or("", |first| first.key.as_str()), error);
        self.vfs.sync_all().map_err(failed)?;
        for Filled { key, value, directory, file } in filled {
            let name = split(key.as_str()).1;
            match self.vfs.give_name(&file, &directory, name) {
                // A network file system may report a failed write only when the file is closed.
                Ok(()) => self.vfs.close(file).map_err(|error| {
                    let _ = self.vfs.remove_file(&directory, name);
                    self.fail(Operation::Set, key.as_str(), error)
                })?,
                // There is a value, or others have removed the directory.
                Err(_) => self.create_one(key, value, level)?,
            }
        }
        if level == Durability::Full {
            return self.vfs.sync_all().map_err(|error| self.fail(Operation::Set, "", error));
        }
        Ok(())
    }
}
