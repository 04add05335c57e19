//! The bytes of a file, as ranges of a value of a store.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};

use hdf5_reader::{Storage, StorageBuffer};
use zarr_store::{ByteRange, Bytes, Error, ErrorKind, GetOptions, Key, Operation, Result, Snapshot, Store};

use crate::fault::Fault;

/// Number of bytes that are got at once at first. The parts of metadata lie anywhere in a file.
const BLOCK: u64 = 64 << 10;
/// Number of blocks that a get for metadata grows to.
const MAX_BLOCKS: u64 = 16;
/// Maximum number of blocks that are kept.
const KEPT: usize = 1024;
/// Maximum number of bytes of a part of the metadata.
const MAX_PART: usize = 256 << 20;

/// A file in a store, and the blocks of it that were read last.
pub(crate) struct Source {
    /// Name of the file in messages.
    name: String,
    store: Arc<dyn Store>,
    key: Key,
    /// Where the file begins in the value: behind the user block.
    base: u64,
    /// Bytes from there.
    len: u64,
    /// The state of the value that is read.
    state: Option<Snapshot>,
    blocks: Mutex<Blocks>,
}

#[derive(Default)]
struct Blocks {
    bytes: HashMap<u64, Bytes>,
    order: VecDeque<u64>,
    /// Number of blocks that the next get asks for.
    next: u64,
    /// The errors of the store, which the reader of the format cannot carry, by the threads that met them.
    failed: HashMap<ThreadId, Error>,
}

impl Source {
    /// The file at `key`, whose signature lies at its beginning or behind a user block.
    pub(crate) fn open(name: String, store: Arc<dyn Store>, key: Key) -> Result<Self> {
        let value = store.get(&key, &[], &GetOptions::snapshot())?;
        let value = value.ok_or_else(|| Error::NoStore { store: name.clone() })?;
        let size = value.size.ok_or_else(|| Error::contract(&store, &key, "no size", "the size of the value"))?;
        let mut source =
            Self { name, store, key, base: 0, len: size, state: value.snapshot.clone(), blocks: Mutex::default() };
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
        if at > 0 {
            source = Self { base: at, len: size - at, blocks: Mutex::default(), ..source };
        }
        Ok(source)
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    pub(crate) fn key(&self) -> &Key {
        &self.key
    }

    pub(crate) fn state(&self) -> Option<Snapshot> {
        self.state.clone()
    }

    /// Where the file begins in the value.
    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    /// The error of the store that a read of this thread failed with, if one did.
    pub(crate) fn take_failure(&self) -> Option<Error> {
        self.lock().failed.remove(&thread::current().id())
    }

    /// Whether a read of this thread failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.lock().failed.contains_key(&thread::current().id())
    }

    /// `len` bytes from `at` on, out of blocks that are kept.
    pub(crate) fn read(&self, at: u64, len: usize) -> Result<Vec<u8>> {
        let end = at.checked_add(len as u64).filter(|end| *end <= self.len && len <= MAX_PART);
        let end = end.ok_or_else(|| self.outside(at, len))?;
        if len as u64 > MAX_BLOCKS * BLOCK {
            return Ok(self.get(at, end)?.to_vec());
        }
        let mut out = Vec::with_capacity(len);
        let mut from = at;
        while from < end {
            let block = self.block(from / BLOCK)?;
            let begin = (from % BLOCK) as usize;
            let part = block.get(begin..).unwrap_or_default();
            let part = &part[..part.len().min((end - from) as usize)];
            if part.is_empty() {
                return Err(self.outside(at, len));
            }
            out.extend_from_slice(part);
            from += part.len() as u64;
        }
        Ok(out)
    }

    /// Bytes that are not kept: those of a chunk.
    pub(crate) fn get(&self, at: u64, end: u64) -> Result<Bytes> {
        if at > end || end > self.len {
            return Err(self.outside(at, end.saturating_sub(at) as usize));
        }
        let range = ByteRange::Range(self.base + at..self.base + end);
        let got = self.store.get(&self.key, &[range], &GetOptions::if_match(self.state()));
        let fetched = got.map_err(|error| match error.is_precondition() {
            true => self.replaced(),
            false => error,
        })?;
        let fetched = fetched.ok_or_else(|| Error::NoStore { store: self.to_string() })?;
        let bytes = fetched.into_bytes();
        if bytes.len() as u64 != end - at {
            return Err(Error::contract(
                &self.store,
                &self.key,
                format!("{} bytes", bytes.len()),
                "those of the range",
            ));
        }
        Ok(bytes)
    }

    fn block(&self, number: u64) -> Result<Bytes> {
        let count = {
            let mut blocks = self.lock();
            if let Some(block) = blocks.bytes.get(&number) {
                return Ok(block.clone());
            }
            blocks.next = (blocks.next * 2).clamp(1, MAX_BLOCKS);
            let is_missing = |at: &u64| !blocks.bytes.contains_key(at);
            (number..number + blocks.next).take_while(is_missing).count() as u64
        };
        let at = number * BLOCK;
        let got = self.get(at, self.len.min(at + count * BLOCK))?;
        let mut blocks = self.lock();
        for (index, begin) in (0..got.len()).step_by(BLOCK as usize).enumerate() {
            let block = got.slice(begin..got.len().min(begin + BLOCK as usize));
            if blocks.bytes.insert(number + index as u64, block).is_none() {
                blocks.order.push_back(number + index as u64);
            }
        }
        while blocks.order.len() > KEPT
            && let Some(oldest) = blocks.order.pop_front()
        {
            blocks.bytes.remove(&oldest);
        }
        Ok(got.slice(..got.len().min(BLOCK as usize)))
    }

    fn replaced(&self) -> Error {
        let fault = Box::new(Fault::new("the file was replaced after it was opened".to_owned()));
        Error::Format { store: self.name.clone(), kind: ErrorKind::Invalid, fault }
    }

    fn outside(&self, at: u64, len: usize) -> Error {
        let message = format!("found {len} bytes at byte {at} to be read, the file has {}", self.len);
        Error::failed(self, Operation::Get, self.key.as_str(), ErrorKind::Invalid, message)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Blocks> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The first bytes of an HDF5 file, or of what is behind its user block.
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
            self.lock().failed.entry(thread::current().id()).or_insert(error);
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
