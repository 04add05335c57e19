use proptest::prelude::*;
use zarr_store::*;

// clause: p2019-26, d2022-30, d2022-155, d2022-169
#[test]
fn keeps_the_contract() {
    testing::contract(&MemoryStore::new());
}

#[test]
fn values_are_lent() {
    let store = MemoryStore::new();
    let key = Key::new("a").expect("a key");
    let value = Bytes::from(vec![7; 100]);
    store.set_bytes(&key, value.clone(), &Precondition::None).expect("set");
    let got = store.get_all(&key).expect("get").expect("there");
    assert_eq!(got.as_ptr(), value.as_ptr());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn listing_equals_a_scan(keys in proptest::collection::btree_set("[ab0.-]{1,2}(/[ab0.-]{1,2}){0,3}", 0..30)) {
        let keys: Vec<Key> = keys.iter().filter_map(|key| Key::new(key).ok()).collect();
        let store = MemoryStore::new();
        for key in &keys {
            store.set_all(key, b"").expect("set");
        }
        let mut prefixes: Vec<Prefix> = keys.iter().map(Key::parent).collect();
        prefixes.push(Prefix::root());
        for prefix in prefixes {
            let mut expected = Listing::default();
            for key in &keys {
                let Some(rest) = prefix.strip(key) else { continue };
                match rest.split_once('/') {
                    None => expected.keys.push(key.clone()),
                    Some((name, _)) => expected.prefixes.push(Prefix::new(&format!("{prefix}{name}/")).expect("a prefix")),
                }
            }
            expected.prefixes.sort();
            expected.prefixes.dedup();
            prop_assert_eq!(store.list_dir(&prefix).expect("list"), expected);
            let under: Vec<Key> = keys.iter().filter(|key| prefix.contains(key)).cloned().collect();
            prop_assert_eq!(store.list_prefix(&prefix).expect("list"), under);
        }
    }
}
