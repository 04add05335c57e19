//! Defines a non-blocking store and creates an array in it. The values are in a map in memory; a client of a network would await a response
//! in place of the lock.
//!
//! `cargo run -p zarr-rs --example async_store`

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zarr::AsyncStore;
use zarr::prelude::*;
use zarr::store::{
    AccessProfile, Answer, Asynchronous, BoxFuture, Bytes, Call, Capabilities, Fetched, Key, Listing, Result, block_on,
    fallback,
};

/// Store of values in memory. The values have no versions: writers of parts of one chunk have to take turns.
#[derive(Debug, Default)]
struct RemoteMap(Mutex<BTreeMap<Key, Bytes>>);

impl RemoteMap {
    async fn map(&self) -> MutexGuard<'_, BTreeMap<Key, Bytes>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Display for RemoteMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("remote-map:")
    }
}

impl AsyncStore for RemoteMap {
    fn call<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            Ok(match call {
                Call::Get { key, ranges, options } => {
                    let Some(value) = self.map().await.get(&*key).cloned() else { return Ok(Answer::Got(None)) };
                    Answer::Got(Some(Fetched::of_value(self, &key, value, None, &ranges, &options)?))
                }
                Call::Set { key, value, .. } => {
                    self.map().await.insert(key.into_owned(), value.into_bytes());
                    Answer::Set(None)
                }
                Call::Erase { key } => {
                    self.map().await.remove(&*key);
                    Answer::Done
                }
                Call::ListDir { prefix } => {
                    let map = self.map().await;
                    let first =
                        |from: Bound<&str>| map.range::<str, _>((from, Bound::Unbounded)).next().map(|(key, _)| key);
                    Answer::Listing(Listing::directly_under(&prefix, first))
                }
                call => return fallback(Asynchronous(self), call).await,
            })
        })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::none().write(true).list(true)
    }

    fn access_profile(&self) -> AccessProfile {
        AccessProfile::REMOTE
    }
}

async fn run(store: &Arc<dyn AsyncStore>) -> zarr::Result<Vec<i32>> {
    let new = NewArray::new(&[100], "int32").chunks(&[10]);
    let array = zarr::create((store, "/a")).array(new).await?;
    array.write(.., &(0..100).collect::<Vec<i32>>()).await?;
    zarr::open((store, "/a")).array().await?.read(25..45).await
}

fn main() -> zarr::Result<()> {
    let store: Arc<dyn AsyncStore> = Arc::new(RemoteMap::default());
    // A program with a runtime awaits it.
    let elements = block_on(run(&store))?;
    println!("{elements:?}");
    assert_eq!(elements, (25..45).collect::<Vec<i32>>());
    // It keeps all that the contract asks of a store.
    block_on(zarr::store::testing::contract_async(&RemoteMap::default()));
    Ok(())
}

#[test]
fn it_runs() {
    main().expect("the example runs");
}
