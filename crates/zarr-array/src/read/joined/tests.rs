use crate::{Array, AsyncArray, ChunkCache, ErrorKind, NewArray, Options, Registry, Store};
use proptest::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};
use zarr_drive::{Threads, block_on};
use zarr_store::testing::{Altered, Delayed};
use zarr_store::{AsyncStore, Call, Key, MemoryStore, StoreExt};

/// Number of chunks, and of elements of a chunk.
const CHUNKS: u64 = 12;
const LEN: u64 = 4;
/// Time after which a test that hangs fails.
const LONG: Duration = Duration::from_secs(120);

const SHARDED: &str = r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [4], "codecs": ["bytes"],
    "index_codecs": ["bytes", "crc32c"]}}]"#;

fn registry() -> Arc<Registry> {
    let mut registry = Registry::default();
    registry.codecs.add(zarr_codec_bytes::BYTES);
    registry.codecs.add(zarr_codec_checksum::CRC32C);
    registry.codecs.add(zarr_codec_sharding::SHARDING_INDEXED);
    Arc::new(registry)
}

/// Cache whose reads wait for each other as long as it takes.
fn patient() -> ChunkCache {
    ChunkCache::new(1 << 20).with_patience(LONG)
}

fn elements() -> Vec<u32> {
    (0..(CHUNKS * LEN) as u32).collect()
}

fn new(chunk: u64, codecs: &str) -> NewArray {
    let new = NewArray::new(&[CHUNKS * LEN], "uint32").chunks(&[chunk]).codecs(codecs).unwrap();
    new.options(Options::default().trust_missing(true))
}

fn with(array: &Array, cache: &ChunkCache) -> Array {
    array.with(array.options().clone().cache(cache.clone())).unwrap()
}

/// Array whose gets of chunks call `get` with their number first.
fn array_of(chunk: u64, codecs: &str, get: impl Fn(usize) -> zarr_store::Result<()> + Send + Sync + 'static) -> Array {
    let gets = AtomicUsize::new(0);
    let store = Altered::new(MemoryStore::new()).getting(move |store, key, ranges| {
        if key.as_str().starts_with("a/c/") {
            get(gets.fetch_add(1, Ordering::SeqCst))?;
        }
        store.get_ranges(key, ranges)
    });
    let store: Arc<dyn Store> = Arc::new(store);
    let array = Array::create(&store, "/a", new(chunk, codecs), &registry()).unwrap();
    array.write(.., &elements()).unwrap();
    array
}

/// Waits until `is_so`.
fn until(mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < LONG, "the test hangs");
        thread::sleep(Duration::from_millis(1));
    }
}

fn failed() -> zarr_store::Error {
    let key = Key::new("a/c/0").unwrap();
    let refused = std::io::ErrorKind::ConnectionReset.into();
    zarr_store::Error::io(&"a store", zarr_store::Operation::Get, key.as_str(), refused)
}

/// Reads of hundred threads of twelve chunks get each chunk once, and each index of a shard.
#[test]
fn threads_that_read_the_same_chunks_get_each_once() {
    for (chunk, codecs, expected) in [(LEN, r#"["bytes"]"#, 12), (6 * LEN, SHARDED, 12 + 2)] {
        let gets = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&gets);
        let array = array_of(chunk, codecs, move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(20));
            Ok(())
        });
        let array = with(&array, &patient());
        thread::scope(|scope| {
            for task in 0..100 {
                let array = &array;
                scope.spawn(move || {
                    let start = task % CHUNKS * LEN;
                    let due: Vec<u32> = (start as u32..(start + LEN) as u32).collect();
                    assert_eq!(array.read::<u32>(start..start + LEN).unwrap(), due);
                });
            }
        });
        assert_eq!(gets.load(Ordering::SeqCst), expected, "{codecs}");
        let counts = array.options().cache.as_ref().unwrap().counts();
        assert_eq!(counts.misses, expected as u64, "{codecs}: {counts:?}");
    }
}

/// The first of two reads ends in `end` after the second has begun to wait. Returns the results of both.
fn first_ends(end: fn() -> zarr_store::Result<()>) -> [thread::Result<crate::Result<Vec<u32>>>; 2] {
    let cache = patient();
    let (joined, begun) = (cache.clone(), Arc::new(AtomicUsize::new(0)));
    let noted = Arc::clone(&begun);
    let array = array_of(LEN, r#"["bytes"]"#, move |number| {
        noted.fetch_add(1, Ordering::SeqCst);
        if number > 0 {
            return Ok(());
        }
        until(|| joined.joined() == 1);
        end()
    });
    let array = with(&array, &cache);
    let read = || catch_unwind(AssertUnwindSafe(|| array.read::<u32>(..LEN)));
    let results = thread::scope(|scope| {
        let first = scope.spawn(read);
        until(|| begun.load(Ordering::SeqCst) == 1);
        let second = scope.spawn(read);
        [first, second].map(|read| read.join().unwrap())
    });
    assert_eq!(cache.claimed(), 0);
    results
}

#[test]
fn a_read_that_fails_fails_alone() {
    let [first, second] = first_ends(|| Err(failed()));
    assert_eq!(first.unwrap().unwrap_err().kind(), ErrorKind::Store);
    assert_eq!(second.unwrap().unwrap(), [0, 1, 2, 3]);
}

#[test]
fn a_read_that_panics_panics_alone() {
    let [first, second] = first_ends(|| panic!("as a decoder may"));
    assert!(first.is_err());
    assert_eq!(second.unwrap().unwrap(), [0, 1, 2, 3]);
}

/// Returns an array whose first request ends once the second counter is 1. The first one counts the requests that have begun.
fn first_waits() -> (Array, Arc<AtomicUsize>, Arc<AtomicUsize>) {
    let (begun, done) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let gate = (Arc::clone(&begun), Arc::clone(&done));
    let array = array_of(LEN, r#"["bytes"]"#, move |number| {
        gate.0.fetch_add(1, Ordering::SeqCst);
        if number == 0 {
            until(|| gate.1.load(Ordering::SeqCst) == 1);
        }
        Ok(())
    });
    (array, begun, done)
}

/// A read in a thread of a pool does not wait for a read that may need this thread.
#[test]
fn a_thread_of_a_pool_does_not_wait() {
    let cache = patient();
    let (array, begun, done) = first_waits();
    let array = with(&array, &cache);
    thread::scope(|scope| {
        scope.spawn(|| array.read::<u32>(..LEN).unwrap());
        until(|| begun.load(Ordering::SeqCst) == 1);
        let read = || array.read::<u32>(..LEN).unwrap();
        let threads = Threads::shared(3.try_into().unwrap()).unwrap();
        assert_eq!(threads.run(read).unwrap(), [0, 1, 2, 3]);
        done.store(1, Ordering::SeqCst);
    });
    assert_eq!(cache.joined(), 0);
}

/// A read that begins after a write returns the written elements, and does not wait for a read that began before.
#[test]
fn a_read_after_a_write_does_not_wait_for_a_read_before() {
    let cache = patient();
    let (array, begun, done) = first_waits();
    let array = with(&array, &cache);
    thread::scope(|scope| {
        scope.spawn(|| array.read::<u32>(..LEN).unwrap());
        until(|| begun.load(Ordering::SeqCst) == 1);
        array.write(..LEN, &[7_u32; 4]).unwrap();
        assert_eq!(array.read::<u32>(..LEN).unwrap(), [7; 4]);
        done.store(1, Ordering::SeqCst);
    });
    assert_eq!(array.read::<u32>(..LEN).unwrap(), [7; 4]);
    assert_eq!((cache.joined(), cache.claimed()), (0, 0));
}

/// Async array whose first get of a chunk never ends, and the number of gets.
fn stuck(len: u64, cache: &ChunkCache) -> (AsyncArray, Arc<AtomicUsize>) {
    let memory: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(&[len], "uint32").chunks(&[len]).codecs(r#"["bytes"]"#).unwrap();
    let array = Array::create(&memory, "/a", new, &registry()).unwrap();
    array.fill(.., 5_u32).unwrap();
    let gets = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&gets);
    let store: Arc<dyn AsyncStore> = Arc::new(Delayed::new(memory, move |call| match call {
        Call::Get { key, .. } if key.as_str().starts_with("a/c/") && counted.fetch_add(1, Ordering::SeqCst) == 0 => {
            Box::pin(std::future::pending())
        }
        _ => Box::pin(async {}),
    }));
    let options = Options::default().trust_missing(true).cache(cache.clone());
    (AsyncArray::from_found(&store, array.found().clone(), &registry(), options).unwrap(), gets)
}

/// A future that is dropped, be it of a small read or of one on another thread, leaves its chunk to the read that waits for it.
#[test]
fn a_dropped_future_leaves_its_chunks_to_the_reads_that_wait() {
    for len in [4, 1 << 20] {
        let cache = ChunkCache::new(1 << 30).with_patience(LONG);
        let (array, gets) = stuck(len, &cache);
        let mut context = Context::from_waker(Waker::noop());
        let mut first = Box::pin(array.read::<u32>(..len));
        assert!(first.as_mut().poll(&mut context).is_pending());
        until(|| {
            let _ = first.as_mut().poll(&mut context).is_pending();
            gets.load(Ordering::SeqCst) == 1
        });
        let second = thread::scope(|scope| {
            let second = scope.spawn(|| block_on(array.read::<u32>(..len)).unwrap());
            until(|| cache.joined() == 1);
            drop(first);
            second.join().unwrap()
        });
        assert_eq!(second, vec![5; len as usize]);
        assert_eq!(cache.claimed(), 0);
    }
}

/// A future that is not polled any more delays other reads, and no more.
#[test]
fn a_future_that_nobody_polls_is_not_waited_for_forever() {
    let cache = ChunkCache::new(1 << 20).with_patience(Duration::from_millis(10));
    let (array, _) = stuck(4, &cache);
    let mut first = Box::pin(array.read::<u32>(..4_u64));
    assert!(first.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    assert_eq!(block_on(array.read::<u32>(..4_u64)).unwrap(), [5; 4]);
    drop(first);
    assert_eq!(cache.claimed(), 0);
}

/// A read that another task polls than before is woken there when the claim for which it waits no longer counts.
#[test]
fn a_read_that_moves_to_another_task_is_woken() {
    let cache = ChunkCache::new(1 << 20).with_patience(Duration::from_millis(50));
    let (array, _) = stuck(4, &cache);
    let mut context = Context::from_waker(Waker::noop());
    let mut first = Box::pin(array.read::<u32>(..4_u64));
    assert!(first.as_mut().poll(&mut context).is_pending());
    let mut second = Box::pin(array.read::<u32>(..4_u64));
    let ready = second.as_mut().poll(&mut context);
    let read = if let std::task::Poll::Ready(read) = ready { read } else { block_on(second) };
    assert_eq!((read.unwrap(), cache.joined()), (vec![5; 4], 1));
}

/// Reads of a chunk for which the cache has no room wait once, and do not queue one behind another.
#[test]
fn reads_of_what_is_not_kept_wait_once() {
    // The bound is less than an entry takes, and twice what the chunk or index takes.
    for (chunk, codecs) in [(LEN, r#"["bytes"]"#), (6 * LEN, SHARDED)] {
        let cache = ChunkCache::new(400).with_patience(LONG);
        let (joined, begun) = (cache.clone(), Arc::new(AtomicUsize::new(0)));
        let noted = Arc::clone(&begun);
        let array = array_of(chunk, codecs, move |number| {
            noted.fetch_add(1, Ordering::SeqCst);
            if number == 0 {
                until(|| joined.joined() == 4);
            }
            Ok(())
        });
        let array = with(&array, &cache);
        thread::scope(|scope| {
            let read = || assert_eq!(array.read::<u32>(..LEN).unwrap(), [0, 1, 2, 3]);
            scope.spawn(read);
            until(|| begun.load(Ordering::SeqCst) == 1);
            (0..4).for_each(|_| drop(scope.spawn(read)));
        });
        assert_eq!((cache.joined(), cache.claimed(), cache.bytes()), (4, 0, 0), "{codecs}");
    }
}

/// A shard that is not stored is known not to be by the reads of several regions that follow.
#[test]
fn regions_of_a_shard_that_is_not_stored_ask_once() {
    let gets = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&gets);
    let array = array_of(6 * LEN, SHARDED, move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        Ok(())
    });
    array.erase_chunk(&[0]).unwrap();
    let cache = patient();
    let array = with(&array, &cache);
    gets.store(0, Ordering::SeqCst);
    for _ in 0..3 {
        let mut found = [[9_u32; 2]; 3];
        let parts = found.iter_mut().zip([0_u64, 5, 9]).map(|(out, start)| (start..start + 2, out.as_mut_slice()));
        array.read_many(parts).unwrap();
        assert_eq!(found, [[0; 2]; 3]);
    }
    assert_eq!((gets.load(Ordering::SeqCst), cache.counts().misses, cache.joined()), (1, 1, 0));
}

/// Step of a thread: a read of chunks, a write of one, or a read whose gets fail or panic.
#[derive(Clone, Debug)]
enum Act {
    Read(u64, u64),
    Write(u64),
    Clear,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        8 => (0..CHUNKS, 1..4_u64).prop_map(|(start, len)| Act::Read(start, len)),
        2 => (0..CHUNKS).prop_map(Act::Write),
        1 => Just(Act::Clear),
    ];
    proptest::collection::vec(act, 1..25)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Threads read and write chunks that have one number each, which only grows. A read returns of each chunk one number, which is none
    /// older than those that were there when it began, whatever other reads failed or panicked meanwhile.
    #[test]
    fn reads_are_of_the_present_state(
        threads in proptest::collection::vec(acts(), 2..6),
        is_sharded in any::<bool>(),
        max_bytes in prop_oneof![Just(1_usize << 20), Just(4000)],
        bad in proptest::collection::vec(0..200_usize, 0..12),
    ) {
        let (chunk, codecs) = if is_sharded { (3 * LEN, SHARDED) } else { (LEN, r#"["bytes"]"#) };
        let reading = Arc::new(OnceLock::<()>::new());
        let begun = Arc::clone(&reading);
        let array = array_of(chunk, codecs, move |number| {
            // Not the gets of writes of parts of shards, whose errors are others.
            match bad.iter().position(|&bad| bad == number) {
                Some(at) if begun.get().is_some() && thread::current().name() == Some("reads") => {
                    assert!(at % 2 == 0, "as a decoder may");
                    Err(failed())
                }
                _ => Ok(()),
            }
        });
        let cache = ChunkCache::new(max_bytes).with_patience(LONG);
        let array = with(&array, &cache);
        array.write(.., &vec![0_u32; (CHUNKS * LEN) as usize]).unwrap();
        reading.get_or_init(|| ());
        let numbers: Vec<(Mutex<()>, AtomicU32)> = (0..CHUNKS).map(|_| Default::default()).collect();
        let unmet = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for acts in &threads {
                let (array, numbers, unmet, cache) = (&array, &numbers, &unmet, &cache);
                let run = move || for act in acts {
                    match *act {
                        Act::Clear => cache.clear(),
                        Act::Write(at) => {
                            let (turn, number) = &numbers[at as usize];
                            let _turn = turn.lock().unwrap();
                            let next = number.load(Ordering::SeqCst) + 1;
                            let elements = [next; LEN as usize];
                            let write = || array.write(at * LEN..(at + 1) * LEN, &elements);
                            // A thread of another name, so that its gets succeed.
                            thread::scope(|scope| scope.spawn(write).join()).unwrap().unwrap();
                            number.store(next, Ordering::SeqCst);
                        }
                        Act::Read(start, len) => {
                            let end = (start + len).min(CHUNKS);
                            let before: Vec<u32> = (start..end).map(|at| numbers[at as usize].1.load(Ordering::SeqCst)).collect();
                            let read = catch_unwind(AssertUnwindSafe(|| array.read::<u32>(start * LEN..end * LEN)));
                            let Ok(Ok(found)) = read else { continue };
                            for (chunk, before) in found.chunks(LEN as usize).zip(before) {
                                if chunk.iter().any(|&number| number != chunk[0] || number < before) {
                                    unmet.lock().unwrap().push(format!("{act:?}: found {chunk:?}, expected {before} or more"));
                                }
                            }
                        }
                    }
                };
                thread::Builder::new().name("reads".to_owned()).spawn_scoped(scope, run).unwrap();
            }
        });
        prop_assert_eq!(unmet.into_inner().unwrap(), Vec::<String>::new());
        prop_assert_eq!(cache.claimed(), 0);
        let last: Vec<u32> = numbers.iter().flat_map(|(_, number)| [number.load(Ordering::SeqCst); LEN as usize]).collect();
        let read = || array.read::<u32>(..).unwrap();
        prop_assert_eq!(thread::scope(|scope| scope.spawn(read).join()).unwrap(), last);
    }
}
