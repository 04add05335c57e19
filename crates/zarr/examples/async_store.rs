//! A store of one's own that does not block, and an array in it. Here it passes requests on to a store in memory, and counts them.
//!
//! `cargo run -p zarr --example async_store`

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use zarr::prelude::*;
use zarr::store::{
    AccessProfile, BoxFuture, ByteRange, Bytes, Capabilities, Fetched, Key, Listing, MemoryStore, Precondition, Prefix,
    Result, SyncAsAsync, Version, block_on,
};
use zarr::{AsyncArray, AsyncStore};

#[derive(Debug)]
struct Counting {
    inner: SyncAsAsync,
    gets: AtomicUsize,
}

impl fmt::Display for Counting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("counting:")
    }
}

impl AsyncStore for Counting {
    fn get<'a>(&'a self, key: &'a Key, ranges: &'a [ByteRange]) -> BoxFuture<'a, Result<Option<Vec<Bytes>>>> {
        self.inner.get(key, ranges)
    }

    /// With size and version: what arrays ask.
    fn fetch<'a>(&'a self, key: &'a Key, ranges: &'a [ByteRange]) -> BoxFuture<'a, Result<Option<Fetched>>> {
        self.gets.fetch_add(1, Ordering::Relaxed);
        // A client of a network would be awaited here.
        Box::pin(async move { self.inner.fetch(key, ranges).await })
    }

    fn set<'a>(&'a self, key: &'a Key, value: Bytes, when: &'a Precondition) -> BoxFuture<'a, Result<Version>> {
        self.inner.set(key, value, when)
    }

    fn erase<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<()>> {
        self.inner.erase(key)
    }

    fn list_dir<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Listing>> {
        self.inner.list_dir(prefix)
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn access_profile(&self) -> AccessProfile {
        AccessProfile::REMOTE
    }
}

async fn run(store: &Arc<dyn AsyncStore>) -> zarr::Result<Vec<i32>> {
    let registry = zarr::registry::default();
    let new = NewArray::new(&[100], "int32").chunks(&[10]);
    let array = AsyncArray::create(store, "/a", new, &registry).await?;
    array.write(.., &(0..100).collect::<Vec<i32>>()).await?;
    AsyncArray::open(store, "/a", &registry).await?.read(25..45).await
}

fn main() -> zarr::Result<()> {
    let inner = SyncAsAsync::new(Arc::new(MemoryStore::new()));
    let counting = Arc::new(Counting { inner, gets: AtomicUsize::new(0) });
    let store: Arc<dyn AsyncStore> = counting.clone();
    // A program with a runtime awaits it.
    let elements = block_on(run(&store))?;
    let gets = counting.gets.load(Ordering::Relaxed);
    println!("{} elements, {gets} gets", elements.len());
    assert_eq!(elements, (25..45).collect::<Vec<i32>>());
    assert!(gets >= 3, "the region lies in three chunks");
    Ok(())
}

#[test]
fn it_runs() {
    main().expect("the example runs");
}
