//! The limit of files that a process holds open. It is alone in its process: it uses up the limit, by which other tests would fail.

use zarr_store::{ByteRange, Fetched, GetOptions, Key, Snapshot, StoreExt};
use zarr_store_filesystem::FilesystemStore;

fn get(store: &FilesystemStore, range: ByteRange, options: &GetOptions) -> zarr_store::Result<Fetched> {
    Ok(store.get(&Key::new("a").expect("a key"), &[range], options)?.expect("the value is there"))
}

#[test]
fn files_that_are_held_open_are_few() {
    let folder = tempfile::tempdir().expect("a directory");
    let store = FilesystemStore::open(folder.path()).expect("opened");
    let key = Key::new("a").expect("a key");
    store.set_all(&key, b"old").expect("set");
    let snapshot =
        || get(&store, ByteRange::Range(0..1), &GetOptions::snapshot()).expect("get").snapshot.expect("a snapshot");
    let states: Vec<Snapshot> = (0..2000).map(|_| snapshot()).collect();
    store.set_all(&key, b"new").expect("set");
    let held = states.iter().filter(|state| {
        match get(&store, ByteRange::From(1), &GetOptions::if_match(Some((*state).clone()))) {
            Ok(rest) => rest.part(0) == b"ld",
            Err(error) if error.is_precondition() => false,
            Err(error) => panic!("{error}"),
        }
    });
    let held = held.count();
    assert!((1..=1024).contains(&held), "{held}");
    drop(states);
    // Files that are given back make room for others.
    let state = snapshot();
    store.set_all(&key, b"other").expect("set");
    let rest = get(&store, ByteRange::From(1), &GetOptions::if_match(Some(state))).expect("get");
    assert_eq!(rest.part(0), b"ew");
}
