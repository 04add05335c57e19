//! Moves that end in the middle, and are run again.

use crate::interrupted::{DIALECTS, OLD, at_each_call, create, interrupted, is_whole, open};
use std::sync::Arc;
use zarr::store::{Counted, FilesystemStore, Key, MemoryStore, Store, StoreExt};
use zarr_array::{Dialect, ErrorKind};

#[test]
fn a_move_leaves_the_node_whole_at_one_path() {
    for dialect in DIALECTS {
        for (from, to) in [("/g/a", "/h/b"), ("/g", "/h")] {
            for first in [false, true] {
                let prepare = |store: &Arc<dyn Store>| {
                    create(store, "/g/a", dialect, &OLD)?;
                    create(store, "/g/c", dialect, &OLD)?;
                    if first { create(store, &format!("{to}/x"), dialect, &OLD[..6]) } else { Ok(()) }
                };
                // An implicit group that lacks nodes may be the rest that an earlier move left.
                if first && from == "/g" && dialect.implies_groups() {
                    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
                    prepare(&store).unwrap();
                    let refused = zarr::convert::Transfer::of(&store, from)
                        .to(to)
                        .overwrite(true)
                        .move_all(&zarr::registry::default())
                        .unwrap_err();
                    assert_eq!(refused.kind(), ErrorKind::Exists);
                    assert!(is_whole(&store, "/g/a") && open(&store, "/h/x").is_some());
                    continue;
                }
                // Run again, it is run as the hint says.
                let moved = |store: &Arc<dyn Store>| {
                    let done = zarr::convert::Transfer::of(store, from)
                        .to(to)
                        .overwrite(first)
                        .move_all(&zarr::registry::default());
                    match done {
                        Err(error) if error.kind() == ErrorKind::Exists => zarr::convert::Transfer::of(store, from)
                            .to(to)
                            .overwrite(true)
                            .move_all(&zarr::registry::default()),
                        done => done,
                    }
                };
                let names = if from == "/g" { ["/a", "/c"].as_slice() } else { &[""] };
                let check = |store: &Arc<dyn Store>| {
                    let nodes: Vec<(bool, bool)> = names
                        .iter()
                        .map(|name| {
                            (is_whole(store, &format!("{from}{name}")), is_whole(store, &format!("{to}{name}")))
                        })
                        .collect();
                    assert!(
                        nodes.iter().all(|(old, _)| *old) || nodes.iter().all(|(_, new)| *new),
                        "{dialect} {from}: {nodes:?}"
                    );
                };
                at_each_call(&prepare, &moved, &check, &check);
            }
        }
    }
}

#[test]
fn a_move_that_was_interrupted_while_it_erased_is_finished_by_another() {
    for dialect in DIALECTS {
        for (from, to, names) in [("/g/a", "/h/b", [""].as_slice()), ("/g", "/h", &["/a", "/b/c"])] {
            for apart in [false, true] {
                let memory = || -> Arc<dyn Store> { Arc::new(MemoryStore::new()) };
                let prepared = || {
                    let source = memory();
                    create(&source, "/g/a", dialect, &OLD).unwrap();
                    create(&source, "/g/b/c", dialect, &OLD).unwrap();
                    let target = if apart { memory() } else { Arc::clone(&source) };
                    (source, target)
                };
                let moved = |source: &Arc<dyn Store>, target: &Arc<dyn Store>| {
                    zarr::convert::Transfer::of(source, from)
                        .in_store(target)
                        .to(to)
                        .move_all(&zarr::registry::default())
                };
                let whole =
                    |store: &Arc<dyn Store>, at| names.iter().all(|name| is_whole(store, &format!("{at}{name}")));
                let (source, target) = prepared();
                moved(&source, &target).unwrap();
                let ended = [source.list().unwrap(), target.list().unwrap()];
                let mut finished = 0;
                for stop in 0.. {
                    assert!(stop < 1000, "the move does not end");
                    let (source, target) = prepared();
                    // Within one store all calls count, else the calls to the source.
                    let through = interrupted(&source, stop);
                    if moved(&through, if apart { &target } else { &through }).is_ok() {
                        break;
                    }
                    if whole(&target, to) && !whole(&source, from) {
                        moved(&source, &target).unwrap();
                        assert_eq!([source.list().unwrap(), target.list().unwrap()], ended, "{dialect} {from} {stop}");
                        assert!(whole(&target, to));
                        finished += 1;
                    }
                }
                assert!(finished > 3, "{dialect} {from}: {finished}");
            }
        }
    }
}

#[test]
fn a_leftover_that_differs_from_the_copy_of_a_move_is_not_erased() {
    let moved =
        |store: &Arc<dyn Store>| zarr::convert::Transfer::of(store, "/a").to("/b").move_all(&zarr::registry::default());
    let document = Key::new("a/zarr.json").unwrap();
    let interrupted_move = || {
        let begun = (0..).map(|left| {
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            create(&store, "/a", Dialect::V3, &OLD).unwrap();
            moved(&interrupted(&store, left)).unwrap_err();
            store
        });
        begun.take(20).find(|store| store.get_all(&document).unwrap().is_none()).unwrap()
    };
    // A chunk that was written meanwhile.
    let store = interrupted_move();
    let chunk = Key::new("a/c/3").unwrap();
    store.set_all(&chunk, b"other").unwrap();
    let keys = store.list().unwrap();
    let error = moved(&store).unwrap_err();
    assert_eq!((error.kind(), error.location().key.as_deref()), (ErrorKind::Conflict, Some("a/c/3")), "{error}");
    assert_eq!(store.list().unwrap(), keys);
    // A node that was created meanwhile, which is not in the copy.
    let store = interrupted_move();
    let copied = store.get_all(&Key::new("b/zarr.json").unwrap()).unwrap().unwrap();
    store.set_all(&Key::new("a/new/zarr.json").unwrap(), &copied).unwrap();
    let keys = store.list().unwrap();
    assert_eq!(moved(&store).unwrap_err().kind(), ErrorKind::Exists);
    assert_eq!(store.list().unwrap(), keys);
    // A node that was never there is not found, whatever lies at the other path.
    let error = zarr::convert::Transfer::of(&store, "/none").to("/b").move_all(&zarr::registry::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
}

#[test]
fn a_copy_is_on_the_disk_before_the_rest_of_the_source_is_erased() {
    let source: Arc<dyn Store> = Arc::new(MemoryStore::new());
    create(&source, "/a", Dialect::V3, &OLD).unwrap();
    let target = Arc::new(Counted::new(MemoryStore::new()));
    let copy: Arc<dyn Store> = Arc::clone(&target) as Arc<dyn Store>;
    zarr::convert::Transfer::of(&source, "/a").in_store(&copy).to("/a").copy(&zarr::registry::default()).unwrap();
    source.erase(&Key::new("a/zarr.json").unwrap()).unwrap();
    let before = target.counts().flushes;
    assert!(zarr::convert::finish_move(&source, "/a", &copy, "/a").unwrap());
    assert_eq!(target.counts().flushes, before + 1);
}

#[test]
fn a_node_in_the_way_stays_where_a_move_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let files: Arc<dyn Store> = Arc::new(FilesystemStore::create(folder.path().join("store")).unwrap());
    for store in [Arc::new(MemoryStore::new()) as Arc<dyn Store>, files] {
        create(&store, "/h", Dialect::V3, &OLD).unwrap();
        create(&store, "/g/a", Dialect::V3, &OLD).unwrap();
        // An array of another dialect in the same group.
        let other: Arc<dyn Store> = Arc::new(MemoryStore::new());
        create(&other, "/g/b", Dialect::V2, &OLD).unwrap();
        for key in other.list().unwrap().iter().filter(|key| key.as_str().starts_with("g/b/")) {
            store.set_all(key, &other.get_all(key).unwrap().unwrap()).unwrap();
        }
        let keys = store.list().unwrap();
        let error = zarr::convert::Transfer::of(&store, "/g")
            .to("/h")
            .overwrite(true)
            .move_all(&zarr::registry::default())
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
        assert_eq!(store.list().unwrap(), keys);
        assert!(is_whole(&store, "/h"));
    }
}
