//! Listing of keys.

use std::io;

use zarr_store::{Key, Listing, Operation, Prefix, Result, SizeVisitor};

use super::install::split;
use super::names::is_temporary_name;
use super::vfs::Kind;
use super::{FilesystemStore, escape, is_absent};

/// Greatest number of linked directories that one listing enters, since links to links multiply the entries.
const MAX_LINKS: usize = 1024;

/// Greatest number of linked directories in a path, since directories that link to each other have a vast number of paths.
const MAX_DEPTH: usize = 4;

pub(super) struct Entry {
    pub(super) name: String,
    pub(super) is_directory: bool,
    pub(super) is_link: bool,
}

/// Function that is called for each directory with its path, its keys, and whether each key is a link.
type Visit<'v> = dyn FnMut(&str, Vec<(Key, bool)>) -> Result<()> + 'v;

impl FilesystemStore {
    /// Returns the keys and prefixes directly under a prefix. Leaves out links to directories above, since walks would never end.
    pub(super) fn list_directory(&self, prefix: &Prefix) -> Result<Listing> {
        let mut listing = Listing::default();
        for entry in self.entries(prefix.as_str())? {
            if entry.is_directory {
                if entry.is_link {
                    let path = format!("{prefix}{}", entry.name);
                    if self.leads_up(&path) {
                        continue;
                    }
                    if self.links_on(&path) > MAX_DEPTH {
                        let error = io::Error::other(format!("more than {MAX_DEPTH} linked directories in one path"));
                        return Err(self.fail(Operation::List, &path, error));
                    }
                }
                listing.prefixes.push(Prefix::new(&format!("{prefix}{}/", entry.name))?);
            } else {
                listing.keys.push(prefix.join(&entry.name)?);
            }
        }
        listing.keys.sort_unstable();
        listing.prefixes.sort_unstable();
        Ok(listing)
    }

    /// Returns all keys under a prefix, sorted.
    pub(super) fn list_tree(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        let mut keys = Vec::new();
        self.walk_tree(prefix, &mut |_, files| {
            keys.extend(files.into_iter().map(|(key, _)| key));
            Ok(())
        })?;
        keys.sort_unstable();
        Ok(keys)
    }

    /// Visits all keys under a prefix with the sizes of their files, directory by directory. A link that leads out of the store has no
    /// size.
    pub(super) fn visit_tree(&self, prefix: &Prefix, visit: &SizeVisitor) -> Result<()> {
        self.walk_tree(prefix, &mut |path, files| {
            let fail = |error| self.fail(Operation::List, path, error);
            let directory = match self.vfs.directory(path.trim_end_matches('/')) {
                Ok(directory) => directory,
                // The directory was erased meanwhile, as any file may be.
                Err(error) if is_absent(&error) => return Ok(()),
                Err(error) => return Err(fail(error)),
            };
            for (key, is_link) in files {
                let stat = match is_link {
                    true => self.vfs.stat(key.as_str()),
                    false => self.vfs.stat_name(&directory, key.name()),
                };
                match stat {
                    Ok(stat) => visit(key, stat.len),
                    // Listed as by `list_tree`, so that a get of it is an error: it is not as if there were no value.
                    Err(_) if is_link => visit(key, 0),
                    Err(error) if is_absent(&error) => {}
                    Err(error) => return Err(self.fail(Operation::List, key.as_str(), error)),
                }
            }
            Ok(())
        })
    }

    /// Calls `files` for each directory under a prefix. Does not enter a linked directory again within itself.
    fn walk_tree(&self, prefix: &Prefix, files: &mut Visit<'_>) -> Result<()> {
        let mut links = 0;
        // Each with the inodes of the linked directories above it.
        let mut todo = vec![(prefix.as_str().to_owned(), Vec::new())];
        while let Some((path, above)) = todo.pop() {
            let mut keys = Vec::new();
            for entry in self.entries(&path)? {
                let below = format!("{path}{}", entry.name);
                if !entry.is_directory {
                    keys.push((Key::new(&below)?, entry.is_link));
                    continue;
                }
                let mut above = above.clone();
                if entry.is_link {
                    links += 1;
                    if links > MAX_LINKS {
                        let error = io::Error::other("too many linked directories");
                        return Err(self.fail(Operation::List, prefix.as_str(), error));
                    }
                    let ancestors = self.ancestors(&below)?;
                    let Some(inode) = ancestors.last().copied() else { continue };
                    if above.contains(&inode) || ancestors[..ancestors.len() - 1].contains(&inode) {
                        continue;
                    }
                    above.push(inode);
                }
                todo.push((below + "/", above));
            }
            files(&path, keys)?;
        }
        Ok(())
    }

    /// Returns whether a link leads to a directory that contains the link. False for a link that leads out of the store.
    fn leads_up(&self, path: &str) -> bool {
        let ancestors = self.ancestors(path).unwrap_or_default();
        ancestors.split_last().is_some_and(|(own, above)| above.contains(own))
    }

    /// Returns the number of linked directories in a path.
    fn links_on(&self, path: &str) -> usize {
        let is_link = |end: usize| {
            let (parent, name) = split(&path[..end]);
            let stat = self.vfs.directory(parent).and_then(|directory| self.vfs.stat_name(&directory, name));
            stat.is_ok_and(|stat| stat.kind == Kind::Unknown)
        };
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        ends.filter(|end| is_link(*end)).count()
    }

    /// Returns the identities of the root and of all directories down to `path`.
    fn ancestors(&self, path: &str) -> Result<Vec<(u64, u64)>> {
        let ends = [0].into_iter().chain(path.match_indices('/').map(|(at, _)| at)).chain([path.len()]);
        let identity = |end| self.vfs.directory(&path[..end]).and_then(|directory| self.vfs.identity(&directory));
        ends.map(|end| identity(end).map_err(|error| self.fail(Operation::List, path, error))).collect()
    }

    /// Returns the kind of the target of a link. A link that leads out of the store, to nothing or to itself counts as a file, so that it
    /// is listed and getting it is an error.
    fn linked_kind(&self, path: &str) -> Kind {
        match self.vfs.stat(path) {
            Ok(stat) => stat.kind,
            Err(error) => match escape(&error) {
                Some(target) if target.is_dir() => Kind::Directory,
                _ => Kind::File,
            },
        }
    }

    /// Returns the entries of a directory whose names can be part of keys.
    pub(super) fn entries(&self, prefix: &str) -> Result<Vec<Entry>> {
        let names = match self.vfs.list(prefix.trim_end_matches('/'), &|_| true) {
            Ok(names) => names,
            Err(error) if is_absent(&error) => return Ok(Vec::new()),
            Err(error) => return Err(self.fail(Operation::List, prefix, error)),
        };
        let mut entries = Vec::with_capacity(names.len());
        for (name, kind) in names {
            if kind == Kind::NotUtf8 {
                self.unnamed.note(format!("{prefix}{name}"), "the name is not UTF-8, so that it is no key");
                continue;
            }
            if is_temporary_name(&name) {
                continue;
            }
            if let Some(fault) = Key::fault(&name) {
                self.unnamed
                    .note(format!("{prefix}{name}"), &format!("the name is no key: {fault}, as some systems read it"));
                continue;
            }
            let is_link = kind == Kind::Unknown;
            let kind = match kind {
                Kind::Unknown => self.linked_kind(&format!("{prefix}{name}")),
                kind => kind,
            };
            match kind {
                // A pipe, a device or a socket is listed, so that a get of it is an error.
                Kind::File | Kind::Other => entries.push(Entry { name, is_directory: false, is_link }),
                Kind::Directory => entries.push(Entry { name, is_directory: true, is_link }),
                Kind::Unknown | Kind::NotUtf8 => {}
            }
        }
        Ok(entries)
    }
}
