//! Tests that an SQLite store behaves like a map in memory.

use proptest::prelude::*;
use zarr_store::{ByteRange, ErrorKind, Key, MemoryStore, Prefix};

use super::*;

#[derive(Clone, Debug)]
enum Step {
    Set(Key, Vec<u8>),
    SetIf(Key, Vec<u8>, bool),
    SetMany(Vec<(Key, Vec<u8>)>),
    SetPartial(Key, Vec<(u64, Vec<u8>)>),
    Erase(Key),
    ErasePrefix(Prefix),
    Get(Key, Vec<ByteRange>),
    List(Prefix),
    Reopen,
}

fn keys() -> impl Strategy<Value = Key> {
    "[ab0.%_-]{1,2}(/[abA0.-]{1,2}){0,3}".prop_filter_map("a key", |text| Key::new(&text).ok())
}

fn prefixes() -> impl Strategy<Value = Prefix> {
    prop_oneof![Just(Prefix::root()), keys().prop_map(|key| key.parent())]
}

fn values() -> impl Strategy<Value = Vec<u8>> {
    // The larger ones are read and changed in place.
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..20),
        (65_000_usize..140_000, any::<u8>()).prop_map(|(len, byte)| (0..len).map(|i| byte ^ (i / 977) as u8).collect()),
    ]
}

fn ranges() -> impl Strategy<Value = ByteRange> {
    let at = || prop_oneof![0_u64..25, 0_u64..140_000];
    prop_oneof![
        Just(ByteRange::Full),
        (at(), at()).prop_map(|(a, b)| ByteRange::Range(a..b)),
        at().prop_map(ByteRange::From),
        at().prop_map(ByteRange::Suffix),
        at().prop_map(ByteRange::First),
    ]
}

fn steps() -> impl Strategy<Value = Step> {
    let parts = prop::collection::vec((0_u64..70_000, prop::collection::vec(any::<u8>(), 0..9)), 0..4);
    prop_oneof![
        4 => (keys(), values()).prop_map(|(key, value)| Step::Set(key, value)),
        2 => (keys(), values(), any::<bool>()).prop_map(|(key, value, exists)| Step::SetIf(key, value, exists)),
        1 => prop::collection::vec((keys(), values()), 0..4).prop_map(Step::SetMany),
        2 => (keys(), parts).prop_map(|(key, parts)| Step::SetPartial(key, parts)),
        1 => keys().prop_map(Step::Erase),
        1 => prefixes().prop_map(Step::ErasePrefix),
        4 => (keys(), prop::collection::vec(ranges(), 0..4)).prop_map(|(key, ranges)| Step::Get(key, ranges)),
        2 => prefixes().prop_map(Step::List),
        1 => Just(Step::Reopen),
    ]
}

/// Executes a step, and returns its result without versions.
fn take(store: &dyn Store, step: &Step) -> Result<String, ErrorKind> {
    let kind = |error: Error| error.kind();
    match step {
        Step::Set(key, value) => store.set_all(key, value).map_err(kind).map(|_| String::new()),
        Step::SetIf(key, value, exists) => {
            let version = store.get_ranges(key, &[ByteRange::Full]).map_err(kind)?.and_then(|fetched| fetched.version);
            let when = match version {
                Some(version) if *exists => Precondition::Version(version),
                _ => Precondition::NotExists,
            };
            store.set_if(key, value, &when).map_err(kind).map(|_| String::new())
        }
        Step::SetMany(values) => {
            let values: Vec<(&Key, &[u8])> = values.iter().map(|(key, value)| (key, &value[..])).collect();
            store.set_many(&values).map_err(kind).map(|()| String::new())
        }
        Step::SetPartial(key, parts) => {
            let parts: Vec<(u64, &[u8])> = parts.iter().map(|(at, part)| (*at, &part[..])).collect();
            store.set_partial(key, &parts).map_err(kind).map(|()| String::new())
        }
        Step::Erase(key) => store.erase(key).map_err(kind).map(|()| String::new()),
        Step::ErasePrefix(prefix) => store.erase_prefix(prefix).map_err(kind).map(|()| String::new()),
        Step::Get(key, ranges) => {
            let fetched = store.get_ranges(key, ranges).map_err(kind)?;
            let parts = fetched.map(|fetched| (fetched.parts().map(<[u8]>::to_vec).collect::<Vec<_>>(), fetched.size));
            Ok(format!("{parts:?}"))
        }
        Step::List(prefix) => {
            let (directly, all) = (store.list_dir(prefix).map_err(kind)?, store.list_prefix(prefix).map_err(kind)?);
            Ok(format!("{directly:?} {all:?}"))
        }
        Step::Reopen => Ok(String::new()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn equals_a_store_in_memory(steps in prop::collection::vec(steps(), 1..40), is_foreign in any::<bool>()) {
        let (_folder, path) = place();
        let options = SqliteOptions::default().journal(Journal::Wal);
        if is_foreign {
            foreign(&path, &[]).pragma_update(None, "journal_mode", "WAL").expect("another journal");
        }
        let mut store = SqliteStore::create_with(&path, options).expect("created");
        let model = MemoryStore::new();
        for step in &steps {
            if matches!(step, Step::Reopen) {
                drop(store);
                store = SqliteStore::open(&path).expect("opened");
            }
            prop_assert_eq!(take(&store, step), take(&model, step), "{:?}", step);
        }
        prop_assert_eq!(store.list().expect("list"), model.list().expect("list"));
    }
}
