//! The bytes of a file, as ranges of a value of a store.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use zarr_store::{ByteRange, Bytes, Error, GetOptions, Key, Result, Snapshot, Store, StoreKind};

use crate::TiffFault;

/// Number of bytes of a block of metadata.
const BLOCK: u64 = 64 << 10;
/// Number of blocks that are got at first of a file behind a network.
const FIRST: u64 = 4;
/// Maximum number of blocks of one get.
const MOST: u64 = 64;
/// Maximum number of blocks that are kept while a file is opened.
const KEPT: usize = 1024;

/// A file in a store.
pub(crate) struct Source {
    /// Name of the file in messages.
    pub(crate) name: String,
    store: Arc<dyn Store>,
    key: Key,
    /// Bytes of the file.
    size: u64,
    /// The state of the value that is read.
    state: Option<Snapshot>,
}

impl Source {
    /// The file at a key, and the blocks of its metadata, of which the first ones are read.
    pub(crate) fn open(name: String, store: Arc<dyn Store>, key: Key) -> Result<(Self, Blocks)> {
        let is_far = store.access_profile().kind == StoreKind::Remote;
        let first = if is_far { FIRST * BLOCK } else { BLOCK };
        let value = store.get(&key, &[ByteRange::First(first)], &GetOptions::snapshot())?;
        let value = value.ok_or_else(|| Error::NoStore { store: name.clone() })?;
        let size = value.size.ok_or_else(|| Error::contract(&store, &key, "no size", "the size of the value"))?;
        let state = value.snapshot.clone();
        let source = Self { name, store, key, size, state };
        let blocks = Blocks { is_far, kept: RefCell::default() };
        blocks.keep(0, &value.into_bytes(), size);
        Ok((source, blocks))
    }

    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    pub(crate) fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    pub(crate) fn key(&self) -> &Key {
        &self.key
    }

    pub(crate) fn state(&self) -> Option<Snapshot> {
        self.state.clone()
    }

    /// The bytes of a range inside the file.
    pub(crate) fn get(&self, range: Range<u64>) -> Result<Bytes> {
        let size = range.end - range.start;
        let got = self.store.get(&self.key, &[ByteRange::Range(range)], &GetOptions::if_match(self.state()));
        let fetched = got.map_err(|error| match error.is_precondition() {
            true => TiffFault::Replaced.of(&*self.name),
            false => error,
        })?;
        let bytes = fetched.ok_or_else(|| Error::NoStore { store: self.name.clone() })?.into_bytes();
        if bytes.len() as u64 != size {
            let found = format!("{} bytes", bytes.len());
            return Err(Error::contract(&self.store, &self.key, found, "those of the range"));
        }
        Ok(bytes)
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The blocks of a file that were read while it is opened.
///
/// Gets grow: of a file behind a network each is for as much as all before it together, of another one where the next block follows.
pub(crate) struct Blocks {
    is_far: bool,
    kept: RefCell<Kept>,
}

#[derive(Default)]
struct Kept {
    blocks: BTreeMap<u64, Bytes>,
    /// Number of blocks that were got.
    got: u64,
}

impl Blocks {
    /// The bytes of a range inside the file.
    pub(crate) fn read(&self, source: &Source, range: Range<u64>) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(usize::try_from(range.end - range.start).unwrap_or_default());
        let mut from = range.start;
        while from < range.end {
            let number = from / BLOCK;
            let known = self.kept.borrow().blocks.get(&number).cloned();
            let block = match known {
                Some(block) => block,
                None => self.get(source, number, range.end)?,
            };
            let begin = (from % BLOCK) as usize;
            let part = block.get(begin..).unwrap_or_default();
            let part = &part[..part.len().min(usize::try_from(range.end - from).unwrap_or(usize::MAX))];
            if part.is_empty() {
                return Err(Error::Job("a block of a file lacks bytes that are asked for"));
            }
            out.extend_from_slice(part);
            from += part.len() as u64;
        }
        Ok(out)
    }

    fn get(&self, source: &Source, number: u64, end: u64) -> Result<Bytes> {
        let count = source.size.div_ceil(BLOCK);
        let (got, follows) = {
            let kept = self.kept.borrow();
            (kept.got, number.checked_sub(1).is_some_and(|before| kept.blocks.contains_key(&before)))
        };
        let grown = match (self.is_far, follows) {
            (true, _) => got.clamp(FIRST, MOST),
            (false, true) => got.clamp(1, FIRST),
            (false, false) => 1,
        };
        let needed = end.div_ceil(BLOCK) - number;
        let most = (number + needed.max(grown).min(MOST)).min(count);
        let free = (number + 1..most).find(|at| self.kept.borrow().blocks.contains_key(at));
        let last = free.unwrap_or(most);
        let bytes = source.get(number * BLOCK..source.size.min(last * BLOCK))?;
        self.keep(number, &bytes, source.size);
        Ok(bytes.slice(0..bytes.len().min(BLOCK as usize)))
    }

    /// Keeps the blocks from one on, whose last may be cut off by the end of the file only.
    fn keep(&self, first: u64, bytes: &Bytes, size: u64) {
        let mut kept = self.kept.borrow_mut();
        for (number, begin) in (first..).zip((0..bytes.len()).step_by(BLOCK as usize)) {
            let end = bytes.len().min(begin + BLOCK as usize);
            if end - begin < BLOCK as usize && number * BLOCK + ((end - begin) as u64) < size {
                break;
            }
            kept.got += 1;
            if kept.blocks.len() >= KEPT {
                kept.blocks.pop_first();
            }
            kept.blocks.insert(number, bytes.slice(begin..end));
        }
    }
}
