//! Tests of values that are set piece by piece.

use crate::{
    AsyncStore, AsyncStoreExt, Bytes, Error, Key, Precondition, Prefix, SetOptions, SetStream, Store, StoreExt, Version,
};

use super::{check_listing, check_value, key};

/// Bytes in front of the pieces, and the pieces.
type Value = (&'static [u8], &'static [&'static [u8]]);

const LARGE: &[u8] = &[7; 300_000];
const VALUES: [Value; 7] = [
    (b"", &[b"a", b"", b"bc"]),
    (b"head", &[LARGE, b"end", LARGE]),
    (b"", &[]),
    (b"head", &[]),
    (LARGE, &[b"one"]),
    (b"", &[b""]),
    (b"", &[b"one"]),
];

fn value((head, pieces): Value) -> Vec<u8> {
    [head, &pieces.concat()].concat()
}

/// Iterates over the pieces of each call: the first two pieces together, then one piece per call.
fn calls(pieces: &'static [&'static [u8]]) -> impl Iterator<Item = Vec<Bytes>> {
    let (first, rest) = pieces.split_at(pieces.len().min(2));
    let of = |pieces: &[&'static [u8]]| pieces.iter().copied().map(Bytes::from_static).collect();
    std::iter::once(of(first)).chain(rest.iter().map(move |piece| of(&[*piece])))
}

fn set(store: &dyn Store, key: &Key, (head, pieces): Value, when: Precondition) -> Result<Option<Version>, Error> {
    let stream = store.begin_set(key, head.len() as u64, &SetOptions::when(when))?;
    calls(pieces).try_for_each(|pieces| store.append_to_set(key, &stream, pieces))?;
    store.finish_set(key, &stream, Bytes::from_static(head))
}

/// Checks that a value that is set piece by piece is visible when it is finished, like a value that is set as a whole, and not before.
pub(super) fn streams(store: &dyn Store) {
    let key = key("streams/a/value");
    let is = |value: Option<&[u8]>| assert_eq!(store.get_all(&key).expect("get").as_deref(), value, "{store}");
    // An unfinished set leaves nothing, whether it replaces a value or not.
    let begin = |head| store.begin_set(&key, head, &SetOptions::default()).expect("begun");
    let append =
        |stream: &SetStream, piece: &'static [u8]| store.append_to_set(&key, stream, vec![Bytes::from_static(piece)]);
    for old in [None, Some(&b"old"[..])] {
        if let Some(old) = old {
            store.set_all(&key, old).expect("set");
        }
        let keys: &[Key] = if old.is_some() { std::slice::from_ref(&key) } else { &[] };
        let stream = begin(3);
        append(&stream, b"not finished").expect("appended");
        append(&stream, LARGE).expect("appended");
        is(old);
        assert_eq!(store.list().expect("list"), keys, "{store}");
        drop(stream);
        is(old);
        // Nor does one that is finished with other bytes in front than it was begun with.
        let stream = begin(3);
        append(&stream, b"refused").expect("appended");
        store.finish_set(&key, &stream, Bytes::from_static(b"1234")).expect_err("too long");
        drop(stream);
        is(old);
        assert_eq!(store.list().expect("list"), keys, "{store}");
    }
    store.erase(&key).expect("erase");
    assert_eq!(store.list_dir(&Prefix::root()).expect("list").prefixes, [], "{store}: nothing is left");
    for value_of in VALUES {
        set(store, &key, value_of, Precondition::None).expect("set");
        check_value(store, &key, &value(value_of));
    }
    let stream = begin(0);
    append(&stream, b"one").expect("appended");
    store.finish_set(&key, &stream, Bytes::new()).expect("set");
    append(&stream, b"more").expect_err("it is finished");
    store.finish_set(&key, &stream, Bytes::new()).expect_err("it is finished");
    is(Some(b"one"));
    two_at_once(store, &key);
    if store.capabilities().conditional {
        conditions(store, &key);
    }
    check_listing(store, std::slice::from_ref(&key));
    store.erase(&key).expect("erase");
}

/// Checks that the pieces of two values of one key do not mix, and that the value that is finished last stays.
fn two_at_once(store: &dyn Store, key: &Key) {
    let begin = || store.begin_set(key, 1, &SetOptions::default()).expect("begun");
    let streams = [begin(), begin()];
    for _ in 0..3 {
        for (stream, piece) in streams.iter().zip([&b"aaa"[..], b"bb"]) {
            store.append_to_set(key, stream, vec![Bytes::from_static(piece)]).expect("appended");
        }
    }
    store.finish_set(key, &streams[1], Bytes::from_static(b"1")).expect("set");
    check_value(store, key, b"1bbbbbb");
    store.finish_set(key, &streams[0], Bytes::from_static(b"0")).expect("set");
    check_value(store, key, b"0aaaaaaaaa");
}

fn conditions(store: &dyn Store, key: &Key) {
    let is = |value: &[u8]| assert_eq!(store.get_all(key).expect("get").as_deref(), Some(value), "{store}");
    let refused = |when| {
        let error = set(store, key, (b"h", &[b"re", b"fused"]), when).expect_err("the precondition does not hold");
        assert!(error.is_precondition(), "{store}: {error}");
    };
    store.set_all(key, b"old").expect("set");
    refused(Precondition::NotExists);
    is(b"old");
    store.erase(key).expect("erase");
    refused(Precondition::Version(Version::new("no version of anything")));
    assert_eq!(store.list().expect("list"), [], "{store}");
    let first = set(store, key, (b"h", &[b"1"]), Precondition::NotExists).expect("set").expect("a version");
    refused(Precondition::NotExists);
    let when = Precondition::Version(first.clone());
    let second = set(store, key, (b"", &[b"t", b"wo"]), when).expect("set").expect("a version");
    assert_ne!(first, second, "{store}");
    refused(Precondition::Version(first));
    is(b"two");
    // The value is replaced while another one is appended to.
    let begin = |when| store.begin_set(key, 0, &SetOptions::when(when)).expect("begun");
    let stream = begin(Precondition::Version(second));
    store.append_to_set(key, &stream, vec![Bytes::from_static(LARGE)]).expect("appended");
    store.set_all(key, b"three").expect("set");
    let error = store.finish_set(key, &stream, Bytes::new()).expect_err("another value is there");
    assert!(error.is_precondition(), "{store}: {error}");
    is(b"three");
    let found = store.get_ranges(key, &[crate::ByteRange::Full]).expect("get").expect("there").version;
    let fourth = set(store, key, (b"fo", &[b"ur"]), found.map_or(Precondition::None, Precondition::Version));
    assert!(fourth.expect("set").is_some(), "{store}");
    is(b"four");
}

/// Checks that a value that is set piece by piece in an async store is visible when it is finished.
pub(super) async fn streams_async(store: &dyn AsyncStore) {
    let key = key("streams/a/value");
    for (head, pieces) in VALUES {
        let stream = store.begin_set(&key, head.len() as u64, &SetOptions::default()).await.expect("begun");
        for pieces in calls(pieces) {
            store.append_to_set(&key, &stream, pieces).await.expect("appended");
        }
        store.finish_set(&key, &stream, Bytes::from_static(head)).await.expect("set");
        let found = store.get_all(&key).await.expect("get");
        assert_eq!(found.as_deref(), Some(&value((head, pieces))[..]), "{store}");
    }
    if store.capabilities().conditional {
        let stream = store.begin_set(&key, 0, &SetOptions::when(Precondition::NotExists)).await.expect("begun");
        store.append_to_set(&key, &stream, vec![Bytes::from_static(b"refused")]).await.expect("appended");
        let refused = store.finish_set(&key, &stream, Bytes::new()).await.expect_err("there");
        assert!(refused.is_precondition(), "{store}: {refused}");
        assert_eq!(store.get_all(&key).await.expect("get").as_deref(), Some(&b"one"[..]), "{store}");
    }
    let stream = store.begin_set(&key, 0, &SetOptions::default()).await.expect("begun");
    store.append_to_set(&key, &stream, vec![Bytes::from_static(LARGE)]).await.expect("appended");
    drop(stream);
    assert_eq!(store.get_all(&key).await.expect("get").as_deref(), Some(&b"one"[..]), "{store}");
    store.erase(&key).await.expect("erase");
}
