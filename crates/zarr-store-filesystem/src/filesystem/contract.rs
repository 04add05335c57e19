//! Tests of the store contract, for each kind of access to files and each level of durability.

use std::sync::Arc;

use super::*;
use zarr_store::{ByteRange, ErrorKind, Key, Precondition, Prefix, StoreExt, testing};

/// Calls `check` with a store on a new directory, for each kind of access to files that this system supports.
pub(super) fn each(check: impl Fn(&FilesystemStore)) {
    let folder = tempfile::tempdir().expect("a directory");
    let native = folder.path().join("native");
    check(&FilesystemStore::create(&native).expect("made"));
    let path = folder.path().join("plain");
    fs::create_dir(&path).expect("made");
    let vfs: Arc<dyn Vfs> = Arc::new(plain::Plain::open(&path).expect("opened"));
    check(&FilesystemStore::on(vfs, path));
}

pub(super) fn key(text: &str) -> Key {
    Key::new(text).expect("a key")
}

// clause: v1-2, d2022-31, d2022-171
#[test]
fn keeps_the_contract() {
    each(|store| testing::contract(store));
}

#[test]
fn keeps_the_contract_when_durable() {
    each(|store| testing::contract(&store.clone().with(FilesystemOptions::default().durability(Durability::Full))));
}

#[cfg(target_os = "linux")]
#[test]
fn linux_uses_the_kernel() {
    let folder = tempfile::tempdir().expect("a directory");
    // Old kernels and some sandboxes have not the call; then the other access is used, and the tests above have
    // checked it.
    if let Some(beneath) = openat::OpenAt::open(folder.path()).expect("opened") {
        let store = FilesystemStore::open(folder.path()).expect("opened");
        assert_eq!(format!("{:?}", store.vfs).split(' ').next(), format!("{beneath:?}").split(' ').next());
    }
}

#[test]
fn opening() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("x");
    assert!(FilesystemStore::open(&path).expect_err("not there").is_not_found());
    fs::write(&path, b"a file").expect("written");
    for error in
        [FilesystemStore::open(&path).expect_err("a file"), FilesystemStore::create(&path).expect_err("a file")]
    {
        assert!(matches!(error, Error::NotAStore { .. }), "{error}");
        assert_eq!(error.to_string(), format!("{}: found a file, expected a directory", path.display()));
    }
    FilesystemStore::create(folder.path().join("a/b/c")).expect("made");
    FilesystemStore::open(folder.path().join("a/b")).expect("there");
}

#[test]
fn directories_are_no_values() {
    each(|store| {
        store.set_all(&key("a/b/c"), b"1").expect("set");
        for ranges in [vec![ByteRange::Full], vec![ByteRange::Range(0..1)], vec![]] {
            assert!(store.get_ranges(&key("a/b"), &ranges).expect("get").is_none());
        }
        assert_eq!(store.size(&key("a/b")).expect("size"), None);
        store.erase(&key("a/b")).expect("nothing to erase");
        for when in [Precondition::None, Precondition::NotExists] {
            let error = store.set_if(&key("a/b"), b"2", &when).expect_err("a directory");
            assert_eq!(error.to_string(), format!("{store}: set a/b: found a directory, expected a value or nothing"));
        }
        let error = store.set_all(&key("a/b/c/d"), b"3").expect_err("a value above");
        assert_eq!(error.to_string(), format!("{store}: set a/b/c: found a value, expected a directory or nothing"));
        assert_eq!(store.get_all(&key("a/b/c/d")).expect("get"), None);
        assert_eq!(store.list().expect("list"), [key("a/b/c")]);
    });
}

#[test]
fn names_that_cannot_be_are_clear_errors() {
    each(|store| {
        let long = key(&format!("a/{}", "x".repeat(300)));
        for error in [store.set_all(&long, b"").expect_err("too long"), store.get_all(&long).expect_err("too long")] {
            assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
            assert!(error.to_string().len() < 250, "{error}");
        }
        let temporary = key(&format!("a/{}", names::temporary()));
        assert!(matches!(store.set_all(&temporary, b""), Err(Error::Reserved { .. })));
        assert_eq!(store.get_all(&temporary).expect("get"), None);
        assert_eq!(store.size(&temporary).expect("size"), None);
        store.erase(&temporary).expect("nothing to erase");
    });
}

#[test]
fn names_that_are_no_keys_are_not_listed() {
    each(|store| {
        store.set_all(&key("a/b"), b"1").expect("set");
        let temporary = store.path().join("a").join(names::temporary());
        fs::write(&temporary, b"left behind").expect("written");
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStrExt;
            fs::write(store.path().join("a").join(std::ffi::OsStr::from_bytes(b"\xff")), b"").expect("written");
            fs::write(store.path().join("a/x\\..\\y"), b"").expect("written");
        }
        let prefix = Prefix::new("a/").expect("a prefix");
        assert_eq!(store.list_dir(&prefix).expect("list").keys, [key("a/b")]);
        assert_eq!(store.list().expect("list"), [key("a/b")]);
        store.erase_prefix(&prefix).expect("erase");
        assert!(!store.path().join("a").exists(), "the directory is erased with its entries");
    });
}

#[test]
fn erasing_removes_empty_directories_only() {
    each(|store| {
        for name in ["a/b/c/d", "a/e"] {
            store.set_all(&key(name), b"").expect("set");
        }
        store.erase(&key("a/b/c/d")).expect("erase");
        assert!(!store.path().join("a/b").exists());
        assert!(store.path().join("a/e").exists());
        store.erase(&key("a/e")).expect("erase");
        assert!(store.path().exists() && !store.path().join("a").exists());
    });
}

#[test]
fn large_ranges_are_checked_before_memory_is_taken() {
    each(|store| {
        store.set_all(&key("a"), b"12345").expect("set");
        let error = store.get_ranges(&key("a"), &[ByteRange::Range(0..1 << 60)]).expect_err("too far");
        assert_eq!(error.to_string(), format!("{store}: key a: found 5 bytes, expected bytes 0..{}", 1_u64 << 60));
        let file = fs::File::create(store.path().join("huge")).expect("made");
        file.set_len(1 << 40).expect("a sparse file");
        let into = store
            .get_ranges(&key("huge"), &[ByteRange::Suffix(3), ByteRange::From((1 << 40) - 1)])
            .expect("get")
            .expect("there");
        assert_eq!((into.part(0).len(), into.part(1).len(), into.size), (3, 1, Some(1 << 40)));
    });
}

#[cfg(unix)]
#[test]
fn a_store_stays_with_its_directory() {
    let folder = tempfile::tempdir().expect("a directory");
    let (before, after) = (folder.path().join("before"), folder.path().join("after"));
    let store = FilesystemStore::create(&before).expect("made");
    fs::rename(&before, &after).expect("moved");
    if format!("{:?}", store.vfs).starts_with("OpenAt") {
        store.set_all(&key("a/b"), b"1").expect("set");
        assert_eq!(store.list().expect("list"), [key("a/b")]);
        assert_eq!(fs::read(after.join("a/b")).expect("there"), b"1");
    }
}
