//! The contract of stores that do not block.

use crate::{AsyncStore, ByteRange, Bytes, ErrorKind, Fetched, Key, Listing, Precondition, Prefix, Version};

use super::key;

/// Checks a store that is empty and takes writes; leaves it empty.
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
    store.flush().await.expect("flush");
    store.erase_prefix(&root).await.expect("erase");
    assert_eq!(store.list_prefix(&root).await.expect("list"), [], "{store}: everything is erased");
}

async fn get_all(store: &dyn AsyncStore, key: &Key) -> Option<Bytes> {
    let parts = store.get(key, &[ByteRange::Full]).await.expect("get")?;
    assert_eq!(parts.len(), 1, "{store}");
    parts.into_iter().next()
}

async fn set(store: &dyn AsyncStore, key: &Key, value: &[u8]) -> Version {
    store.set(key, Bytes::copy_from_slice(value), &Precondition::None).await.expect("set")
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
        let parts = store.get(&key, &ranges).await.expect("get").expect("there");
        let fetched = store.fetch(&key, &ranges).await.expect("get").expect("there");
        assert!(fetched.parts().eq(parts.iter()), "{store}: get and fetch agree");
        assert_eq!(parts.len(), ranges.len());
        for (part, range) in parts.iter().zip(&ranges) {
            let at = range.resolve(size).expect("inside");
            assert_eq!(
                *part,
                value[usize::try_from(at.start).expect("small")..usize::try_from(at.end).expect("small")],
                "{store}: {range}"
            );
        }
        for range in [ByteRange::Range(0..size + 1), ByteRange::From(size + 1), ByteRange::Suffix(size + 1)] {
            let error = store.get(&key, std::slice::from_ref(&range)).await.expect_err("outside");
            assert_eq!(error.kind(), ErrorKind::Range, "{store}: {range}: {error}");
        }
    }
    store.erase(&key).await.expect("erase");
    store.erase(&key).await.expect("erasing what is not there");
    assert_eq!(get_all(store, &key).await, None, "{store}");
    assert!(store.fetch(&key, &[]).await.expect("get").is_none(), "{store}");
    assert_eq!(store.size(&key).await.expect("size"), None, "{store}");
}

async fn listing(store: &dyn AsyncStore) {
    for name in ["a/b", "a/c/d", "a.b", "b"] {
        set(store, &key(name), b"").await;
    }
    let root = store.list_dir(&Prefix::root()).await.expect("list");
    let a = Prefix::new("a/").expect("a prefix");
    assert_eq!(root, Listing { keys: vec![key("a.b"), key("b")], prefixes: vec![a.clone()] }, "{store}");
    assert_eq!(store.list_prefix(&a).await.expect("list"), [key("a/b"), key("a/c/d")], "{store}");
    store.erase_prefix(&a).await.expect("erase");
    assert_eq!(store.list_prefix(&Prefix::root()).await.expect("list"), [key("a.b"), key("b")], "{store}");
}

async fn preconditions(store: &dyn AsyncStore) {
    if !store.capabilities().conditional {
        return;
    }
    let key = key("p");
    let put = |value: &'static [u8], when| {
        let key = &key;
        async move { store.set(key, Bytes::from_static(value), &when).await }
    };
    let first = put(b"1", Precondition::NotExists).await.expect("set");
    assert!(put(b"2", Precondition::NotExists).await.expect_err("there").is_precondition(), "{store}");
    let second = put(b"3", Precondition::Version(first.clone())).await.expect("set");
    assert!(put(b"4", Precondition::Version(first)).await.expect_err("older").is_precondition(), "{store}");
    assert_eq!(get_all(store, &key).await.as_deref(), Some(&b"3"[..]), "{store}");
    let fetched: Option<Fetched> = store.fetch(&key, &[ByteRange::Full]).await.expect("get");
    assert_eq!(fetched.expect("there").version, Some(second), "{store}: a full fetch knows the version");
}
