//! Tests of the contract of async stores.

use crate::listing::Listed;
use crate::{
    AsyncStore, AsyncStoreExt, ByteRange, Bytes, ErrorKind, GetOptions, Key, Listing, Precondition, Prefix, SetOptions,
};

use super::key;
use super::streams::streams_async;

/// Tests an async store that is empty and takes writes; leaves it empty.
///
/// # Panics
/// If the store breaks the contract.
pub async fn contract_async(store: &dyn AsyncStore) {
    assert!(!store.to_string().is_empty(), "a store has a name for messages");
    let root = Prefix::root();
    assert_eq!(store.list_prefix(&root).await.expect("list"), [], "{store}: the store is empty");
    values(store).await;
    listing(store).await;
    preconditions(store).await;
    pieces(store).await;
    streams_async(store).await;
    store.flush().await.expect("flush");
    store.erase_prefix(&root).await.expect("erase");
    assert_eq!(store.list_prefix(&root).await.expect("list"), [], "{store}: everything is erased");
}

async fn get_all(store: &dyn AsyncStore, key: &Key) -> Option<Bytes> {
    let fetched = store.get_ranges(key, &[ByteRange::Full]).await.expect("get")?;
    assert_eq!(fetched.len(), 1, "{store}");
    Some(fetched.into_bytes())
}

async fn set(store: &dyn AsyncStore, key: &Key, value: &[u8]) {
    store.set_all(key, Bytes::copy_from_slice(value)).await.expect("set");
}

async fn values(store: &dyn AsyncStore) {
    let key = key("g/.zarray");
    for value in [&b"a value"[..], b"", &[7; 100_000], b"shorter"] {
        set(store, &key, value).await;
        let size = value.len() as u64;
        assert_eq!(get_all(store, &key).await.as_deref(), Some(value), "{store}");
        assert_eq!(store.size(&key).await.expect("size"), Some(size), "{store}");
        let ranges = [
            ByteRange::Suffix(size / 2),
            ByteRange::Range(0..size / 3),
            ByteRange::From(size / 2),
            ByteRange::Range(size..size),
        ];
        let head = store.get_ranges(&key, &[]).await.expect("get").expect("there");
        assert_eq!((head.len(), head.size), (0, Some(size)), "{store}: a get without ranges knows the size");
        let fetched = store.get_ranges(&key, &ranges).await.expect("get").expect("there");
        assert_eq!(fetched.len(), ranges.len());
        for (part, range) in fetched.parts().zip(&ranges) {
            let at = range.resolve(size).expect("inside");
            assert_eq!(
                *part,
                value[usize::try_from(at.start).expect("small")..usize::try_from(at.end).expect("small")],
                "{store}: {range}"
            );
        }
        for range in [ByteRange::Range(0..size + 1), ByteRange::From(size + 1), ByteRange::Suffix(size + 1)] {
            let error = store.get_ranges(&key, std::slice::from_ref(&range)).await.expect_err("outside");
            assert_eq!(error.kind(), ErrorKind::Range, "{store}: {range}: {error}");
        }
    }
    store.erase(&key).await.expect("erase");
    store.erase(&key).await.expect("erasing a missing key");
    assert_eq!(get_all(store, &key).await, None, "{store}");
    assert!(!store.exists(&key).await.expect("get"), "{store}");
    assert_eq!(store.size(&key).await.expect("size"), None, "{store}");
}

async fn listing(store: &dyn AsyncStore) {
    for name in ["a/b", "a/c/d", "a.b", "b"] {
        set(store, &key(name), b"").await;
    }
    let root = store.list_dir(&Prefix::root()).await.expect("list");
    let a = Prefix::new("a/").expect("a prefix");
    assert_eq!(root, Listing::new(vec![key("a.b"), key("b")], vec![a.clone()]), "{store}");
    assert_eq!(store.list_prefix(&a).await.expect("list"), [key("a/b"), key("a/c/d")], "{store}");
    let below = Listed::default();
    store.list_sizes(&a, &below.visitor()).await.expect("list");
    assert_eq!(below.take_sorted(), [(key("a/b"), 0), (key("a/c/d"), 0)], "{store}: sizes under a prefix");
    store.erase_prefix(&a).await.expect("erase");
    assert_eq!(store.list_prefix(&Prefix::root()).await.expect("list"), [key("a.b"), key("b")], "{store}");
    let listed = Listed::default();
    store.list_sizes(&Prefix::root(), &listed.visitor()).await.expect("list");
    let mut sizes = Vec::new();
    for key in [key("a.b"), key("b")] {
        let size = store.size(&key).await.expect("size").expect("a key that is there");
        sizes.push((key, size));
    }
    assert_eq!(listed.take_sorted(), sizes, "{store}: sizes");
}

async fn preconditions(store: &dyn AsyncStore) {
    if !store.capabilities().conditional {
        return;
    }
    let key = key("p");
    let put = |value: &'static [u8], when| {
        let key = &key;
        async move { store.set(key, Bytes::from_static(value), &SetOptions::when(when)).await }
    };
    let first = put(b"1", Precondition::NotExists).await.expect("set").expect("a version");
    assert!(put(b"2", Precondition::NotExists).await.expect_err("there").is_precondition(), "{store}");
    let second = put(b"3", Precondition::Version(first.clone())).await.expect("set");
    assert!(put(b"4", Precondition::Version(first)).await.expect_err("older").is_precondition(), "{store}");
    assert_eq!(get_all(store, &key).await.as_deref(), Some(&b"3"[..]), "{store}");
    let fetched = store.get(&key, &[ByteRange::Full], &GetOptions::snapshot()).await.expect("get").expect("there");
    assert_eq!(fetched.version, second, "{store}: a full get knows the version");
    // The new value is shorter: the state is compared before the range.
    set(store, &key, b"").await;
    let older = GetOptions::if_match(fetched.snapshot.clone());
    match store.get(&key, &[ByteRange::Range(0..1)], &older).await {
        Ok(state) => assert_eq!(state.expect("there").part(0), b"3", "{store}: bytes of another state"),
        Err(error) => assert!(error.is_precondition(), "{store}: {error}"),
    }
}

async fn pieces(store: &dyn AsyncStore) {
    let key = key("pieces/value");
    let set = |pieces: Vec<&'static [u8]>, when| {
        let pieces = pieces.into_iter().map(Bytes::from_static).collect();
        let key = &key;
        async move { store.set_pieces(key, pieces, &SetOptions::when(when)).await }
    };
    for pieces in [vec![&b"a"[..], b"", b"bc"], vec![], vec![&[7; 100_000], b"end"], vec![b"one"]] {
        let value = pieces.concat();
        set(pieces, Precondition::None).await.expect("set");
        assert_eq!(get_all(store, &key).await.as_deref(), Some(&value[..]), "{store}");
    }
    if store.capabilities().conditional {
        let refused = set(vec![b"re", b"fused"], Precondition::NotExists).await.expect_err("there");
        assert!(refused.is_precondition(), "{store}: {refused}");
        assert_eq!(get_all(store, &key).await.as_deref(), Some(&b"one"[..]), "{store}");
    }
    store.erase(&key).await.expect("erase");
}
