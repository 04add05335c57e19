//! Stores that are read until they write, that let others write in between, and that are given up.

use std::fs;

use zarr_store::testing::contract_read;
use zarr_store::{ByteRange, Bytes, Error, GetOptions, Precondition, Prefix, SetOptions, Store, StoreExt, Version};
use zarr_store_zip::{ZipArrangement, ZipFault, ZipOptions, ZipStore};

use crate::other_software::is_sound;
use crate::{files, folder, key};

fn shared() -> ZipOptions {
    ZipOptions::default().replace(true).release(true)
}

fn is_locked(error: &Error) -> bool {
    matches!(error, Error::Format { fault, .. } if matches!(fault.downcast_ref(), Some(ZipFault::Locked)))
}

/// A zip file with these values.
fn write(path: &std::path::Path, values: &[(&str, &[u8])]) {
    let store = ZipStore::create(path).expect("created");
    values.iter().for_each(|(name, value)| drop(store.set_all(&key(name), value).expect("set")));
    store.close().expect("closed");
}

#[test]
fn work_that_is_given_up_leaves_the_file_as_it_was() {
    let (_folder, path) = folder();
    let store = ZipStore::create(&path).expect("created");
    store.set_all(&key("a"), b"1").expect("set");
    drop(store);
    assert!(files(&path).is_empty(), "no file that looks whole");
    write(&path, &[("a", b"1")]);
    let before = fs::read(&path).expect("read");
    for change in [
        &(|store: &ZipStore| drop(store.set_all(&key("b"), &[2; 100_000]).expect("set"))) as &dyn Fn(&ZipStore),
        &|store| drop(store.set_all(&key("a"), b"2").expect("set")),
        &|store| store.erase(&key("a")).expect("erased"),
        &|store| drop(store.begin_set(&key("b"), 0, &SetOptions::default()).expect("begun")),
    ] {
        for store in [ZipStore::append(&path), ZipStore::update(&path)] {
            let store = store.expect("opened").with(shared());
            change(&store);
            drop(store);
            assert_eq!(files(&path), ["x.zip"]);
            assert!(fs::read(&path).expect("read") == before);
        }
    }
}

#[test]
fn nothing_is_locked_or_made_before_the_first_write() {
    let (_folder, path) = folder();
    assert!(ZipStore::update(&path).expect_err("absent").is_not_found());
    write(&path, &[("a", b"1")]);
    let (first, second) = (ZipStore::update(&path).expect("opened"), ZipStore::update(&path).expect("opened"));
    contract_read(&first, &[("a", b"1")]);
    assert_eq!(files(&path), ["x.zip"]);
    first.set_all(&key("b"), b"2").expect("set");
    assert!(is_locked(&second.set_all(&key("c"), b"3").expect_err("the first writes")));
    // Until the end, unless the options say otherwise.
    first.flush().expect("flushed");
    assert!(is_locked(&second.set_all(&key("c"), b"3").expect_err("the first writes")));
    first.close().expect("closed");
    contract_read(&second, &[("a", b"1")]);
    second.set_all(&key("c"), b"3").expect("set");
    second.close().expect("closed");
    contract_read(&ZipStore::open(&path).expect("opened"), &[("a", b"1"), ("b", b"2"), ("c", b"3")]);
}

#[test]
fn writers_that_let_others_write_see_what_they_wrote() {
    let (_folder, path) = folder();
    let first = ZipStore::create(&path).expect("created").with(shared());
    first.set_all(&key("a"), b"1").expect("set");
    first.flush().expect("flushed");
    assert_eq!(files(&path), ["x.zip"], "the lock is given back");
    let second = ZipStore::update(&path).expect("opened").with(shared());
    for round in 0..3_u8 {
        second.set_all(&key(&format!("b/{round}")), &[round]).expect("set");
        assert!(is_locked(&first.set_all(&key("c"), b"3").expect_err("the second writes")));
        second.flush().expect("flushed");
        assert_eq!(first.get_all(&key(&format!("b/{round}"))).expect("get").as_deref(), Some(&[round][..]));
        first.set_all(&key("a"), &[b'x', round]).expect("replaced");
        first.erase(&key("d")).expect("absent");
        first.flush().expect("flushed");
        assert_eq!(second.get_all(&key("a")).expect("get").as_deref(), Some(&[b'x', round][..]));
    }
    let expected: [(&str, &[u8]); 4] = [("a", b"x\x02"), ("b/0", &[0]), ("b/1", &[1]), ("b/2", &[2])];
    for store in [&first, &second, &ZipStore::open(&path).expect("opened")] {
        contract_read(store, &expected);
    }
    is_sound(&path);
    // A file that is gone is read on, and nothing is written in its place.
    fs::remove_file(&path).expect("removed");
    contract_read(&first, &expected);
    let error = first.set_all(&key("e"), b"4").expect_err("gone");
    assert!(error.to_string().contains("found no file"), "{error}");
    assert!(files(&path).is_empty());
}

#[test]
fn a_version_stays_one_when_writing_begins() {
    let (_folder, path) = folder();
    write(&path, &[("a", b"0123456789"), ("b", b"2")]);
    let store = ZipStore::update(&path).expect("opened").with(shared());
    let version = |name: &str| -> Version {
        let fetched = store.get(&key(name), &[ByteRange::First(1)], &GetOptions::default());
        fetched.expect("get").expect("there").version.expect("a version")
    };
    let (a, b) = (version("a"), version("b"));
    assert_ne!(a, b);
    let error = store.set_if(&key("a"), b"1", &Precondition::Version(b.clone())).expect_err("another version");
    assert!(error.is_precondition(), "{error}");
    assert_eq!(version("a"), a, "the file is the same");
    store.set_if(&key("a"), b"1", &Precondition::Version(a)).expect("the version that was read");
    store.flush().expect("flushed");
    // In a file that others have written, offsets mean something else.
    let other = ZipStore::update(&path).expect("opened");
    other.set_all(&key("c"), b"3").expect("set");
    other.close().expect("closed");
    assert!(store.set_if(&key("b"), b"1", &Precondition::Version(b)).expect_err("another file").is_precondition());
    store.set_if(&key("b"), b"1", &Precondition::Version(version("b"))).expect("set");
}

#[test]
fn bytes_that_stay_are_told() {
    let (_folder, path) = folder();
    write(&path, &[("a", &[1; 1000]), ("b", &[2; 300])]);
    let store = ZipStore::update(&path).expect("opened").with(shared());
    store.set_all(&key("c"), b"3").expect("set");
    store.flush().expect("flushed");
    assert!(store.take_warnings().is_empty(), "nothing was replaced");
    store.set_all(&key("a"), b"1").expect("replaced");
    store.erase(&key("b")).expect("erased");
    store.flush().expect("flushed");
    let warnings = store.take_warnings();
    assert!(warnings.len() == 1 && warnings[0].contains("x.zip: 1300 bytes of values"), "{warnings:?}");
    assert!(store.take_warnings().is_empty());
    // Without values nothing stays.
    store.erase_prefix(&Prefix::root()).expect("erased");
    store.set_all(&key("d"), b"4").expect("set");
    store.flush().expect("flushed");
    assert!(store.take_warnings().is_empty());
    let (all, alone) = (fs::read(&path).expect("read"), path.with_file_name("y.zip"));
    write(&alone, &[("d", b"4")]);
    assert!(all == fs::read(&alone).expect("read"));
    // Also of a file that is not there yet.
    let third = path.with_file_name("z.zip");
    let store = ZipStore::create(&third).expect("created").with(shared());
    store.set_all(&key("a"), &[1; 1000]).expect("set");
    store.erase(&key("a")).expect("erased");
    store.set_all(&key("d"), b"4").expect("set");
    store.close().expect("closed");
    assert!(fs::read(&third).expect("read") == all);
}

#[test]
fn pieces_are_not_in_memory() {
    let (_folder, path) = folder();
    let store = ZipStore::create(&path).expect("created").with(shared());
    let stream = store.begin_set(&key("a"), 4, &SetOptions::default()).expect("begun");
    let piece = Bytes::from(vec![7; 1 << 20]);
    for _ in 0..3 {
        store.append_to_set(&key("a"), &stream, vec![piece.clone()]).expect("appended");
    }
    // Others are set meanwhile.
    store.set_all(&key("b"), b"2").expect("set");
    store.finish_set(&key("a"), &stream, Bytes::from_static(b"head")).expect("finished");
    drop(stream);
    let value = [&b"head"[..], &piece, &piece, &piece].concat();
    contract_read(&store, &[("a", &value), ("b", b"2")]);
    store.close().expect("closed");
    assert_eq!(files(&path), ["x.zip"]);
    is_sound(&path);
    // The same bytes again need no room.
    let before = fs::read(&path).expect("read");
    let store = ZipStore::append(&path).expect("opened");
    let set = |last: u8| {
        let stream = store.begin_set(&key("a"), 4, &SetOptions::default()).expect("begun");
        let (begin, end) = value[4..].split_at(value.len() - 5);
        assert_eq!(end.len(), 1);
        store.append_to_set(&key("a"), &stream, vec![Bytes::copy_from_slice(begin)]).expect("appended");
        store.append_to_set(&key("a"), &stream, vec![Bytes::copy_from_slice(&[last])]).expect("appended");
        store.finish_set(&key("a"), &stream, Bytes::from_static(b"head"))
    };
    set(7).expect("the same bytes");
    let error = set(8).expect_err("others");
    assert!(error.to_string().contains("the zip file has it already"), "{error}");
    store.close().expect("closed");
    assert!(fs::read(&path).expect("read") == before);
}

#[test]
fn arranged_files_begin_with_what_is_read_first() {
    let comment: fn(&[u8]) -> Option<Vec<u8>> = |root| (root != b"none").then(|| [b"of ", root].concat());
    let arrangement = ZipArrangement { first: "zarr.json", comment };
    let (_folder, path) = folder();
    let store = ZipStore::create(&path).expect("created").with(shared()).arranged(arrangement);
    let values = ["g/a/c/0", "g/a/zarr.json", "b/zarr.json", "x", "zarr.json", "g/zarr.json"];
    for name in values {
        store.set_all(&key(name), name.as_bytes()).expect("set");
    }
    store.flush().expect("flushed");
    assert!(store.take_warnings().is_empty());
    let in_order = ["zarr.json", "b/zarr.json", "g/zarr.json", "g/a/zarr.json", "g/a/c/0", "x"];
    let check = |expected: &[&str], comment: &[u8]| {
        let bytes = fs::read(&path).expect("read");
        let found = |what: &[u8], skip: usize| -> Vec<String> {
            let at = bytes.windows(4).enumerate().filter(|(_, window)| *window == what).map(|(at, _)| at);
            at.map(|at| {
                let len = usize::from(u16::from_le_bytes([bytes[at + skip - 4], bytes[at + skip - 3]]));
                let name = if what == b"PK\x01\x02" { at + 46 } else { at + 30 };
                String::from_utf8_lossy(&bytes[name..name + len]).into_owned()
            })
            .collect()
        };
        assert_eq!(found(b"PK\x03\x04", 30), expected, "entries");
        assert_eq!(found(b"PK\x01\x02", 32), expected, "the directory");
        assert!(bytes.ends_with(comment) && bytes.windows(4).any(|window| window == b"PK\x06\x06"));
        is_sound(&path);
    };
    check(&in_order, b"of zarr.json");
    // One that is replaced, and one that is new.
    let other = ZipStore::update(&path).expect("opened").with(shared()).arranged(arrangement);
    other.set_all(&key("zarr.json"), b"none").expect("set");
    other.set_all(&key("a/zarr.json"), b"new").expect("set");
    other.close().expect("closed");
    assert!(other.take_warnings().is_empty(), "nothing stays");
    check(
        &["zarr.json", "b/zarr.json", "g/zarr.json", "a/zarr.json", "g/a/zarr.json", "g/a/c/0", "x"],
        b"of zarr.json",
    );
    assert_eq!(store.get_all(&key("zarr.json")).expect("get").as_deref(), Some(&b"none"[..]));
}

/// The file that the comment of the next test takes away once, while entries are put in order.
static TAKEN: std::sync::Mutex<Option<std::path::PathBuf>> = std::sync::Mutex::new(None);

#[test]
fn a_flush_that_fails_while_it_puts_entries_in_order_is_made_again() {
    fn comment(_: &[u8]) -> Option<Vec<u8>> {
        if let Some(path) = TAKEN.lock().expect("no panic").take() {
            fs::rename(&path, path.with_extension("aside")).expect("renamed");
        }
        Some(b"the comment".to_vec())
    }
    let (_folder, path) = folder();
    let arrangement = ZipArrangement { first: "zarr.json", comment };
    let store = ZipStore::create(&path).expect("created").arranged(arrangement);
    for name in ["a", "zarr.json"] {
        store.set_all(&key(name), name.as_bytes()).expect("set");
    }
    let canonical = fs::canonicalize(path.parent().expect("a folder")).expect("there");
    *TAKEN.lock().expect("no panic") = Some(canonical.join(path.file_name().expect("a name")));
    store.flush().expect_err("the file is gone");
    fs::rename(path.with_extension("aside"), &path).expect("renamed");
    let first = |bytes: &[u8]| bytes.get(30..39) == Some(b"zarr.json");
    assert!(!first(&fs::read(&path).expect("read")));
    store.flush().expect("flushed");
    let bytes = fs::read(&path).expect("read");
    assert!(first(&bytes) && bytes.ends_with(b"the comment"));
    is_sound(&path);
    // There is nothing to be done any more.
    store.flush().expect("flushed");
    assert!(fs::read(&path).expect("read") == bytes);
}
