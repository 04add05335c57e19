//! Tests of the contract of stores, which implementers run.
//!
//! [`contract`] tests stores that take writes, [`contract_read`] and [`contract_read_only`] read-only stores, [`contract_async`] a
//! [`crate::AsyncStore`], and [`check_sizes`] one listing. Each panics if a store breaks the contract. [`Altered`], [`Intercepted`] and
//! [`Delayed`] are for tests of code that uses stores.

mod altered;
mod asynchronous;
mod concurrent;
mod delayed;
mod exchange;
mod intercepted;
mod streams;
mod together;

use crate::listing::Listed;
use crate::{
    ByteRange, Durability, Error, ErrorKind, GetInto, GetOptions, Key, Listing, Precondition, Prefix, SetOptions,
    Store, StoreExt, Version,
};
pub use {altered::Altered, asynchronous::contract_async, delayed::Delayed, intercepted::Intercepted};

/// Tests a store that is empty, takes writes and can list; leaves it empty.
///
/// # Panics
/// If the store breaks the contract.
pub fn contract(store: &dyn Store) {
    assert!(!store.to_string().is_empty(), "a store has a name for messages");
    assert!(store.capabilities().write, "{store}: use `contract_read` for stores without writes");
    assert_eq!(store.list().expect("list"), [], "{store}: the store is empty");
    values(store);
    listing(store);
    preconditions(store);
    states(store);
    known_versions(store);
    pieces(store);
    streams::streams(store);
    partial_values(store);
    many_keys(store);
    many_new_keys(store);
    exchange::prefixes_are_exchanged(store);
    exchange::readers_see_one_or_the_other(store);
    concurrent::readers_see_whole_values(store);
    concurrent::writers_do_not_disturb_each_other(store);
    concurrent::conditional_updates_lose_nothing(store);
    store.flush().expect("flush");
    store.erase_prefix(&Prefix::root()).expect("erase");
    assert_eq!(store.list().expect("list"), [], "{store}: everything is erased");
}

/// Checks that a store has exactly `values`, by gets, ranges, sizes and listings.
///
/// # Panics
/// If the store breaks the contract.
pub fn contract_read(store: &dyn Store, values: &[(&str, &[u8])]) {
    let mut values: Vec<(Key, &[u8])> = values.iter().map(|(name, value)| (key(name), *value)).collect();
    values.sort();
    for (key, value) in &values {
        check_value(store, key, value);
    }
    let keys: Vec<Key> = values.iter().map(|(key, _)| key.clone()).collect();
    check_listing(store, &keys);
    together::check(store, &values);
    for name in ["absent", "no/such/key"] {
        check_absent(store, &key(name));
    }
    for (key, _) in &values {
        // Below a value there is nothing, and a prefix is no value.
        check_absent(store, &Prefix::new(&format!("{key}/")).expect("a prefix").join("below").expect("a key"));
        let parent = key.parent();
        if let Some(above) = parent.as_str().strip_suffix('/')
            && keys.binary_search(&self::key(above)).is_err()
        {
            check_absent(store, &self::key(above));
        }
    }
}

/// Checks that a store refuses every write.
///
/// # Panics
/// If the store accepts a write.
pub fn contract_read_only(store: &dyn Store) {
    assert!(!store.capabilities().write, "{store}: says that it takes writes");
    let (key, prefix) = (key("new/key"), Prefix::root());
    let listed = || store.capabilities().list.then(|| store.list().expect("list"));
    let before = listed();
    let refusals = [
        store.set_all(&key, b"value").map(drop),
        store.set_if(&key, b"value", &Precondition::NotExists).map(drop),
        store.set_pieces(&key, &[b"va", b"lue"], &SetOptions::default()).map(drop),
        store.begin_set(&key, 0, &SetOptions::default()).map(drop),
        store.set_many(&[(&key, b"value")]),
        store.create_many(&[(&key, b"value")], Durability::File),
        store.set_partial(&key, &[(0, b"value")]),
        store.erase(&key),
        store.erase_prefix(&prefix),
        store.rename_prefix(&prefix, &Prefix::new("moved/").expect("a prefix")).map(drop),
        store.exchange_prefixes(&prefix, &Prefix::new("moved/").expect("a prefix")).map(drop),
    ];
    for refusal in refusals {
        let error = refusal.expect_err("refused");
        assert!(error.is_read_only(), "{store}: {error}");
    }
    assert_eq!(listed(), before);
}

/// Checks that [`list_sizes`](crate::StoreExt::list_sizes) visits the keys that [`list_prefix`](crate::StoreExt::list_prefix) returns, each once, with the sizes of their values. Stores
/// may have keys without values, such as links that lead elsewhere: only sizes that gets return are compared.
///
/// # Panics
/// If keys or sizes differ, or if a list fails.
pub fn check_sizes(store: &dyn Store, prefix: &Prefix) {
    let listed = Listed::default();
    store.list_sizes(prefix, &listed.visitor()).expect("list");
    let listed = listed.take_sorted();
    let keys: Vec<&Key> = listed.iter().map(|(key, _)| key).collect();
    let expected = store.list_prefix(prefix).expect("list");
    assert_eq!(keys, expected.iter().collect::<Vec<_>>(), "{store}: keys with sizes under {prefix:?}");
    for (key, size) in &listed {
        if let Ok(found) = store.size(key) {
            assert_eq!(found, Some(*size), "{store}: the size of {key}");
        }
    }
}

fn values(store: &dyn Store) {
    let values: [&[u8]; 6] = [b"a value", b"", b"x", &[0; 4096], &[255; 100_000], b"shorter"];
    for name in [
        "zarr.json",
        ".zarray",
        "..a",
        "a b/c d",
        "deep/er/and/deeper/key",
        "\u{e4}/\u{1f600}",
        "A",
        "0.0.0",
        "c/0/0",
        "x:y",
    ] {
        let key = key(name);
        check_absent(store, &key);
        for value in values {
            store.set_all(&key, value).expect("set");
            check_value(store, &key, value);
        }
        check_listing(store, std::slice::from_ref(&key));
        store.erase(&key).expect("erase");
        store.erase(&key).expect("erasing a missing key");
        check_absent(store, &key);
        assert_eq!(store.list().expect("list"), []);
        assert_eq!(
            store.list_dir(&Prefix::root()).expect("list"),
            Listing::default(),
            "{store}: nothing is left of {name}"
        );
    }
}

/// Checks all kinds of gets of one value.
fn check_value(store: &dyn Store, key: &Key, value: &[u8]) {
    assert_eq!(store.get_all(key).expect("get").as_deref(), Some(value), "{store}: {key}");
    let size = value.len() as u64;
    assert_eq!(store.size(key).expect("size"), Some(size));
    assert!(store.exists(key).expect("get"));
    let head = store.get_ranges(key, &[]).expect("get").expect("there");
    assert_eq!((head.len(), head.size), (0, Some(size)), "{store}: {key}: a get without ranges knows the size");
    let inside = [
        ByteRange::Full,
        ByteRange::Range(0..size),
        ByteRange::Range(size / 3..size / 2),
        ByteRange::Range(size..size),
        ByteRange::Range(0..0),
        ByteRange::From(0),
        ByteRange::From(size / 2),
        ByteRange::From(size),
        ByteRange::Suffix(size),
        ByteRange::Suffix(size / 3),
        ByteRange::Suffix(0),
        ByteRange::First(size / 2),
        ByteRange::First(size),
        ByteRange::First(size + 1),
        ByteRange::First(u64::MAX),
        ByteRange::First(0),
    ];
    let expected = |range: &ByteRange| {
        let at = range.resolve(size).expect("inside");
        &value[usize::try_from(at.start).expect("small")..usize::try_from(at.end).expect("small")]
    };
    for range in &inside {
        let fetched = store.get_ranges(key, std::slice::from_ref(range)).expect("get").expect("there");
        assert_eq!((fetched.len(), fetched.part(0)), (1, expected(range)), "{store}: {key}, {range}");
        assert!(fetched.size.is_none_or(|found| found == size), "{store}: {key}, {range}: size {:?}", fetched.size);
    }
    for len in [value.len(), value.len() + 1, value.len() / 2, 0] {
        let mut buffer = vec![0xEE; len];
        match store.get_into(key, &mut buffer).expect("get") {
            GetInto::Declined => {}
            outcome => assert_eq!(outcome, GetInto::Found(size), "{store}: {key} into {len} bytes"),
        }
        if len == value.len() && store.get_into(key, &mut buffer).expect("get") != GetInto::Declined {
            assert_eq!(buffer, value, "{store}: {key}");
        }
    }
    // Many at once, in any order and more than once, and only bounded ones.
    let bounded = inside.iter().filter(|range| range.bounded().is_some()).cloned().collect();
    for ranges in [inside.iter().rev().chain(&inside).cloned().collect::<Vec<_>>(), bounded] {
        let fetched = store.get_ranges(key, &ranges).expect("get").expect("there");
        assert_eq!(fetched.len(), ranges.len());
        assert!(fetched.parts().eq(ranges.iter().map(expected)), "{store}: {key}, {ranges:?}");
    }
    #[expect(clippy::reversed_empty_ranges, reason = "a store must refuse it")]
    let outside = [
        ByteRange::Range(0..size + 1),
        ByteRange::Range(size + 1..size + 1),
        ByteRange::Range(size + 5..size + 9),
        ByteRange::Range(1..0),
        ByteRange::Range(0..u64::MAX),
        ByteRange::Range(u64::MAX - 1..u64::MAX),
        ByteRange::From(size + 1),
        ByteRange::From(u64::MAX),
        ByteRange::Suffix(size + 1),
        ByteRange::Suffix(u64::MAX),
    ];
    for range in &outside {
        for ranges in
            [vec![range.clone()], vec![ByteRange::Range(0..0), range.clone()], vec![range.clone(), ByteRange::Full]]
        {
            let error = store.get_ranges(key, &ranges).expect_err("outside");
            assert_eq!(error.kind(), ErrorKind::Range, "{store}: {key}, {range}: {error}");
            if let Error::Range { key: named, range: found, size: found_size, .. } = &error {
                assert_eq!((named, found, *found_size), (key, range, size), "{error}");
            }
        }
    }
}

fn check_absent(store: &dyn Store, key: &Key) {
    let outcome = store.get_into(key, &mut [0; 5]).expect("get");
    assert!(!matches!(outcome, GetInto::Found(_)), "{store}: {key}: {outcome:?}");
    for ranges in [
        vec![ByteRange::Full],
        vec![ByteRange::Range(0..5)],
        vec![ByteRange::Suffix(5), ByteRange::Range(0..0)],
        vec![],
    ] {
        assert!(store.get_ranges(key, &ranges).expect("get").is_none(), "{store}: {key} is there");
    }
    assert_eq!(store.size(key).expect("size"), None, "{store}: {key} has a size");
}

/// Compares all kinds of listings with `keys`, all keys of the store, sorted.
fn check_listing(store: &dyn Store, keys: &[Key]) {
    if !store.capabilities().list {
        return;
    }
    assert_eq!(store.list().expect("list"), keys, "{store}");
    let mut prefixes = vec![Prefix::root(), Prefix::new("no/such/").expect("a prefix")];
    for key in keys {
        prefixes.extend(
            key.as_str().match_indices('/').map(|(at, _)| Prefix::new(&key.as_str()[..=at]).expect("a prefix")),
        );
    }
    prefixes.sort();
    prefixes.dedup();
    for prefix in &prefixes {
        let mut expected = Listing::default();
        for key in keys {
            let Some(rest) = prefix.strip(key) else { continue };
            match rest.split_once('/') {
                None => expected.keys.push(key.clone()),
                Some((name, _)) => expected.prefixes.push(Prefix::new(&format!("{prefix}{name}/")).expect("a prefix")),
            }
        }
        expected.prefixes.sort();
        expected.prefixes.dedup();
        assert_eq!(store.list_dir(prefix).expect("list"), expected, "{store}: under {prefix:?}");
        let under: Vec<Key> = keys.iter().filter(|key| prefix.contains(key)).cloned().collect();
        assert_eq!(store.list_prefix(prefix).expect("list"), under, "{store}: all under {prefix:?}");
        check_sizes(store, prefix);
    }
}

fn listing(store: &dyn Store) {
    // `a.b` and `a0` sort around `a/`, and `ab` only begins like it.
    let mut keys: Vec<Key> =
        ["a/b", "a/c/d", "a/c/e/f", "a.b", "a0", "ab/c", "b", "a/c.d", "\u{fc}/x"].map(key).to_vec();
    keys.sort();
    for key in &keys {
        store.set_all(key, key.as_str().as_bytes()).expect("set");
    }
    check_listing(store, &keys);
    for (prefix, left) in [("no/", 9), ("a/c/", 7), ("a/", 5), ("", 0)] {
        let prefix = Prefix::new(prefix).expect("a prefix");
        store.erase_prefix(&prefix).expect("erase");
        if !prefix.as_str().starts_with("no") {
            keys.retain(|key| !prefix.contains(key));
        }
        assert_eq!(keys.len(), left);
        check_listing(store, &keys);
    }
    for name in ["v/1", "v/2", "v/3"] {
        store.set_all(&key(name), b"").expect("set");
    }
    store.erase_values(&[key("v/1"), key("v/3"), key("v/4")]).expect("erase");
    assert_eq!(store.list().expect("list"), [key("v/2")]);
    store.erase(&key("v/2")).expect("erase");
}

fn preconditions(store: &dyn Store) {
    if !store.capabilities().conditional {
        return;
    }
    let key = key("p/value");
    let set = |value: &[u8], when: Precondition| {
        let version = store.set_if(&key, value, &when)?;
        Ok(version.expect("a store with conditions names the version that is set"))
    };
    let is = |value: &[u8]| assert_eq!(store.get_all(&key).expect("get").as_deref(), Some(value), "{store}");
    let refused = |result: Result<Version, Error>| {
        let error = result.expect_err("the precondition does not hold");
        assert!(error.is_precondition(), "{store}: {error}");
    };
    refused(set(b"0", Precondition::Version(Version::new("no version of anything"))));
    assert_eq!(store.get_all(&key).expect("get"), None);
    let first = set(b"1", Precondition::NotExists).expect("set");
    refused(set(b"2", Precondition::NotExists));
    is(b"1");
    let second = set(b"3", Precondition::Version(first.clone())).expect("set");
    assert_ne!(first, second);
    refused(set(b"4", Precondition::Version(first.clone())));
    is(b"3");
    // A get names the version that set named.
    let fetched = store.get_ranges(&key, &[ByteRange::Full]).expect("get").expect("there");
    assert_eq!(
        (fetched.version.as_ref(), fetched.size),
        (Some(&second), Some(1)),
        "{store}: a full get knows version and size"
    );
    // Other bytes are another version; the same bytes may be the same, where versions are hashes.
    let mut versions = vec![first, second];
    for value in 0..20_u8 {
        let version = set(&[value], Precondition::None).expect("set");
        assert!(!versions.contains(&version), "{store}: version {version} twice");
        versions.push(version);
    }
    store.erase(&key).expect("erase");
    refused(set(b"5", Precondition::Version(versions.pop().expect("one"))));
    set(b"6", Precondition::NotExists).expect("set");
    is(b"6");
    store.erase(&key).expect("erase");
    assert_eq!(store.list().expect("list"), [], "{store}: a refused value leaves nothing behind");
}

/// Checks that several gets read one state of a value, or fail.
fn states(store: &dyn Store) {
    let key = key("s/value");
    let get = |range, options: &GetOptions| store.get(&key, &[range], options);
    store.set_all(&key, b"0123456789").expect("set");
    let first = get(ByteRange::Range(0..2), &GetOptions::snapshot()).expect("get").expect("there");
    // A store without versions has no snapshots.
    let Some(snapshot) = first.snapshot.clone() else { return store.erase(&key).expect("erase") };
    let same_state = GetOptions::if_match(Some(snapshot));
    let rest = get(ByteRange::From(2), &same_state).expect("get").expect("there");
    assert_eq!((first.part(0), rest.part(0)), (&b"01"[..], &b"23456789"[..]), "{store}");
    // The new value is shorter: the state is compared before the range.
    store.set_all(&key, b"abc").expect("set");
    for range in [ByteRange::Range(2..3), ByteRange::Range(5..9), ByteRange::Suffix(9)] {
        let at = range.resolve(10).expect("inside");
        let due = &b"0123456789"[usize::try_from(at.start).expect("small")..usize::try_from(at.end).expect("small")];
        match get(range.clone(), &same_state) {
            Ok(fetched) => {
                let fetched = fetched.expect("the value does not vanish");
                assert_eq!(fetched.part(0), due, "{store}: {range}: bytes of another state");
            }
            Err(error) => assert!(error.is_precondition(), "{store}: {range}: {error}"),
        }
    }
    store.erase(&key).expect("erase");
}

/// Checks that a get with a known version returns the value if the stored version differs.
fn known_versions(store: &dyn Store) {
    let key = key("k/value");
    let get = |options: &GetOptions| store.get(&key, &[ByteRange::Full], options).expect("get");
    store.set_all(&key, b"0123").expect("set");
    let first = store.get(&key, &[ByteRange::Full], &GetOptions::snapshot()).expect("get").expect("there");
    if let Some(version) = first.version.clone() {
        let known = GetOptions::if_none_match(version.clone());
        let same = get(&known).expect("there");
        assert_eq!(same.version.as_ref(), Some(&version), "{store}: the version of an unchanged value");
        assert!(
            same.is_unchanged() == same.is_empty() && (same.is_empty() || same.part(0) == b"0123"),
            "{store}: {same:?}"
        );
        let several =
            store.get(&key, &[ByteRange::Range(0..1), ByteRange::Suffix(1)], &known).expect("get").expect("there");
        assert!(several.is_unchanged() || several.parts().eq([b"0", b"3"]), "{store}: {several:?}");
        store.set_all(&key, b"abc").expect("set");
        let other = get(&known).expect("there");
        assert!(!other.is_unchanged() && other.part(0) == b"abc", "{store}: {other:?}");
        store.erase(&key).expect("erase");
        assert!(get(&known).is_none(), "{store}: an erased value is unchanged");
    }
    store.erase(&key).expect("erase");
}

/// Checks that a value that is set in pieces equals a value that is set as a whole.
fn pieces(store: &dyn Store) {
    let key = key("pieces/value");
    let set = |pieces: &[&[u8]], when| store.set_pieces(&key, pieces, &SetOptions::when(when));
    let large = [7; 100_000];
    let values: [&[&[u8]]; 5] = [&[b"a", b"", b"bc"], &[], &[&large, b"end"], &[b"", b""], &[b"one"]];
    for pieces in values {
        set(pieces, Precondition::None).expect("set");
        check_value(store, &key, &pieces.concat());
    }
    if store.capabilities().conditional {
        let is = |value: &[u8]| assert_eq!(store.get_all(&key).expect("get").as_deref(), Some(value), "{store}");
        let refused = |when| {
            let error = set(&[b"re", b"fused"], when).expect_err("the precondition does not hold");
            assert!(error.is_precondition(), "{store}: {error}");
        };
        refused(Precondition::NotExists);
        is(b"one");
        let first = set(&[b"t", b"wo"], Precondition::None).expect("set").expect("a version");
        let second = set(&[b"th", b"ree"], Precondition::Version(first.clone())).expect("set").expect("a version");
        assert_ne!(first, second, "{store}");
        refused(Precondition::Version(first));
        is(b"three");
    }
    check_listing(store, std::slice::from_ref(&key));
    store.erase(&key).expect("erase");
}

fn partial_values(store: &dyn Store) {
    let (a, b) = (key("partial/a"), key("partial/b"));
    store.set_partial_values(&[(a.clone(), 2, b"cd"), (a.clone(), 0, b"ab"), (b.clone(), 0, b"12")]).expect("set");
    store.set_partial(&a, &[(3, b"D"), (6, b"G"), (0, b"")]).expect("set");
    assert_eq!(store.get_all(&a).expect("get").as_deref(), Some(&b"abcD\0\0G"[..]), "{store}");
    let error = store.set_partial(&a, &[(u64::MAX, b"x")]).expect_err("too far");
    assert_eq!(error.kind(), ErrorKind::Limit, "{store}: {error}");
    let asked = [
        (a.clone(), ByteRange::Suffix(1)),
        (a.clone(), ByteRange::Range(0..2)),
        (key("absent"), ByteRange::Full),
        (b.clone(), ByteRange::Full),
    ];
    let got = store.get_partial_values(&asked).expect("get");
    let got: Vec<Option<&[u8]>> = got.iter().map(Option::as_deref).collect();
    assert_eq!(got, [Some(&b"G"[..]), Some(b"ab"), None, Some(b"12")], "{store}");
    store.erase_values(&[a, b]).expect("erase");
}

fn many_keys(store: &dyn Store) {
    let mut keys: Vec<Key> = (0..300).map(|i| key(&format!("many/{}/{i}", i % 7))).collect();
    for key in &keys[..100] {
        store.set_all(key, b"replaced").expect("set");
    }
    // One that is there twice has its last value.
    let mut values: Vec<(&Key, &[u8])> = vec![(&keys[0], b"replaced"), (&keys[200], b"replaced")];
    values.extend(keys.iter().map(|key| (key, key.as_str().as_bytes())));
    store.set_many(&values).expect("set");
    store.set_many(&[]).expect("set nothing");
    keys.sort();
    assert_eq!(store.list_prefix(&Prefix::new("many/").expect("a prefix")).expect("list"), keys, "{store}");
    check_sizes(store, &Prefix::new("many/").expect("a prefix"));
    for key in &keys {
        let ranges = [ByteRange::From(5), ByteRange::Range(0..5)];
        let fetched = store.get_ranges(key, &ranges).expect("get").expect("there");
        assert_eq!((fetched.part(1), fetched.part(0)), (&b"many/"[..], &key.as_str().as_bytes()[5..]), "{store}");
    }
    store.erase_prefix(&Prefix::new("many/").expect("a prefix")).expect("erase");
    assert_eq!(store.list().expect("list"), []);
}

fn many_new_keys(store: &dyn Store) {
    if !store.capabilities().conditional {
        return;
    }
    let keys: Vec<Key> = (0..200).map(|i| key(&format!("new/{}/{i}", i % 7))).collect();
    let values: Vec<(&Key, &[u8])> = keys.iter().map(|key| (key, key.as_str().as_bytes())).collect();
    let is_set = |key: &Key| store.get_all(key).expect("get").is_some_and(|value| value == key.as_str().as_bytes());
    for durability in [Durability::None, Durability::File, Durability::Full] {
        store.create_many(&values, durability).expect("created");
        assert!(keys.iter().all(is_set), "{store}");
        store.erase_prefix(&Prefix::new("new/").expect("a prefix")).expect("erase");
        store.set_all(&keys[150], b"old").expect("set");
        let error = store.create_many(&values, durability).expect_err("one is there");
        let found = if let Error::Precondition { key, .. } = &error { Some(key) } else { None };
        assert_eq!(found, Some(&keys[150]), "{store}: {error}");
        assert_eq!(store.get_all(&keys[150]).expect("get").as_deref(), Some(&b"old"[..]), "{store}");
        store.erase_prefix(&Prefix::new("new/").expect("a prefix")).expect("erase");
        assert_eq!(store.list().expect("list"), [], "{store}");
    }
}

fn key(text: &str) -> Key {
    Key::new(text).expect("a key")
}
