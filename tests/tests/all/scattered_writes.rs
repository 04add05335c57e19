//! Points, lists and masks that are written: each stored value is read and written once, and nothing is lost.

use std::sync::Arc;
use zarr::store::{AsyncStore, Counted, FilesystemStore, MemoryStore, Store, SyncAsAsync, ZipStore, block_on};
use zarr_array::{Array, AsyncArray, NewArray, Options, View};
use zarr_grid::{AxisSelection, Selection};
use zarr_tests::Random;

const SIDE: u64 = 100;

/// Arrays of 100 x 100 int32, of which the last chunks along both axes reach beyond the array, and the sides of their chunks.
fn layouts() -> Vec<(&'static str, NewArray, u64)> {
    let new = || NewArray::new(&[SIDE, SIDE], "int32").fill(-1);
    let turned = r#"[{"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "sharding_indexed", "configuration": {
        "chunk_shape": [8, 4], "codecs": ["bytes", "zstd"], "index_codecs": ["bytes", "crc32c"]}}]"#;
    let nested = r#"[{"name": "sharding_indexed", "configuration": {
        "chunk_shape": [16, 16], "index_codecs": ["bytes"], "codecs": [{"name": "transpose", "configuration": {"order": [1, 0]}},
            {"name": "sharding_indexed", "configuration": {"chunk_shape": [4, 8], "codecs": ["bytes"], "index_codecs": ["bytes"]}}]}}]"#;
    vec![
        ("plain", new().chunks(&[16, 16]).codecs("bytes").unwrap(), 16),
        ("compressed", new().chunks(&[16, 16]).codecs("zstd").unwrap(), 16),
        ("sharded", new().chunks(&[8, 8]).shards(&[32, 32]).codecs("zstd").unwrap(), 32),
        ("turned", new().chunks(&[32, 32]).codecs(turned).unwrap(), 32),
        ("nested", new().chunks(&[32, 32]).codecs(nested).unwrap(), 32),
    ]
}

/// A selection, and the offsets of its elements in C order.
fn selections(random: &mut Random) -> Vec<(Selection, Vec<usize>)> {
    let side = SIDE as usize;
    let mut positions = |count: usize| (0..count).map(|_| random.below(side) as i64).collect::<Vec<_>>();
    let (rows, columns) = (positions(300), positions(300));
    let points = rows.iter().zip(&columns).map(|(row, column)| (row * SIDE as i64 + column) as usize).collect();
    let (some_rows, some_columns) = (positions(9), positions(60));
    let product = some_rows.iter().flat_map(|row| some_columns.iter().map(move |column| row * SIDE as i64 + column));
    let product = product.map(|at| at as usize).collect();
    let mask: Vec<bool> = (0..side * side).map(|at| at < 4000 && random.below(3) == 0).collect();
    let masked = (0..side * side).filter(|&at| mask[at]).collect();
    vec![
        (Selection::coordinates(vec![rows, columns]), points),
        (Selection::Axes(vec![AxisSelection::Indices(some_rows), AxisSelection::Indices(some_columns)]), product),
        (Selection::mask(&[SIDE, SIDE], mask).unwrap(), masked),
    ]
}

/// How many chunks of a side hold these elements.
fn count_chunks(offsets: &[usize], side: u64) -> u64 {
    let mut chunks: Vec<(u64, u64)> =
        offsets.iter().map(|&at| (at as u64 / SIDE / side, at as u64 % SIDE / side)).collect();
    chunks.sort_unstable();
    chunks.dedup();
    chunks.len() as u64
}

fn check<S: Store + 'static>(make: impl Fn() -> S) {
    for (name, new, side) in layouts() {
        let counted = Arc::new(Counted::new(make()));
        let store: Arc<dyn Store> = Arc::clone(&counted) as _;
        // The requests for chunks are counted, without the looks whether the array is still there.
        let options = || Options::default().trust_missing(true);
        let array = zarr::create((&store, "/a")).array(new.options(options())).unwrap();
        let waiting: Arc<dyn AsyncStore> = Arc::new(SyncAsAsync::new(Arc::clone(&store)));
        let waiting: AsyncArray = block_on(zarr::open((&waiting, "/a")).options(options()).array()).unwrap();
        let mut random = Random::new(5);
        // Into missing chunks, and into chunks that are stored.
        let mut model = vec![-1_i32; (SIDE * SIDE) as usize];
        for round in 0..2 {
            for (number, (selection, offsets)) in selections(&mut random).into_iter().enumerate() {
                let new: Vec<i32> = (0..offsets.len() as i32).map(|i| 1000 * round + i).collect();
                counted.take();
                if (number + round as usize).is_multiple_of(2) {
                    array.write(selection, &new).unwrap();
                } else {
                    block_on(waiting.write(selection, &new)).unwrap();
                }
                let (counts, chunks) = (counted.take(), count_chunks(&offsets, side));
                assert_eq!(
                    (counts.gets, counts.sets, counts.erases),
                    (chunks, chunks, 0),
                    "{name}, selection {number}"
                );
                offsets.iter().zip(&new).for_each(|(&at, &element)| model[at] = element);
                assert_eq!(array.read::<i32>(..).unwrap(), model, "{name}, selection {number}");
            }
            array.write(.., &vec![round; model.len()]).unwrap();
            model.fill(round);
        }
        // Of chunks that keep no element nothing is read, nor is anything stored of those that have nothing but fill values.
        let all = || (0..SIDE as i64).rev().collect::<Vec<_>>();
        let swapped = |mut rows: Vec<i64>| {
            rows.swap(3, 70);
            Selection::Axes(vec![AxisSelection::Indices(rows), AxisSelection::Indices(all())])
        };
        let chunks = SIDE.div_ceil(side).pow(2);
        let new: Vec<i32> = (0..(SIDE * SIDE) as i32).collect();
        counted.take();
        array.write(swapped(all()), &new).unwrap();
        let counts = counted.take();
        assert_eq!((counts.gets, counts.sets), (0, chunks), "{name}");
        assert_eq!(array.read::<i32>(swapped(all())).unwrap(), new, "{name}");
        counted.take();
        array.write(Selection::mask(&[SIDE, SIDE], vec![true; new.len()]).unwrap(), &vec![-1; new.len()]).unwrap();
        let counts = counted.take();
        assert_eq!((counts.gets, counts.sets, counts.erases), (0, 0, chunks), "{name}");
        assert!(array.stored_chunks().unwrap().is_empty());
        // Fill values where no chunk is are looked for, and not stored.
        let (selection, offsets) = selections(&mut random).remove(0);
        counted.take();
        array.write(selection, &vec![-1; offsets.len()]).unwrap();
        let counts = counted.take();
        assert_eq!((counts.gets, counts.sets), (count_chunks(&offsets, side), 0), "{name}");
    }
}

#[test]
fn each_stored_value_is_read_and_written_once() {
    check(MemoryStore::new);
    let folder = tempfile::tempdir().unwrap();
    let number = std::sync::atomic::AtomicUsize::new(0);
    let next = || folder.path().join(number.fetch_add(1, std::sync::atomic::Ordering::Relaxed).to_string());
    check(|| FilesystemStore::create(next()).unwrap());
    check(|| {
        let options = zarr::store::ZipOptions::default().replace(true);
        ZipStore::create(next()).unwrap().with(options)
    });
}

#[test]
fn writers_of_points_in_the_same_chunks_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let stores: [Arc<dyn Store>; 2] =
        [Arc::new(MemoryStore::new()), Arc::new(FilesystemStore::create(folder.path()).unwrap())];
    for store in &stores {
        for (name, new, _) in layouts() {
            let path = format!("/{name}");
            zarr::create((store, &path)).array(new).unwrap();
            let writers = 4;
            std::thread::scope(|scope| {
                for writer in 0..writers {
                    let path = &path;
                    scope.spawn(move || {
                        let array = zarr::open((store, path)).array().unwrap();
                        let mine: Vec<usize> =
                            (0..(SIDE * SIDE) as usize).filter(|at| at % writers == writer).collect();
                        for part in mine.chunks(mine.len().div_ceil(3)) {
                            let mut mask = vec![false; (SIDE * SIDE) as usize];
                            part.iter().for_each(|&at| mask[at] = true);
                            let new: Vec<i32> = part.iter().map(|&at| at as i32).collect();
                            array.write(Selection::mask(&[SIDE, SIDE], mask).unwrap(), &new).unwrap();
                        }
                    });
                }
            });
            let array = zarr::open((store, &path)).array().unwrap();
            assert_eq!(array.read::<i32>(..).unwrap(), (0..(SIDE * SIDE) as i32).collect::<Vec<_>>(), "{name}");
        }
    }
}

#[test]
fn points_of_structs_are_written_whole_and_read_by_field() {
    let fields = r#"{"name": "struct", "configuration": {"fields": [
        {"name": "x", "data_type": "int32"}, {"name": "y", "data_type": "float64"}]}}"#;
    for (path, new) in [
        (
            "/plain",
            NewArray::new(&[50], r#"[["x", ">i4"], ["y", "<f8"]]"#).chunks(&[8]).dialect(zarr_array::Dialect::V2),
        ),
        ("/sharded", NewArray::new(&[50], fields).chunks(&[4]).shards(&[16])),
    ] {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let array: Array = zarr::create((&store, path)).array(new).unwrap();
        let (mut xs, mut ys) = (vec![0_i32; 50], vec![0.0_f64; 50]);
        let points = [49_i64, 3, 17, 3, 0, 48];
        let mut bytes = Vec::new();
        for (number, &point) in (1..).zip(&points) {
            (xs[point as usize], ys[point as usize]) = (number, f64::from(number) / 4.0);
            bytes.extend(number.to_ne_bytes());
            bytes.extend((f64::from(number) / 4.0).to_ne_bytes());
        }
        let view = View::new(&bytes, 12, &[points.len()]).unwrap();
        array.write(Selection::coordinates(vec![points.to_vec()]), view).unwrap();
        assert_eq!(array.read_field("x", ..).unwrap().to_vec::<i32>().unwrap(), xs, "{path}");
        assert_eq!(array.read_field("y", ..).unwrap().to_vec::<f64>().unwrap(), ys, "{path}");
    }
}

#[test]
fn elements_that_do_not_lie_in_order_are_written_to_points() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(&[20], "uint8").chunks(&[4]).options(Options::default().write_empty_chunks(true));
    let array = zarr::create((&store, "/a")).array(new).unwrap();
    let bytes = [1_u8, 9, 2, 9, 3, 9];
    let view = View::from_strides(&bytes, 1, &[3], 4, &[-2]).unwrap();
    array.write(Selection::coordinates(vec![vec![19, 0, 5]]), view).unwrap();
    let read = array.read::<u8>(..).unwrap();
    assert_eq!((read[19], read[0], read[5], read.iter().map(|&element| u32::from(element)).sum::<u32>()), (3, 2, 1, 6));
    // Fill values are stored where that is asked for.
    array.write(Selection::coordinates(vec![vec![9]]), &[0_u8]).unwrap();
    assert_eq!(array.stored_chunks().unwrap().len(), 4);
}
