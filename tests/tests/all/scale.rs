//! Sizes that nothing may hold, and readers that nothing may hold up.

use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};
use zarr_array::{Array, ChunkCache, Dialect, ErrorKind, NewArray, Options};
use zarr_convert::{Conversion, ConvertOptions};
use zarr_grid::Region;
use zarr_store::testing::Altered;
use zarr_store::{MemoryStore, Store, StoreExt};

#[test]
fn an_array_of_2_to_the_62_elements_reads_one() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(&[1 << 31, 1 << 31], "int8").chunks(&[2, 2]).codecs(r#"["bytes"]"#).unwrap();
    zarr::create((&store, "/a")).array(new).unwrap();
    let last = (1u64 << 31) - 1;
    let array = zarr::open((&store, "/a")).array().unwrap();
    array.write((last, last), &[7i8]).unwrap();
    // The least of some times: others use the machine as well.
    let times = (0..20).map(|_| {
        let start = Instant::now();
        let array = zarr::open((&store, "/a")).array().unwrap();
        assert_eq!(array.read::<i8>((last, last)).unwrap(), [7]);
        assert_eq!(array.read::<i8>((last - 1, last)).unwrap(), [0]);
        start.elapsed()
    });
    assert!(times.min().unwrap() < Duration::from_millis(20));
}

/// Arrays of more than 2^64 bytes, or elements, are written, read in parts, converted and resized as others are.
#[test]
fn arrays_may_be_larger_than_any_memory() {
    use Dialect::{V1, V2, V3, V3Draft2022, V3Protocol2019, V3Protocol2020, V3Provisional2023};
    let shapes: [&[u64]; 3] = [&[1 << 62], &[1 << 40, 1 << 40], &[1 << 62, 1 << 62, 1 << 62]];
    for dialect in [V1, V2, V3Protocol2019, V3Protocol2020, V3Draft2022, V3Provisional2023, V3] {
        for shape in shapes {
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let path = if dialect == V1 { "/" } else { "/a" };
            let chunks = vec![16; shape.len()];
            let new = NewArray::new(shape, "float64").chunks(&chunks).codecs(r#"["bytes"]"#).unwrap().fill(-1);
            zarr::create((&store, path)).array(new.dialect(dialect)).unwrap();
            let array = zarr::open((&store, path)).array().unwrap();
            let last: Vec<_> = shape.iter().map(|&len| len - 1..len).collect();
            array.write(Region::from_ranges(&last), &[7.0]).unwrap();
            let corner: Vec<_> = shape.iter().map(|&len| len - 2..len).collect();
            let corner = Region::from_ranges(&corner);
            let mut expected = vec![-1.0; 1 << shape.len()];
            *expected.last_mut().unwrap() = 7.0;
            assert_eq!(array.read::<f64>(&corner).unwrap(), expected, "{dialect} {shape:?}");
            assert_eq!(array.stored_chunks().unwrap().len(), 1);

            for error in [array.read::<f64>(..).unwrap_err(), array.read_data(..).unwrap_err()] {
                assert_eq!(error.kind(), ErrorKind::Limit);
                let size = zarr_grid::total_size(shape, 8).to_string();
                assert!(error.to_string().contains(&format!("{size} bytes")), "{error}");
            }

            let options = ConvertOptions::default().dialect(V3).chunks(vec![10; shape.len()]);
            let conversion = Conversion::plan(&store, &zarr::registry::default(), options).unwrap();
            assert_eq!(conversion.size(), zarr_grid::total_size(shape, 8));
            let target: Arc<dyn Store> = Arc::new(MemoryStore::new());
            conversion.run(&target, |_| {}).unwrap();
            let converted = zarr::open((&target, path)).array().unwrap();
            assert_eq!(converted.read::<f64>(&corner).unwrap(), expected, "{dialect} {shape:?}");

            let mut array = converted;
            let mut smaller = shape.to_vec();
            smaller[0] -= 1;
            array.resize(&smaller).unwrap();
            array.resize(shape).unwrap();
            assert_eq!(array.read::<f64>(&corner).unwrap(), vec![-1.0; 1 << shape.len()], "{dialect} {shape:?}");
        }
    }
}

/// A store in memory whose gets of chunks return once `due` of them are under way.
fn meeting(due: usize) -> Altered<MemoryStore> {
    let (waiting, met) = (Mutex::new(0), Condvar::new());
    Altered::new(MemoryStore::new()).getting(move |store, key, ranges| {
        if key.as_str().contains("/c/") {
            let mut waiting = waiting.lock().unwrap();
            *waiting += 1;
            met.notify_all();
            let long = Duration::from_secs(60);
            let (waiting, late) = met.wait_timeout_while(waiting, long, |waiting| *waiting < due).unwrap();
            drop(waiting);
            assert!(!late.timed_out(), "some readers wait for others");
        }
        store.get_ranges(key, ranges)
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
    let new = NewArray::new(&[READERS as u64 / 4 * 8], "int32").chunks(&[8]).codecs(
        r#"[{"name": "bytes",
        "configuration": {"endian": "little"}}, {"name": "zstd", "configuration": {"level": 1, "checksum": false}}]"#,
    );
    let array: Array = zarr::create((&store, "/a")).array(new.unwrap()).unwrap();
    array.write(.., &(0..READERS as i32 / 4 * 8).collect::<Vec<_>>()).unwrap();
    let array = array.with(Options::default().cache(cache)).unwrap();
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
