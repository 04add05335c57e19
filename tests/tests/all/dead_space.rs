//! Shards with bytes that their indexes do not refer to, as writers leave them that append inner chunks and replace the index.

use std::sync::Arc;
use zarr_array::{ChunkCache, NewArray, Options};
use zarr_grid::Selection;
use zarr_store::{Key, MemoryStore, Store, StoreExt};

const NESTED: &str = r#"[{"name": "sharding_indexed", "configuration": {
    "chunk_shape": [4], "index_location": "end",
    "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    "codecs": [{"name": "sharding_indexed", "configuration": {
        "chunk_shape": [2], "index_location": "end",
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "codecs": ["bytes"]
    }}]
}}]"#;

/// Bytes of an index with two entries.
const INDEX: usize = 32;

#[test]
fn inner_shards_may_have_any_of_it() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(&[8], "uint8").chunks(&[8]).codecs(NESTED).unwrap();
    let array = zarr::create((&store, "/a")).array(new).unwrap();
    array.write(.., &[1u8, 2, 3, 4, 5, 6, 7, 8]).unwrap();
    let key = Key::new("a/c/0").unwrap();
    let value = store.get_all(&key).unwrap().unwrap().to_vec();
    assert_eq!(value.len(), 2 * (4 + INDEX) + INDEX);

    // Each inner shard with much between its data and its index.
    let mut changed = Vec::new();
    let mut index = Vec::new();
    for shard in value[..2 * (4 + INDEX)].chunks(4 + INDEX) {
        let start = changed.len();
        changed.extend_from_slice(&shard[..4]);
        changed.resize(start + 100_000, 0xff);
        changed.extend_from_slice(&shard[4..]);
        index.extend([start, changed.len() - start].map(|number| (number as u64).to_le_bytes()));
    }
    changed.extend(index.concat());
    store.set_all(&key, &changed).unwrap();

    for cache in [None, Some(ChunkCache::new(1 << 20))] {
        let array = array.with(Options::default().cache(cache)).unwrap();
        for _ in 0..2 {
            assert_eq!(array.read::<u8>(5_u64).unwrap(), [6]);
            assert_eq!(array.read::<u8>(Selection::coordinates(vec![vec![7, 0, 2]])).unwrap(), [8, 1, 3]);
            assert_eq!(array.read::<u8>(..).unwrap(), [1, 2, 3, 4, 5, 6, 7, 8]);
        }
    }
}

#[test]
fn an_index_that_points_beyond_its_shard_is_an_error_for_points_too() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let codecs = r#"[{"name": "sharding_indexed", "configuration": {
        "chunk_shape": [2], "index_location": "end",
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "codecs": ["bytes"]
    }}]"#;
    let new = NewArray::new(&[4], "uint8").chunks(&[4]).codecs(codecs).unwrap();
    let array = zarr::create((&store, "/a")).array(new).unwrap();
    array.write(.., &[1u8, 2, 3, 4]).unwrap();
    let key = Key::new("a/c/0").unwrap();
    let mut value = store.get_all(&key).unwrap().unwrap().to_vec();
    value[4..12].copy_from_slice(&35_u64.to_le_bytes());
    store.set_all(&key, &value).unwrap();
    for cache in [None, Some(ChunkCache::new(1 << 20))] {
        let array = array.with(Options::default().cache(cache)).unwrap();
        for selection in [Selection::coordinates(vec![vec![1, 0]]), Selection::coordinates(vec![vec![3, 1]])] {
            let error = array.read::<u8>(selection).unwrap_err();
            assert!(error.to_string().contains("inner chunk [0] at bytes 35..37 of a shard of 36 bytes"), "{error}");
            assert_eq!(error.location().key.as_deref(), Some("a/c/0"));
        }
        assert_eq!(array.read::<u8>(Selection::coordinates(vec![vec![3, 2]])).unwrap(), [4, 3]);
    }
}
