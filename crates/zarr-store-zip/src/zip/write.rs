//! The writing of a zip file.
//!
//! A zip file is never changed where it is: while entries are appended to a file it has no directory at its end, and other readers
//! would fail, for ever if the process is killed then. The first set makes a copy under a temporary name, in which entries take
//! the place of the old directory and follow each other; a flush adds the new directory and gives the copy the name of the zip file.

mod index;
mod lock;
mod record;
mod repack;
mod target;

#[cfg(test)]
mod tests;

use std::collections::hash_map::RandomState;
use std::fmt;
use std::fs::{self, File};
use std::hash::BuildHasher;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use zarr_store::{
    ByteRange, Bytes, Capabilities, Error, Fetched, GetOptions, Key, Listing, Lock, Operation, Prefix, Result,
    SetOptions, SizeVisitor, Version,
};

use super::file::{self, write_all_at};
use super::get::{Access, Getting};
use super::opened;
use super::opening::Opening;
use super::plan::{self, Fault};
use crate::ZipFault;
use index::{Index, Value};
use lock::{Taken, WriteLock};
use record::Record;
use target::{Stamp, Target};

/// The capabilities of a store in a zip file that is written.
pub(super) const CAPABILITIES: Capabilities =
    opened::CAPABILITIES.write(true).conditional(true).durable(true).erases_at_once(true).appears_at_flush(true);

/// Values of up to so many bytes are written together with their local header, by one call.
const TOGETHER: usize = 64 << 10;
/// The longest name of an entry in bytes.
const MAX_NAME: usize = u16::MAX as usize;

/// A zip file that is written.
pub(super) struct Session {
    name: String,
    /// The file itself, behind all links.
    path: PathBuf,
    access: Access,
    /// Is held for moments only, after `writer`.
    index: RwLock<Index>,
    writer: Mutex<Writer>,
    warning: Mutex<Option<String>>,
}

/// What those who write hold one after another.
struct Writer {
    /// Whether keys may be replaced and erased.
    replace: bool,
    /// The file with changes that are not at the path yet.
    target: Option<Target>,
    /// The file at the path; `None` if there is none yet.
    published: Option<Stamp>,
    /// Where the next entry begins: behind the last one, over the directory of the file that was copied.
    end: u64,
    /// The comment of the file.
    comment: Bytes,
    is_closed: bool,
    lock: Option<WriteLock>,
}

impl Session {
    /// Begins a new zip file.
    pub(super) fn create(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let fail = |source| Error::io(&name, Operation::Open, "/", source);
        let there = || Error::NotAStore {
            store: name.clone(),
            found: "a file",
            expected: "none: `ZipStore::append` adds to it",
        };
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(parent).map_err(fail)?;
        let file_name = path.file_name().ok_or_else(|| fail(io::ErrorKind::InvalidFilename.into()))?;
        let path = fs::canonicalize(parent).map_err(fail)?.join(file_name);
        let (lock, warning) = take_lock(&name, &path)?;
        // Also a link that leads nowhere.
        if fs::symlink_metadata(&path).is_ok() {
            return Err(there());
        }
        let target = Target::create(&path).map_err(fail)?;
        let index = Index::new(Arc::clone(&target.file), random());
        let writer = Writer {
            replace: false,
            target: Some(target),
            published: None,
            end: 0,
            comment: Bytes::new(),
            is_closed: false,
            lock,
        };
        Ok(Self::new(name, path, index, writer, warning))
    }

    /// Goes on with the zip file at `path`.
    pub(super) fn append(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let fail = |source| opened::file_failed(source, &name);
        let path = fs::canonicalize(path).map_err(fail)?;
        if !fs::metadata(&path).map_err(fail)?.is_file() {
            return Err(Error::NotAStore { store: name, found: "no file", expected: "a zip file" });
        }
        let (lock, warning) = take_lock(&name, &path)?;
        Target::clean(&path).map_err(fail)?;
        let file = File::open(&path).map_err(fail)?;
        let published = Stamp::of(&file.metadata().map_err(fail)?);
        let directory = match plan::run(&&file, Opening::new()) {
            Ok(opened) => opened.directory,
            Err(fault) => return Err(opened::opening_failed(fault, name)),
        };
        let writer = Writer {
            replace: false,
            target: None,
            published: Some(published),
            end: directory.end.offset,
            comment: directory.end.comment.clone(),
            is_closed: false,
            lock,
        };
        let mut index = Index::new(Arc::new(file), random());
        index.add(directory);
        Ok(Self::new(name, path, index, writer, warning))
    }

    fn new(name: String, path: PathBuf, index: Index, writer: Writer, warning: Option<String>) -> Self {
        Self {
            name,
            path,
            access: Access { max_gap: None, same_state: GetOptions::default(), size: None },
            index: RwLock::new(index),
            writer: Mutex::new(writer),
            warning: Mutex::new(warning),
        }
    }

    /// Permits that keys are replaced and erased.
    pub(super) fn permit_replacing(&self, replace: bool) {
        self.writer().replace = replace;
    }

    pub(super) fn entries(&self) -> usize {
        self.index().values.len()
    }

    fn index(&self) -> RwLockReadGuard<'_, Index> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn index_mut(&self) -> RwLockWriteGuard<'_, Index> {
        self.index.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        let (file, value, version) = {
            let index = self.index();
            let Some(value) = index.values.get(key) else { return Ok(None) };
            (Arc::clone(&index.file), Arc::clone(value), index.version(value))
        };
        options.check_version(self, key, Some(&version))?;
        for range in ranges {
            range.check(self, key, value.entry.size)?;
        }
        let mut fetched = if ranges.is_empty() { Fetched::new() } else { self.read(&file, &value, ranges)? };
        (fetched.size, fetched.version, fetched.snapshot) = (Some(value.entry.size), Some(version), None);
        options.check(self, key, &mut fetched)?;
        Ok(Some(fetched))
    }

    fn read(&self, file: &File, value: &Value, ranges: &[ByteRange]) -> Result<Fetched> {
        let read = file::get(file, Getting::new(&value.entry, ranges, &self.access));
        read.map_err(|fault| self.fail(fault, Operation::Get, value.entry.key.as_str()))
    }

    pub(super) fn list_dir(&self, prefix: &Prefix) -> Listing {
        self.index().list_dir(prefix)
    }

    pub(super) fn list_prefix(&self, prefix: &Prefix) -> Vec<Key> {
        self.index().list_prefix(prefix)
    }

    pub(super) fn visit_sizes(&self, prefix: &Prefix, visit: &SizeVisitor) {
        self.index().visit_sizes(prefix, visit);
    }

    pub(super) fn set(&self, key: &Key, value: &[u8], options: &SetOptions) -> Result<Version> {
        let name = key.as_str();
        if name.len() > MAX_NAME {
            let begin = name.chars().take(40).collect();
            return Err(Error::TooLong {
                store: self.name.clone(),
                operation: Operation::Set,
                begin,
                size: name.len(),
            });
        }
        let crc = crc32fast::hash(value);
        let mut writer = self.writing(Operation::Set)?;
        let found = {
            let index = self.index();
            let found = index.values.get(key).map(|value| (Arc::clone(value), index.version(value)));
            options.when.check(self, key, found.as_ref().map(|(_, version)| version))?;
            found.map(|(value, version)| (Arc::clone(&index.file), value, version))
        };
        if let Some((file, old, version)) = found {
            match self.is_same(&file, &old, value, crc) {
                Ok(true) => return Ok(version),
                // One that cannot be read is replaced, too.
                _ if writer.replace => {}
                Ok(false) => return Err(self.is_kept(name, Operation::Set)),
                Err(error) => return Err(error),
            }
        }
        let fail = |source| self.fail(Fault::Io(source), Operation::Set, name);
        let record = Record::stored(name, crc, value.len() as u64, writer.end);
        let mut local = record.local(name.as_bytes());
        let data = writer.end + local.len() as u64;
        let file = self.target(&mut writer).map_err(fail)?;
        if value.len() <= TOGETHER {
            local.extend_from_slice(value);
            write_all_at(&file, &local, writer.end).map_err(fail)?;
        } else {
            write_all_at(&file, &local, writer.end).map_err(fail)?;
            write_all_at(&file, value, data).map_err(fail)?;
        }
        // What a failed write has left is overwritten by the next one, or cut off.
        writer.end = data + value.len() as u64;
        let value = Value::new(key.clone(), record, data);
        let mut index = self.index_mut();
        let version = index.version(&value);
        index.values.insert(key.clone(), Arc::new(value));
        Ok(version)
    }

    /// Whether a value has these bytes.
    fn is_same(&self, file: &File, old: &Value, value: &[u8], crc: u32) -> Result<bool> {
        if (old.entry.size, old.entry.crc) != (value.len() as u64, crc) {
            return Ok(false);
        }
        Ok(self.read(file, old, &[ByteRange::Full])?.part(0) == value)
    }

    pub(super) fn erase(&self, key: &Key) -> Result<()> {
        let mut writer = self.writing(Operation::Erase)?;
        if !self.index().values.contains_key(key) {
            return Ok(());
        }
        if !writer.replace {
            return Err(self.is_kept(key.as_str(), Operation::Erase));
        }
        let fail = |source| self.fail(Fault::Io(source), Operation::Erase, key.as_str());
        self.target(&mut writer).map_err(fail)?;
        self.index_mut().values.remove(key);
        Ok(())
    }

    pub(super) fn erase_prefix(&self, prefix: &Prefix) -> Result<()> {
        let mut writer = self.writing(Operation::Erase)?;
        let keys = self.list_prefix(prefix);
        let Some(first) = keys.first() else { return Ok(()) };
        if !writer.replace {
            return Err(self.is_kept(first.as_str(), Operation::Erase));
        }
        let fail = |source| self.fail(Fault::Io(source), Operation::Erase, prefix.as_str());
        self.target(&mut writer).map_err(fail)?;
        let mut index = self.index_mut();
        for key in &keys {
            index.values.remove(key);
        }
        Ok(())
    }

    /// The file that is written, which is made if there were no changes since the last flush.
    fn target(&self, writer: &mut Writer) -> io::Result<Arc<File>> {
        if let Some(target) = &writer.target {
            return Ok(Arc::clone(&target.file));
        }
        let published = Arc::clone(&self.index().file);
        let target = Target::copy(&self.path, &published, writer.end)?;
        let file = Arc::clone(&target.file);
        writer.target = Some(target);
        // Entries are where they were.
        self.index_mut().file = Arc::clone(&file);
        Ok(file)
    }

    /// Makes all changes the zip file at the path.
    pub(super) fn flush(&self) -> Result<()> {
        let mut writer = self.writer();
        self.publish(&mut writer)
    }

    fn publish(&self, writer: &mut Writer) -> Result<()> {
        let Some(mut target) = writer.target.take() else { return Ok(()) };
        let bytes = index::directory_and_end(&self.index(), writer.end, &writer.comment);
        match self.install(writer, &mut target, &bytes) {
            Ok(()) => {
                let fail = |source| self.fail(Fault::Io(source), Operation::Flush, "/");
                target::sync_name(&self.path).map_err(fail)
            }
            Err(error) => {
                // For another attempt. What was written of the directory is overwritten or cut off.
                writer.target = Some(target);
                Err(error)
            }
        }
    }

    /// Gives a file with a directory and an end of these bytes the name of the zip file.
    fn install(&self, writer: &mut Writer, target: &mut Target, bytes: &[u8]) -> Result<()> {
        let fail = |source| self.fail(Fault::Io(source), Operation::Flush, "/");
        write_all_at(&target.file, bytes, writer.end).map_err(fail)?;
        target.file.set_len(writer.end + bytes.len() as u64).map_err(fail)?;
        if let Some(expected) = &writer.published {
            let replaced = |found| ZipFault::Replaced { found, expected: expected.to_string() }.of(self.name.clone());
            match fs::symlink_metadata(&self.path) {
                Ok(metadata) if Stamp::of(&metadata) == *expected => {}
                Ok(metadata) => return Err(replaced(Stamp::of(&metadata).to_string())),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(replaced("no file".to_owned())),
                Err(error) => return Err(fail(error)),
            }
        }
        match target.install(&self.path, writer.published.is_none()) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(Error::NotAStore { store: self.name.clone(), found: "a file", expected: "none" });
            }
            installed => installed.map_err(fail)?,
        }
        writer.published = Some(Stamp::of(&target.file.metadata().map_err(fail)?));
        Ok(())
    }

    /// Flushes and ends the writing.
    pub(super) fn close(&self) -> Result<()> {
        let mut writer = self.writer();
        self.publish(&mut writer)?;
        writer.is_closed = true;
        writer.lock = None;
        Ok(())
    }

    /// Waits until no other writes.
    fn writing(&self, operation: Operation) -> Result<MutexGuard<'_, Writer>> {
        let writer = self.writer();
        if writer.is_closed {
            return Err(Error::ReadOnly { store: self.name.clone(), operation });
        }
        Ok(writer)
    }

    pub(super) fn try_lock(&self, prefix: &Prefix) -> Option<Lock> {
        let threads = Lock::in_process(self, prefix)?;
        let excludes_processes = self.writer().lock.is_some();
        Some(if excludes_processes { Lock::between_processes(threads) } else { threads })
    }

    pub(super) fn take_warning(&self) -> Option<String> {
        self.warning.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The error for an entry that can be neither replaced nor erased.
    fn is_kept(&self, name: &str, operation: Operation) -> Error {
        ZipFault::Kept { name: name.to_owned(), operation }.of(self.name.clone())
    }

    fn fail(&self, fault: Fault, operation: Operation, key: &str) -> Error {
        match fault {
            Fault::Zip(fault) => fault.of(self.name.clone()),
            Fault::Io(source) if source.kind() == io::ErrorKind::ReadOnlyFilesystem => {
                Error::ReadOnly { store: self.name.clone(), operation }
            }
            Fault::Io(source) => Error::io(self, operation, key, source),
            Fault::Store(error) => error,
            Fault::Gone => Error::NoStore { store: self.name.clone() },
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // `close` reports errors.
        let _ = self.flush();
    }
}

impl fmt::Display for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

/// Takes the lock of the file at `path`; or a warning, where there are no locks.
fn take_lock(name: &str, path: &Path) -> Result<(Option<WriteLock>, Option<String>)> {
    match WriteLock::take(path).map_err(|source| Error::io(&name, Operation::Lock, "/", source))? {
        Taken::Lock(lock) => Ok((Some(lock), None)),
        Taken::Busy => Err(ZipFault::Locked.of(name.to_owned())),
        Taken::Refused(error) => {
            let warning = format!(
                "{name}: the file system has no advisory locks ({error}), so that of two processes that write to the zip file at \
                 once one fails when it is closed, or loses what it wrote"
            );
            Ok((None, Some(warning)))
        }
    }
}

/// A number that is another each time.
fn random() -> u64 {
    RandomState::new().hash_one(0)
}
