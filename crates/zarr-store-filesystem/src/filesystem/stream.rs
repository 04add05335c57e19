//! Values that are written to their files piece by piece.

use std::fs::File;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use zarr_store::{Bytes, Durability, Error, Key, Operation, Result, SetOptions, SetStream, Version};

use super::FilesystemStore;
use super::install::split;
use super::locks::is_refused;
use super::names::{is_temporary, now, temporary, version};
use super::retry::Retry;
use super::vfs::Directory;

/// State of a stream; `None` once it has ended.
struct State(Mutex<Option<Unfinished>>);

impl State {
    fn get(&self) -> MutexGuard<'_, Option<Unfinished>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// File with a temporary name, which is removed when this value is dropped unless the value was set.
struct Unfinished {
    store: FilesystemStore,
    options: SetOptions,
    directory: Directory,
    name: String,
    /// The open file, whose lock shows that its owner is alive. `None` once it is closed.
    file: Option<File>,
    /// Second handle of the file after `file` is closed: it keeps the lock until the value has its name.
    held: Option<File>,
    /// Offset of the next piece.
    end: u64,
    /// Whether the file has got the name of the value.
    is_set: bool,
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        drop((self.file.take(), self.held.take()));
        if !self.is_set {
            // If this fails, a hidden file is left behind.
            let _ = self.store.vfs.remove_file(&self.directory, &self.name);
        }
    }
}

impl Unfinished {
    fn write(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let Some(file) = &self.file else { return Err(io::ErrorKind::NotFound.into()) };
        self.store.vfs.write_at(file, bytes, offset)
    }

    /// Writes the head, sets the time of the file, syncs it if required, and closes it.
    fn complete(&mut self, head: &[u8]) -> io::Result<Version> {
        self.write(head, 0)?;
        let Some(file) = self.file.take() else { return Err(io::ErrorKind::NotFound.into()) };
        let vfs = &self.store.vfs;
        vfs.stamp(&file, now())?;
        if self.options.durability != Durability::None {
            vfs.sync_file(&file)?;
        }
        let stat = vfs.stat_file(&file)?;
        // A lock is given back when the last handle of its file is closed. Without it others take the file for one that was left behind.
        // Elsewhere there is no such lock.
        if cfg!(unix) {
            self.held = Some(file.try_clone()?);
        }
        vfs.close(file)?;
        Ok(version(&stat))
    }
}

impl FilesystemStore {
    /// Begins a file for a value, with space for `head` bytes at its beginning.
    pub(super) fn begin_stream(&self, key: &Key, head: u64, options: &SetOptions) -> Result<SetStream> {
        if is_temporary(key) {
            return Err(Error::Reserved { store: self.to_string(), key: key.clone() });
        }
        let options = SetOptions::when(options.when.clone()).durable(self.level(options.durability));
        let parent = split(key.as_str()).0;
        let mut retry = Retry::default();
        loop {
            let directory = self.make_directories(parent, &mut retry)?;
            self.remove_leftovers(&directory, parent);
            let begun = self.begin_file(directory, &options);
            match begun {
                Ok(mut unfinished) => {
                    unfinished.end = head;
                    return Ok(SetStream::new(head, State(Mutex::new(Some(unfinished)))));
                }
                // The directory was empty, and an erase has removed it; or others took the file for one that was left behind.
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists)
                        && self.again(&mut retry) => {}
                Err(error) => return Err(self.fail(Operation::Set, key.as_str(), error)),
            }
        }
    }

    fn begin_file(&self, directory: Directory, options: &SetOptions) -> io::Result<Unfinished> {
        let name = temporary();
        let file = self.vfs.make_file(&directory, &name)?;
        let (store, options) = (self.clone(), options.clone());
        let file = Some(file);
        let unfinished = Unfinished { store, options, directory, name, file, held: None, end: 0, is_set: false };
        let locked = unfinished.file.as_ref().map_or(Ok(false), |file| self.vfs.try_lock(file));
        match locked {
            Ok(true) => {}
            Ok(false) => return Err(io::ErrorKind::NotFound.into()),
            Err(error) if is_refused(&error) => {}
            Err(error) => return Err(error),
        }
        // Before the file was locked, another process may have removed it as a leftover: check that it exists.
        self.vfs.stat_name(&unfinished.directory, &unfinished.name)?;
        Ok(unfinished)
    }

    /// Writes pieces after those that were written before.
    pub(super) fn append_to_stream(&self, key: &Key, stream: &SetStream, pieces: &[Bytes]) -> Result<()> {
        let mut state = stream.state::<State>(self, key)?.get();
        // The state is put back only if nothing fails.
        let mut unfinished = state.take().ok_or_else(|| SetStream::ended(self, key))?;
        for piece in pieces {
            let end = unfinished.end;
            unfinished.write(piece, end).map_err(|error| self.fail(Operation::Set, key.as_str(), error))?;
            unfinished.end = end.saturating_add(piece.len() as u64);
        }
        *state = Some(unfinished);
        Ok(())
    }

    /// Writes the head, and gives the file its name if the precondition holds.
    pub(super) fn finish_stream(&self, key: &Key, stream: &SetStream, head: &[u8]) -> Result<Version> {
        stream.check_head(self, key, head)?;
        let unfinished = stream.state::<State>(self, key)?.get().take();
        let mut unfinished = unfinished.ok_or_else(|| SetStream::ended(self, key))?;
        let fail = |error| self.fail(Operation::Set, key.as_str(), error);
        let version = unfinished.complete(head).map_err(fail)?;
        let parent = split(key.as_str()).0;
        let (when, name) = (unfinished.options.when.clone(), unfinished.name.clone());
        if self.take_name(&unfinished.directory, &mut None, key, &name, &when)?.is_err() {
            let text = "others erased the directory while the value was written to it";
            return Err(fail(io::Error::new(io::ErrorKind::NotFound, text)));
        }
        unfinished.is_set = true;
        // Who sets the next value on a condition takes the lock of this file.
        drop(unfinished.held.take());
        if unfinished.options.durability == Durability::Full {
            self.sync_path(&unfinished.directory, parent).map_err(fail)?;
        }
        Ok(version)
    }
}
