//! Conversions, transfers and erasing that their caller cancels.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use zarr::convert::{Conversion, ConvertOptions, Migration, Progress, Transfer};
use zarr::hierarchy::{EraseProgress, Erasure};
use zarr::prelude::*;
use zarr::{Dialect, ErrorKind};

fn source() -> Arc<dyn Store> {
    let store = zarr::store::create("memory:").unwrap();
    for name in ["a", "b", "c"] {
        let new = NewArray::new(&[40], "int32").chunks(&[2]).dialect(Dialect::V2);
        let array = zarr::create((&store, format!("/{name}"))).array(new).unwrap();
        array.write(.., &(0..40).collect::<Vec<i32>>()).unwrap();
    }
    store
}

/// Cancels at the report of this number.
fn cancel_at(last: usize) -> impl Fn(Progress<'_>) -> ControlFlow<()> + Sync {
    let reports = AtomicUsize::new(0);
    move |_| match reports.fetch_add(1, Ordering::Relaxed) {
        report if report >= last => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    }
}

#[test]
fn arrays_that_a_cancelled_conversion_leaves_are_complete() {
    let registry = zarr::registry::default();
    let mut seen = Vec::new();
    for chunks in [None, Some(vec![5_u64])] {
        for last in 0..80 {
            let (source, target) = (source(), zarr::store::create("memory:").unwrap());
            let options = ConvertOptions::default().dialect(Dialect::V3).chunks(chunks.clone());
            let conversion = Conversion::plan(&source, &registry, options).unwrap();
            let done = conversion.run(&target, cancel_at(last));
            let mut arrays = 0;
            for name in ["/a", "/b", "/c"] {
                let array = match zarr::open((&target, name)).array() {
                    Ok(array) => array,
                    Err(error) if error.is_not_found() => continue,
                    Err(error) => panic!("{error}"),
                };
                assert_eq!(array.read::<i32>(..).unwrap(), (0..40).collect::<Vec<_>>());
                arrays += 1;
            }
            match done {
                Ok(()) => assert_eq!(arrays, 3),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Cancelled, "{error}");
                    seen.push(arrays);
                    // It can be run again.
                    let options = ConvertOptions::default().dialect(Dialect::V3).chunks(chunks.clone()).overwrite(true);
                    let conversion = Conversion::plan(&source, &registry, options).unwrap();
                    conversion.run(&target, |_| {}).unwrap();
                    assert_eq!(zarr::open((&target, "/c")).array().unwrap().read::<i32>(39).unwrap(), [39]);
                }
            }
        }
    }
    assert!((0..3).all(|arrays| seen.contains(&arrays)), "{seen:?}");
}

#[test]
fn a_cancelled_migration_leaves_the_hierarchy_as_it_was() {
    let store = source();
    let registry = zarr::registry::default();
    let error = Migration::plan(&store, &registry, Dialect::V3).unwrap().run(cancel_at(2)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    let array = zarr::open((&store, "/b")).dialect(Dialect::V2).array().unwrap();
    assert_eq!(array.read::<i32>(..).unwrap(), (0..40).collect::<Vec<_>>());
    Migration::undo(&store, None).unwrap();
    assert!(zarr::open((&store, "/b")).dialect(Dialect::V3).array().unwrap_err().is_not_found());
    Migration::plan(&store, &registry, Dialect::V3).unwrap().run(|_| {}).unwrap();
    Migration::finish(&store, None).unwrap();
    assert_eq!(zarr::open((&store, "/b")).array().unwrap().dialect(), Dialect::V3);
}

#[test]
fn a_cancelled_move_leaves_the_source() {
    let (source, target) = (source(), zarr::store::create("memory:").unwrap());
    let options = ConvertOptions::default();
    let plan = Conversion::plan_copy(&source, "/a", &target, "/a", &zarr::registry::default(), options).unwrap();
    assert_eq!(plan.run_move(&target, cancel_at(5)).unwrap_err().kind(), ErrorKind::Cancelled);
    assert_eq!(zarr::open((&source, "/a")).array().unwrap().read::<i32>(39).unwrap(), [39]);
}

/// Makes a group `/g` of two arrays, the first of `chunks` chunks, and an array beside it.
fn to_be_erased(store: &Arc<dyn Store>, dialect: Dialect, chunks: u64) {
    for (name, chunks) in [("/g/a", chunks), ("/g/deep/b", 3), ("/kept", 3)] {
        let new = NewArray::new(&[chunks], "uint8").chunks(&[1]).dialect(dialect).codecs("none").unwrap();
        zarr::create((store, name)).array(new).unwrap().fill(.., 7_u8).unwrap();
    }
}

/// Erases the node at `path`, and cancels at the report of number `last`. Returns whether that was before the end.
fn erase_until(store: &Arc<dyn Store>, path: &str, last: usize) -> bool {
    let found = zarr::hierarchy::open_node(&**store, path, None).unwrap();
    let (reports, begun, done) = (AtomicUsize::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let progress = |progress| {
        match progress {
            EraseProgress::Begin(keys) => begun.store(keys, Ordering::Relaxed),
            EraseProgress::Done(keys) => drop(done.fetch_add(keys, Ordering::Relaxed)),
            _ => unreachable!(),
        }
        match reports.fetch_add(1, Ordering::Relaxed) == last {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let erased = Erasure::of(&found).progress(progress).erase(&**store);
    let (begun, done) = (begun.into_inner(), done.into_inner());
    match erased {
        Ok(()) => {
            assert_eq!(begun, done, "{path} {last}");
            assert!(!zarr::hierarchy::node_exists(&**store, path, None).unwrap() || path == "/");
            false
        }
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Cancelled, "{error}");
            assert!(done < begun, "{path} {last}: {done} of {begun}");
            true
        }
    }
}

/// Checks that all arrays that are there are whole, and that arrays not below `path` are there.
fn check_whole(store: &Arc<dyn Store>, path: &str) {
    for name in ["/g/a", "/g/deep/b", "/kept"] {
        match zarr::open((store, name)).array() {
            Ok(array) => assert!(array.read::<u8>(..).unwrap().iter().all(|&value| value == 7), "{path} {name}"),
            Err(error) => assert!(error.is_not_found() && name.starts_with(path), "{error}"),
        }
    }
    match zarr::hierarchy::walk(&**store, "/", None) {
        Ok(walk) => assert!(walk.broken.is_empty(), "{:?}", walk.broken),
        Err(error) => assert!(error.is_not_found() && path == "/", "{error}"),
    }
}

#[test]
fn a_cancelled_erase_leaves_a_hierarchy_that_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let (mut cancelled, mut without_document) = (0, 0);
    for (dialect, path) in
        [(Dialect::V2, "/g"), (Dialect::V3, "/g"), (Dialect::V3, "/"), (Dialect::V3Draft2022, "/g/a")]
    {
        // The first erases key by key, more keys than between two reports; in the second all keys under a prefix vanish at once.
        let directory = folder.path().join(format!("{dialect}{}", path.replace('/', "_")));
        for (address, chunks) in [("memory:", 600), (directory.to_str().unwrap(), 3)] {
            for last in 0.. {
                let store = zarr::store::create(address).unwrap();
                to_be_erased(&store, dialect, chunks);
                let is_cancelled = erase_until(&store, path, last);
                check_whole(&store, path);
                match zarr::hierarchy::open_node(&*store, path, None) {
                    Ok(found) => zarr::hierarchy::erase_node(&*store, &found).unwrap(),
                    Err(error) => {
                        assert!(error.is_not_found(), "{error}");
                        without_document += usize::from(is_cancelled);
                    }
                }
                // No old element shows in a new array.
                let new = NewArray::new(&[chunks], "uint8").chunks(&[1]).dialect(dialect).codecs("none").unwrap();
                let array = zarr::create((&store, "/g/a")).array(new.overwrite(true)).unwrap();
                assert!(array.read::<u8>(..).unwrap().iter().all(|&value| value == 0), "{dialect} {path} {last}");
                drop(std::fs::remove_dir_all(&directory));
                if !is_cancelled {
                    break;
                }
                cancelled += 1;
            }
        }
    }
    assert!(cancelled > 20 && without_document > 3, "{cancelled} cancelled, {without_document} without a document");
}

#[test]
fn handles_erase_with_progress() {
    let store = zarr::store::create("memory:").unwrap();
    to_be_erased(&store, Dialect::V3, 3);
    let stop = |progress| match progress {
        EraseProgress::Begin(_) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let open = || zarr::open((&store, "/g/a")).array();
    assert_eq!(open().unwrap().erase_with(stop).unwrap_err().kind(), ErrorKind::Cancelled);
    let keys = AtomicU64::new(0);
    let count = |progress| {
        if let EraseProgress::Done(erased) = progress {
            keys.fetch_add(erased, Ordering::Relaxed);
        }
    };
    open().unwrap().erase_with(count).unwrap();
    assert!(open().unwrap_err().is_not_found());
    zarr::open((&store, "/g")).group().unwrap().erase_with(count).unwrap();
    assert!(!zarr::hierarchy::node_exists(&*store, "/g/deep/b", None).unwrap());
    assert!(keys.into_inner() >= 1, "a prefix that vanishes at once is one");
}

#[test]
fn transfers_report_and_are_cancelled() {
    let (registry, store) = (zarr::registry::default(), source());
    let bytes = AtomicU64::new(0);
    let count = |progress: Progress<'_>| {
        if let Progress::Done(done) = progress {
            bytes.fetch_add(u64::try_from(done).unwrap(), Ordering::Relaxed);
        }
    };
    Transfer::of(&store, "/a").to("/copy").progress(count).copy(&registry).unwrap();
    assert_eq!(bytes.into_inner(), 160);
    let error =
        Transfer::of(&store, "/b").to("/other").progress(|_| ControlFlow::Break(())).copy(&registry).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    assert!(!zarr::hierarchy::node_exists(&*store, "/other", None).unwrap());
}

/// Nothing is begun any more for a future that nobody has.
#[test]
fn a_map_whose_future_is_dropped_ends() {
    let store: Arc<dyn zarr::AsyncStore> =
        Arc::new(zarr::store::SyncAsAsync::new(Arc::new(zarr::store::MemoryStore::new())));
    let new = NewArray::new(&[1], "uint8");
    let array = zarr::store::block_on(async { zarr::create((&store, "/a")).array(new).await }).unwrap();
    let begun = Arc::new(AtomicUsize::new(0));
    let items = 20_000;
    {
        let counted = Arc::clone(&begun);
        let one = move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(std::time::Duration::from_millis(1));
        };
        let mut mapped = std::pin::pin!(array.map_parallel((0..items).collect(), one));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(mapped.as_mut().poll(&mut context).is_pending());
        while begun.load(Ordering::SeqCst) == 0 {
            std::thread::yield_now();
        }
    }
    // The function is dropped at the end.
    while Arc::strong_count(&begun) > 1 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert!(begun.load(Ordering::SeqCst) < items, "all were begun");
}
