//! Chunks that are erased while they are read: what has come of them is not taken for what is stored.

use std::fmt;
use std::sync::Arc;
use zarr_array::{ErrorKind, NewArray};
use zarr_store::{
    ByteRange, Capabilities, Coalesce, Fetched, Key, Listing, MemoryStore, Placed, Precondition, Prefix, Result, Store,
    StoreExt, Version,
};

/// A store in memory whose chunks are erased once something was read of them.
#[derive(Debug)]
struct Forgetful(MemoryStore);

impl Forgetful {
    fn forget(&self, key: &Key) -> Result<()> {
        if key.as_str().contains("/c/") { self.0.erase(key) } else { Ok(()) }
    }
}

impl fmt::Display for Forgetful {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Store for Forgetful {
    fn get(&self, key: &Key, ranges: &[ByteRange], into: &mut Fetched) -> Result<bool> {
        let found = self.0.get(key, ranges, into)?;
        self.forget(key)?;
        Ok(found)
    }

    fn get_into(&self, key: &Key, into: &mut [u8]) -> Result<Placed> {
        let mut fetched = Fetched::new();
        if !self.0.get(key, &[ByteRange::Full], &mut fetched)? {
            return Ok(Placed::Missing);
        }
        let value = fetched.part(0);
        into.iter_mut().zip(value).for_each(|(byte, &from)| *byte = from);
        self.forget(key)?;
        Ok(Placed::Found(value.len() as u64))
    }

    fn set(&self, key: &Key, value: &[u8], when: &Precondition) -> Result<Version> {
        self.0.set(key, value, when)
    }

    fn erase(&self, key: &Key) -> Result<()> {
        self.0.erase(key)
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<Listing> {
        self.0.list_dir(prefix)
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn coalesce(&self) -> Coalesce {
        Coalesce { slab: Some(64), ..Coalesce::NEVER }
    }
}

/// Reads the first `wanted` of 1024 bytes, of which the store has so many.
fn read(stored: usize, wanted: u64) -> zarr_array::Result<Vec<u8>> {
    let store: Arc<dyn Store> = Arc::new(Forgetful(MemoryStore::new()));
    let new = NewArray::new(&[1024], "uint8").chunks(&[1024]).codecs_text(r#"["bytes"]"#).unwrap();
    let array = zarr::create_array(&store, "/a", new).unwrap();
    store.set_all(&Key::new("a/c/0").unwrap(), &vec![7; stored]).unwrap();
    array.read::<u8>(..wanted)
}

#[test]
fn a_chunk_that_is_read_at_once_is_whole() {
    assert_eq!(read(1024, 1024).unwrap(), [7; 1024]);
    assert_eq!(read(1024, 64).unwrap(), [7; 64]);
}

#[test]
fn a_chunk_erased_between_slabs_is_an_error() {
    let error = read(1024, 1000).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CorruptChunk);
    assert!(error.message().contains("erased while it was read"), "{error}");
}

#[test]
fn a_chunk_of_a_wrong_size_that_is_erased_is_an_error() {
    for stored in [1000, 1025] {
        let error = read(stored, 1024).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::CorruptChunk);
        assert!(error.message().contains("erased while it was read"), "{error}");
    }
}
