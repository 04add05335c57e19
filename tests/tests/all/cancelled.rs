//! Conversions that their caller cancels.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use zarr::convert::{Conversion, ConvertOptions, Migration, Progress};
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
