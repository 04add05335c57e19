//! Shards that are read in parts, stores that fail, shards that are replaced meanwhile.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use zarr_array::{Array, NewArray, Protection, Registry, Store};
use zarr_array::{CheckDepth, CheckedChunk, ChunkFaultKind};
use zarr_grid::ChunkIndex;
use zarr_store::{
    AccessProfile, Answer, ByteRange, Call, Capabilities, Error, Fetched, GetOptions, Key, MemoryStore, Operation,
    Precondition, Result, StoreExt, Version, fallback_blocking,
};

/// Bytes of an inner chunk without its checksum.
const INNER: u64 = 3 << 20;

fn registry() -> Arc<Registry> {
    let mut registry = Registry::default();
    for entry in [zarr_codec_bytes::BYTES, zarr_codec_sharding::SHARDING_INDEXED, zarr_codec_checksum::CRC32C] {
        registry.codecs.add(entry);
    }
    Arc::new(registry)
}

/// An array of one shard that is too large to be checked as a whole.
fn sharded(store: &Arc<dyn Store>) -> Array {
    let codecs = format!(
        r#"[{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [{INNER}],
        "codecs": [{{"name": "bytes"}}, {{"name": "crc32c"}}],
        "index_codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}, {{"name": "crc32c"}}]}}}}]"#
    );
    let new = NewArray::new(&[6 * INNER], "uint8").chunks(&[6 * INNER]).codecs(codecs.as_str()).unwrap();
    let array = Array::create(store, "/", new, &registry()).unwrap();
    array.write(0..4 * INNER, &vec![7_u8; 4 * INNER as usize]).unwrap();
    array
}

fn check(array: &Array, chunks: &[(Key, ChunkIndex)], depth: CheckDepth) -> Vec<CheckedChunk> {
    let found = Mutex::new(Vec::new());
    array.check_chunks(chunks, depth, &|chunk| found.lock().unwrap().push(chunk)).unwrap();
    found.into_inner().unwrap()
}

fn one() -> [(Key, ChunkIndex); 1] {
    [(Key::new("c/0").unwrap(), [0].into_iter().collect())]
}

#[test]
fn large_shards_are_read_in_parts_and_each_fault_has_its_place() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = sharded(&store);
    let [good] = check(&array, &one(), CheckDepth::Values).try_into().unwrap();
    assert!(good.faults.is_empty(), "{good:?}");
    assert_eq!((good.bytes, good.protection), (4 * (INNER + 4) + 6 * 16 + 4, Some(Protection::Checksum)));
    let [index] = check(&array, &one(), CheckDepth::Indexes).try_into().unwrap();
    assert_eq!((index.bytes, index.protection), (6 * 16 + 4, None));

    let key = Key::new("c/0").unwrap();
    let mut bytes = store.get_all(&key).unwrap().unwrap().to_vec();
    for inner in [1, 3] {
        bytes[(inner * (INNER + 4)) as usize + 5] ^= 1;
    }
    store.set_all(&key, &bytes).unwrap();
    let [torn] = check(&array, &one(), CheckDepth::Values).try_into().unwrap();
    let places: Vec<_> = torn.faults.iter().map(|fault| (fault.inner[0][0], fault.bytes.clone())).collect();
    let range = |inner: u64| Some(inner * (INNER + 4)..(inner + 1) * (INNER + 4));
    assert_eq!(places, [(1, range(1)), (3, range(3))]);
    assert!(torn.faults[0].message().contains("crc32c: checksum"), "{torn:?}");
    // Its index is good, and nothing else was read.
    assert!(check(&array, &one(), CheckDepth::Indexes)[0].faults.is_empty());
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    store.set_all(&key, &bytes).unwrap();
    assert_eq!(check(&array, &one(), CheckDepth::Indexes)[0].faults.len(), 1);
    store.set_all(&key, &bytes[..50]).unwrap();
    assert_eq!(check(&array, &one(), CheckDepth::Values)[0].faults.len(), 1);
    store.erase(&key).unwrap();
    assert!(!check(&array, &one(), CheckDepth::Values)[0].is_stored);
}

/// A store whose values under some keys cannot be read, and whose values are found replaced `replaces` times.
#[derive(Debug)]
struct Odd {
    inner: Arc<dyn Store>,
    broken: &'static str,
    replaces: AtomicU32,
}

impl fmt::Display for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("odd")
    }
}

impl Odd {
    fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        if key.as_str().ends_with(self.broken) {
            return Err(Error::io(self, Operation::Get, key.as_str(), std::io::Error::other("a bad sector")));
        }
        // The store in memory keeps the state of a snapshot: a replaced value has to be feigned.
        let left = |count: u32| count.checked_sub(1);
        if options.if_match.is_some() && self.replaces.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left).is_ok()
        {
            Precondition::NotExists.check(self, key, Some(&Version::new("other")))?;
        }
        self.inner.get(key, ranges, options)
    }
}

impl Store for Odd {
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        Ok(match call {
            Call::Get { key, ranges, options } => Answer::Got(self.get(&key, &ranges, &options)?),
            call => return fallback_blocking(self, call),
        })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::none()
    }

    fn access_profile(&self) -> AccessProfile {
        self.inner.access_profile()
    }
}

fn odd(inner: &Arc<dyn Store>, broken: &'static str, replaces: u32) -> Arc<dyn Store> {
    Arc::new(Odd { inner: Arc::clone(inner), broken, replaces: AtomicU32::new(replaces) })
}

#[test]
fn a_chunk_that_cannot_be_read_keeps_no_other_from_being_checked() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(&[8], "uint8").chunks(&[1]).codecs("bytes").unwrap();
    let array = Array::create(&store, "/", new, &registry()).unwrap();
    array.write(.., &[1_u8; 8]).unwrap();
    let chunk = |index: u64| (Key::new(&format!("c/{index}")).unwrap(), [index].into_iter().collect());
    let chunks: Vec<_> = (0..8).map(chunk).collect();
    let mut found = check(&array.through(&odd(&store, "c/5", 0)), &chunks, CheckDepth::Values);
    found.sort_by_key(|chunk| chunk.chunk.clone());
    let faulty: Vec<u64> = found.iter().filter(|chunk| !chunk.faults.is_empty()).map(|chunk| chunk.chunk[0]).collect();
    assert_eq!((found.len(), faulty), (8, vec![5]));
    let message = found[5].faults[0].message();
    assert!(message.ends_with("a bad sector"), "{message}");
    // A store that gives nothing is an error.
    let many: Vec<_> = (0..8).cycle().take(40).map(chunk).collect();
    let error = array.through(&odd(&store, "", 0)).check_chunks(&many, CheckDepth::Values, &|_| {}).unwrap_err();
    assert!(error.to_string().contains("get c/0"), "{error}");
}

#[test]
fn a_shard_that_is_replaced_is_begun_again() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = sharded(&store);
    for (replaces, is_given_up) in [(0, false), (3, false), (1000, true)] {
        let [found] =
            check(&array.through(&odd(&store, "none", replaces)), &one(), CheckDepth::Values).try_into().unwrap();
        assert_eq!(!found.faults.is_empty(), is_given_up, "{replaces}: {found:?}");
    }
}

/// A shard of `inner` inner chunks of one byte and its checksum, with an index that gives the inner chunk of each number these bytes.
fn small_shard(store: &Arc<dyn Store>, inner: u64, data: &[u8], range: impl Fn(u64) -> (u64, u64)) -> CheckedChunk {
    let codecs = r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [1],
        "codecs": [{"name": "bytes"}, {"name": "crc32c"}],
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}]"#;
    let new = NewArray::new(&[inner], "uint8").chunks(&[inner]).codecs(codecs).unwrap();
    let array = Array::create(store, "/", new, &registry()).unwrap();
    let index = (0..inner).map(range).flat_map(|(start, len)| [start.to_le_bytes(), len.to_le_bytes()].concat());
    let shard: Vec<u8> = data.iter().copied().chain(index).collect();
    store.set_all(&Key::new("c/0").unwrap(), &shard).unwrap();
    let [found] = check(&array, &one(), CheckDepth::Values).try_into().unwrap();
    found
}

#[test]
fn inner_chunks_that_share_bytes_crowd_out_no_fault() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = {
        let new = NewArray::new(&[1], "uint8").chunks(&[1]).codecs(r#"[{"name": "bytes"}, {"name": "crc32c"}]"#);
        Array::create(&store, "/one", new.unwrap(), &registry()).unwrap()
    };
    array.write(.., &[7_u8]).unwrap();
    let good = store.get_all(&Key::new("one/c/0").unwrap()).unwrap().unwrap().to_vec();
    let torn: Vec<u8> = good.iter().map(|byte| byte ^ 1).collect();
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let found = small_shard(&store, 2500, &[good, torn].concat(), |number| (if number < 2499 { 0 } else { 5 }, 5));
    let broken: Vec<u64> = found
        .faults
        .iter()
        .filter(|fault| matches!(fault.kind, ChunkFaultKind::Broken(_)))
        .map(|fault| fault.inner[0][0])
        .collect();
    assert_eq!((broken, found.faults.len(), found.more_faults, found.more_shared), (vec![2499], 1001, 0, 1498));
}

/// Reads refuse such an inner chunk, in shards of any size.
#[test]
fn inner_chunks_of_more_bytes_than_codecs_make_are_faults() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let found = small_shard(&store, 1, &[7; 2000], |_| (0, 2000));
    let message = found.faults[0].message();
    assert!(message.contains("2000 bytes, more than the 1034 bytes that its codecs make at most"), "{message}");
}

/// A store whose first chunk cannot be read, and which notes how many requests were under way when this had been met for a while.
#[derive(Debug)]
struct Slow {
    inner: Arc<dyn Store>,
    failed: Mutex<Option<std::time::Instant>>,
    under_way: AtomicU32,
    most: AtomicU32,
}

impl fmt::Display for Slow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("slow")
    }
}

impl Slow {
    fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        const WHILE: std::time::Duration = std::time::Duration::from_millis(10);
        if key.as_str() == "c/0" {
            self.failed.lock().unwrap().get_or_insert_with(std::time::Instant::now);
            return Err(Error::io(self, Operation::Get, key.as_str(), std::io::Error::other("a bad sector")));
        }
        let is_later = self.failed.lock().unwrap().is_some_and(|failed| failed.elapsed() > 4 * WHILE);
        let under_way = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        if is_later {
            self.most.fetch_max(under_way, Ordering::SeqCst);
        }
        std::thread::sleep(WHILE);
        self.under_way.fetch_sub(1, Ordering::SeqCst);
        self.inner.get(key, ranges, options)
    }
}

impl Store for Slow {
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        Ok(match call {
            Call::Get { key, ranges, options } => Answer::Got(self.get(&key, &ranges, &options)?),
            call => return fallback_blocking(self, call),
        })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::none()
    }

    fn access_profile(&self) -> AccessProfile {
        self.inner.access_profile()
    }
}

#[test]
fn the_others_of_a_batch_are_still_checked_together() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(&[128], "uint8").chunks(&[1]).codecs("bytes").unwrap();
    let array = Array::create(&store, "/", new, &registry()).unwrap();
    array.write(.., &[1_u8; 128]).unwrap();
    let (failed, under_way, most) = (Mutex::new(None), AtomicU32::new(0), AtomicU32::new(0));
    let slow = Arc::new(Slow { inner: store, failed, under_way, most });
    let through: Arc<dyn Store> = Arc::clone(&slow) as _;
    let chunks: Vec<_> =
        (0..128).map(|index| (Key::new(&format!("c/{index}")).unwrap(), [index].into_iter().collect())).collect();
    let array = array.through(&through);
    assert_eq!(check(&array, &chunks, CheckDepth::Values).len(), 128);
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    let most = slow.most.load(Ordering::SeqCst);
    assert!(most > 1 || threads == 1, "{most} requests under way on {threads} threads");
}

/// Elements that are as in memory are looked at where they are, and not copied.
#[test]
fn elements_that_are_none_are_faults() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(&[4], "bool").chunks(&[4]).codecs("bytes").unwrap();
    let array = Array::create(&store, "/", new, &registry()).unwrap();
    for (bytes, is_good) in [(&[0, 1, 1, 0][..], true), (&[0, 1, 2, 0], false), (&[0, 1, 1], false), (&[0; 5], false)] {
        store.set_all(&Key::new("c/0").unwrap(), bytes).unwrap();
        let [found] = check(&array, &one(), CheckDepth::Values).try_into().unwrap();
        let reads = array.read::<bool>(..).is_ok();
        assert_eq!((found.faults.is_empty(), reads), (is_good, is_good), "{bytes:?}: {found:?}");
    }
}
