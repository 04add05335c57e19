//! Reads of an HDF5 file as byte ranges of a value in a store.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use hdf5_reader::{Storage, StorageBuffer};
use zarr_store::{
    ByteRange, Bytes, Error, ErrorKind, GetOptions, Key, Operation, Result, Snapshot, Store, StoreExt, StoreKind,
};
use zarr_store_virtual::Blocks;

use crate::fault::Fault;
use crate::kept::Kept;

/// Maximum number of bytes of one read of metadata.
const MAX_PART: usize = 256 << 20;

/// HDF5 file in a store, with a cache of its blocks.
pub(crate) struct Source {
    /// Name of the file in messages.
    name: String,
    store: Arc<dyn Store>,
    key: Key,
    /// Offset of the file in the value, which is the number of bytes of the user block.
    base: u64,
    /// Number of bytes of the file, without the user block.
    len: u64,
    /// Version of the value when the file was opened; `None` if the store has no versions.
    state: Option<Snapshot>,
    blocks: Blocks,
    failed: Failures,
}

/// Error of the store for each thread in which a read failed, since the errors of `hdf5_reader` cannot contain it.
type Failures = Mutex<HashMap<ThreadId, Error>>;

impl Source {
    /// Opens the file at `key`, and finds its signature at the beginning or after a user block.
    pub(crate) fn open(name: String, store: Arc<dyn Store>, key: Key) -> Result<Self> {
        let is_far = store.access_profile().kind == StoreKind::Remote;
        // The first bytes, which are needed in any case, come with the size.
        let value = store.get(&key, &[ByteRange::First(Blocks::first(is_far))], &GetOptions::snapshot())?;
        let value = value.ok_or_else(|| Error::NoStore { store: name.clone() })?;
        let size = value.size.ok_or_else(|| Error::contract(&store, &key, "no size", "the size of the value"))?;
        let state = value.snapshot.clone();
        let blocks = Blocks::new(size, is_far, &value.into_bytes());
        let mut source = Self { name, store, key, base: 0, len: size, state, blocks, failed: Mutex::default() };
        let mut at = 0;
        loop {
            let is_inside = at + SIGNATURE.len() as u64 <= size;
            if !is_inside {
                let store = source.to_string();
                return Err(Error::NotAStore { store, found: "no signature of HDF5", expected: "an HDF5 file" });
            }
            if source.read(at, SIGNATURE.len())? == SIGNATURE {
                break;
            }
            at = if at == 0 { 512 } else { at * 2 };
        }
        (source.base, source.len) = (at, size - at);
        Ok(source)
    }

    /// Returns the store to read chunks from. For a remote file it answers reads of the first blocks from memory.
    pub(crate) fn chunks(&self) -> Arc<dyn Store> {
        match self.state().filter(|_| self.is_far()) {
            Some(state) => {
                let blocks = self.blocks.first_kept();
                Arc::new(Kept::new(Arc::clone(&self.store), self.key.clone(), state, blocks))
            }
            None => Arc::clone(&self.store),
        }
    }

    pub(crate) fn key(&self) -> &Key {
        &self.key
    }

    pub(crate) fn state(&self) -> Option<Snapshot> {
        self.state.clone()
    }

    /// Returns the offset of the file in the value, which is the number of bytes of the user block.
    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    /// Removes and returns the error of the store of a read that failed in this thread.
    pub(crate) fn take_failure(&self) -> Option<Error> {
        self.failures().remove(&thread::current().id())
    }

    /// Returns whether a read failed in this thread and [`Source::take_failure`] was not called since.
    pub(crate) fn has_failed(&self) -> bool {
        self.failures().contains_key(&thread::current().id())
    }

    /// Reads `len` bytes at offset `at` of the file, through the cache if the read is not too large.
    pub(crate) fn read(&self, at: u64, len: usize) -> Result<Vec<u8>> {
        let end = at.checked_add(len as u64).filter(|end| *end <= self.len && len <= MAX_PART);
        let end = end.ok_or_else(|| self.outside(at, len))?;
        if len > Blocks::MOST {
            return Ok(self.get(at, end)?.to_vec());
        }
        self.blocks.read(self.base + at..self.base + end, |range| self.get_value(range))
    }

    /// Returns the number of bytes of the file in the cache.
    pub(crate) fn cached(&self) -> u64 {
        self.blocks.cached()
    }

    /// Returns whether the file is in a remote store.
    pub(crate) fn is_far(&self) -> bool {
        self.blocks.is_far()
    }

    /// Reads the blocks of `ranges` into the cache by one request. Returns whether all blocks are in the cache afterwards; errors are not
    /// reported, since a later read of the blocks meets them again.
    pub(crate) fn read_ahead(&self, ranges: impl Iterator<Item = Range<u64>>) -> bool {
        let of_value = ranges.map(|range| self.base.saturating_add(range.start)..self.base.saturating_add(range.end));
        self.blocks.read_ahead(of_value, |ranges| {
            let asked: Vec<ByteRange> = ranges.iter().cloned().map(ByteRange::Range).collect();
            let fetched = self.store.get(&self.key, &asked, &GetOptions::if_match(self.state()))?;
            Ok(fetched
                .map(|fetched| (0..fetched.len()).map(|index| fetched.to_bytes(index)).collect())
                .unwrap_or_default())
        })
    }

    /// Reads the bytes from `at` to `end` of the file without the cache, for chunks.
    pub(crate) fn get(&self, at: u64, end: u64) -> Result<Bytes> {
        if at > end || end > self.len {
            return Err(self.outside(at, end.saturating_sub(at) as usize));
        }
        self.get_value(self.base + at..self.base + end)
    }

    /// Reads `range` of the value that contains the file.
    fn get_value(&self, range: Range<u64>) -> Result<Bytes> {
        let size = range.end - range.start;
        let got = self.store.get(&self.key, &[ByteRange::Range(range)], &GetOptions::if_match(self.state()));
        let fetched = got.map_err(|error| match error.is_precondition() {
            true => self.replaced(),
            false => error,
        })?;
        let fetched = fetched.ok_or_else(|| Error::NoStore { store: self.to_string() })?;
        let bytes = fetched.into_bytes();
        if bytes.len() as u64 != size {
            return Err(Error::contract(
                &self.store,
                &self.key,
                format!("{} bytes", bytes.len()),
                "those of the range",
            ));
        }
        Ok(bytes)
    }

    fn replaced(&self) -> Error {
        let fault = Box::new(Fault::new("the file was replaced after it was opened".to_owned()));
        Error::Format { store: self.name.clone(), kind: ErrorKind::Invalid, fault }
    }

    fn outside(&self, at: u64, len: usize) -> Error {
        let message = format!("found {len} bytes at byte {at} to be read, the file has {}", self.len);
        Error::failed(self, Operation::Get, self.key.as_str(), ErrorKind::Invalid, message)
    }

    fn failures(&self) -> MutexGuard<'_, HashMap<ThreadId, Error>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Signature of HDF5, at the beginning of a file or after its user block.
pub(crate) const SIGNATURE: &[u8] = b"\x89HDF\r\n\x1a\n";

impl Storage for Source {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_range(&self, offset: u64, len: usize) -> hdf5_reader::error::Result<StorageBuffer> {
        let outside = || hdf5_reader::error::Error::UnexpectedEof {
            offset,
            needed: len as u64,
            available: self.len.saturating_sub(offset),
        };
        if len > MAX_PART || offset.checked_add(len as u64).is_none_or(|end| end > self.len) {
            return Err(outside());
        }
        self.read(offset, len).map(StorageBuffer::from_vec).map_err(|error| {
            let message = error.to_string();
            self.failures().entry(thread::current().id()).or_insert(error);
            hdf5_reader::error::Error::Other(message)
        })
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("name", &self.name).finish_non_exhaustive()
    }
}
