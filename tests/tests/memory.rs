//! The memory that reads and writes take, counted by the allocator: a binary of its own, since everything in it is counted.
#![expect(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so")]

#[path = "memory/claimed_sizes.rs"]
mod claimed_sizes;
#[path = "memory/pyramids.rs"]
mod pyramids;
#[path = "memory/remote.rs"]
mod remote;

use std::alloc::{GlobalAlloc, Layout, System};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zarr::check::{CheckOptions, check};
use zarr::codec::ViewMut;
use zarr::options::ChunkCache;
use zarr::stats::{Statistics, StatsOptions};
use zarr::store::{Counted, FilesystemStore, Key, MemoryStore, StoreExt};
use zarr::{Array, NewArray, Options, Store};
use zarr_grid::Selection;

/// The allocator of the system, with counters.
struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: all memory is the system's; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed);
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(held, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above; the memory came from `System.alloc` with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// The memory that some work took.
#[derive(Clone, Copy, Debug)]
struct Taken {
    allocations: usize,
    bytes: usize,
    /// More than was held before.
    peak: usize,
}

/// Only one test at a time counts.
static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn taken<T>(work: impl FnOnce() -> T) -> (T, Taken) {
    let before = (ALLOCATIONS.load(Ordering::Relaxed), ALLOCATED.load(Ordering::Relaxed), HELD.load(Ordering::Relaxed));
    PEAK.store(before.2, Ordering::Relaxed);
    let done = work();
    let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before.0;
    let bytes = ALLOCATED.load(Ordering::Relaxed) - before.1;
    (done, Taken { allocations, bytes, peak: PEAK.load(Ordering::Relaxed).saturating_sub(before.2) })
}

const SHARD: &str = r#"[{"name": "sharding_indexed", "configuration": {
    "chunk_shape": [537, 537], "index_location": "end",
    "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    "codecs": ["bytes"]
}}]"#;

/// Opens an array and reads an element that is stored and one that is not, several times; the last time counts.
fn open_and_read(shape: &[u64], codecs: &str, cache: Option<&ChunkCache>) -> (u64, Taken) {
    let counted = Arc::new(Counted::new(MemoryStore::new()));
    let store: Arc<dyn Store> = Arc::clone(&counted) as _;
    let new = NewArray::new(shape, "int8").chunks(&[2148, 2148]).codecs(codecs).unwrap();
    let array = zarr::create((&store, "/a")).array(new).unwrap();
    let last = (shape[0] - 1, shape[1] - 1);
    array.write(last, &[7i8]).unwrap();
    let read = || {
        let array = zarr::open((&store, "/a")).array().unwrap();
        let array = array.with(Options::default().cache(cache.cloned())).unwrap();
        assert_eq!(array.read::<i8>(last).unwrap(), [7]);
        assert_eq!(array.read::<i8>((last.0 - 2148, last.1)).unwrap(), [0]);
    };
    read();
    read();
    counted.take();
    let ((), taken) = taken(read);
    (counted.take().gets, taken)
}

#[test]
fn opening_and_reading_an_element_does_not_depend_on_the_size() {
    let _turn = turn();
    for codecs in [r#"["bytes"]"#, SHARD] {
        for cache in [None, Some(ChunkCache::new(64 << 20))] {
            let (gets, small) = open_and_read(&[2148 * 2, 2148 * 2], codecs, cache.as_ref());
            // 2^62 elements in 10^12 chunks.
            let (gets_of_large, large) = open_and_read(&[1 << 31, 1 << 31], codecs, cache.as_ref());
            assert_eq!(gets, gets_of_large);
            // Longer numbers in documents and keys; nothing for chunks.
            assert!(large.allocations <= small.allocations + 10, "{small:?} {large:?}");
            assert!(large.bytes <= small.bytes + 1000, "{small:?} {large:?}");
        }
    }
}

/// Reads a million chunks of an element each, of which one is stored.
fn read_a_million(cache: Option<ChunkCache>) -> Taken {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(&[1000, 1000], "uint8").chunks(&[1, 1]).codecs(r#"["bytes"]"#).unwrap().fill(3);
    let array: Array = zarr::create((&store, "/a")).array(new).unwrap();
    let array = array.with(Options::default().cache(cache)).unwrap();
    array.write((999, 998), &[9u8]).unwrap();
    let mut out = vec![0; 1_000_000];
    array.read_into((..1, ..), ViewMut::new(&mut out[..1000], 1, &[1, 1000]).unwrap()).unwrap();
    let (read, taken) = taken(|| array.read_into(.., ViewMut::new(&mut out, 1, &[1000, 1000]).unwrap()));
    read.unwrap();
    assert_eq!(out[999_998], 9);
    assert_eq!(out.iter().filter(|&&element| element == 3).count(), 999_999);
    taken
}

#[test]
fn a_million_chunks_are_planned_without_holding_them() {
    let _turn = turn();
    // A chunk under way takes some two kilobytes; all of them would take as many gigabytes.
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let bound = (6 << 20) * (threads + 1);
    let plain = read_a_million(None);
    assert!(plain.peak < bound, "{plain:?}");
    let cached = read_a_million(Some(ChunkCache::new(4 << 20)));
    assert!(cached.peak < bound + (4 << 20), "{cached:?}");
}

/// Writes points to an array of `chunks` chunks, and returns the memory that it took.
fn write_points(new: NewArray, points: Vec<i64>, element: u8) -> Taken {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array: Array = zarr::create((&store, "/a")).array(new).unwrap();
    let array = array.with(Options::default().threads(NonZeroUsize::new(2))).unwrap();
    let elements = vec![element; points.len()];
    let selection = Selection::coordinates(vec![points]);
    array.write(Selection::coordinates(vec![vec![0]]), &[element]).unwrap();
    let (written, taken) = taken(|| array.write(selection, &elements));
    written.unwrap();
    taken
}

#[test]
fn points_in_many_chunks_are_written_without_holding_these() {
    let _turn = turn();
    // Of distinct chunks. They are the fill value and not stored, so that all that is held is of the write.
    let count = 300_000;
    let new = NewArray::new(&[count], "uint8").chunks(&[1]).codecs(r#"["bytes"]"#).unwrap().fill(7);
    let taken = write_points(new, (0..count as i64).rev().collect(), 7);
    // Some numbers for each point: a job and a request for each would take many times as much.
    assert!(taken.peak < 72 * count as usize + (1 << 20), "{taken:?}");
}

#[test]
fn points_in_many_shards_are_written_without_holding_these() {
    let _turn = turn();
    const SHARDS: i64 = 64;
    const SHARD: i64 = 1 << 20;
    let new = NewArray::new(&[(SHARDS * SHARD) as u64], "uint8").chunks(&[1 << 16]).shards(&[SHARD as u64]).fill(7);
    let new = new.codecs(r#"["bytes"]"#).unwrap();
    // Inner chunks of fill values are not stored, so that each shard that is stored is small.
    let points = (0..SHARDS).flat_map(|shard| (0..16).map(move |chunk| shard * SHARD + chunk * (1 << 16) + 5));
    let empty = write_points(new.clone(), points.clone().collect(), 7);
    assert!(empty.peak < 2 << 20, "{empty:?}");
    // 64 MiB are stored; some values more are held meanwhile.
    let full = write_points(new, points.collect(), 8);
    assert!(full.peak < (SHARDS + 16) as usize * SHARD as usize, "{full:?}");
}

#[test]
fn an_index_that_says_too_much_takes_little() {
    let _turn = turn();
    const CHUNKS: u64 = 256;
    const CLAIMED: u64 = 10 << 20;
    let codecs = r#"[{"name": "sharding_indexed", "configuration": {
        "chunk_shape": [1], "index_location": "end",
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "codecs": ["vlen-utf8"]
    }}]"#;
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = Arc::new(FilesystemStore::create(folder.path()).unwrap());
    let new = NewArray::new(&[CHUNKS], "string").chunks(&[CHUNKS]).codecs(codecs).unwrap();
    let array = zarr::create((&store, "/a")).array(new).unwrap();
    // Each inner chunk lies a byte behind the one before it, and all say that they have ten mebibytes.
    let mut shard = vec![0; (CLAIMED + CHUNKS) as usize];
    shard.extend((0..CHUNKS).flat_map(|start| [start, CLAIMED]).flat_map(u64::to_le_bytes));
    store.set_all(&Key::new("a/c/0").unwrap(), &shard).unwrap();
    drop(shard);
    let bound = 100 << 20;
    for cache in [None, Some(ChunkCache::new(1 << 20))] {
        let array = array.with(Options::default().cache(cache).threads(NonZeroUsize::new(1))).unwrap();
        let (read, all) = taken(|| array.read_data(..).map(drop));
        assert!(read.is_err() && all.peak < bound, "{read:?} {all:?}");
        let points = (0..CHUNKS as i64).rev().collect();
        let (read, picks) = taken(|| array.read_data(Selection::coordinates(vec![points])).map(drop));
        assert!(read.is_err() && picks.peak < bound, "{read:?} {picks:?}");
    }
}

#[test]
fn a_large_shard_of_raw_elements_takes_a_few_runs() {
    let _turn = turn();
    const SIDE: u64 = 8192;
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = Arc::new(FilesystemStore::create(folder.path()).unwrap());
    let elements: Vec<u32> = (1..=(SIDE * SIDE) as u32).collect();
    for (name, location) in [("/end", "end"), ("/start", "start")] {
        let codecs = format!(
            r#"[{{"name": "sharding_indexed", "configuration": {{
                "chunk_shape": [256, 256], "index_location": "{location}",
                "index_codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}],
                "codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}]
            }}}}]"#
        );
        let new = NewArray::new(&[SIDE, SIDE], "uint32").chunks(&[SIDE, SIDE]).codecs(&*codecs).unwrap();
        let array = zarr::create((&store, name)).array(new).unwrap();
        let (written, taken) = taken(|| array.write(.., &elements));
        written.unwrap();
        // A few runs for each thread.
        assert!(taken.peak < 32 << 20, "{taken:?}");
        assert_eq!(array.read::<u32>((SIDE - 1, SIDE - 1)).unwrap(), [(SIDE * SIDE) as u32]);
    }
}

/// A decoded size beyond the bound that a caller gives is an error, whatever memory it would take.
#[test]
fn decoding_slices_takes_no_more_than_its_bound() {
    use zarr::codec::{BytesToBytes, decode_slice, encode_slice};
    use zarr::codecs::*;
    const SIZE: usize = 64 << 20;
    const BOUND: usize = 1 << 20;
    let _turn = turn();
    let zeros = vec![0; SIZE];
    let codecs: [(&str, Box<dyn BytesToBytes>); 9] = [
        ("zstd", Box::new(Zstd::level(1).unwrap())),
        ("gzip", Box::new(Gzip::level(1).unwrap())),
        ("zlib", Box::new(Zlib::level(1).unwrap())),
        ("bz2", Box::new(Bz2::level(1).unwrap())),
        ("lz4", Box::new(Lz4::acceleration(1))),
        ("lzma", Box::new(Lzma::preset(0).unwrap())),
        ("blosc", Box::new(Blosc::lz4())),
        ("base64", Box::new(Base64)),
        (
            "conditional",
            Box::new(Conditional::of((Shuffle::element_size(1).unwrap(), Gzip::level(1).unwrap())).unwrap()),
        ),
    ];
    for (name, codec) in codecs {
        let encoded = encode_slice(&*codec, &zeros).unwrap();
        let (decoded, taken) = taken(|| decode_slice(&*codec, &encoded, BOUND));
        assert!(decoded.is_err(), "{name}");
        // Decoders have tables and windows of their own; 4 MB of blocks in bz2.
        assert!(taken.peak < BOUND + (6 << 20), "{name}: {taken:?}");
        let small = encode_slice(&*codec, &zeros[..BOUND]).unwrap();
        let decoded = decode_slice(&*codec, &small, BOUND).unwrap();
        assert_eq!((decoded.len(), decoded.capacity() <= BOUND), (BOUND, true), "{name}");
    }
}

/// Writes one shard of `size` MiB of float32 with inner chunks of 1 MiB, and returns the memory that it took beside the elements.
fn write_shard(store: &Arc<dyn Store>, size: u64, location: &str) -> Taken {
    let codecs = format!(
        r#"[{{"name": "sharding_indexed", "configuration": {{
            "chunk_shape": [512, 512], "index_location": "{location}",
            "index_codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}, "crc32c"],
            "codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}},
                       {{"name": "zstd", "configuration": {{"level": 3, "checksum": false}}}}]
        }}}}]"#
    );
    let shape = [512 * size / 4, 512 * 4];
    let new = NewArray::new(&shape, "float32").chunks(&shape).codecs(&*codecs).unwrap();
    let array: Array = zarr::create((store, "/a")).array(new).unwrap();
    let array = array.with(Options::default().threads(NonZeroUsize::new(2))).unwrap();
    // Noise in the last bits, as of measurements: half of the bytes or so are left.
    let mut noise = 1_u32;
    let mut element = |at: u64| {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        at as f32 * 1e-3 + (noise >> 8) as f32 * 1e-6
    };
    let data: Vec<f32> = (0..shape[0] * shape[1]).map(&mut element).collect();
    let started = std::time::Instant::now();
    let (written, taken) = taken(|| array.write(.., &data));
    written.unwrap();
    println!(
        "{store}: a shard of {size} MiB, index at the {location}: {} KiB, {:?}",
        taken.peak >> 10,
        started.elapsed()
    );
    let rows = (shape[0] - 3..shape[0], ..);
    assert_eq!(array.read::<f32>(rows).unwrap(), data[data.len() - 3 * 2048..]);
    taken
}

/// Writes shards of `size` MiB into files and into a bucket, with at most `files` and `bucket` MiB beside the elements.
fn write_shards(size: u64, files: usize, bucket: usize) {
    let server = Server::start();
    for location in ["end", "start"] {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = Arc::new(FilesystemStore::open(folder.path()).unwrap());
        let taken = write_shard(&store, size, location);
        assert!(taken.peak <= files << 20, "files, {location}: {taken:?}");
        let options = [("endpoint", server.url.as_str()), ("anonymous", "true")];
        let options = options.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let store = zarr_store_object::BucketStore::open(&format!("s3://data/{location}"), &options).unwrap();
        let store: Arc<dyn Store> = Arc::new(zarr::store::AsyncAsSync::new(Arc::new(store)));
        let taken = write_shard(&store, size, location);
        assert!(taken.peak <= bucket << 20, "a bucket, {location}: {taken:?}");
    }
}

/// A shard of which the encoded inner chunks together take more memory than it may.
#[test]
fn a_large_shard_is_not_held_as_a_whole() {
    let _turn = turn();
    write_shards(128, 32, 64);
}

/// As above, for the figures in docs/performance.md: `cargo test --release -p zarr-tests --test memory -- --ignored --nocapture`.
#[test]
#[ignore = "elements of a gibibyte"]
fn a_shard_of_a_gibibyte_is_not_held_as_a_whole() {
    let _turn = turn();
    write_shards(1024, 128, 128);
}

/// Takes statistics of an array of `chunks` chunks of 4 MiB each, in a memory of `memory` MiB, and returns what that took.
fn take_statistics(chunks: u64, memory: u64) -> Taken {
    const LEN: u64 = 1 << 20;
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(&[chunks * LEN], "float32").chunks(&[LEN]).codecs("zstd(1)").unwrap();
    let array = zarr::create((&store, "/a")).array(new).unwrap();
    let values: Vec<f32> = (0..LEN).map(|at| ((at * 40_503) % 65_536) as f32 / 8.0).collect();
    array.write(0..LEN, &values).unwrap();
    // All chunks have the same values.
    let chunk = store.get_all(&Key::new("a/c/0").unwrap()).unwrap().unwrap();
    for number in 1..chunks {
        store.set_all(&Key::new(&format!("a/c/{number}")).unwrap(), &chunk).unwrap();
    }
    let options = StatsOptions::default().memory(memory << 20).quantiles(&[0.5]);
    let (found, taken) = taken(|| Statistics::of(&array, .., &options).unwrap());
    let numbers = &found.numbers;
    assert_eq!((numbers.count, found.unstored), (u128::from(chunks * LEN), Some(0)));
    assert_eq!(numbers.min.as_ref().map(|min| (min.value.float, min.index.clone())), Some((0.0, Some(vec![0]))));
    assert_eq!(numbers.max.as_ref().map(|max| max.value.float), Some(65_535.0 / 8.0));
    // 65,536 equally common values.
    assert_eq!(numbers.mean.as_ref().map(|mean| mean.float), Some(65_535.0 / 16.0));
    let std = ((65_536.0_f64.powi(2) - 1.0) / 12.0).sqrt() / 8.0;
    assert!(numbers.std.as_ref().is_some_and(|found| (found.float / std - 1.0).abs() < 1e-15), "{:?}", numbers.std);
    assert!(numbers.rank_error > 0.0 && numbers.rank_error < 0.005, "{}", numbers.rank_error);
    let off = (numbers.quantiles[0].value.float / (65_535.0 / 8.0) - 0.5).abs();
    assert!(off <= numbers.rank_error + 1e-4, "{off} {}", numbers.rank_error);
    taken
}

#[test]
fn statistics_stay_within_their_memory() {
    let _turn = turn();
    let taken = take_statistics(32, 32);
    assert!(taken.peak <= 32 << 20, "{taken:?}");
}

/// As above, with what is promised: `cargo test --release -p zarr-tests --test memory -- --ignored --nocapture statistics`.
#[test]
#[ignore = "elements of 8 GiB"]
fn statistics_of_8_gib_stay_within_256_mib() {
    let _turn = turn();
    let taken = take_statistics(2048, 256);
    println!("{taken:?}");
    assert!(taken.peak <= 256 << 20, "{taken:?}");
}

/// Checks an array of `directories` directories of 32 chunks each, of a byte, and returns what that took.
fn check_directories(directories: u64) -> Taken {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(&[directories, 32], "int8").chunks(&[1, 1]).codecs("bytes").unwrap();
    let array: Array = zarr::create((&store, "/")).array(new).unwrap();
    array.fill(.., 1_i8).unwrap();
    let registry = zarr::registry::default();
    let checked = || check(&store, "/", &registry, &CheckOptions::default(), |_| {}).unwrap();
    // The store keeps some bytes of each value from the first time on that it lends it.
    checked();
    let (report, taken) = taken(checked);
    assert_eq!((report.checked.chunks, report.errors), (directories * 32, 0));
    taken
}

/// The names in one directory are in memory, and not those in all.
#[test]
fn a_check_holds_the_keys_of_a_directory() {
    let _turn = turn();
    check_directories(8);
    let (few, many) = (check_directories(48), check_directories(240));
    assert!(many.peak < few.peak + 50_000, "{few:?} {many:?}");
}

/// A server in a process of its own, since everything in this one is counted.
struct Server {
    process: std::process::Child,
    url: String,
}

/// Tells the process that it is the server.
const SERVES: &str = "ZARR_TESTS_MEMORY_SERVES";

impl Server {
    fn start() -> Self {
        use std::io::BufRead;
        let mut process = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "serves", "--nocapture"])
            .env(SERVES, "")
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let lines = std::io::BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
        let url = lines.filter_map(|line| line.split_once("serves at ").map(|(_, url)| url.to_owned())).next();
        Self { process, url: url.expect("the address of the server") }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// The server, until its caller ends; nothing in a process of tests.
#[test]
fn serves() {
    if std::env::var_os(SERVES).is_none() {
        return;
    }
    let bucket = zarr_testserver::Bucket::s3().public();
    let server = zarr_testserver::TestServer::builder().bucket("data", bucket).start().unwrap();
    println!("serves at {}", server.url());
    drop(std::io::read_to_string(std::io::stdin()));
}
