//! The requests that a cache saves, and the changes that it notices.

use std::sync::Arc;
use zarr::store::{
    AsyncStore, Counted, FilesystemStore, Key, MemoryStore, Prefixed, Store, StoreExt, SyncAsAsync, block_on,
};
use zarr_array::{Array, AsyncArray, ChunkCache, ErrorKind, MissingChunks, NewArray, Options};
use zarr_grid::Selection;

const NESTED: &str = r#"[{"name": "sharding_indexed", "configuration": {
    "chunk_shape": [16, 16], "index_location": "end",
    "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
    "codecs": [{"name": "sharding_indexed", "configuration": {
        "chunk_shape": [4, 4], "index_location": "start",
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zstd", "configuration": {"level": 1, "checksum": false}}]
    }}]
}}]"#;

const SHARD: &str = r#"[{"name": "sharding_indexed", "configuration": {
    "chunk_shape": [4, 4], "index_location": "end",
    "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
    "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zstd", "configuration": {"level": 1, "checksum": false}}]
}}]"#;

/// 128 x 128 numbers in chunks of 64 x 64.
fn made(codecs: &str) -> (Arc<Counted<MemoryStore>>, Array) {
    let store = Arc::new(Counted::new(MemoryStore::new()));
    let lent: Arc<dyn Store> = Arc::clone(&store) as _;
    let new = NewArray::new(&[128, 128], "int32").chunks(&[64, 64]).codecs(codecs).unwrap();
    // The requests for chunks are counted, without the look whether the array is still there.
    let new = new.options(Options::default().trust_missing(true));
    let array = zarr::create((&lent, "/a")).array(new).unwrap();
    array.write(.., &(0..128 * 128).collect::<Vec<i32>>()).unwrap();
    store.take();
    (store, array)
}

fn with(array: &Array, cache: &ChunkCache) -> Array {
    array.with(array.options().clone().cache(cache.clone())).unwrap()
}

// clause: d2022-202
#[test]
fn a_chunk_is_fetched_once() {
    for codecs in ["zstd", "bytes"] {
        let (store, array) = made(codecs);
        let array = with(&array, &ChunkCache::new(1 << 20));
        for row in 0..64_u64 {
            assert_eq!(array.read::<i32>((row, 3..5)).unwrap(), [row as i32 * 128 + 3, row as i32 * 128 + 4]);
        }
        assert_eq!(store.take().gets, 1);
        array.read::<i32>(..).unwrap();
        assert_eq!(store.take().gets, 3);
    }
}

#[test]
fn indexes_and_inner_chunks_are_fetched_once() {
    let (store, array) = made(NESTED);
    let cache = ChunkCache::new(1 << 20);
    let array = with(&array, &cache);
    assert_eq!(array.read::<i32>((100, 77)).unwrap(), [100 * 128 + 77]);
    assert_eq!(store.take().gets, 3);
    assert_eq!(array.read::<i32>((101, 78)).unwrap(), [101 * 128 + 78]);
    assert_eq!(store.take().gets, 0);
    // Another inner chunk of the inner shard, another inner shard, another shard.
    assert_eq!(array.read::<i32>((104, 77)).unwrap(), [104 * 128 + 77]);
    assert_eq!(store.take().gets, 1);
    assert_eq!(array.read::<i32>((70, 70)).unwrap(), [70 * 128 + 70]);
    assert_eq!(store.take().gets, 2);
    assert_eq!(array.read::<i32>((0, 0)).unwrap(), [0]);
    assert_eq!(store.take().gets, 3);
    // Both ways of reading share it, but different stores do not share their chunks.
    assert!(cache.bytes() > 0);
    cache.clear();
    assert_eq!(cache.bytes(), 0);
    assert_eq!(array.read::<i32>((0, 0)).unwrap(), [0]);
    assert_eq!(store.take().gets, 3);
}

#[test]
fn arrays_of_equivalent_metadata_share_chunks() {
    let (store, plain) = made("zstd");
    let cache = ChunkCache::new(1 << 20);
    let first = with(&plain, &cache);
    let second = zarr::open((plain.store(), "/a")).options(Options::default().trust_missing(true)).array().unwrap();
    let second = with(&second, &cache);
    first.read::<i32>((0, 0)).unwrap();
    store.take();
    assert_eq!(second.read::<i32>((63, 63)).unwrap(), [63 * 128 + 63]);
    assert_eq!(store.take().gets, 0);
    // A write through one is seen through the other, and takes along only its own chunk.
    first.read::<i32>(..).unwrap();
    second.write((0, 0), &[-1]).unwrap();
    store.take();
    assert_eq!(first.read::<i32>((0, 0..2)).unwrap(), [-1, 1]);
    assert_eq!(first.read::<i32>((127, 127)).unwrap(), [128 * 128 - 1]);
    assert_eq!(store.take().gets, 1);
    // The same path in a store that is another value is another array.
    let root: Arc<dyn Store> = Arc::new(Prefixed::new(Arc::clone(plain.store()), zarr_store::Prefix::root()));
    let third = zarr::open((&root, "/a")).options(Options::default().trust_missing(true)).array().unwrap();
    let third = with(&third, &cache);
    store.take();
    assert_eq!(third.read::<i32>((0, 0)).unwrap(), [-1]);
    assert_eq!(store.take().gets, 1);
    // A new array that replaces another one begins with an empty cache.
    let new = NewArray::new(&[128, 128], "int32").chunks(&[64, 64]).codecs("zstd").unwrap().overwrite(true);
    let new = new.options(first.options().clone());
    let made = Array::create(plain.store(), "/a", new, plain.registry()).unwrap();
    assert_eq!(made.read::<i32>((0, 0)).unwrap(), [0]);
    assert_eq!(first.read::<i32>((127, 127)).unwrap(), [0]);
}

#[test]
fn writes_of_others_are_seen_as_documented() {
    let (store, plain) = made(SHARD);
    let (trusting, asking) = (ChunkCache::new(1 << 20), ChunkCache::revalidating(1 << 20));
    let (fast, sure) = (with(&plain, &trusting), with(&plain, &asking));
    let read = |array: &Array| array.read::<i32>((5, 5)).unwrap()[0];
    assert_eq!((read(&fast), read(&sure)), (5 * 128 + 5, 5 * 128 + 5));
    store.take();
    assert_eq!(read(&fast), 5 * 128 + 5);
    assert_eq!(store.take().gets, 0);
    assert_eq!(read(&sure), 5 * 128 + 5);
    let counts = store.take();
    assert_eq!((counts.gets, counts.bytes_read), (1, 0));
    plain.write((5, 5), &[-7]).unwrap();
    assert_eq!((read(&fast), read(&sure)), (5 * 128 + 5, -7));
    // Inner chunks that are not cached are not read by an outdated index.
    assert_eq!(fast.read::<i32>((20..24, 20..24)).unwrap()[0], 20 * 128 + 20);
    assert_eq!(read(&fast), -7);
    plain.erase_chunk(&[0, 0]).unwrap();
    assert_eq!((read(&fast), read(&sure)), (-7, 0));
    trusting.clear();
    assert_eq!((read(&fast), read(&sure)), (0, 0));
    plain.write((5, 5), &[8]).unwrap();
    assert_eq!((read(&fast), read(&sure)), (0, 8));
}

#[test]
fn an_outdated_index_is_noticed_in_files() {
    // Uncompressed bytes decode without an error from any offset.
    let zstd = r#", {"name": "zstd", "configuration": {"level": 1, "checksum": false}}"#;
    for (codecs, points) in
        [(SHARD.to_owned(), false), (SHARD.replace(zstd, ""), false), (SHARD.replace(zstd, ""), true)]
    {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = Arc::new(FilesystemStore::create(folder.path()).unwrap());
        let new = NewArray::new(&[64, 64], "int32").chunks(&[64, 64]).codecs(&codecs).unwrap();
        let plain = zarr::create((&store, "/a")).array(new).unwrap();
        plain.write(.., &(1..=64 * 64).collect::<Vec<i32>>()).unwrap();
        let cached = with(&plain, &ChunkCache::new(1 << 20));
        assert_eq!(cached.read::<i32>((4, 4)).unwrap(), [4 * 64 + 4 + 1]);
        // Nothing but fill values in front: later inner chunks lie at the offsets of others.
        plain.write((0..4, ..32), &[0; 4 * 32]).unwrap();
        if points {
            let found = cached.read::<i32>(Selection::coordinates(vec![vec![40, 50], vec![50, 9]])).unwrap();
            assert_eq!(found, [40 * 64 + 50 + 1, 50 * 64 + 9 + 1]);
        } else {
            assert_eq!(cached.read::<i32>((8..20, 8)).unwrap(), plain.read::<i32>((8..20, 8)).unwrap());
        }
    }
}

#[test]
fn chunks_that_are_missing_are_kept_as_such() {
    let (store, plain) = made("zstd");
    plain.erase_chunk(&[0, 1]).unwrap();
    let cache = ChunkCache::new(1 << 20);
    let array = with(&plain, &cache);
    // Where chunks lie is known only once one was found.
    array.read::<i32>((0, 0)).unwrap();
    assert_eq!(array.read::<i32>((0, 100)).unwrap(), [0]);
    store.take();
    assert_eq!(array.read::<i32>((1, 100)).unwrap(), [0]);
    assert_eq!(store.take().gets, 0);
    let options = array.options().clone().missing_chunks(MissingChunks::Error);
    let strict = array.with(options).unwrap();
    assert_eq!(strict.read::<i32>((1, 100)).unwrap_err().kind(), ErrorKind::MissingChunk);
    array.write((1, 100), &[3]).unwrap();
    assert_eq!(strict.read::<i32>((1, 100)).unwrap(), [3]);
}

#[test]
fn chunks_that_are_too_large_bypass_the_cache() {
    let (store, plain) = made("zstd");
    let cache = ChunkCache::new(40_000);
    let array = with(&plain, &cache);
    // A chunk has 16 KiB: not all of the array, which has 64.
    array.read::<i32>((0, 0)).unwrap();
    store.take();
    array.read::<i32>(..).unwrap();
    assert_eq!(store.take().gets, 4);
    array.read::<i32>((1, 1)).unwrap();
    assert_eq!(store.take().gets, 0);
    assert!(cache.bytes() <= 40_000);
    let none = with(&plain, &ChunkCache::new(0));
    assert_eq!(none.read::<i32>((1, 1)).unwrap(), [129]);
    // The index of a shard is kept even if its inner chunks cannot be: that they are of another state is noticed by the version.
    let (store, plain) = made(&SHARD.replace("[4, 4]", "[32, 32]"));
    let cache = ChunkCache::new(6000);
    let array = with(&plain, &cache);
    assert_eq!(array.read::<i32>((0, 0..2)).unwrap(), [0, 1]);
    assert_eq!(store.take().gets, 2);
    let kept = cache.bytes();
    assert!(kept > 0);
    assert_eq!(array.read::<i32>((0, 0..2)).unwrap(), [0, 1]);
    assert_eq!((store.take().gets, cache.bytes()), (1, kept));
    // It is read again when it is outdated, and cached by the next read.
    for (round, gets) in [(1, [3, 2, 1]), (2, [3, 2, 1])] {
        plain.write((0, 0), &[round]).unwrap();
        for gets in gets {
            store.take();
            assert_eq!(array.read::<i32>((0, 0..2)).unwrap(), [round, 1]);
            assert_eq!(store.take().gets, gets);
        }
    }
    assert!(cache.bytes() <= 6000);
}

#[test]
fn an_error_comes_back_each_time() {
    let (_, plain) = made("zstd");
    let array = with(&plain, &ChunkCache::new(1 << 20));
    assert_eq!(array.read::<i32>((70, 70)).unwrap(), [70 * 128 + 70]);
    array.write_chunk_bytes(&[1, 1], b"no chunk").unwrap();
    for _ in 0..2 {
        let error = array.read::<i32>((70, 70)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::CorruptChunk);
        assert!(error.to_string().contains("c/1/1"), "{error}");
    }
}

#[test]
fn waiting_arrays_are_cached_as_well() {
    let store = Arc::new(Counted::new(MemoryStore::new()));
    let lent: Arc<dyn AsyncStore> = Arc::new(SyncAsAsync::new(Arc::clone(&store) as _));
    let new = NewArray::new(&[64, 64], "int32").chunks(&[64, 64]).codecs(SHARD).unwrap();
    let options = Options::default().trust_missing(true).cache(ChunkCache::new(1 << 20));
    block_on(async {
        let array = AsyncArray::create(&lent, "/a", new.options(options), &zarr::registry::default()).await.unwrap();
        array.write(.., &(0..64 * 64).collect::<Vec<i32>>()).await.unwrap();
        store.take();
        assert_eq!(array.read::<i32>((10, 10)).await.unwrap(), [650]);
        assert_eq!(store.take().gets, 2);
        assert_eq!(array.read::<i32>((9..11, 11)).await.unwrap(), [587, 651]);
        assert_eq!(store.take().gets, 0);
    });
}

#[test]
fn many_threads_share_a_cache_that_is_too_small() {
    let (_, plain) = made(SHARD);
    let cache = ChunkCache::new(60_000);
    let array = with(&plain, &cache);
    std::thread::scope(|scope| {
        for thread in 0..16_u64 {
            let (array, cache) = (&array, &cache);
            scope.spawn(move || {
                for round in 0..200 {
                    let (row, column) = ((thread * 37 + round * 11) % 120, (round * 29) % 120);
                    let start = (row * 128 + column) as i32;
                    let found = array.read::<i32>((row..row + 2, column..column + 2)).unwrap();
                    assert_eq!(found, [start, start + 1, start + 128, start + 129]);
                    assert!(cache.bytes() <= 60_000 + 16 * 1000);
                }
            });
        }
    });
    assert!(cache.bytes() <= 60_000);
}

#[test]
fn picks_in_a_shard_read_its_index_once() {
    let picks = || Selection::coordinates(vec![vec![0, 5, 40, 63, 1, 100, 101], vec![0, 60, 40, 63, 1, 3, 90]]);
    let expected: Vec<i32> = [(0, 0), (5, 60), (40, 40), (63, 63), (1, 1), (100, 3), (101, 90)]
        .map(|(row, column)| row * 128 + column)
        .to_vec();
    let (store, array) = made(SHARD);
    // The location of chunks is known only once one was found.
    array.read::<i32>((0, 0)).unwrap();
    store.take();
    assert_eq!(array.read::<i32>(picks()).unwrap(), expected);
    // Three shards: an index and one request for the inner chunks of each.
    let counts = store.take();
    assert_eq!(counts.gets, 6, "{counts:?}");
    let (store, array) = made(NESTED);
    array.read::<i32>((0, 0)).unwrap();
    store.take();
    assert_eq!(array.read::<i32>(picks()).unwrap(), expected);
    // In the first shard four inner shards, each read once; one in each of the others.
    assert_eq!(store.take().gets, 3 + 2 * 6);
    let array = with(&array, &ChunkCache::new(1 << 20));
    assert_eq!(array.read::<i32>(picks()).unwrap(), expected);
    store.take();
    assert_eq!(array.read::<i32>(picks()).unwrap(), expected);
    assert_eq!(store.take().gets, 0);
    // A shard that is encoded as a whole is fetched once.
    let whole = SHARD.trim_end_matches(']').to_owned() + r#", {"name": "crc32c"}]"#;
    let (store, array) = made(&whole);
    assert_eq!(array.read::<i32>(picks()).unwrap(), expected);
    assert_eq!(store.take().gets, 3);
}

/// The last block of a Blosc buffer says that it has more bytes than there are.
fn break_last_block(value: &mut [u8]) {
    let number = |value: &[u8], at: usize| u32::from_le_bytes(value[at..at + 4].try_into().unwrap()) as usize;
    let blocks = number(value, 4).div_ceil(number(value, 8));
    assert!(blocks > 1 && value[2] & 2 == 0, "several blocks that are compressed");
    let last = number(value, 16 + 4 * (blocks - 1));
    value[last..last + 4].fill(0x7f);
}

/// The last inner chunk of a shard of 16 x 16, whose index has a checksum, is no Zstandard frame. Then the shard is compressed.
fn break_last_inner_chunk(value: &mut Vec<u8>) {
    let data = value.len() - 16 * 16 * 16 - 4;
    value[data - 8..data].fill(0xff);
    let mut start = [0; 8];
    start.copy_from_slice(&value[data + 255 * 16..][..8]);
    value[u64::from_le_bytes(start) as usize..][..4].fill(0);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, value).unwrap();
    *value = gzip.finish().unwrap();
}

#[test]
fn broken_chunks_elsewhere_do_not_matter_with_a_cache_either() {
    let blosc = r#"["bytes", {"name": "blosc", "configuration": {
        "cname": "zstd", "clevel": 1, "shuffle": "shuffle", "typesize": 4, "blocksize": 4096}}]"#;
    let zipped = SHARD.trim_end_matches(']').to_owned() + r#", {"name": "gzip", "configuration": {"level": 1}}]"#;
    type Break = fn(&mut Vec<u8>);
    let cases: [(&str, &str, Break); 3] = [
        ("bytes", "bytes", |value| value.truncate(5000)),
        (blosc, blosc, |value| break_last_block(value)),
        (SHARD, &zipped, break_last_inner_chunk),
    ];
    let key = Key::new("a/c/0/0").unwrap();
    for (written, read, damage) in cases {
        let (store, _) = made(written);
        let mut value = store.get_all(&key).unwrap().unwrap().to_vec();
        damage(&mut value);
        let (store, plain) = made(read);
        store.set_all(&key, &value).unwrap();
        let cached = || with(&plain, &ChunkCache::new(1 << 20));
        let points = || Selection::coordinates(vec![vec![0, 3], vec![1, 2]]);
        for array in [plain.clone(), cached()] {
            assert_eq!(array.read::<i32>((1, 2..4)).unwrap(), [130, 131], "{read}");
            assert_eq!(array.read::<i32>((..8, ..8)).unwrap()[9], 129, "{read}");
        }
        for array in [plain.clone(), cached()] {
            assert_eq!(array.read::<i32>(points()).unwrap(), [1, 3 * 128 + 2], "{read}");
        }
        for array in [plain.clone(), cached()] {
            assert!(array.read::<i32>((..64, ..64)).unwrap_err().is_corrupt(), "{read}");
            assert!(array.read::<i32>((63, 63)).unwrap_err().is_corrupt(), "{read}");
        }
    }
}
