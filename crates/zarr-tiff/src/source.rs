//! The bytes of a file, as ranges of a value of a store.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use zarr_store::{ByteRange, Bytes, Error, GetOptions, Key, Result, Snapshot, Store, StoreExt, StoreKind};
use zarr_store_virtual::Blocks;

use crate::TiffFault;

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
        let value = store.get(&key, &[ByteRange::First(Blocks::first(is_far))], &GetOptions::snapshot())?;
        let value = value.ok_or_else(|| Error::NoStore { store: name.clone() })?;
        let size = value.size.ok_or_else(|| Error::contract(&store, &key, "no size", "the size of the value"))?;
        let state = value.snapshot.clone();
        let blocks = Blocks::new(size, is_far, &value.into_bytes());
        Ok((Self { name, store, key, size, state }, blocks))
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

    /// The bytes of a range inside the file, out of blocks that are kept. Large ones are not kept.
    pub(crate) fn read(&self, blocks: &Blocks, range: Range<u64>) -> Result<Vec<u8>> {
        if range.end - range.start > Blocks::MOST as u64 {
            return Ok(self.get(range)?.to_vec());
        }
        blocks.read(range, |range| self.get(range))
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("name", &self.name).finish_non_exhaustive()
    }
}
