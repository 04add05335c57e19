//! The global heap of HDF5, which stores elements of variable length.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use hdf5_reader::Storage;
use hdf5_reader::global_heap::GlobalHeapCollection;

use crate::fault::{Refusal, guarded};

/// Maximum number of heap collections in the cache. A collection has at least 4 KiB in the file.
const KEPT: usize = 64;

/// Maximum number of bytes of the heap collections in the cache.
const KEPT_BYTES: usize = 64 << 20;

/// Cache of the heap collections that were read last.
#[derive(Debug, Default)]
pub(crate) struct Heaps(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    collections: HashMap<u64, Collection>,
    /// Address and number of bytes of each cached collection, oldest first.
    order: VecDeque<(u64, usize)>,
    bytes: usize,
}

type Collection = Arc<HashMap<u32, Vec<u8>>>;

impl Kept {
    /// Adds `collection`, of `bytes` bytes, to the cache, and removes the oldest collections if the cache exceeds its limits.
    fn keep(&mut self, address: u64, collection: Collection, bytes: usize) {
        if bytes > KEPT_BYTES || self.collections.insert(address, collection).is_some() {
            return;
        }
        self.order.push_back((address, bytes));
        self.bytes += bytes;
        while self.order.len() > KEPT || self.bytes > KEPT_BYTES {
            let Some((oldest, bytes)) = self.order.pop_front() else { break };
            self.collections.remove(&oldest);
            self.bytes -= bytes;
        }
    }
}

/// Numbers of bytes of addresses and lengths in a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// Number of bytes of an address.
    pub(crate) offset: u8,
    /// Number of bytes of a length.
    pub(crate) length: u8,
}

/// Reference to an object of the global heap, as stored in a chunk for each element of variable length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reference {
    /// Number of inner elements of the referenced element.
    pub(crate) len: u32,
    collection: u64,
    object: u32,
}

impl Reference {
    /// Returns the number of bytes of a reference in the file.
    pub(crate) fn size(sizes: Sizes) -> usize {
        8 + usize::from(sizes.offset)
    }

    /// Parses a reference; `None` if `bytes` is too short.
    pub(crate) fn parse(sizes: Sizes, bytes: &[u8]) -> Option<Self> {
        let (len, rest) = bytes.split_first_chunk::<4>()?;
        let (address, rest) = rest.split_at_checked(usize::from(sizes.offset))?;
        let (object, _) = rest.split_first_chunk::<4>()?;
        let collection = address.iter().rev().fold(0, |address, &byte| address << 8 | u64::from(byte));
        Some(Self { len: u32::from_le_bytes(*len), collection, object: u32::from_le_bytes(*object) })
    }
}

impl Heaps {
    /// Calls `take` with the bytes of the element `reference`, whose inner elements have `size` bytes. Reads the heap collection unless it
    /// is in the cache.
    pub(crate) fn with<T>(
        &self,
        storage: &dyn Storage,
        sizes: Sizes,
        reference: Reference,
        size: usize,
        take: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, Refusal> {
        if reference.len == 0 {
            return Ok(take(&[]));
        }
        let collection = self.collection(storage, sizes, reference.collection)?;
        let lacking = || Refusal::new(format!("the heap at byte {} lacks an element", reference.collection));
        let object = collection.get(&reference.object).ok_or_else(lacking)?;
        let bytes = (reference.len as usize).checked_mul(size).and_then(|len| object.get(..len));
        bytes.map(take).ok_or_else(lacking)
    }

    fn collection(&self, storage: &dyn Storage, sizes: Sizes, address: u64) -> Result<Collection, Refusal> {
        if let Some(kept) = self.0.lock().unwrap_or_else(PoisonError::into_inner).collections.get(&address) {
            return Ok(Arc::clone(kept));
        }
        let parsed = guarded(|| GlobalHeapCollection::parse_at_storage(storage, address, sizes.offset, sizes.length))?;
        let bytes = parsed.objects.iter().map(|object| object.data.len() + 64).sum();
        let objects = parsed.objects.into_iter().map(|object| (u32::from(object.index), object.data));
        let collection: Collection = Arc::new(objects.collect());
        self.0.lock().unwrap_or_else(PoisonError::into_inner).keep(address, Arc::clone(&collection), bytes);
        Ok(collection)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_collections_make_room() {
        let mut kept = Kept::default();
        for address in 0..KEPT as u64 + 2 {
            kept.keep(address, Collection::default(), 10);
        }
        assert_eq!((kept.collections.len(), kept.bytes), (KEPT, KEPT * 10));
        assert!(!kept.collections.contains_key(&1) && kept.collections.contains_key(&2));
        kept.keep(1000, Collection::default(), KEPT_BYTES - 15);
        assert_eq!((kept.collections.len(), kept.bytes), (2, KEPT_BYTES - 5));
        kept.keep(1001, Collection::default(), KEPT_BYTES + 1);
        assert!(!kept.collections.contains_key(&1001) && kept.collections.contains_key(&1000));
    }
}
