//! Sizes that nothing may hold, and readers that nothing may hold up.

use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};
use zarr_array::{Array, ChunkCache, NewArray, Options};
use zarr_store::testing::Altered;
use zarr_store::{MemoryStore, Store};

#[test]
fn an_array_of_2_to_the_62_elements_reads_one() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(&[1 << 31, 1 << 31], "int8").chunks(&[2, 2]).codecs_text(r#"["bytes"]"#).unwrap();
    zarr::create_array(&store, "/a", new).unwrap();
    let last = (1u64 << 31) - 1;
    let array = zarr::open_array(&store, "/a").unwrap();
    array.write((last, last), &[7i8]).unwrap();
    // The least of some times: others use the machine as well.
    let times = (0..20).map(|_| {
        let start = Instant::now();
        let array = zarr::open_array(&store, "/a").unwrap();
        assert_eq!(array.read::<i8>((last, last)).unwrap(), [7]);
        assert_eq!(array.read::<i8>((last - 1, last)).unwrap(), [0]);
        start.elapsed()
    });
    assert!(times.min().unwrap() < Duration::from_millis(20));
}

/// A store in memory whose gets of chunks return once so many are under way.
fn meeting(due: usize) -> Altered<MemoryStore> {
    let (waiting, met) = (Mutex::new(0), Condvar::new());
    Altered::new(MemoryStore::new()).getting(move |store, key, ranges, into| {
        if key.as_str().contains("/c/") {
            let mut waiting = waiting.lock().unwrap();
            *waiting += 1;
            met.notify_all();
            let long = Duration::from_secs(60);
            let (waiting, late) = met.wait_timeout_while(waiting, long, |waiting| *waiting < due).unwrap();
            drop(waiting);
            assert!(!late.timed_out(), "some readers wait for others");
        }
        store.get(key, ranges, into)
    })
}

#[test]
fn readers_do_not_wait_for_each_other() {
    check_readers(None);
}

#[test]
fn readers_with_a_cache_do_not_wait_for_each_other() {
    check_readers(Some(ChunkCache::new(1 << 20)));
}

fn check_readers(cache: Option<ChunkCache>) {
    const READERS: usize = 64;
    let store: Arc<dyn Store> = Arc::new(meeting(READERS));
    let new = NewArray::new(&[READERS as u64 / 4 * 8], "int32").chunks(&[8]).codecs_text(
        r#"[{"name": "bytes",
        "configuration": {"endian": "little"}}, {"name": "zstd", "configuration": {"level": 1, "checksum": false}}]"#,
    );
    let array: Array = zarr::create_array(&store, "/a", new.unwrap()).unwrap();
    array.write(.., &(0..READERS as i32 / 4 * 8).collect::<Vec<_>>()).unwrap();
    let array = array.with(Options { cache, ..Options::default() }).unwrap();
    // Four of each chunk, all through one array.
    std::thread::scope(|scope| {
        for reader in 0..READERS {
            let array = &array;
            scope.spawn(move || {
                let element = reader as u64 / 4 * 8 + 3;
                assert_eq!(array.read::<i32>(element).unwrap(), [element as i32]);
            });
        }
    });
}
