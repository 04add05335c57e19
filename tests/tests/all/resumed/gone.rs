//! Copies that are gone when a conversion is resumed, and targets that keep nothing of an interrupted one.

use super::failing::{Failing, contents};
use super::{JOURNAL, memory, options, plan, source};
use std::sync::Arc;
use zarr::Dialect;
use zarr::convert::Transfer;
use zarr::prelude::*;
use zarr::store::{StoreExt, ZipStore};

/// A zip file is there when it is flushed. Until then nothing of a conversion is, so that it needs no journal, and its values are set once.
#[test]
fn a_conversion_into_a_zip_file_has_no_journal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zip");
    let source = memory();
    let new = NewArray::new(&[100], "int16").chunks(&[1]).codecs("none").unwrap();
    zarr::create((&source, "/g/b")).array(new).unwrap().write(.., &(0..100).collect::<Vec<i16>>()).unwrap();
    let target: Arc<dyn Store> = Arc::new(ZipStore::create(&path).unwrap());
    plan(&source, options()).run(&target, |_| {}).unwrap();
    drop(target);
    let zip = zarr::store::open(path.to_str().unwrap()).unwrap();
    assert!(zip.list().unwrap().iter().all(|key| !key.name().starts_with(JOURNAL)));
    let read = |store: &Arc<dyn Store>| zarr::open((store, "/g/b")).array().unwrap().read::<i16>(..).unwrap();
    assert_eq!(read(&zip), read(&source));
}

/// Nothing is erased in the source if the copy was erased between the runs, wherever the first one stopped.
#[test]
fn a_resumed_move_looks_whether_the_copy_is_there() {
    let (mut stops, mut refused) = (0, 0);
    for left in 0.. {
        let (from, to) = (source(Dialect::V3), memory());
        let moved = |from: &Arc<dyn Store>, resume: bool| {
            let transfer = Transfer::of(from, "/g").in_store(&to).to("/h").resume(resume);
            transfer.move_all(&zarr::registry::default())
        };
        if moved(&Failing::after(&from, left).store(), false).is_ok() {
            break;
        }
        stops += 1;
        for key in to.list().unwrap().into_iter().filter(|key| !key.name().starts_with(JOURNAL)) {
            to.erase(&key).unwrap();
        }
        let before = contents(&from);
        match moved(&from, true) {
            // Nothing had been copied, and all is now.
            Ok(()) => assert_eq!(zarr::open((&to, "/h/b")).array().unwrap().stored_chunks().unwrap().len(), 88),
            Err(error) => {
                refused += 1;
                assert_eq!(contents(&from), before, "stopped after {left} calls: {error}");
            }
        }
    }
    assert!(stops > 10 && refused > 0, "{refused} of {stops} refused");
}
