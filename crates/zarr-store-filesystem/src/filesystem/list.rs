//! Listing.

use std::io;

use zarr_store::{Key, Listing, Operation, Prefix, Result};

use super::install::split;
use super::names::is_temporary_name;
use super::vfs::Kind;
use super::{FilesystemStore, escape, is_absent};

/// How many linked directories one listing goes into: links may lead to links, each doubling the entries to list.
const MAX_LINKS: usize = 1024;

/// How many linked directories a path may go through: among directories that link to each other the number of paths explodes.
const MAX_DEPTH: usize = 4;

pub(super) struct Entry {
    pub(super) name: String,
    pub(super) is_directory: bool,
    pub(super) is_link: bool,
}

impl FilesystemStore {
    /// The keys and prefixes directly under a prefix, without links to directories above it: a walk would never end.
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

    /// All keys under a prefix. A linked directory that contains itself is not entered again.
    pub(super) fn list_tree(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        let mut keys = Vec::new();
        let mut links = 0;
        // Each with the inodes of the linked directories above it.
        let mut todo = vec![(prefix.as_str().to_owned(), Vec::new())];
        while let Some((path, above)) = todo.pop() {
            for entry in self.entries(&path)? {
                let below = format!("{path}{}", entry.name);
                if !entry.is_directory {
                    keys.push(Key::new(&below)?);
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
        }
        keys.sort_unstable();
        Ok(keys)
    }

    /// Whether a link leads to a directory that it lies in. One that leads out of the store does not.
    fn leads_up(&self, path: &str) -> bool {
        let ancestors = self.ancestors(path).unwrap_or_default();
        ancestors.split_last().is_some_and(|(own, above)| above.contains(own))
    }

    /// How many links to directories a path goes through.
    fn links_on(&self, path: &str) -> usize {
        let is_link = |end: usize| {
            let (parent, name) = split(&path[..end]);
            let stat = self.vfs.directory(parent).and_then(|directory| self.vfs.stat_name(&directory, name));
            stat.is_ok_and(|stat| stat.kind == Kind::Unknown)
        };
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        ends.filter(|end| is_link(*end)).count()
    }

    /// The inodes of the root and of all directories down to `path`.
    fn ancestors(&self, path: &str) -> Result<Vec<(u64, u64)>> {
        let ends = [0].into_iter().chain(path.match_indices('/').map(|(at, _)| at)).chain([path.len()]);
        let identity = |end| self.vfs.directory(&path[..end]).and_then(|directory| self.vfs.identity(&directory));
        ends.map(|end| identity(end).map_err(|error| self.fail(Operation::List, path, error))).collect()
    }

    /// The kind of the target of a link. A link that leads out of the store is listed, so that a get of it is an error.
    fn linked_kind(&self, path: &str) -> Kind {
        match self.vfs.stat(path) {
            Ok(stat) => stat.kind,
            Err(error) => match escape(&error) {
                Some(target) if target.is_dir() => Kind::Directory,
                Some(_) => Kind::File,
                None => Kind::Other,
            },
        }
    }

    /// The entries of a directory whose names can be in keys, without dangling links.
    pub(super) fn entries(&self, prefix: &str) -> Result<Vec<Entry>> {
        let names = match self.vfs.list(prefix.trim_end_matches('/'), &|_| true) {
            Ok(names) => names,
            Err(error) if is_absent(&error) => return Ok(Vec::new()),
            Err(error) => return Err(self.fail(Operation::List, prefix, error)),
        };
        let mut entries = Vec::with_capacity(names.len());
        for (name, kind) in names {
            if is_temporary_name(&name) || Key::fault(&name).is_some() {
                continue;
            }
            let is_link = kind == Kind::Unknown;
            let kind = match kind {
                Kind::Unknown => self.linked_kind(&format!("{prefix}{name}")),
                kind => kind,
            };
            match kind {
                Kind::File => entries.push(Entry { name, is_directory: false, is_link }),
                Kind::Directory => entries.push(Entry { name, is_directory: true, is_link }),
                Kind::Unknown | Kind::Other => {}
            }
        }
        Ok(entries)
    }
}
