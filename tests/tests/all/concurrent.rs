//! Many threads write parts of the same chunk.

use std::sync::Arc;
use zarr::store::{FilesystemStore, MemoryStore, Store};
use zarr_array::{Array, NewArray};
use zarr_grid::Selection;

const SHARD: &str = r#"[{"name": "sharding_indexed", "configuration": {
    "chunk_shape": [8], "index_location": "end",
    "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
    "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "gzip", "configuration": {"level": 1}}]
}}]"#;

/// 64 threads write an element each, several times over.
fn check(store: Arc<dyn Store>, codecs: &str, opened: impl Fn(&Array) -> Array + Sync) {
    let new = NewArray::new(&[64], "int32").chunks(&[64]).codecs(codecs).unwrap();
    let array = zarr::create((&store, "/a")).array(new).unwrap();
    std::thread::scope(|scope| {
        for element in 0..64_i32 {
            let (array, opened) = (&array, &opened);
            scope.spawn(move || {
                let array = opened(array);
                for round in 1..=4 {
                    array.write(element as u64, &[round * 1000 + element]).unwrap();
                }
            });
        }
    });
    assert_eq!(array.read::<i32>(..).unwrap(), (4000..4064).collect::<Vec<_>>());
}

/// 32 threads write two elements each, between which elements of others lie.
fn check_points(codecs: &str) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(&[64], "int32").chunks(&[64]).codecs(codecs).unwrap();
    let array = zarr::create((&store, "/a")).array(new).unwrap();
    std::thread::scope(|scope| {
        for element in 0..32 {
            let array = &array;
            scope.spawn(move || {
                for round in 1..=4 {
                    let two = [round * 1000 + element, round * 1000 + 63 - element];
                    let points = Selection::coordinates(vec![vec![element.into(), (63 - element).into()]]);
                    array.write(points, &two).unwrap();
                }
            });
        }
    });
    assert_eq!(array.read::<i32>(..).unwrap(), (4000..4064).collect::<Vec<_>>());
}

#[test]
fn of_points_between_points_of_others() {
    check_points("zstd");
    check_points(SHARD);
}

#[test]
fn of_a_chunk_in_memory() {
    check(Arc::new(MemoryStore::new()), "zstd", Array::clone);
}

#[test]
fn of_a_shard_in_memory() {
    check(Arc::new(MemoryStore::new()), SHARD, Array::clone);
}

#[test]
fn of_a_chunk_opened_by_each() {
    check(Arc::new(MemoryStore::new()), "zstd", |array| zarr::open((array.store(), "/a")).array().unwrap());
}

#[test]
fn of_a_shard_in_files() {
    let folder = tempfile::tempdir().unwrap();
    check(Arc::new(FilesystemStore::create(folder.path()).unwrap()), SHARD, Array::clone);
}
