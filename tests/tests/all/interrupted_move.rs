//! Moves that end in the middle, and are run again.

use crate::interrupted::{DIALECTS, OLD, at_each_call, create, interrupted, is_whole, open};
use std::ops::ControlFlow::{Break, Continue};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use zarr::store::{Answer, Call, Counted, FilesystemStore, Key, MemoryStore, Prefix, Store, StoreExt};
use zarr_array::{Dialect, ErrorKind};
use zarr_store::testing::Intercepted;

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

/// Consolidated metadata of the group itself has the documents that are gone already: what is left is whole, or no node.
#[test]
fn a_move_of_a_group_with_consolidated_metadata_leaves_it_whole_at_one_path() {
    for dialect in [Dialect::V2, Dialect::V3] {
        let prepare = |store: &Arc<dyn Store>| {
            create(store, "/g/a", dialect, &OLD)?;
            create(store, "/g/h/c", dialect, &OLD)?;
            zarr::hierarchy::consolidate(&**store, "/g/h", None)?;
            zarr::hierarchy::consolidate(&**store, "/g", None).map(drop)
        };
        let moved = |store: &Arc<dyn Store>| {
            let done = zarr::convert::Transfer::of(store, "/g").to("/k").move_all(&zarr::registry::default());
            match done {
                Err(error) if error.kind() == ErrorKind::Exists => zarr::convert::Transfer::of(store, "/g")
                    .to("/k")
                    .overwrite(true)
                    .move_all(&zarr::registry::default()),
                done => done,
            }
        };
        let check = |store: &Arc<dyn Store>| {
            let whole = |group: &str| ["a", "h/c"].map(|name| is_whole(store, &format!("{group}/{name}")));
            let (old, new) = (whole("/g"), whole("/k"));
            assert!(old == [true; 2] || new == [true; 2], "{dialect}: {old:?} {new:?}");
        };
        let ended = |store: &Arc<dyn Store>| {
            assert_eq!(["a", "h/c"].map(|name| is_whole(store, &format!("/k/{name}"))), [true; 2], "{dialect}");
            assert!(open(store, "/g/a").is_none() && open(store, "/g/h/c").is_none(), "{dialect}");
            let keys = store.list().unwrap();
            assert!(keys.iter().all(|key| !key.as_str().starts_with("g/")), "{dialect}: {keys:?}");
        };
        at_each_call(&prepare, &moved, &check, &ended);
    }
}

/// A store over another in which others do something before a call that changes something: the one after `left` others. Prefixes
/// are erased, renamed and exchanged at once if `renames` is set.
pub(crate) fn beside(
    store: &Arc<dyn Store>,
    left: u64,
    renames: bool,
    others: impl FnOnce() + Send + 'static,
) -> Arc<dyn Store> {
    let (left, others) = (AtomicU64::new(left), Mutex::new(Some(others)));
    let store = Intercepted::new(Arc::clone(store), move |store, call| {
        if let Call::Set { .. } | Call::Erase { .. } | Call::ErasePrefix { .. } | Call::RenamePrefix { .. } = call
            && left.fetch_sub(1, SeqCst) == 0
            && let Some(others) = others.lock().unwrap().take()
        {
            others();
        }
        match call {
            Call::RenamePrefix { .. } if !renames => Ok(Break(Answer::Is(false))),
            Call::ErasePrefix { .. } | Call::RenamePrefix { .. } | Call::ExchangePrefixes { .. } => {
                store.call(call).map(Break)
            }
            _ => Ok(Continue(call)),
        }
    });
    Arc::new(store.with_capabilities(move |below| below.erases_at_once(renames).exchanges(renames)))
}

/// Others move the same node to another path, at each call of a move. Where a store renames, one of the two has done it; and none that
/// says that it has left a copy without the chunks that the other took away.
#[test]
fn of_several_moves_of_one_node_one_says_that_it_did_it() {
    let registry = zarr::registry::default();
    for (kind, renames) in [(0, false), (1, true)] {
        for from in ["/g/a", "/g"] {
            let (mut lost, mut won) = (0, 0);
            for left in 0.. {
                let folder = tempfile::tempdir().unwrap();
                let store: Arc<dyn Store> = match kind {
                    0 => Arc::new(MemoryStore::new()),
                    _ => Arc::new(FilesystemStore::create(folder.path()).unwrap()),
                };
                create(&store, "/g/a", Dialect::V3, &OLD).unwrap();
                create(&store, "/k", Dialect::V3, &OLD).unwrap();
                let (inner, path, others) = (Arc::clone(&store), from.to_owned(), Arc::new(Mutex::new(None)));
                let told = Arc::clone(&others);
                let other_move = move || {
                    let moved = zarr::convert::Transfer::of(&inner, &path).to("/other");
                    *told.lock().unwrap() = Some(moved.move_all(&zarr::registry::default()));
                };
                let beside = beside(&store, left, renames, other_move);
                let done = zarr::convert::Transfer::of(&beside, from).to("/h/b").move_all(&registry);
                let other = others.lock().unwrap().take();
                let below = if from == "/g" { "/a" } else { "" };
                let at = format!("{kind} {renames} {from}, after {left} calls: {done:?}, {other:?}");
                let Some(other) = other else {
                    assert!(done.is_ok() && is_whole(&store, &format!("/h/b{below}")), "{at}");
                    break;
                };
                if other.is_ok() {
                    assert!(is_whole(&store, &format!("/other{below}")), "{at}");
                }
                match &done {
                    Ok(()) => {
                        assert!(is_whole(&store, &format!("/h/b{below}")), "{at}");
                        assert!(!renames || other.is_err(), "{at}");
                        won += 1;
                    }
                    Err(error) => {
                        assert!(matches!(error.kind(), ErrorKind::Conflict | ErrorKind::NotFound), "{at}");
                        assert!(other.is_ok(), "{at}");
                        lost += 1;
                    }
                }
            }
            println!("{kind} {renames} {from}: lost {lost}, won {won}");
            assert!(lost > 0, "{kind} {renames} {from}");
        }
    }
}

/// Others move the same node to the same path, or erase it, at each call of a move that overwrites. The only copy is never erased, and what was
/// there before stays if nothing takes its place.
#[test]
fn of_several_moves_that_overwrite_none_erases_the_only_copy() {
    let registry = zarr::registry::default();
    let replaced = [7; 6];
    let move_over = |store: &Arc<dyn Store>, from: &str| {
        zarr::convert::Transfer::of(store, from).to("/h").overwrite(true).move_all(&zarr::registry::default())
    };
    for (in_database, erases) in [(false, false), (true, false), (false, true), (true, true)] {
        for from in ["/g/a", "/g"] {
            for left in 0.. {
                let folder = tempfile::tempdir().unwrap();
                let at = folder.path().join("x");
                let at = at.to_str().unwrap();
                let address = if in_database { format!("sqlite:{at}.sqlite") } else { at.to_owned() };
                let store = zarr::store::create(&address).unwrap();
                create(&store, "/g/a", Dialect::V3, &OLD).unwrap();
                create(&store, "/h", Dialect::V3, &replaced).unwrap();
                let (inner, path, others) = (Arc::clone(&store), from.to_owned(), Arc::new(Mutex::new(None)));
                let told = Arc::clone(&others);
                let other = move || {
                    let lock = Prefix::new(&format!("{}/", &path[1..])).unwrap();
                    let done = match erases {
                        true => zarr::hierarchy::open_node(&*inner, &path, None)
                            .and_then(|found| zarr::hierarchy::erase_node(&*inner, &found))
                            .map(|()| true),
                        // It would wait for the lock until the first has ended.
                        false if inner.try_lock(&lock).unwrap().is_none() => Ok(false),
                        false => move_over(&inner, &path).map(|()| true),
                    };
                    *told.lock().unwrap() = Some(done);
                };
                let beside = beside(&store, left, true, other);
                let done = zarr::convert::Transfer::of(&beside, from).to("/h").overwrite(true).move_all(&registry);
                let other = others.lock().unwrap().take();
                let moved = if from == "/g" { "/h/a" } else { "/h" };
                let at = format!("{in_database} {erases} {from}, after {left} calls: {done:?}, {other:?}");
                if matches!(other, Some(Ok(false))) {
                    assert!(done.is_ok() && move_over(&store, from).is_err(), "{at}");
                }
                let keeps = || open(&store, "/h").is_some_and(|array| array.read::<i8>(..).unwrap() == replaced);
                match (&done, &other) {
                    // It was erased after it was moved, or before.
                    (Ok(()), _) => assert!(is_whole(&store, moved), "{at}"),
                    (Err(_), Some(Ok(true))) if !erases => assert!(is_whole(&store, moved), "{at}"),
                    (Err(_), _) => assert!(keeps(), "{at}"),
                }
                let rest = store.list_prefix(&Prefix::new(".zreplacement/").unwrap()).unwrap();
                assert!(rest.is_empty(), "{at}: {rest:?}");
                if other.is_none() {
                    assert!(done.is_ok() && left > 2, "{at}");
                    break;
                }
            }
        }
    }
}

/// Who has the lock of the groups may wait for that of the node.
#[test]
fn a_move_waits_for_no_group_while_it_keeps_its_node() {
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = Arc::new(FilesystemStore::create(folder.path()).unwrap());
    zarr::create((&store, "/")).group(zarr::NewGroup::default().dialect(Dialect::V2)).unwrap();
    create(&store, "/a", Dialect::V2, &OLD).unwrap();
    let groups = store.try_lock(&Prefix::root()).unwrap().unwrap();
    std::thread::scope(|scope| {
        let registry = zarr::registry::default();
        let moving = zarr::convert::Transfer::of(&store, "/a").to("/b/c").overwrite(true);
        let moving = scope.spawn(move || moving.move_all(&registry));
        for _ in 0..50 {
            assert!(store.try_lock(&Prefix::new("a/").unwrap()).unwrap().is_some());
            std::thread::sleep(std::time::Duration::from_millis(4));
        }
        drop(groups);
        moving.join().unwrap().unwrap();
    });
    assert!(is_whole(&store, "/b/c") && open(&store, "/a").is_none());
}
