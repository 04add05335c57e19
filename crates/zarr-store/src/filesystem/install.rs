//! Replacing a value.

use std::collections::hash_map::DefaultHasher;
use std::fs::File;
use std::hash::{Hash, Hasher};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{Error, Key, Operation, Precondition, Result, Version};

use super::names::{is_temporary, now, temporary, version};
use super::vfs::{Directory, Kind, Stat};
use super::{Durability, FilesystemStore, is_absent};

/// How often a directory that others remove meanwhile is made again.
const ATTEMPTS: usize = 64;

/// A directory in which values are set, one after another.
struct Held<'k> {
    path: &'k str,
    directory: Directory,
    /// Whether a value was there already: then the next ones most likely are, too. Also where there are no files without
    /// names.
    replaces: bool,
}

impl FilesystemStore {
    /// Replaces a value if `when` holds.
    pub(super) fn install(&self, key: &Key, value: &[u8], when: &Precondition) -> Result<Version> {
        self.put(&mut None, key, value, when, &|file| self.vfs.stat_file(file).map(|stat| version(&stat)))
    }

    /// Replaces values. The directory is looked up once for those in a row that lie in one.
    pub(super) fn install_many(&self, values: &[(&Key, &[u8])]) -> Result<()> {
        let mut held = None;
        for (key, value) in values {
            self.put(&mut held, key, value, &Precondition::None, &|_| Ok(()))?;
        }
        Ok(())
    }

    /// Replaces a value if `when` holds, in the directory that is `held` if that is the right one. Gives what `learn` says of
    /// the file.
    fn put<'k, T>(
        &self,
        held: &mut Option<Held<'k>>,
        key: &'k Key,
        value: &[u8],
        when: &Precondition,
        learn: &dyn Fn(&File) -> io::Result<T>,
    ) -> Result<T> {
        if is_temporary(key) {
            return Err(Error::Reserved { store: self.to_string(), key: key.clone() });
        }
        let fail = |error| self.fail(Operation::Set, key.as_str(), error);
        let parent = split(key.as_str()).0;
        let mut attempt = 0;
        loop {
            let mut place = match held.take() {
                Some(place) if place.path == parent => place,
                // A directory is gone, or so the system calls it if it does not let a file be named by its handle any more.
                _ => Held { path: parent, directory: self.make_directories(parent)?, replaces: attempt > 0 },
            };
            match self.put_in(&mut place, key, value, when, learn)? {
                Ok(learnt) => {
                    self.sync_names(&place.directory, parent).map_err(fail)?;
                    *held = Some(place);
                    return Ok(learnt);
                }
                // The directory was empty, and an erase has removed it; or another process has taken the name.
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists)
                        && attempt < ATTEMPTS =>
                {
                    attempt += 1;
                }
                Err(error) => return Err(fail(error)),
            }
        }
    }

    /// The inner error is that of a file that could not be made or named in the directory.
    fn put_in<T>(
        &self,
        place: &mut Held<'_>,
        key: &Key,
        value: &[u8],
        when: &Precondition,
        learn: &dyn Fn(&File) -> io::Result<T>,
    ) -> Result<io::Result<T>> {
        let (directory, name) = (&place.directory, split(key.as_str()).1);
        let fill =
            |file: &File| self.fill(file, value, learn).map_err(|error| self.fail(Operation::Set, key.as_str(), error));
        let temporary = temporary();
        // A name is cheaper to give than to change, and a file without one is never left behind.
        let may_be_new = !place.replaces && !matches!(when, Precondition::Version(_));
        place.replaces = true;
        let unnamed = if may_be_new { self.vfs.make_unnamed(directory) } else { Ok(None) };
        let mut named = None;
        match unnamed {
            Ok(Some(file)) => {
                let learnt = fill(&file)?;
                match self.vfs.give_name(&file, directory, name) {
                    // No lock is needed for this, as only values that are there are compared and replaced.
                    Ok(()) => {
                        place.replaces = false;
                        return Ok(Ok(learnt));
                    }
                    Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Err(error)),
                    // Most likely it is taken. A file that gets no name at all is left to vanish.
                    Err(_) => named = self.vfs.give_name(&file, directory, &temporary).ok().map(|()| learnt),
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Err(error)),
            // Whatever else is wrong, what follows will tell.
            Ok(None) | Err(_) => {}
        }
        let set = match named {
            Some(learnt) => Ok(learnt),
            None => match self.vfs.make_file(directory, &temporary) {
                Ok(file) => fill(&file),
                Err(error) => return Ok(Err(error)),
            },
        };
        let set = set.and_then(|learnt| self.take_name(key, directory, &temporary, name, when).map(|()| Ok(learnt)));
        set.inspect_err(|_| {
            // What is left behind if this fails too is hidden, and the first failure is the one to tell.
            let _ = self.vfs.remove_file(directory, &temporary);
        })
    }

    fn fill<T>(&self, file: &File, value: &[u8], learn: &dyn Fn(&File) -> io::Result<T>) -> io::Result<T> {
        self.vfs.write(file, value)?;
        self.vfs.stamp(file, now())?;
        if self.options.durability != Durability::None {
            self.vfs.sync_file(file)?;
        }
        learn(file)
    }

    /// Gives the temporary file its name if `when` holds; otherwise it stays.
    fn take_name(
        &self,
        key: &Key,
        directory: &Directory,
        temporary: &str,
        name: &str,
        when: &Precondition,
    ) -> Result<()> {
        let fail = |error: io::Error| match error.kind() {
            io::ErrorKind::IsADirectory | io::ErrorKind::DirectoryNotEmpty => {
                self.occupied(key.as_str(), "a directory", "a value or nothing")
            }
            _ => self.fail(Operation::Set, key.as_str(), error),
        };
        let identity = self.vfs.identity(directory).map_err(fail)?;
        let _locked = lock(identity, name);
        let refuse = |found| {
            Err(Error::Precondition { store: self.to_string(), key: key.clone(), expected: when.clone(), found })
        };
        match when {
            Precondition::None => {}
            Precondition::NotExists => match self.vfs.link(directory, temporary, name) {
                Ok(()) => {
                    // It has its name; that the other one stays behind, hidden, is no reason to say that it was not
                    // set.
                    let _ = self.vfs.remove_file(directory, temporary);
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    return match self.current(Operation::Set, key)? {
                        Some(stat) if stat.kind == Kind::Directory => Err(fail(io::ErrorKind::IsADirectory.into())),
                        found => refuse(found.map(|stat| version(&stat))),
                    };
                }
                // A file system without hard links.
                Err(error) if is_unsupported(&error) => {
                    if let Some(stat) = self.current(Operation::Set, key)? {
                        return refuse(Some(version(&stat)));
                    }
                }
                Err(error) => return Err(fail(error)),
            },
            Precondition::Version(expected) => {
                let found = self
                    .current(Operation::Set, key)?
                    .filter(|stat| stat.kind == Kind::File)
                    .map(|stat| version(&stat));
                if found.as_ref() != Some(expected) {
                    return refuse(found);
                }
            }
        }
        self.vfs.rename(directory, temporary, name).map_err(fail)
    }

    pub(super) fn current(&self, operation: Operation, key: &Key) -> Result<Option<Stat>> {
        match self.vfs.stat(key.as_str()) {
            Ok(stat) => Ok(Some(stat)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(self.fail(operation, key.as_str(), error)),
        }
    }

    fn occupied(&self, key: &str, found: &'static str, expected: &'static str) -> Error {
        Error::Occupied { store: self.to_string(), operation: Operation::Set, key: key.to_owned(), found, expected }
    }

    /// Holds a directory, and makes it and those above it where they are not there.
    fn make_directories(&self, path: &str) -> Result<Directory> {
        let mut attempt = 0;
        loop {
            match self.try_make_directories(path) {
                Ok(directory) => return Ok(directory),
                // An erase has removed one of them meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound && attempt < ATTEMPTS => attempt += 1,
                Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                    return Err(self.occupied(path, "a value", "a directory or nothing"));
                }
                Err(error) => return Err(self.fail(Operation::Set, path, error)),
            }
        }
    }

    fn try_make_directories(&self, path: &str) -> io::Result<Directory> {
        match self.vfs.directory(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_empty() => {}
            other => return other,
        }
        // Most often only the last is not there.
        let (above, name) = split(path);
        let parent = self.try_make_directories(above)?;
        match self.vfs.make_directory(&parent, name) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        if self.options.durability == Durability::Full {
            self.vfs.sync_directory(&parent)?;
        }
        self.vfs.directory(path)
    }
}

/// A path's parent and last segment.
pub(super) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn is_unsupported(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied | io::ErrorKind::TooManyLinks)
}

/// Keeps the comparison of a value's version and its replacement together, among all stores of this process.
pub(super) fn lock(directory: (u64, u64), name: &str) -> MutexGuard<'static, ()> {
    const STRIPES: usize = 64;
    static LOCKS: [Mutex<()>; STRIPES] = [const { Mutex::new(()) }; STRIPES];
    let mut hasher = DefaultHasher::new();
    (directory, name).hash(&mut hasher);
    let stripe = usize::try_from(hasher.finish() % STRIPES as u64).unwrap_or(0);
    LOCKS[stripe].lock().unwrap_or_else(PoisonError::into_inner)
}
