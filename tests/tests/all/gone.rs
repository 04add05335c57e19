//! Arrays that others erase, move or replace while they are open: fill values do not stand for data that was there.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use zarr::store::{FilesystemStore, Key, MemoryStore, StoreExt};
use zarr_array::{Array, Dialect, ErrorKind, MissingChunks, MissingReport, NewArray, Options, Store};
use zarr_store::testing::Altered;

fn create(store: &Arc<dyn Store>, path: &str, dialect: Dialect) -> Array {
    let new = NewArray::new(&[8], "int16").chunks(&[2]).dialect(dialect);
    zarr::create((store, path)).array(new).unwrap()
}

fn with(array: &Array, change: impl FnOnce(&mut Options)) -> Array {
    let mut options = array.options().clone();
    change(&mut options);
    array.with(options).unwrap()
}

#[test]
fn an_array_that_is_gone_does_not_read_fill_values() {
    let folder = tempfile::tempdir().unwrap();
    let stores: [Arc<dyn Store>; 2] =
        [Arc::new(MemoryStore::new()), Arc::new(FilesystemStore::create(folder.path()).unwrap())];
    for store in &stores {
        for dialect in [
            Dialect::V1,
            Dialect::V2,
            Dialect::V3Protocol2019,
            Dialect::V3Protocol2020,
            Dialect::V3Draft2022,
            Dialect::V3,
        ] {
            // A store of version 1 is one array.
            let path = if dialect == Dialect::V1 { "/" } else { "/a" };
            let array = create(store, path, dialect);
            array.write(.., &[7_i16; 8]).unwrap();
            zarr::hierarchy::erase_node(&**store, array.found()).unwrap();
            let error = array.read::<i16>(..).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
            assert!(error.location().key.is_some() && error.location().path.as_deref() == Some(path), "{error}");
            let trusting = with(&array, |options| options.trust_missing = true);
            assert_eq!(trusting.read::<i16>(..).unwrap(), [0; 8]);
            // One hierarchy has one dialect.
            store.list().unwrap().iter().for_each(|key| store.erase(key).unwrap());
        }
    }
}

#[test]
fn an_array_that_was_moved_or_replaced_does_not_read_fill_values() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = create(&store, "/a", Dialect::V3);
    array.write(.., &[7_i16; 8]).unwrap();
    zarr::convert::Transfer::of(&store, "/a").to("/b").move_all(&zarr::registry::default()).unwrap();
    assert_eq!(array.read::<i16>(..).unwrap_err().kind(), ErrorKind::NotFound);

    let array = zarr::open((&store, "/b")).array().unwrap();
    let other = NewArray::new(&[6], "int16").chunks(&[2]).overwrite(true);
    zarr::create((&store, "/b")).array(other).unwrap();
    let error = array.read::<i16>(..).unwrap_err();
    assert!(error.message().contains("another array is there now"), "{error}");
}

#[test]
fn a_sparse_array_that_others_change_is_still_there() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = create(&store, "/a", Dialect::V3);
    let mut other = zarr::open((&store, "/a")).array().unwrap();
    other.resize(&[20]).unwrap();
    other.set_attributes([("units".to_owned(), "K".into())].into_iter().collect()).unwrap();
    assert_eq!(array.read::<i16>(..).unwrap(), [0; 8]);
    // A change to a smaller shape has erased the chunks beyond it.
    other.resize(&[4]).unwrap();
    assert_eq!(array.read::<i16>(..).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(other.read::<i16>(..).unwrap(), [0; 4]);
}

#[test]
fn missing_chunks_are_reported() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = create(&store, "/a", Dialect::V3);
    array.write(2..4, &[7_i16; 2]).unwrap();
    let report = MissingReport::default();
    let reporting = with(&array, |options| options.missing_chunks = MissingChunks::Report(report.clone()));
    assert_eq!(reporting.read::<i16>(..).unwrap(), [0, 0, 7, 7, 0, 0, 0, 0]);
    let chunks: Vec<Vec<u64>> = report.take().iter().map(|chunk| chunk.to_vec()).collect();
    assert_eq!(chunks, [[0], [2], [3]]);
    assert!(report.take().is_empty());
    store.erase(&Key::new("a/zarr.json").unwrap()).unwrap();
    assert_eq!(reporting.read::<i16>(..).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn a_directory_that_is_removed_during_a_read_does_not_read_as_fill_values() {
    for dialect in [Dialect::V2, Dialect::V3] {
        for shards in [None, Some([4])] {
            if dialect == Dialect::V2 && shards.is_some() {
                continue;
            }
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().join("store");
            let removed = root.clone();
            let gets = AtomicUsize::new(0);
            let store = Altered::new(FilesystemStore::create(&root).unwrap()).getting(move |store, key, ranges| {
                let is_chunk =
                    key.as_str().starts_with("a/") && !key.as_str().contains(".z") && key.name() != "zarr.json";
                if is_chunk && gets.fetch_add(1, Relaxed) == 2 {
                    std::fs::remove_dir_all(&removed).unwrap();
                }
                store.get_ranges(key, ranges)
            });
            let store: Arc<dyn Store> = Arc::new(store);
            let mut new = NewArray::new(&[16], "int16").chunks(&[2]).dialect(dialect);
            if let Some(shards) = shards {
                new = new.shards(&shards);
            }
            let array = zarr::create((&store, "/a")).array(new).unwrap();
            array.write(.., &[7_i16; 16]).unwrap();
            let array = with(&array, |options| options.threads = std::num::NonZeroUsize::new(1));
            let error = array.read::<i16>(..).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Store), "{dialect} {shards:?}: {error}");
            assert!(!root.exists());
        }
    }
}
