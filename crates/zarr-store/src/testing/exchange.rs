//! Tests of exchanging prefixes.

use std::sync::atomic::{AtomicBool, Ordering};

use super::key;
use crate::{Prefix, Store, StoreExt};

fn prefix(text: &str) -> Prefix {
    Prefix::new(text).expect("a prefix")
}

/// Checks that all keys get the other prefix, and that prefixes that do not exist or contain one another are not exchanged.
pub(super) fn prefixes_are_exchanged(store: &dyn Store) {
    let names = ["x/a/1", "x/a/deep/2", "x/b.d/3", "x/ab", "x/c"];
    for name in names {
        store.set_all(&key(name), name.as_bytes()).expect("set");
    }
    let is_exchanged = store.exchange_prefixes(&prefix("x/a/"), &prefix("x/b.d/")).expect("exchanged, or declined");
    assert_eq!(is_exchanged, store.capabilities().exchanges, "{store}: as its capabilities say");
    let expected = match is_exchanged {
        true => ["x/b.d/1", "x/b.d/deep/2", "x/a/3", "x/ab", "x/c"],
        false => names,
    };
    for (name, was) in expected.iter().zip(names) {
        assert_eq!(store.get_all(&key(name)).expect("get").as_deref(), Some(was.as_bytes()), "{store}: {name}");
    }
    let mut keys = expected.map(key);
    keys.sort();
    assert_eq!(store.list().expect("list"), keys, "{store}");
    for (a, b) in [("x/a/", "x/none/"), ("x/none/", "x/a/"), ("x/", "x/a/"), ("x/a/", "x/a/"), ("", "x/")] {
        assert!(!store.exchange_prefixes(&prefix(a), &prefix(b)).expect("declined"), "{store}: {a} {b}");
    }
    assert_eq!(store.list().expect("list"), keys, "{store}");
    store.erase_prefix(&prefix("x/")).expect("erase");
}

/// Checks that a reader of one key finds the value of one prefix or of the other. On file systems without a call for an exchange, the key
/// may also be missing for a moment.
pub(super) fn readers_see_one_or_the_other(store: &dyn Store) {
    if !store.capabilities().exchanges {
        return;
    }
    let values: [&[u8]; 2] = [b"one", b"another"];
    for (name, value) in ["x/a/v", "x/b/v"].into_iter().zip(values) {
        store.set_all(&key(name), value).expect("set");
    }
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            while !is_over.load(Ordering::Acquire) {
                if let Some(found) = store.get_all(&key("x/a/v")).expect("get") {
                    assert!(values.contains(&&found[..]), "{store}: {found:?}");
                }
            }
        });
        for _ in 0..100 {
            assert!(store.exchange_prefixes(&prefix("x/a/"), &prefix("x/b/")).expect("exchanged"), "{store}");
        }
        is_over.store(true, Ordering::Release);
        reader.join().expect("no panic");
    });
    store.erase_prefix(&prefix("x/")).expect("erase");
}
