//! Defines a store with values in a map, and creates an array in it.
//!
//! `cargo run -p zarr-rs --example own_store`

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zarr::prelude::*;
use zarr::store::{
    AccessProfile, Answer, Bytes, Call, Capabilities, Fetched, Key, Listing, Result, Version, fallback_blocking,
};

#[derive(Debug, Default)]
struct MapStore(Mutex<Values>);

#[derive(Debug, Default)]
struct Values {
    /// Number of sets so far, from which a set takes the version of its value.
    sets: u64,
    map: BTreeMap<Key, (Bytes, Version)>,
}

impl MapStore {
    fn values(&self) -> MutexGuard<'_, Values> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Display for MapStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("map:")
    }
}

impl Store for MapStore {
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        Ok(match call {
            Call::Get { key, ranges, options } => {
                let Some((value, version)) = self.values().map.get(&*key).cloned() else {
                    return Ok(Answer::Got(None));
                };
                Answer::Got(Some(Fetched::of_value(self, &key, value, Some(version), &ranges, &options)?))
            }
            Call::Set { key, value, options } => {
                let mut values = self.values();
                options.when.check(self, &key, values.map.get(&*key).map(|(_, version)| version))?;
                values.sets += 1;
                let version = Version::new(&values.sets.to_string());
                values.map.insert(key.into_owned(), (value.into_bytes(), version.clone()));
                Answer::Set(Some(version))
            }
            Call::Erase { key } => {
                self.values().map.remove(&*key);
                Answer::Done
            }
            Call::ListDir { prefix } => {
                let map = &self.values().map;
                let first =
                    |from: Bound<&str>| map.range::<str, _>((from, Bound::Unbounded)).next().map(|(key, _)| key);
                Answer::Listing(Listing::directly_under(&prefix, first))
            }
            call => return fallback_blocking(self, call),
        })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::none().write(true).list(true).suffix_ranges(true).conditional(true)
    }

    fn access_profile(&self) -> AccessProfile {
        AccessProfile::MEMORY
    }
}

fn main() -> zarr::Result<()> {
    let store: Arc<dyn Store> = Arc::new(MapStore::default());
    let new = NewArray::new(&[100], "int32").chunks(&[30]);
    zarr::create((&store, "/a")).array(new)?.write(.., &(0..100).collect::<Vec<i32>>())?;
    let elements = zarr::open((&store, "/a")).array()?.read::<i32>("::33")?;
    println!("{elements:?}");
    assert_eq!(elements, [0, 33, 66, 99]);
    // It keeps all that the contract asks of a store.
    zarr::store::testing::contract(&MapStore::default());
    Ok(())
}

#[test]
fn it_runs() {
    main().expect("the example runs");
}
