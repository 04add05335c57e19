//! Writing of zip files.
//!
//! A zip file is never changed in place: while entries are appended, it has no directory at its end, and other readers would fail,
//! permanently if the process is killed then. The first set makes a copy under a temporary name, in which new entries replace the old
//! directory. A flush adds the new directory and gives the copy the name of the zip file.

mod content;
mod index;
mod lock;
mod publish;
mod record;
mod repack;
mod spool;
mod target;
mod turn;

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
    ByteRange, ByteRangeExt, Bytes, Capabilities, Error, Fetched, GetOptions, Key, Listing, Lock, Operation, Prefix,
    Result, SetOptions, SizeVisitor, Version,
};

use super::file;
use super::get::{Access, Getting};
use super::opened;
use super::opening::Opening;
use super::plan::{self, Fault};
use crate::{ZipArrangement, ZipFault, ZipOptions};
pub(super) use content::Content;
use index::{Index, Value};
use lock::{Taken, WriteLock};
use record::Record;
pub(super) use target::Stamp;
use target::Target;

/// Capabilities of a store that writes a zip file.
pub(super) const CAPABILITIES: Capabilities = opened::CAPABILITIES
    .write(true)
    .conditional(true)
    .durable(true)
    .erases_at_once(true)
    .appears_at_flush(true)
    .streams(true);

/// Greatest length of the name of an entry in bytes.
const MAX_NAME: usize = u16::MAX as usize;

/// Zip file that is being written.
pub(super) struct Session {
    name: String,
    /// Path of the file itself, with links resolved.
    path: PathBuf,
    access: Access,
    /// Locked only briefly, after `writer`.
    index: RwLock<Index>,
    writer: Mutex<Writer>,
    /// Stamp of the file that was read, while this session has no turn: see [`turn`]. Locked only briefly, after `writer`.
    idle: RwLock<Option<Stamp>>,
    warnings: Mutex<Vec<String>>,
}

/// State that one writer at a time uses.
struct Writer {
    options: ZipOptions,
    arrangement: Option<ZipArrangement>,
    /// Whether keys were erased that the file at the path still has.
    has_erased: bool,
    /// Whether work after the publication of a file is still to be done.
    is_unsettled: bool,
    /// Whether no entry of the file at the path is needed any more.
    starts_over: bool,
    /// Bytes of values that were replaced or erased and are still in the file, since the last warning.
    left: u64,
    /// New file with changes that are not published yet; `None` if there are none.
    target: Option<Target>,
    /// Stamp of the file at the path; `None` if there is no file yet.
    published: Option<Stamp>,
    /// Offset of the next entry: after the last entry, over the old directory.
    end: u64,
    /// Comment of the file.
    comment: Bytes,
    is_closed: bool,
    /// Whether this session may write; if there are locks, it then holds the lock.
    has_turn: bool,
    lock: Option<WriteLock>,
}

impl Writer {
    fn new(published: Option<Stamp>, lock: Option<WriteLock>) -> Self {
        Self {
            options: ZipOptions::default(),
            arrangement: None,
            has_erased: false,
            is_unsettled: false,
            starts_over: false,
            left: 0,
            target: None,
            published,
            end: 0,
            comment: Bytes::new(),
            is_closed: false,
            has_turn: true,
            lock,
        }
    }
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
        let writer = Writer { target: Some(target), ..Writer::new(None, lock) };
        Ok(Self::new(name, path, index, writer, warning))
    }

    /// Begins to write to the existing zip file at `path`.
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
        directory.end.check_alone().map_err(|fault| fault.of(name.clone()))?;
        let writer = Writer {
            end: directory.end.offset,
            comment: directory.end.comment.clone(),
            ..Writer::new(Some(published), lock)
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
            idle: RwLock::new(None),
            warnings: Mutex::new(warning.into_iter().collect()),
        }
    }

    pub(super) fn set_options(&self, options: ZipOptions) {
        self.writer().options = options;
    }

    pub(super) fn arrange(&self, arrangement: ZipArrangement) {
        self.writer().arrangement = Some(arrangement);
    }

    /// Takes over the number of the file for versions, if the file still has this stamp.
    pub(super) fn number_if(&self, stamp: &Stamp, number: u64) {
        if self.writer().published.as_ref() == Some(stamp) {
            self.index_mut().number = number;
        }
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
        self.look()?;
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

    pub(super) fn list_dir(&self, prefix: &Prefix) -> Result<Listing> {
        self.look()?;
        Ok(self.index().list_dir(prefix))
    }

    pub(super) fn list_prefix(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        self.look()?;
        Ok(self.index().list_prefix(prefix))
    }

    pub(super) fn visit_sizes(&self, prefix: &Prefix, visit: &SizeVisitor) -> Result<()> {
        self.look()?;
        self.index().visit_sizes(prefix, visit);
        Ok(())
    }

    pub(super) fn set(&self, key: &Key, content: &Content<'_>, options: &SetOptions) -> Result<Version> {
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
        let mut writer = self.writing(Operation::Set)?;
        let found = {
            let index = self.index();
            let found = index.values.get(key).map(|value| (Arc::clone(value), index.version(value)));
            options.when.check(self, key, found.as_ref().map(|(_, version)| version))?;
            found.map(|(value, version)| (Arc::clone(&index.file), value, version))
        };
        let mut left = 0;
        if let Some((file, old, version)) = found {
            match self.is_same(&file, &old, content) {
                Ok(true) => return Ok(version),
                // An entry that cannot be read is replaced too.
                _ if writer.options.replace => left = old.entry.compressed,
                Ok(false) => return Err(self.is_kept(name, Operation::Set)),
                Err(error) => return Err(error),
            }
        }
        let fail = |source| self.fail(Fault::Io(source), Operation::Set, name);
        let record = Record::stored(name, content.crc(), content.size(), writer.end);
        let local = record.local(name.as_bytes());
        let data = writer.end + local.len() as u64;
        let file = self.target(&mut writer).map_err(fail)?;
        content.write(&file, local, writer.end).map_err(fail)?;
        // Bytes that a failed write left are overwritten by the next write, or cut off.
        writer.end = data + content.size();
        writer.left += left;
        let value = Value::new(key.clone(), record, data);
        let mut index = self.index_mut();
        let version = index.version(&value);
        index.values.insert(key.clone(), Arc::new(value));
        Ok(version)
    }

    /// Returns whether a value has exactly these bytes.
    fn is_same(&self, file: &File, old: &Value, content: &Content<'_>) -> Result<bool> {
        if (old.entry.size, old.entry.crc) != (content.size(), content.crc()) {
            return Ok(false);
        }
        content.is_read_by(self, &old.entry, &|range| self.read(file, old, &[range]))
    }

    pub(super) fn erase(&self, key: &Key) -> Result<()> {
        let mut writer = self.writing(Operation::Erase)?;
        let keys = self.index().values.get_key_value(key).map(|(key, _)| key.clone());
        self.erase_all(&mut writer, keys.as_slice())
    }

    pub(super) fn erase_prefix(&self, prefix: &Prefix) -> Result<()> {
        let mut writer = self.writing(Operation::Erase)?;
        let keys = self.index().list_prefix(prefix);
        self.erase_all(&mut writer, &keys)
    }

    /// Erases existing keys.
    fn erase_all(&self, writer: &mut Writer, keys: &[Key]) -> Result<()> {
        let Some(first) = keys.first() else { return Ok(()) };
        if !writer.options.replace {
            return Err(self.is_kept(first.as_str(), Operation::Erase));
        }
        let mut index = self.index_mut();
        for key in keys {
            if let Some(value) = index.values.remove(key) {
                writer.left += value.entry.compressed;
            }
        }
        writer.has_erased = true;
        if index.values.is_empty() {
            // Nothing in the file is needed. Other bytes come to be at the same offsets.
            index.folders.clear();
            index.number = random();
            (writer.target, writer.starts_over, writer.end, writer.left) = (None, true, 0, 0);
        }
        Ok(())
    }

    /// Returns the file that is written. Creates it for the first change since the last flush.
    fn target(&self, writer: &mut Writer) -> io::Result<Arc<File>> {
        if let Some(target) = &writer.target {
            return Ok(Arc::clone(&target.file));
        }
        let published = Arc::clone(&self.index().file);
        let target = match writer.starts_over {
            true => Target::create_like(&self.path, &published)?,
            false => Target::copy(&self.path, &published, writer.end)?,
        };
        let file = Arc::clone(&target.file);
        writer.target = Some(target);
        // Entries are where they were.
        self.index_mut().file = Arc::clone(&file);
        Ok(file)
    }

    /// Locks the writer, and takes the turn to write.
    fn writing(&self, operation: Operation) -> Result<MutexGuard<'_, Writer>> {
        let mut writer = self.writer();
        if writer.is_closed {
            return Err(Error::ReadOnly { store: self.name.clone(), operation });
        }
        self.take_turn(&mut writer)?;
        Ok(writer)
    }

    pub(super) fn try_lock(&self, prefix: &Prefix) -> Result<Option<Lock>> {
        let Some(threads) = Lock::in_process(self, prefix) else { return Ok(None) };
        let mut writer = self.writer();
        if !writer.is_closed {
            self.take_turn(&mut writer)?;
        }
        Ok(Some(if writer.lock.is_some() { Lock::between_processes(threads) } else { threads }))
    }

    fn warn(&self, warning: String) {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).push(warning);
    }

    pub(super) fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut *self.warnings.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the error for an entry that can be neither replaced nor erased.
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

impl fmt::Display for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

/// Takes the lock of the file at `path`, or returns a warning if there are no locks.
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

/// Returns a random number.
fn random() -> u64 {
    RandomState::new().hash_one(0)
}
