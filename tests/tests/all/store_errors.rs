//! Errors of stores as callers of arrays see them.

use std::fmt;
use std::sync::Arc;
use zarr::prelude::*;
use zarr::store::testing::{self, Altered};
use zarr::store::{
    AccessProfile, Answer, ByteRange, Call, Capabilities, Error, ErrorKind, Fetched, GetOptions, Key, MemoryStore,
    Operation, Result, StoreExt, SyncAsAsync, block_on, fallback_blocking,
};
use zarr::{AsyncArray, AsyncStore};

/// Fails for chunks, with a kind and a source as clients of networks have them.
fn get(store: &MemoryStore, key: &Key, ranges: &[ByteRange], kind: ErrorKind) -> Result<Option<Fetched>> {
    match key.as_str().contains("c/") {
        true => Err(Error::failed(store, Operation::Get, key.as_str(), kind, "503 Slow Down")),
        false => store.get_ranges(key, ranges),
    }
}

/// A store of one value, with no more methods than a store must have.
#[derive(Debug)]
struct OneValue;

impl fmt::Display for OneValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one:")
    }
}

impl OneValue {
    fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        match key.as_str() {
            "a/b" => Fetched::of_value(self, key, b"value".to_vec(), None, ranges, options).map(Some),
            _ => Ok(None),
        }
    }
}

impl Store for OneValue {
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        Ok(match call {
            Call::Get { key, ranges, options } => Answer::Got(self.get(&key, &ranges, &options)?),
            call => return fallback_blocking(self, call),
        })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::none()
    }

    fn access_profile(&self) -> AccessProfile {
        AccessProfile::REMOTE
    }
}

#[test]
fn three_methods_make_a_store_to_read_from() {
    testing::contract_read(&OneValue, &[("a/b", b"value")]);
    testing::contract_read_only(&OneValue);
    assert_eq!(OneValue.list().unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn the_kind_and_the_source_of_a_failure_reach_the_caller() {
    for (kind, retryable) in [
        (ErrorKind::Denied, false),
        (ErrorKind::Throttled, true),
        (ErrorKind::TimedOut, true),
        (ErrorKind::Transient, true),
        (ErrorKind::Io, false),
        (ErrorKind::NotFound, false),
        (ErrorKind::Range, false),
        (ErrorKind::Invalid, false),
    ] {
        let inner =
            Arc::new(Altered::new(MemoryStore::new()).getting(move |store, key, ranges| get(store, key, ranges, kind)));
        let store: Arc<dyn Store> = inner.clone();
        let array = zarr::create((&store, "/a")).array(NewArray::new(&[4], "uint8").codecs("bytes").unwrap()).unwrap();
        array.write_chunk_bytes(&[0], &[1, 2, 3, 4]).unwrap();
        let blocking = array.read::<u8>(..).unwrap_err();
        let store: Arc<dyn AsyncStore> = Arc::new(SyncAsAsync::new(inner));
        let registry = zarr::registry::default();
        let waiting =
            block_on(async { AsyncArray::open(&store, "/a", &registry).await?.read::<u8>(..).await }).unwrap_err();
        for error in [blocking, waiting] {
            assert_eq!(error.to_string(), "memory:: /a: get a/c/0");
            assert_eq!(error.kind(), zarr::ErrorKind::Store);
            assert_eq!(error.store_error().map(Error::kind), Some(kind));
            assert_eq!(error.is_retryable(), retryable, "{kind:?}");
            let source = std::error::Error::source(&error).unwrap();
            assert_eq!(source.to_string(), "503 Slow Down");
        }
    }
}
