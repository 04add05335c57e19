//! Tests of the number of file system calls of operations.

use zarr_store::{ByteRange, Key, Precondition, Request, SetOptions, StoreExt};

use super::super::contract::{each, key};
use super::*;

/// Returns the number of file system calls that `act` makes.
fn counted(store: &FilesystemStore, act: impl FnOnce(&FilesystemStore)) -> i64 {
    let vfs = Arc::new(Faulty::of(store));
    act(&FilesystemStore { vfs: vfs.clone(), ..store.clone() });
    i64::MAX - vfs.left.load(Ordering::Relaxed)
}

#[test]
fn a_directory_is_looked_up_once_for_values_in_a_row() {
    each(|store| {
        let keys: Vec<Key> = (0..20).map(|i| key(&format!("a/{}/{i}", i / 10))).collect();
        let values: Vec<(&Key, &[u8])> = keys.iter().map(|key| (key, &b"value"[..])).collect();
        let calls = |values: &[(&Key, &[u8])]| counted(store, |store| store.set_many(values).expect("set"));
        store.set_all(&key("a/0/x"), b"").expect("set");
        store.set_all(&key("a/1/x"), b"").expect("set");
        let unnamed = store
            .vfs
            .make_unnamed(&store.vfs.directory("a").expect("a directory"))
            .expect("a file without a name, or that there are none")
            .is_some();
        let replaced = 2 * 2 + 20 * 6;
        let new = if unnamed { 2 + 20 * 5 } else { replaced + 2 };
        assert_eq!(calls(&values), new, "directory; make, write, stamp, name, close");
        let taken = if unnamed { 2 * 4 } else { 2 };
        assert_eq!(
            calls(&values),
            replaced + taken,
            "directory, identity, one in seventeen that finds its name taken; make, lock, write, stamp, close, rename"
        );
        let listed = fs::read_dir(store.path().join("a/1")).expect("there").count();
        assert_eq!(listed, 11, "nothing is left behind");
    });
}

#[test]
fn a_job_that_sets_a_value_asks_for_no_version() {
    each(|store| {
        store.set_all(&key("a/x"), b"").expect("set");
        let set =
            |store: &FilesystemStore| drop(store.set(&key("a/y"), b"value", &SetOptions::default()).expect("set"));
        let request = Request::set(key("a/z"), b"value".to_vec(), Precondition::None);
        let asked = |store: &FilesystemStore| drop(zarr_drive::answer(store, request).expect("set"));
        assert_eq!(counted(store, asked), counted(store, set) - 1, "stat");
    });
}

#[test]
fn one_open_for_each_get_and_no_more_than_needed() {
    each(|store| {
        store.set_all(&key("a/b"), b"0123456789").expect("set");
        let calls = |ranges: &[ByteRange]| {
            counted(store, |store| assert!(store.get_ranges(&key("a/b"), ranges).expect("get").is_some()))
        };
        // `Faulty` reads at most three bytes at a time.
        assert_eq!(calls(&[ByteRange::Range(0..3)]), 2, "open, read");
        assert_eq!(calls(&[ByteRange::Range(0..3), ByteRange::Range(5..8)]), 3, "open, read, read");
        assert_eq!(calls(&[ByteRange::Suffix(3)]), 3, "open, stat, read");
    });
}

/// Values on a mounted device are synced separately, since one sync call covers one device.
#[cfg(target_os = "linux")]
#[test]
fn values_on_another_device_wait_for_themselves() {
    let folder = tempfile::tempdir().unwrap();
    let store = FilesystemStore::create(folder.path()).unwrap();
    let keys = ["a/b", "c/d", "mounted/e", "f/g", "h/i"].map(key);
    let values: Vec<(&Key, &[u8])> = keys.iter().map(|key| (key, b"new".as_slice())).collect();
    // Not all systems have files without names.
    let together = |store: &FilesystemStore, from: usize| store.fill_without_names(&values[from..]).unwrap().len();
    if together(&store, 0) < values.len() {
        return;
    }
    let mounted = store.vfs.identity(&store.vfs.directory("mounted").unwrap()).unwrap();
    let vfs = Faulty { mounted: Some(mounted), ..Faulty::of(&store) };
    let store = FilesystemStore { vfs: Arc::new(vfs), ..store };
    assert_eq!([0, 1, 2, 3].map(|from| together(&store, from)), [2, 1, 0, 2]);
    store.create_many(&values, Durability::Full).unwrap();
    assert!(keys.iter().all(|key| store.get_all(key).unwrap().as_deref() == Some(b"new".as_slice())));
}
