//! Replacing a value.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::{Durability, Error, Key, Operation, Precondition, Result, SetOptions, Version};

use super::locks::{is_refused, lock_name};
use super::names::{is_temporary, now, temporary, version};
use super::vfs::{Directory, Kind, Stat};
use super::{FilesystemStore, is_absent};

/// How often a directory that others remove meanwhile is made again.
const ATTEMPTS: usize = 64;

/// After a value was there already, so many are taken to be there, too.
const IN_A_ROW: u32 = 16;

/// A directory in which values are set, one after another.
struct Held<'k> {
    path: &'k str,
    directory: Directory,
    /// Whether a file without a name could not be made or named here.
    refused: bool,
    /// Names it within the process, once that was asked for.
    identity: Option<(u64, u64)>,
}

/// Whether the next value most likely replaces one: a guess by the last ones, which saves a call of the system.
#[derive(Debug, Default)]
pub(super) struct Replacing(AtomicU32);

impl Replacing {
    /// Takes the guess for a value.
    fn guess(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }

    fn replaced(&self) {
        self.0.store(IN_A_ROW, Ordering::Relaxed);
    }
}

/// What became of a value that was to be set by a file without a name.
enum Unnamed<T> {
    Set(T),
    /// The directory is gone.
    NoDirectory(io::Error),
    /// There is a value.
    Taken,
    /// There are no such files here.
    Refused,
}

impl FilesystemStore {
    /// Replaces a value if `when` holds, with the durability that is asked for.
    pub(super) fn install(&self, key: &Key, value: &[u8], when: &Precondition, asked: Durability) -> Result<Version> {
        let how = SetOptions { when: when.clone(), durability: self.level(asked) };
        self.put(&mut None, key, value, &how, &|file| self.vfs.stat_file(file).map(|stat| version(&stat)))
    }

    /// The durability of a set that asks for one.
    fn level(&self, asked: Durability) -> Durability {
        if self.options.sync_on_request { asked.max(self.options.durability) } else { self.options.durability }
    }

    /// Replaces values. The directory is looked up once for those in a row that lie in one.
    pub(super) fn install_many(&self, values: &[(&Key, &[u8])]) -> Result<()> {
        let mut held = None;
        let how = SetOptions::default().durable(self.options.durability);
        for (key, value) in values {
            self.put(&mut held, key, value, &how, &|_| Ok(()))?;
        }
        Ok(())
    }

    /// Replaces a value, in the directory that is `held` if that is the right one. Gives what `learn` says of
    /// the file.
    fn put<'k, T>(
        &self,
        held: &mut Option<Held<'k>>,
        key: &'k Key,
        value: &[u8],
        how: &SetOptions,
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
                _ => {
                    let directory = self.make_directories(parent)?;
                    self.remove_leftovers(&directory, parent);
                    Held { path: parent, directory, refused: attempt > 0, identity: None }
                }
            };
            match self.put_in(&mut place, key, value, how, learn)? {
                Ok(learnt) => {
                    if how.durability == Durability::Full {
                        self.sync_path(&place.directory, parent).map_err(fail)?;
                    }
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
        how: &SetOptions,
        learn: &dyn Fn(&File) -> io::Result<T>,
    ) -> Result<io::Result<T>> {
        // A name is cheaper to give than to change, and a file without one is never left behind.
        let may_be_new = match &how.when {
            Precondition::None => !place.refused && !self.replacing.guess(),
            Precondition::NotExists => !place.refused,
            Precondition::Version(_) => false,
        };
        if may_be_new {
            match self.put_unnamed(&place.directory, key, value, how, learn)? {
                Unnamed::Set(learnt) => return Ok(Ok(learnt)),
                Unnamed::NoDirectory(error) => return Ok(Err(error)),
                Unnamed::Taken => self.replacing.replaced(),
                Unnamed::Refused => place.refused = true,
            }
        }
        self.put_named(place, key, value, how, learn)
    }

    /// Sets a value that is not there by a file that has no name until it is complete.
    fn put_unnamed<T>(
        &self,
        directory: &Directory,
        key: &Key,
        value: &[u8],
        how: &SetOptions,
        learn: &dyn Fn(&File) -> io::Result<T>,
    ) -> Result<Unnamed<T>> {
        let fail = |error| self.fail(Operation::Set, key.as_str(), error);
        let name = split(key.as_str()).1;
        let file = match self.vfs.make_unnamed(directory) {
            Ok(Some(file)) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Unnamed::NoDirectory(error)),
            // Whatever else is wrong, what follows will tell.
            Ok(None) | Err(_) => return Ok(Unnamed::Refused),
        };
        let learnt = self.fill(&file, value, how.durability, learn).map_err(fail)?;
        // No lock is needed for this, as only values that are there are compared and replaced.
        match self.vfs.give_name(&file, directory, name) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Unnamed::NoDirectory(error)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(Unnamed::Taken),
            // A file that gets no name is left to vanish.
            Err(_) => return Ok(Unnamed::Refused),
        }
        self.vfs.close(file).map(|()| Unnamed::Set(learnt)).map_err(|error| {
            // The bytes may not have arrived; there was nothing before.
            let _ = self.vfs.remove_file(directory, name);
            fail(error)
        })
    }

    /// Sets a value by a file that has a temporary name until it is complete.
    fn put_named<T>(
        &self,
        place: &mut Held<'_>,
        key: &Key,
        value: &[u8],
        how: &SetOptions,
        learn: &dyn Fn(&File) -> io::Result<T>,
    ) -> Result<io::Result<T>> {
        let temporary = temporary();
        let file = match self.vfs.make_file(&place.directory, &temporary) {
            Ok(file) => file,
            Err(error) => return Ok(Err(error)),
        };
        let set = self
            .fill_named(file, value, how.durability, learn)
            .map_err(|error| self.fail(Operation::Set, key.as_str(), error))
            .and_then(|learnt| Ok(self.take_name(place, key, &temporary, &how.when)?.map(|()| learnt)));
        if !matches!(set, Ok(Ok(_))) {
            // What is left behind if this fails too is hidden, and the first failure is the one to tell.
            let _ = self.vfs.remove_file(&place.directory, &temporary);
        }
        set
    }

    /// Fills and closes a file with a temporary name. Until it is closed its lock shows that its owner lives.
    fn fill_named<T>(
        &self,
        file: File,
        value: &[u8],
        durability: Durability,
        learn: &dyn Fn(&File) -> io::Result<T>,
    ) -> io::Result<T> {
        match self.vfs.try_lock(&file) {
            Ok(_) => {}
            Err(error) if is_refused(&error) => {}
            Err(error) => return Err(error),
        }
        let learnt = self.fill(&file, value, durability, learn)?;
        self.vfs.close(file)?;
        Ok(learnt)
    }

    fn fill<T>(
        &self,
        file: &File,
        value: &[u8],
        durability: Durability,
        learn: &dyn Fn(&File) -> io::Result<T>,
    ) -> io::Result<T> {
        self.vfs.write(file, value)?;
        self.vfs.stamp(file, now())?;
        if durability != Durability::None {
            self.vfs.sync_file(file)?;
        }
        learn(file)
    }

    /// Gives the temporary file its name if `when` holds; otherwise it stays. The inner error says that it is gone: others took
    /// it for one that was left behind, or removed the directory.
    fn take_name(
        &self,
        place: &mut Held<'_>,
        key: &Key,
        temporary: &str,
        when: &Precondition,
    ) -> Result<io::Result<()>> {
        let (directory, name) = (&place.directory, split(key.as_str()).1);
        let fail = |error: io::Error| match error.kind() {
            io::ErrorKind::IsADirectory | io::ErrorKind::DirectoryNotEmpty => {
                self.occupied(key.as_str(), "a directory", "a value or nothing")
            }
            _ => self.fail(Operation::Set, key.as_str(), error),
        };
        let identity = match place.identity {
            Some(identity) => identity,
            None => *place.identity.insert(self.vfs.identity(directory).map_err(fail)?),
        };
        let _threads = lock_name(identity, name);
        let refuse = |found| {
            Err(Error::Precondition { store: self.to_string(), key: key.clone(), expected: when.clone(), found })
        };
        // Held until the name is changed.
        let _processes = match when {
            Precondition::Version(_) => self.lock_value(key)?,
            _ => None,
        };
        match when {
            Precondition::None => {}
            Precondition::NotExists => match self.vfs.link(directory, temporary, name) {
                Ok(()) => {
                    // It has its name; that the other one stays behind, hidden, is no reason to say that it was not
                    // set.
                    let _ = self.vfs.remove_file(directory, temporary);
                    return Ok(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Err(error)),
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
                let found =
                    self.named(directory, key)?.filter(|stat| stat.kind == Kind::File).map(|stat| version(&stat));
                if found.as_ref() != Some(expected) {
                    return refuse(found);
                }
            }
        }
        match self.vfs.rename(directory, temporary, name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Err(error)),
            renamed => renamed.map(Ok).map_err(fail),
        }
    }

    /// What has the name of a value in its directory.
    fn named(&self, directory: &Directory, key: &Key) -> Result<Option<Stat>> {
        match self.vfs.stat_name(directory, split(key.as_str()).1) {
            Ok(stat) if stat.kind != Kind::Unknown => Ok(Some(stat)),
            Ok(_) => self.current(Operation::Set, key),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(self.fail(Operation::Set, key.as_str(), error)),
        }
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
    pub(super) fn make_directories(&self, path: &str) -> Result<Directory> {
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
            Ok(()) => self.note_new(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
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
