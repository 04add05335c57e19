//! Creating, appending, replacing, and who may do so.

use std::fs;

use zarr_store::testing::{contract_read, contract_read_only};
use zarr_store::{ByteRange, Error, ErrorKind, GetOptions, Precondition, Prefix, StoreExt};
use zarr_store_zip::{ZipFault, ZipOptions, ZipStore};

use crate::{files, folder, key};

#[track_caller]
fn fault(error: &Error) -> &ZipFault {
    match error {
        Error::Format { fault, .. } => fault.downcast_ref().expect("a fault of a zip file"),
        error => panic!("{error}"),
    }
}

fn replacing() -> ZipOptions {
    ZipOptions::default().replace(true)
}

#[test]
fn a_new_file_is_there_when_it_is_closed() {
    let (_folder, path) = folder();
    let store = ZipStore::create(&path).expect("created");
    store.set_all(&key("a"), b"1").expect("set");
    contract_read(&store, &[("a", b"1")]);
    assert!(ZipStore::open(&path).expect_err("not yet").is_not_found());
    assert_eq!(files(&path), [".x.zip.zarr-lock", ".x.zip.zarr-tmp"]);
    store.close().expect("closed");
    assert_eq!(files(&path), ["x.zip"]);
    contract_read(&ZipStore::open(&path).expect("opened"), &[("a", b"1")]);
    // It is read on, and no more written.
    contract_read(&store, &[("a", b"1")]);
    assert!(store.set_all(&key("b"), b"2").expect_err("closed").is_read_only());
    assert!(store.repack().expect_err("closed").is_read_only());
    store.close().expect("closed again");
    let error = ZipStore::create(&path).expect_err("there");
    assert_eq!(
        error.to_string(),
        format!("{}: found a file, expected none: `ZipStore::append` adds to it", path.display())
    );
    assert_eq!(files(&path), ["x.zip"]);
    // Also a store without values.
    let other = path.with_file_name("folder").join("y.zip");
    ZipStore::create(&other).expect("created with its directory").close().expect("closed");
    assert_eq!(files(&other), ["y.zip"]);
    contract_read(&ZipStore::open(&other).expect("opened"), &[]);
    contract_read_only(&ZipStore::open(&other).expect("opened"));
}

#[test]
fn equal_values_make_equal_files() {
    let bytes = || {
        let (_folder, path) = folder();
        let store = ZipStore::create(&path).expect("created");
        for (name, value) in [("b", &[1; 70_000][..]), ("a/\u{e4}", b"2")] {
            store.set_all(&key(name), value).expect("set");
        }
        store.close().expect("closed");
        fs::read(path).expect("read")
    };
    assert_eq!(bytes(), bytes());
}

#[test]
fn readers_see_flushed_states() {
    let (_folder, path) = folder();
    let store = ZipStore::create(&path).expect("created");
    store.set_all(&key("a"), b"1").expect("set");
    store.flush().expect("flushed");
    let first = ZipStore::open(&path).expect("opened");
    // On a copy from here on.
    store.set_all(&key("b"), &[2; 100_000]).expect("set");
    let same = ZipStore::open(&path).expect("opened");
    for older in [&first, &same] {
        contract_read(older, &[("a", b"1")]);
    }
    contract_read(&store, &[("a", b"1"), ("b", &[2; 100_000])]);
    store.flush().expect("flushed");
    contract_read(&first, &[("a", b"1")]);
    contract_read(&ZipStore::open(&path).expect("opened"), &[("a", b"1"), ("b", &[2; 100_000])]);
    let modified = || fs::metadata(&path).expect("metadata").modified().expect("a time");
    let before = modified();
    store.flush().expect("nothing to do");
    store.set_all(&key("a"), b"1").expect("the same bytes");
    store.close().expect("nothing to do");
    assert_eq!(modified(), before);
    assert_eq!(files(&path), ["x.zip"]);
    // As much as the values need: a directory that was replaced leaves nothing.
    let in_one = path.with_file_name("y.zip");
    let other = ZipStore::create(&in_one).expect("created");
    other.set_all(&key("a"), b"1").expect("set");
    other.set_all(&key("b"), &[2; 100_000]).expect("set");
    other.close().expect("closed");
    assert_eq!(fs::read(&path).expect("read"), fs::read(&in_one).expect("read"));
}

#[test]
fn keys_are_set_once_unless_the_options_permit_more() {
    let (_folder, path) = folder();
    let store = ZipStore::create(&path).expect("created");
    store.set_all(&key("g/a"), b"1").expect("set");
    store.set_all(&key("g/a"), b"1").expect("the same");
    let refused = |error: Error, operation: &str| {
        assert!(matches!(fault(&error), ZipFault::Kept { name, .. } if name == "g/a"), "{error}");
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        for expected in [&format!("cannot {operation} entry \"g/a\""), "`ZipOptions::replace`", "`ZipStore::repack`"] {
            assert!(error.to_string().contains(expected), "{error}");
        }
    };
    let g = Prefix::new("g/").expect("a prefix");
    refused(store.set_all(&key("g/a"), b"2").expect_err("there"), "set");
    refused(store.set_partial(&key("g/a"), &[(1, b"2")]).expect_err("there"), "set");
    refused(store.erase(&key("g/a")).expect_err("there"), "erase");
    refused(store.erase_prefix(&g).expect_err("there"), "erase");
    store.erase(&key("g/b")).expect("absent");
    store.erase_prefix(&Prefix::new("h/").expect("a prefix")).expect("nothing there");
    assert!(store.set_if(&key("g/a"), b"2", &Precondition::NotExists).expect_err("there").is_precondition());
    store.set_partial(&key("g/c"), &[(1, b"2")]).expect("new");
    contract_read(&store, &[("g/a", b"1"), ("g/c", b"\x002")]);
    store.close().expect("closed");
    let store = ZipStore::append(&path).expect("opened");
    refused(store.set_all(&key("g/a"), b"2").expect_err("there"), "set");
    let store = store.with(replacing());
    store.set_all(&key("g/a"), b"2").expect("replaced");
    store.erase(&key("g/c")).expect("erased");
    contract_read(&store, &[("g/a", b"2")]);
    store.close().expect("closed");
    contract_read(&ZipStore::open(&path).expect("opened"), &[("g/a", b"2")]);
    let before = fs::metadata(&path).expect("metadata").len();
    let store = ZipStore::append(&path).expect("opened");
    let saved = store.repack().expect("repacked");
    assert!(saved > 0);
    assert_eq!(fs::metadata(&path).expect("metadata").len(), before - saved);
    contract_read(&store, &[("g/a", b"2")]);
    store.set_all(&key("d"), b"3").expect("set");
    store.close().expect("closed");
    contract_read(&ZipStore::open(&path).expect("opened"), &[("d", b"3"), ("g/a", b"2")]);
    assert!(ZipStore::open(&path).expect("opened").repack().expect_err("read").is_read_only());
}

#[test]
fn a_get_requires_a_state() {
    let (_folder, path) = folder();
    let store = ZipStore::create(&path).expect("created").with(replacing());
    store.set_all(&key("a"), b"0123456789").expect("set");
    let first = store.get(&key("a"), &[ByteRange::First(1)], &GetOptions::snapshot()).expect("get").expect("there");
    let same = GetOptions::if_match(first.snapshot.clone());
    assert!(same.if_match.is_some());
    store.flush().expect("flushed");
    store.set_all(&key("b"), b"").expect("set");
    assert_eq!(store.get(&key("a"), &[ByteRange::From(8)], &same).expect("the same").expect("there").part(0), b"89");
    store.set_all(&key("a"), b"x").expect("replaced");
    assert!(store.get(&key("a"), &[ByteRange::From(8)], &same).expect_err("another").is_precondition());
}

#[test]
fn one_store_writes() {
    let (_folder, path) = folder();
    let store = ZipStore::create(&path).expect("created");
    let is_locked = |store: Result<ZipStore, Error>| {
        let error = store.expect_err("another writes");
        assert!(matches!(fault(&error), ZipFault::Locked), "{error}");
        assert_eq!(error.kind(), ErrorKind::Denied);
    };
    is_locked(ZipStore::create(&path));
    store.set_all(&key("a"), b"1").expect("set");
    store.flush().expect("flushed");
    is_locked(ZipStore::append(&path));
    #[cfg(unix)]
    {
        let link = path.with_file_name("link.zip");
        std::os::unix::fs::symlink(&path, &link).expect("a link");
        is_locked(ZipStore::append(&link));
    }
    assert!(store.try_lock(&Prefix::root()).expect("a lock").expect("free").excludes_processes());
    store.close().expect("closed");
    let second = ZipStore::append(&path).expect("free");
    is_locked(ZipStore::append(&path));
    drop(second);
    ZipStore::append(&path).expect("free");
    assert!(ZipStore::append(path.with_file_name("absent.zip")).expect_err("absent").is_not_found());
    assert!(matches!(ZipStore::append(path.parent().expect("one")), Err(Error::NotAStore { .. })));
}

#[cfg(unix)]
#[test]
fn links_and_permissions_stay() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, path) = folder();
    let link = path.with_file_name("link.zip");
    ZipStore::create(&path).expect("created").close().expect("closed");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("permitted");
    std::os::unix::fs::symlink("x.zip", &link).expect("a link");
    let store = ZipStore::append(&link).expect("opened").with(replacing());
    store.set_all(&key("a"), b"1").expect("set");
    store.flush().expect("flushed");
    store.repack().expect("repacked");
    drop(store);
    assert!(fs::symlink_metadata(&link).expect("metadata").is_symlink());
    assert_eq!(fs::metadata(&path).expect("metadata").permissions().mode() & 0o777, 0o640);
    contract_read(&ZipStore::open(&path).expect("opened"), &[("a", b"1")]);
    // A link that leads nowhere is there.
    let dangling = path.with_file_name("dangling.zip");
    std::os::unix::fs::symlink("nowhere", &dangling).expect("a link");
    assert!(matches!(ZipStore::create(&dangling), Err(Error::NotAStore { .. })));
}

#[test]
fn changes_of_others_are_not_overwritten() {
    let (_folder, path) = folder();
    ZipStore::create(&path).expect("created").close().expect("closed");
    let store = ZipStore::append(&path).expect("opened");
    store.set_all(&key("a"), b"1").expect("set");
    let of_another = [&b"PK\x05\x06"[..], &[0; 16], &[1, 0, b'c']].concat();
    fs::write(&path, &of_another).expect("written");
    for _ in 0..2 {
        let error = store.flush().expect_err("changed");
        assert!(matches!(fault(&error), ZipFault::Replaced { .. }), "{error}");
        assert!(error.to_string().contains("found 23 bytes"), "{error}");
    }
    drop(store);
    assert_eq!(fs::read(&path).expect("read"), of_another);

    // A file that another made while this one was written.
    let other = path.with_file_name("y.zip");
    let store = ZipStore::create(&other).expect("created");
    fs::write(&other, &of_another).expect("written");
    assert!(matches!(store.close(), Err(Error::NotAStore { .. })));
    fs::remove_file(&other).expect("removed");
    store.close().expect("closed");
    contract_read(&ZipStore::open(&other).expect("opened"), &[]);
    assert_eq!(files(&path), ["x.zip", "y.zip"]);
}

#[test]
fn threads_write_at_once() {
    let (_folder, path) = folder();
    let store = ZipStore::create(&path).expect("created");
    std::thread::scope(|scope| {
        for thread in 0..4_u8 {
            let store = &store;
            scope.spawn(move || {
                for i in 0..100 {
                    let name = key(&format!("{thread}/{i}"));
                    store.set_all(&name, &vec![thread; i * 1000]).expect("set");
                    assert_eq!(store.get_all(&name).expect("get").expect("there").len(), i * 1000);
                    if i % 40 == 39 {
                        store.flush().expect("flushed");
                    }
                }
            });
        }
    });
    store.close().expect("closed");
    let store = ZipStore::open(&path).expect("opened");
    assert_eq!(store.list().expect("listed").len(), 400);
    for key in store.list().expect("listed") {
        let value = store.get_all(&key).expect("get").expect("there");
        let (thread, i) = key.as_str().split_once('/').expect("two parts");
        assert_eq!(*value, vec![thread.parse().expect("a number"); i.parse::<usize>().expect("a number") * 1000]);
    }
}
