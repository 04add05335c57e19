use super::*;
use proptest::prelude::*;
use std::sync::Arc;
use zarr_drive::{SyncAsAsync, block_on};
use zarr_store::{Counted, Error, MemoryStore, Precondition, StoreExt, testing};

fn key(text: &str) -> Key {
    Key::new(text).expect("a key")
}

// clause: d2022-202, d2022-203
#[test]
fn keeps_the_contract() {
    for max_bytes in [0, 300, 1 << 20] {
        testing::contract(&Cached::new(MemoryStore::new(), max_bytes));
        block_on(testing::contract_async(&Cached::new(SyncAsAsync(Arc::new(MemoryStore::new())), max_bytes)));
    }
}

#[test]
fn cached_parts_are_not_read_again() {
    let store = Cached::new(Counted::new(MemoryStore::new()), 1 << 20);
    let (a, none) = (key("a"), key("none"));
    store.set_all(&a, b"0123456789").expect("set");
    let get = |ranges: &[ByteRange]| {
        let fetched = store.get_ranges(&a, ranges).expect("get").expect("there");
        fetched.parts().map(<[u8]>::to_vec).collect::<Vec<_>>()
    };
    let parts = [ByteRange::Suffix(2), ByteRange::Range(1..3)];
    for _ in 0..3 {
        assert_eq!(get(&parts), [b"89", b"12"]);
        assert_eq!(store.get_all(&none).expect("get"), None);
    }
    assert_eq!(store.inner().take().gets, 2);
    // Any part of a cached range is found.
    assert_eq!(get(&[ByteRange::Range(2..3), ByteRange::From(9), ByteRange::Range(1..1)]), [&b"2"[..], b"9", b""]);
    assert_eq!(store.inner().take().gets, 0);
    // Pieces that touch are not put together.
    get(&[ByteRange::Range(3..8)]);
    get(&[ByteRange::Range(2..8)]);
    get(&[ByteRange::Full]);
    assert_eq!(store.inner().take().gets, 3);
    assert_eq!(get(&[ByteRange::From(7), ByteRange::Full, ByteRange::Range(0..0)]), [&b"789"[..], b"0123456789", b""]);
    assert_eq!((store.size(&a).expect("size"), store.size(&none).expect("size")), (Some(10), None));
    assert_eq!(store.inner().take().gets, 0);
    assert!(matches!(store.get_ranges(&a, &[ByteRange::Suffix(11)]), Err(Error::Range { .. })));
    store.clear();
    assert_eq!(store.cached_bytes(), 0);
}

#[test]
fn used_values_stay() {
    let store = Cached::new(Counted::new(MemoryStore::new()), 100_000);
    let value = |range| store.get_ranges(&key("often"), &[range]).expect("get").expect("there").part(0).len();
    store.set_all(&key("often"), &[7; 1000]).expect("set");
    assert_eq!((value(ByteRange::Range(0..100)), value(ByteRange::Range(500..600))), (100, 100));
    for other in 0..2000 {
        let other = key(&format!("k{other}"));
        store.set_all(&other, &[0; 500]).expect("set");
        store.get_all(&other).expect("get");
        store.inner().take();
        assert_eq!((value(ByteRange::Range(10..90)), value(ByteRange::Range(500..600))), (80, 100));
        assert_eq!(store.inner().take().gets, 0, "{other}");
    }
    assert!(store.cached_bytes() > 80_000);
}

#[test]
fn pieces_of_two_states_do_not_mix() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = zarr_store_filesystem::FilesystemStore::create(folder.path()).expect("a store");
    let memory = MemoryStore::new();
    let stores: [&dyn Store; 2] = [&files, &memory];
    for inner in stores {
        let store = Cached::new(inner, 1 << 20);
        let a = key("a");
        let get = |ranges: &[ByteRange]| {
            let fetched = store.get_ranges(&a, ranges).expect("get").expect("there");
            fetched.parts().flatten().copied().collect::<Vec<_>>()
        };
        inner.set_all(&a, b"0000").expect("set");
        assert_eq!(get(&[ByteRange::Range(0..1)]), b"0");
        assert_eq!(get(&[ByteRange::Suffix(1)]), b"0");
        inner.set_all(&a, b"1111").expect("set");
        // Cached parts of the old state stay, but nothing is added to them.
        assert_eq!(get(&[ByteRange::Range(0..1), ByteRange::Range(3..4)]), b"00");
        assert_eq!(get(&[ByteRange::Range(1..2)]), b"1");
        assert_eq!(get(&[ByteRange::Range(0..1), ByteRange::Range(3..4)]), b"11");
    }
}

#[test]
fn many_threads_read_and_write() {
    let store = Cached::new(MemoryStore::new(), 20_000);
    std::thread::scope(|scope| {
        for thread in 0..8_u64 {
            let store = &store;
            scope.spawn(move || {
                let key = key(&format!("k{}", thread / 2));
                for round in 0..300_u64 {
                    if round % 7 == 0 {
                        store.set_all(&key, &[(round % 251) as u8; 500]).expect("set");
                    }
                    let at = round * 31 % 400;
                    let ranges = [ByteRange::Range(at..at + 100), ByteRange::Suffix(100)];
                    if let Some(fetched) = store.get_ranges(&key, &ranges).expect("get") {
                        let bytes: Vec<u8> = fetched.parts().flatten().copied().collect();
                        assert!(bytes.len() == 200 && bytes.iter().all(|byte| *byte == bytes[0]), "{bytes:?}");
                    }
                }
            });
        }
    });
    assert!(store.cached_bytes() <= 20_000);
    store.clear();
    assert_eq!(store.cached_bytes(), 0);
}

#[test]
fn a_failed_write_drops_the_cached_value() {
    let inner = MemoryStore::new();
    let store = Cached::new(&inner, 1 << 20);
    let a = key("a");
    store.set_all(&a, b"old").expect("set");
    let version = |store: &dyn Store| {
        let fetched = store.get_ranges(&a, &[ByteRange::Full]).expect("get").expect("there");
        Precondition::Version(fetched.version.expect("a version"))
    };
    let stale = version(&store);
    inner.set_all(&a, b"of others").expect("set");
    assert_eq!(version(&store), stale);
    assert!(matches!(store.set_if(&a, b"mine", &stale), Err(Error::Precondition { .. })));
    store.set_if(&a, b"mine", &version(&store)).expect("set");
    assert_eq!(store.get_all(&a).expect("get").as_deref(), Some(&b"mine"[..]));
}

proptest! {
    #[test]
    fn is_like_the_store_below_and_stays_small(
        steps in proptest::collection::vec((0_u8..6, 0_usize..4, 0_usize..200), 1..60),
        max_bytes in 0_usize..1500,
    ) {
        let (store, plain) = (Cached::new(MemoryStore::new(), max_bytes), MemoryStore::new());
        for (verb, name, len) in steps {
            let key = key(&format!("k{name}"));
            let value = vec![len as u8; len];
            match verb {
                0 => drop((store.set_all(&key, &value).unwrap(), plain.set_all(&key, &value).unwrap())),
                1 => { store.erase(&key).unwrap(); plain.erase(&key).unwrap(); }
                2 => {
                    let parts = [(len as u64, &b"xy"[..])];
                    store.set_partial(&key, &parts).unwrap();
                    plain.set_partial(&key, &parts).unwrap();
                }
                3 => prop_assert_eq!(store.size(&key).unwrap(), plain.size(&key).unwrap()),
                4 => {
                    let len = len as u64;
                    let ranges = [ByteRange::Range(len / 3..len / 2), ByteRange::From(len / 4), ByteRange::Suffix(len / 5)];
                    let ranges = ranges.map(|range| (key.clone(), range));
                    match (store.get_partial_values(&ranges), plain.get_partial_values(&ranges)) {
                        (Ok(a), Ok(b)) => prop_assert_eq!(a, b),
                        (a, b) => prop_assert!(a.is_err() && b.is_err()),
                    }
                }
                _ => prop_assert_eq!(store.get_all(&key).unwrap(), plain.get_all(&key).unwrap()),
            }
            prop_assert!(store.cached_bytes() <= max_bytes);
        }
    }
}

#[test]
fn a_cache_that_revalidates_sees_the_writes_of_others() {
    let memory = Arc::new(Counted::new(MemoryStore::new()));
    let store = Cached::revalidating(Arc::clone(&memory), 1 << 20);
    let (a, none) = (key("a"), key("none"));
    let counts = |hits, misses, outdated| {
        let found = store.counts();
        assert_eq!((found.hits, found.misses, found.outdated), (hits, misses, outdated));
    };
    memory.set_all(&a, b"first").expect("set");
    for round in 0..3 {
        memory.take();
        assert_eq!(store.get_all(&a).expect("get").as_deref(), Some(&b"first"[..]));
        // One request, and bytes only at first.
        assert_eq!((memory.counts().gets, memory.counts().bytes_read), (1, if round == 0 { 5 } else { 0 }));
    }
    counts(2, 1, 0);
    memory.set_all(&a, b"second").expect("set");
    memory.take();
    assert_eq!(store.get_all(&a).expect("get").as_deref(), Some(&b"second"[..]));
    assert_eq!((memory.take().gets, store.get_all(&a).expect("get").as_deref()), (1, Some(&b"second"[..])));
    counts(4, 1, 1);
    memory.erase(&a).expect("erase");
    assert_eq!(store.get_all(&a).expect("get"), None);
    // A missing key has no version.
    assert_eq!(store.get_all(&none).expect("get"), None);
    memory.set_all(&none, b"now").expect("set");
    assert_eq!(store.get_all(&none).expect("get").as_deref(), Some(&b"now"[..]));
}

#[test]
fn caches_that_revalidate_keep_the_contract() {
    for max_bytes in [0, 300, 1 << 20] {
        testing::contract(&Cached::revalidating(MemoryStore::new(), max_bytes));
        testing::contract(&Cached::revalidating(MemoryStore::new(), max_bytes).parts_up_to(3));
        let waiting = SyncAsAsync(Arc::new(MemoryStore::new()));
        block_on(testing::contract_async(&Cached::revalidating(waiting, max_bytes)));
    }
}

#[test]
fn large_parts_are_not_kept() {
    let store = Cached::new(Counted::new(MemoryStore::new()), 1 << 20).parts_up_to(100);
    let (document, chunk) = (key("zarr.json"), key("c/0"));
    store.set_all(&document, &[1; 100]).expect("set");
    store.set_all(&chunk, &[2; 5000]).expect("set");
    let get = |key: &Key, range: ByteRange| store.get_ranges(key, &[range]).expect("get").expect("there").part(0).len();
    for _ in 0..2 {
        assert_eq!((get(&document, ByteRange::Full), get(&chunk, ByteRange::Full)), (100, 5000));
        assert_eq!(get(&chunk, ByteRange::Suffix(68)), 68);
    }
    // The index at the end of the shard is kept, the shard is not.
    assert_eq!(store.inner().take().gets, 4);
    let counts = store.counts();
    assert_eq!((counts.hits, counts.misses), (2, 4));
}

/// A store in memory that notes how many values each call gets.
#[derive(Debug, Default)]
struct Noting {
    memory: MemoryStore,
    gets: std::sync::Mutex<Vec<usize>>,
}

impl fmt::Display for Noting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("noting:")
    }
}

impl Store for Noting {
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        match &call {
            Call::Get { .. } => self.gets.lock().expect("a lock").push(1),
            Call::GetMany { gets } => self.gets.lock().expect("a lock").push(gets.len()),
            _ => {}
        }
        self.memory.call(call)
    }

    fn capabilities(&self) -> zarr_store::Capabilities {
        self.memory.capabilities().locates(true)
    }

    fn access_profile(&self) -> zarr_store::AccessProfile {
        self.memory.access_profile()
    }

    fn location(&self, _: &Key) -> Option<zarr_store::Location> {
        Some(zarr_store::Location::new(1, 2..3))
    }
}

#[test]
fn values_that_are_not_cached_are_got_together() {
    let store = Cached::new(Noting::default(), 1 << 20);
    let keys: Vec<Key> = (0..10).map(|number| Key::new(&format!("a/{number}")).expect("a key")).collect();
    for key in &keys[..8] {
        store.set_all(key, key.as_str().as_bytes()).expect("set");
    }
    assert_eq!(store.location(&keys[0]), Some(zarr_store::Location::new(1, 2..3)));
    assert!(store.capabilities().locates);
    let (full, options) = ([ByteRange::Full], GetOptions::default());
    let get = |keys: &[Key]| {
        let gets = keys.iter().map(|key| ValueGet::new(key, &full, &options)).collect();
        let got = StoreExt::get_many(&store, gets).expect("gets");
        for (key, got) in keys.iter().zip(got) {
            let got = got.expect("a get").map(|got| got.part(0).to_vec());
            let expected = store.inner().memory.get_all(key).expect("get").map(|value| value.to_vec());
            assert_eq!(got, expected, "{key}");
        }
        std::mem::take(&mut *store.inner().gets.lock().expect("a lock"))
    };
    assert_eq!(get(&keys[2..5]), [3]);
    assert_eq!(get(&keys), [7]);
    assert_eq!(get(&keys), [0; 0]);
    store.set_all(&keys[1], b"new").expect("set");
    assert_eq!(get(&keys), [1]);
}
