//! Setting of values.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

use zarr_store::{Durability, Error, Key, Operation, Precondition, Result, SetOptions, Version};

use super::locks::{is_refused, lock_name};
use super::names::{is_temporary, now, temporary, version};
use super::retry::Retry;
use super::vfs::{Directory, Kind, Stat};
use super::{FilesystemStore, is_absent};

/// Number of sets after a replacement that are expected to replace a value, too.
const IN_A_ROW: u32 = 16;

/// Open directory in which several values are set one after another.
struct OpenDir<'k> {
    path: &'k str,
    directory: Directory,
    /// Whether creating or naming a file without a name has failed here.
    refused: bool,
    /// Identity of the directory within the process; read when needed.
    identity: Option<(u64, u64)>,
}

/// Guess whether the next set replaces a value, from the last sets. It saves a system call.
#[derive(Debug, Default)]
pub(super) struct Replacing(AtomicU32);

impl Replacing {
    /// Returns the guess for the next set.
    fn guess(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }

    fn replaced(&self) {
        self.0.store(IN_A_ROW, Ordering::Relaxed);
    }
}

/// Outcome of setting a value by a file without a name.
enum Unnamed<T> {
    Set(T),
    /// The directory does not exist any more.
    NoDirectory(io::Error),
    /// A value exists already.
    Taken,
    /// The system does not support files without names here.
    Refused,
}

impl FilesystemStore {
    /// Sets a value, given in pieces, if `when` holds, with at least the durability `asked`.
    pub(super) fn install(
        &self,
        key: &Key,
        value: &[&[u8]],
        when: &Precondition,
        asked: Durability,
    ) -> Result<Version> {
        let how = SetOptions::when(when.clone()).durable(self.level(asked));
        self.put(&mut None, key, value, &how, &|file| self.vfs.stat_file(file).map(|stat| version(&stat)))
    }

    /// Returns the durability of a set that asks for `asked`.
    pub(super) fn level(&self, asked: Durability) -> Durability {
        if self.options.sync_on_request { asked.max(self.options.durability) } else { self.options.durability }
    }

    /// Sets values. Looks up a directory once for consecutive values in it.
    pub(super) fn install_many(&self, values: &[(&Key, &[u8])]) -> Result<()> {
        let mut open_dir = None;
        let how = SetOptions::default().durable(self.options.durability);
        for (key, value) in values {
            self.put(&mut open_dir, key, &[value], &how, &|_| Ok(()))?;
        }
        Ok(())
    }

    /// Sets a value, in `open_dir` if that is its directory. Returns the result of `stat` for the new file.
    fn put<'k, T>(
        &self,
        open_dir: &mut Option<OpenDir<'k>>,
        key: &'k Key,
        value: &[&[u8]],
        how: &SetOptions,
        stat: &dyn Fn(&File) -> io::Result<T>,
    ) -> Result<T> {
        if is_temporary(key) {
            return Err(Error::Reserved { store: self.to_string(), key: key.clone() });
        }
        let fail = |error| self.fail(Operation::Set, key.as_str(), error);
        let parent = split(key.as_str()).0;
        let mut retry = Retry::default();
        loop {
            let mut opened = match open_dir.take() {
                Some(opened) if opened.path == parent => opened,
                // The directory is gone, or the system says so since it no longer lets a file be named by its handle.
                _ => {
                    let directory = self.make_directories(parent, &mut retry)?;
                    self.remove_leftovers(&directory, parent);
                    OpenDir { path: parent, directory, refused: retry.has_begun(), identity: None }
                }
            };
            match self.put_in(&mut opened, key, value, how, stat)? {
                Ok(stat_result) => {
                    if how.durability == Durability::Full {
                        self.sync_path(&opened.directory, parent).map_err(fail)?;
                    }
                    *open_dir = Some(opened);
                    return Ok(stat_result);
                }
                // The directory was empty, and an erase has removed it; or another process has taken the name.
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists)
                        && self.again(&mut retry) => {}
                Err(error) => return Err(fail(error)),
            }
        }
    }

    /// Sets a value in an open directory. The inner error means that a file could not be created or named there.
    fn put_in<T>(
        &self,
        opened: &mut OpenDir<'_>,
        key: &Key,
        value: &[&[u8]],
        how: &SetOptions,
        stat: &dyn Fn(&File) -> io::Result<T>,
    ) -> Result<io::Result<T>> {
        // Linking a nameless file is cheaper than renaming a file, and a nameless file is never left behind after a crash.
        let may_be_new = match &how.when {
            Precondition::None => !opened.refused && !self.replacing.guess(),
            Precondition::NotExists => !opened.refused,
            Precondition::Version(_) => false,
        };
        if may_be_new {
            match self.put_unnamed(&opened.directory, key, value, how, stat)? {
                Unnamed::Set(stat_result) => return Ok(Ok(stat_result)),
                Unnamed::NoDirectory(error) => return Ok(Err(error)),
                Unnamed::Taken => self.replacing.replaced(),
                Unnamed::Refused => opened.refused = true,
            }
        }
        self.put_named(opened, key, value, how, stat)
    }

    /// Creates a value by a file that gets its name when it is complete.
    fn put_unnamed<T>(
        &self,
        directory: &Directory,
        key: &Key,
        value: &[&[u8]],
        how: &SetOptions,
        stat: &dyn Fn(&File) -> io::Result<T>,
    ) -> Result<Unnamed<T>> {
        let fail = |error| self.fail(Operation::Set, key.as_str(), error);
        let name = split(key.as_str()).1;
        let file = match self.vfs.make_unnamed(directory) {
            Ok(Some(file)) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Unnamed::NoDirectory(error)),
            // The attempt with a named file reports whatever is wrong.
            Ok(None) | Err(_) => return Ok(Unnamed::Refused),
        };
        let stat_result = self.fill(&file, value, how.durability, stat).map_err(fail)?;
        // No lock is needed for this, as only values that are there are compared and replaced.
        match self.vfs.give_name(&file, directory, name) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Unnamed::NoDirectory(error)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(Unnamed::Taken),
            // A file that gets no name is left to vanish.
            Err(_) => return Ok(Unnamed::Refused),
        }
        self.vfs.close(file).map(|()| Unnamed::Set(stat_result)).map_err(|error| {
            // The bytes may not be on the disk, so remove the new name; there was no value before.
            let _ = self.vfs.remove_file(directory, name);
            fail(error)
        })
    }

    /// Sets a value by a file that has a temporary name until it is complete.
    fn put_named<T>(
        &self,
        opened: &mut OpenDir<'_>,
        key: &Key,
        value: &[&[u8]],
        how: &SetOptions,
        stat: &dyn Fn(&File) -> io::Result<T>,
    ) -> Result<io::Result<T>> {
        let temporary = temporary();
        let file = match self.vfs.make_file(&opened.directory, &temporary) {
            Ok(file) => file,
            Err(error) => return Ok(Err(error)),
        };
        let set = self
            .fill_named(file, value, how.durability, stat)
            .map_err(|error| self.fail(Operation::Set, key.as_str(), error))
            .and_then(|stat_result| {
                let OpenDir { directory, identity, .. } = opened;
                Ok(self.take_name(directory, identity, key, &temporary, &how.when)?.map(|()| stat_result))
            });
        if !matches!(set, Ok(Ok(_))) {
            // If this fails too, a hidden file is left behind; the first failure is reported.
            let _ = self.vfs.remove_file(&opened.directory, &temporary);
        }
        set
    }

    /// Fills and closes a file with a temporary name. Until the file is closed, its lock shows that its owner is alive.
    fn fill_named<T>(
        &self,
        file: File,
        value: &[&[u8]],
        durability: Durability,
        stat: &dyn Fn(&File) -> io::Result<T>,
    ) -> io::Result<T> {
        match self.vfs.try_lock(&file) {
            Ok(_) => {}
            Err(error) if is_refused(&error) => {}
            Err(error) => return Err(error),
        }
        let stat_result = self.fill(&file, value, durability, stat)?;
        self.vfs.close(file)?;
        Ok(stat_result)
    }

    pub(super) fn fill<T>(
        &self,
        file: &File,
        value: &[&[u8]],
        durability: Durability,
        stat: &dyn Fn(&File) -> io::Result<T>,
    ) -> io::Result<T> {
        value.iter().try_for_each(|piece| self.vfs.write(file, piece))?;
        self.vfs.stamp(file, now())?;
        if durability != Durability::None {
            self.vfs.sync_file(file)?;
        }
        stat(file)
    }

    /// Gives a temporary file in `directory` the name of the value if `when` holds; otherwise the file stays. `identity` caches the
    /// identity of the directory. The inner error means that the file is gone: another process took it for a leftover, or removed the
    /// directory.
    pub(super) fn take_name(
        &self,
        directory: &Directory,
        identity: &mut Option<(u64, u64)>,
        key: &Key,
        temporary: &str,
        when: &Precondition,
    ) -> Result<io::Result<()>> {
        let name = split(key.as_str()).1;
        let fail = |error: io::Error| match error.kind() {
            io::ErrorKind::IsADirectory | io::ErrorKind::DirectoryNotEmpty => {
                self.occupied(key.as_str(), "a directory", "a value or nothing")
            }
            _ => self.fail(Operation::Set, key.as_str(), error),
        };
        let identity = match *identity {
            Some(identity) => identity,
            None => *identity.insert(self.vfs.identity(directory).map_err(fail)?),
        };
        let _threads = lock_name(identity, name);
        let refuse = |found| {
            Err(Error::Precondition { store: self.to_string(), key: key.clone(), expected: when.clone(), found })
        };
        // Both locks are held until the name is changed.
        let _processes = match when {
            Precondition::Version(_) => self.lock_value(key)?,
            _ => None,
        };
        match when {
            Precondition::None => {}
            Precondition::NotExists => match self.vfs.link(directory, temporary, name) {
                Ok(()) => {
                    // The value is set: a hidden temporary name that stays behind is no failure.
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

    /// Returns the stat of the entry with the name of a value in its directory; `None` if there is none.
    pub(super) fn named(&self, directory: &Directory, key: &Key) -> Result<Option<Stat>> {
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

    /// Returns whether to try again after another process has removed a directory. False if the root itself is gone.
    pub(super) fn again(&self, retry: &mut Retry) -> bool {
        !self.vfs.is_gone() && retry.again(self.path())
    }

    /// Opens a directory. Creates it and its ancestors if they are missing.
    pub(super) fn make_directories(&self, path: &str, retry: &mut Retry) -> Result<Directory> {
        loop {
            match self.try_make_directories(path) {
                Ok(directory) => return Ok(directory),
                // An erase has removed one of them meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound && self.again(retry) => {}
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
        self.vfs.directory(path).map_err(|error| {
            let is_link = || self.vfs.stat_name(&parent, name).is_ok_and(|stat| stat.kind == Kind::Unknown);
            match error.kind() == io::ErrorKind::NotFound && is_link() {
                true => io::Error::other("a symbolic link in the way leads nowhere"),
                false => error,
            }
        })
    }
}

/// Splits a path into its parent and its last segment.
pub(super) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn is_unsupported(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied | io::ErrorKind::TooManyLinks)
}
