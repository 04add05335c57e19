//! How many requests reads and writes cost.

use std::sync::Arc;
use std::time::Duration;
use zarr_array::{Array, ChunkCache, NewArray, Options, View};
use zarr_store::testing::Altered;
use zarr_store::{AccessProfile, Counted, Key, MemoryStore, Store, StoreExt};

fn counted(new: NewArray) -> (Arc<Counted<MemoryStore>>, Array) {
    let store = Arc::new(Counted::new(MemoryStore::new()));
    let lent: Arc<dyn Store> = Arc::clone(&store) as _;
    zarr::create((&lent, "/a")).array(new).unwrap();
    let array = zarr::open((&lent, "/a")).array().unwrap();
    let len = array.shape().iter().product::<u64>();
    array.write(.., &(0..len as i32).collect::<Vec<_>>()).unwrap();
    store.take();
    // Opened again: no cache has the written data. The requests for chunks are counted, without the look whether the array is still there.
    let array = zarr::open((&lent, "/a")).options(Options::default().trust_missing(true)).array().unwrap();
    store.take();
    (store, array)
}

#[test]
fn an_operation_looks_at_the_document() {
    let (store, trusting) = counted(NewArray::new(&[20, 20], "int32").chunks(&[10, 10]).codecs("zstd").unwrap());
    let gets = |array: &Array, expected: [u64; 4]| {
        store.take();
        array.read::<i32>(..).unwrap();
        let whole = store.take().gets;
        array.read::<i32>((3, 3)).unwrap();
        let one = store.take().gets;
        // Chunks that are written whole are not read.
        array.write(.., &[7; 400]).unwrap();
        let written = store.take().gets;
        array.stored_chunks().unwrap();
        assert_eq!([whole, one, written, store.take().gets], expected);
    };
    gets(&trusting, [4, 1, 0, 0]);
    // A read looks once, at its end, however many chunks it has; a write before as well.
    let looking = trusting.with(Options::default()).unwrap();
    gets(&looking, [5, 2, 2, 1]);
    // What comes from a cache is that of the array as it was opened.
    let cached = looking.with(Options::default().cache(ChunkCache::new(1 << 20))).unwrap();
    gets(&cached, [5, 0, 2, 1]);
    // Where requests take long, a look that is not old will do.
    let far = |interval: u64| {
        let store: Arc<dyn Store> = Arc::new(Altered::new(Arc::clone(&store)).with_profile(AccessProfile::REMOTE));
        let options = Options::default().look_interval(Duration::from_secs(interval));
        zarr::open((&store, "/a")).options(options).array().unwrap()
    };
    gets(&far(3600), [4, 1, 0, 0]);
    gets(&far(0), [5, 2, 2, 1]);
    // But not where a chunk is missing.
    let array = far(3600);
    array.erase_chunk(&[1, 1]).unwrap();
    store.take();
    assert_eq!(array.read::<i32>((19, 19)).unwrap(), [0]);
    assert_eq!(store.take().gets, 2);
}

const NESTED: &str = r#"[{"name": "sharding_indexed", "configuration": {
    "chunk_shape": [16, 16], "index_location": "end",
    "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
    "codecs": [{"name": "sharding_indexed", "configuration": {
        "chunk_shape": [4, 4], "index_location": "end",
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zstd", "configuration": {"level": 1, "checksum": false}}]
    }}]
}}]"#;

#[test]
fn an_element_of_a_nested_shard_is_three_gets() {
    let (store, array) = counted(NewArray::new(&[128, 128], "int32").chunks(&[64, 64]).codecs(NESTED).unwrap());
    assert_eq!(array.read::<i32>((100, 77)).unwrap(), [100 * 128 + 77]);
    let counts = store.take();
    // Two indexes of 16 entries with checksums, and a chunk of 64 bytes.
    assert!(counts.gets <= 3 && counts.bytes_read <= 260 + 260 + 100, "{counts:?}");
    assert_eq!((counts.sets, counts.lists), (0, 0));
}

#[test]
fn an_element_of_a_shard_with_its_index_in_front_is_two_gets() {
    let codecs = r#"[{"name": "sharding_indexed", "configuration": {
        "chunk_shape": [8, 8], "index_location": "start",
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]
    }}]"#;
    let (store, array) = counted(NewArray::new(&[64, 64], "int32").chunks(&[64, 64]).codecs(codecs).unwrap());
    assert_eq!(array.read::<i32>((63, 0)).unwrap(), [63 * 64]);
    let counts = store.take();
    assert!(counts.gets <= 2 && counts.bytes_read <= 64 * 16 + 4 + 256, "{counts:?}");
}

#[test]
fn a_region_of_an_uncompressed_chunk_reads_only_its_bytes() {
    let (store, array) = counted(NewArray::new(&[100, 100], "int32").chunks(&[100, 100]).codecs("bytes").unwrap());
    let found = array.read::<i32>((50, 10..20)).unwrap();
    assert_eq!(found, (5010..5020).collect::<Vec<_>>());
    let counts = store.take();
    assert_eq!((counts.gets, counts.bytes_read), (1, 40), "{counts:?}");
    // Whole rows lie together.
    array.read::<i32>((20..30, ..)).unwrap();
    let counts = store.take();
    assert_eq!(counts.bytes_read, 10 * 400, "{counts:?}");
}

#[test]
fn a_compressed_chunk_is_one_get_and_a_missing_one_is_no_data() {
    let (store, array) = counted(NewArray::new(&[20, 20], "int32").chunks(&[10, 10]).codecs("zstd").unwrap());
    array.read::<i32>((0..3, 0..3)).unwrap();
    assert_eq!(store.take().gets, 1);
    array.read::<i32>(..).unwrap();
    assert_eq!(store.take().gets, 4);
    array.erase_chunk(&[1, 1]).unwrap();
    store.take();
    assert_eq!(array.read::<i32>((19, 19)).unwrap(), [0]);
    assert_eq!((store.counts().gets, store.take().bytes_read), (1, 0));
}

#[test]
fn whole_chunks_are_written_without_reading() {
    let (store, array) = counted(NewArray::new(&[25, 25], "int32").chunks(&[10, 10]).codecs("gzip").unwrap());
    // Chunks at the edge are covered as far as the array goes.
    array.write((10.., 10..), &vec![7; 15 * 15]).unwrap();
    let counts = store.take();
    assert_eq!((counts.gets, counts.sets), (0, 4), "{counts:?}");
    // Nothing but fill values: nothing is stored.
    array.write((0..10, 0..10), &vec![0; 100]).unwrap();
    let counts = store.take();
    assert_eq!((counts.gets, counts.sets, counts.erases), (0, 0, 1), "{counts:?}");
    // A part of a chunk costs one get and one set.
    array.write((12, 12), &[1]).unwrap();
    let counts = store.take();
    assert_eq!((counts.gets, counts.sets), (1, 1), "{counts:?}");
}

#[test]
fn opening_asks_for_few_documents() {
    let (store, _) = counted(NewArray::new(&[4], "int32").chunks(&[2]));
    let lent: Arc<dyn Store> = Arc::clone(&store) as _;
    zarr::open((&lent, "/a")).array().unwrap();
    let counts = store.take();
    assert!(counts.gets <= 4 && counts.lists == 0, "{counts:?}");
}

#[test]
fn the_directory_of_a_new_array_is_listed_once() {
    let (store, _) = counted(NewArray::new(&[4], "int32").chunks(&[2]));
    let lent: Arc<dyn Store> = Arc::clone(&store) as _;
    zarr::create((&lent, "/b")).array(NewArray::new(&[4], "int32").chunks(&[2])).unwrap();
    let counts = store.take();
    // Where its chunks would lie, and where the first draft of version 3 would have documents.
    assert_eq!((counts.lists, counts.sets), (2, 1), "{counts:?}");
    // Leftover chunks are still found.
    store.set_all(&Key::new("c/c/0").unwrap(), b"left").unwrap();
    store.take();
    zarr::create((&lent, "/c")).array(NewArray::new(&[4], "int32").chunks(&[2])).unwrap();
    let counts = store.take();
    // They may be of a conversion: nodes that are to replace this one are looked for as well, and what a replacement has left goes.
    assert_eq!((counts.lists, counts.erases), (5, 2), "{counts:?}");
}

#[test]
fn a_change_of_the_shape_reads_the_document_once() {
    let (store, mut array) = counted(NewArray::new(&[3], "int32").chunks(&[2]));
    array.append(0, View::new(&[1; 8], 4, &[2]).unwrap()).unwrap();
    let counts = store.take();
    // The document, the chunk at the old end, and the document of the group above, which may have copies.
    assert_eq!((counts.gets, counts.sets, counts.lists), (3, 3, 0), "{counts:?}");
    array.resize(&[4]).unwrap();
    let counts = store.take();
    // The document of the group above twice: a smaller shape drops copies, which is looked at before anything is changed.
    assert_eq!((counts.gets, counts.sets), (3, 1), "{counts:?}");
}
