use super::map::CacheMap;
use super::{CacheEntry, CacheKey, CachedContent};
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

fn key(owner: u64, at: u64) -> CacheKey {
    CacheKey { owner, index: [at].into_iter().collect() }
}

fn entry() -> Arc<CacheEntry> {
    Arc::new(CacheEntry { content: CachedContent::Missing, version: None })
}

proptest! {
    /// Found entries are the last entries of their keys, and if there is room for all entries, all are found.
    #[test]
    fn is_a_map_that_forgets(
        steps in proptest::collection::vec((0..10_u8, 0..3_u64, 0..40_u64, 0..3_u64, 0..3000_usize), 1..200),
        max_bytes in prop_oneof![Just(0_usize), 1000..20_000_usize, Just(usize::MAX / 2)],
    ) {
        let map = CacheMap::new(max_bytes);
        let mut all: HashMap<CacheKey, (u64, Arc<CacheEntry>)> = HashMap::new();
        for (verb, owner, at, epoch, cost) in steps {
            let key = key(owner, at);
            match verb {
                0 => { map.clear(); all.clear(); prop_assert_eq!(map.bytes(), 0); }
                1..5 => {
                    let entry = entry();
                    map.keep(key.clone(), epoch, &entry, cost);
                    all.insert(key, (epoch, entry));
                }
                _ => {
                    let due = all.get(&key).filter(|(due, _)| *due == epoch).map(|(_, entry)| entry);
                    match (map.find(&key, epoch), due) {
                        (Some(found), due) => prop_assert!(due.is_some_and(|due| Arc::ptr_eq(due, &found))),
                        (None, due) => prop_assert!(due.is_none() || max_bytes <= 20_000),
                    }
                }
            }
            prop_assert!(map.bytes() <= max_bytes);
        }
    }
}

#[test]
fn used_entries_stay() {
    let map = CacheMap::new(200_000);
    let favourites: Vec<CacheKey> = (0..20).map(|at| key(0, at)).collect();
    for key in &favourites {
        map.keep(key.clone(), 0, &entry(), 500);
    }
    for at in 0..2000 {
        map.keep(key(1, at), 0, &entry(), 500);
        for favourite in &favourites {
            assert!(map.find(favourite, 0).is_some(), "after {at} others");
        }
    }
    assert!(map.bytes() > 150_000);
}

#[test]
fn an_entry_that_does_not_fit_drops_the_one_before() {
    let map = CacheMap::new(2000);
    for at in 0..2 {
        map.keep(key(0, at), 0, &entry(), 100);
    }
    map.keep(key(0, 0), 0, &entry(), 5000);
    assert!(map.find(&key(0, 0), 0).is_none());
    assert!(map.find(&key(0, 1), 0).is_some());
    map.clear();
    assert_eq!(map.bytes(), 0);
}
