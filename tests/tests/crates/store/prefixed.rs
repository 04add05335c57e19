use proptest::prelude::*;
use std::sync::Arc;
use zarr_drive::{SyncAsAsync, block_on};
use zarr_store::*;

#[test]
fn keeps_the_contract_without_blocking() {
    let inner: Arc<dyn AsyncStore> = Arc::new(SyncAsAsync::new(Arc::new(MemoryStore::new())));
    block_on(testing::contract_async(&Prefixed::new(inner, Prefix::new("a/").expect("a prefix"))));
}

// clause: d2022-203
#[test]
fn keeps_the_contract_and_touches_nothing_else() {
    let inner = MemoryStore::new();
    let neighbour = Key::new("ab/c").expect("a key");
    inner.set_all(&neighbour, b"mine").expect("set");
    testing::contract(&Prefixed::new(&inner, Prefix::new("a/").expect("a prefix")));
    assert_eq!(inner.list().expect("list"), [neighbour]);
}

#[test]
fn is_named_by_where_it_is() {
    let store = Prefixed::new(MemoryStore::new(), Prefix::new("a/b/").expect("a prefix"));
    assert_eq!(store.to_string(), "memory:a/b");
    let key = Key::new("x").expect("a key");
    store.set_all(&key, b"12").expect("set");
    let error = store.get_ranges(&key, &[ByteRange::Range(1..3)]).expect_err("too long");
    assert_eq!(error.to_string(), "memory:a/b: key x: found 2 bytes, expected bytes 1..3");
}

fn in_place(store: &Arc<dyn Store>) -> Prefixed<Arc<dyn Store>> {
    let [prefix, place] = [".stage/1/", "deep/"].map(|prefix| Prefix::new(prefix).expect("a prefix"));
    Prefixed::in_place(Arc::clone(store), prefix, place)
}

#[test]
fn keeps_the_contract_in_place_of_others() {
    // With keys elsewhere and below the prefix; all of them are erased through it.
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    testing::contract(&Prefixed::new(in_place(&store), Prefix::new("deep/").expect("a prefix")));
    assert_eq!(store.list().expect("list"), []);
    let waiting: Arc<dyn AsyncStore> = Arc::new(SyncAsAsync::new(Arc::new(MemoryStore::new())));
    let [prefix, place] = [".stage/1/", "deep/"].map(|prefix| Prefix::new(prefix).expect("a prefix"));
    let in_place = Prefixed::in_place(waiting, prefix, place.clone());
    block_on(testing::contract_async(&Prefixed::new(in_place, place)));
}

#[test]
fn errors_have_the_keys_of_the_place() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let in_place = in_place(&store);
    for name in ["deep/x", "other"] {
        let key = Key::new(name).expect("a key");
        in_place.set_all(&key, b"12").expect("set");
        let error = in_place.get_ranges(&key, &[ByteRange::Range(1..3)]).expect_err("too long");
        assert_eq!(error.to_string(), format!("memory:: key {name}: found 2 bytes, expected bytes 1..3"));
    }
}

proptest! {
    #[test]
    fn keys_under_the_place_lie_elsewhere_and_others_where_they_are(
        names in proptest::collection::btree_set("(deep|deeper|x)(/[ab]){0,2}/v", 1..8),
    ) {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let (in_place, key) = (in_place(&store), |name: &str| Key::new(name).expect("a key"));
        let (old, place) = (key("deep/old"), Prefix::new("deep/").expect("a prefix"));
        store.set_all(&old, b"old").expect("set");
        for name in &names {
            in_place.set_all(&key(name), name.as_bytes()).expect("set");
        }
        for name in &names {
            let below = name.strip_prefix("deep/").map_or(name.clone(), |rest| format!(".stage/1/{rest}"));
            let found = in_place.get_all(&key(name)).expect("get");
            let stored = store.get_all(&key(&below)).expect("get");
            prop_assert_eq!(found.as_deref(), Some(name.as_bytes()));
            prop_assert_eq!(stored.as_deref(), Some(name.as_bytes()));
        }
        let listed = in_place.list_prefix(&place).expect("list");
        let listed: Vec<String> = listed.iter().map(ToString::to_string).collect();
        let expected: Vec<String> = names.iter().filter(|name| name.starts_with("deep/")).cloned().collect();
        prop_assert_eq!(listed, expected);
        in_place.erase_prefix(&place).expect("erased");
        prop_assert!(store.exists(&old).expect("looked") && !in_place.exists(&old).expect("looked"));
    }
}
