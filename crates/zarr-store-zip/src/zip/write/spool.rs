//! Values that are set piece by piece. They are stored in separate files until they are complete, since other values are appended
//! meanwhile.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crc32fast::Hasher;
use zarr_store::{Bytes, Key, Operation, Result, SetOptions, SetStream, Version};

use super::content::Content;
use super::lock::beside;
use super::{Session, random};
use crate::zip::file::write_all_at;
use crate::zip::plan::Fault;

/// Pieces of a value, in a file that is removed when this value is dropped.
pub(in crate::zip) struct Spool {
    options: SetOptions,
    path: PathBuf,
    /// Pieces written so far; `None` once the value is finished, or a step has failed.
    written: Mutex<Option<Written>>,
}

struct Written {
    file: File,
    len: u64,
    crc: Hasher,
}

impl Drop for Spool {
    fn drop(&mut self) {
        drop(self.written.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        let _ = fs::remove_file(&self.path);
    }
}

impl Session {
    /// Begins to set a value piece by piece, after a head of `head` bytes that is given last.
    pub(in crate::zip) fn begin_set(&self, key: &Key, head: u64, options: &SetOptions) -> Result<SetStream> {
        drop(self.writing(Operation::Set)?);
        let path = beside(&self.path, &format!(".zarr-value-{:x}", random()));
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path);
        let file = file.map_err(|source| self.spool_failed(source, key))?;
        if cfg!(unix) {
            // The file has no name from here on, so a killed process leaves nothing behind.
            let _ = fs::remove_file(&path);
        }
        let written = Mutex::new(Some(Written { file, len: 0, crc: Hasher::new() }));
        Ok(SetStream::new(head, Spool { options: options.clone(), path, written }))
    }

    /// Appends pieces to a value that is being set.
    pub(in crate::zip) fn append_to_set(&self, key: &Key, stream: &SetStream, pieces: &[Bytes]) -> Result<()> {
        let spool: &Spool = stream.state(self, key)?;
        let mut slot = spool.written.lock().unwrap_or_else(PoisonError::into_inner);
        // The state is put back only if nothing fails.
        let mut written = slot.take().ok_or_else(|| SetStream::ended(self, key))?;
        for piece in pieces {
            write_all_at(&written.file, piece, written.len).map_err(|source| self.spool_failed(source, key))?;
            written.crc.update(piece);
            written.len += piece.len() as u64;
        }
        *slot = Some(written);
        Ok(())
    }

    /// Sets the value to the head followed by its pieces.
    pub(in crate::zip) fn finish_set(&self, key: &Key, stream: &SetStream, head: &[u8]) -> Result<Version> {
        stream.check_head(self, key, head)?;
        let spool: &Spool = stream.state(self, key)?;
        let written = spool.written.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Written { file, len, crc: rest } = written.ok_or_else(|| SetStream::ended(self, key))?;
        let mut crc = Hasher::new();
        crc.update(head);
        crc.combine(&rest);
        self.set(key, &Content::File { head, file: &file, len, crc: crc.finalize() }, &spool.options)
    }

    fn spool_failed(&self, source: io::Error, key: &Key) -> zarr_store::Error {
        self.fail(Fault::Io(source), Operation::Set, key.as_str())
    }
}
