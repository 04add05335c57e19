//! Tests of values that are set piece by piece.

use std::fs;

use zarr_store::{Bytes, Precondition, Prefix, SetOptions, StoreExt};

use super::super::contract::{each, key};
use super::*;

#[test]
fn a_streamed_set_that_fails_leaves_the_old_value_or_the_new() {
    for (when, old) in
        [(Precondition::None, Some(&b"old"[..])), (Precondition::None, None), (Precondition::NotExists, None)]
    {
        every_call_fails(
            |store| {
                store.erase(&key("a/b/c")).expect("erase");
                old.into_iter().for_each(|old| store.set_all(&key("a/b/c"), old).map(drop).expect("set"));
            },
            |store| {
                let key = key("a/b/c");
                let stream = store.begin_set(&key, 4, &SetOptions::when(when.clone()))?;
                for pieces in [&[&b"new "[..], b"val"][..], &[b"ue"]] {
                    let pieces = pieces.iter().copied().map(Bytes::from_static).collect();
                    if let Err(error) = store.append_to_set(&key, &stream, pieces) {
                        store.finish_set(&key, &stream, Bytes::from_static(b"the ")).expect_err("a piece is missing");
                        return Err(error);
                    }
                }
                store.finish_set(&key, &stream, Bytes::from_static(b"the "))
            },
            |store, result| {
                let found = store.get_all(&key("a/b/c")).expect("get");
                let is_new = found.as_deref() == Some(b"the new value");
                assert!(is_new || (result.is_err() && found.as_deref() == old), "{found:?}");
                let keys = store.list().expect("list");
                assert!(keys.is_empty() || keys == [key("a/b/c")], "{keys:?}");
            },
        );
    }
}

#[test]
fn a_stream_that_is_dropped_leaves_no_file() {
    each(|store| {
        let key = key("a/b");
        store.set_all(&key, b"old").expect("set");
        let names = || fs::read_dir(store.path().join("a")).expect("there").count();
        let stream = store.begin_set(&key, 2, &SetOptions::default()).expect("begun");
        store.append_to_set(&key, &stream, vec![Bytes::from_static(b"piece")]).expect("appended");
        assert_eq!(names(), 2, "the value, and the file that is to replace it");
        drop(stream);
        assert_eq!(names(), 1);
        // Nor does one whose condition does not hold.
        let stream = store.begin_set(&key, 0, &SetOptions::when(Precondition::NotExists)).expect("begun");
        store.finish_set(&key, &stream, Bytes::new()).expect_err("it is there");
        assert_eq!(names(), 1);
        // The whole prefix is erased meanwhile.
        let stream = store.begin_set(&key, 0, &SetOptions::default()).expect("begun");
        store.append_to_set(&key, &stream, vec![Bytes::from_static(b"piece")]).expect("appended");
        store.erase_prefix(&Prefix::new("a/").expect("a prefix")).expect("erase");
        let error = store.finish_set(&key, &stream, Bytes::new()).expect_err("its directory is gone");
        let reason = std::error::Error::source(&error).expect("a reason").to_string();
        assert!(reason.contains("others erased the directory"), "{reason}");
        assert_eq!(store.list().expect("list"), []);
    });
}
