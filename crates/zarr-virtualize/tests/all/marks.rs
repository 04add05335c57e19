//! Missing data, chunks that are not stored, and bounds of times.

use super::*;
use zarr_array::NewArray;
use zarr_hierarchy::ErrorKind;
use zarr_meta::Dialect;
use zarr_virtualize::join;

/// Returns a store with one array of four elements in two chunks, of which the first `chunks` chunks are written.
fn store(new: NewArray, chunks: usize) -> Input {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = Array::create(&store, "/a", new.dimension_names(&["time"]), &registry()).expect("created");
    for chunk in 0..chunks as u64 {
        array.write(2 * chunk..2 * chunk + 2, &[7_i16, -999]).expect("written");
    }
    Input::of_store("a store", &store, &|_| Ok(None)).expect("an input")
}

fn new() -> NewArray {
    NewArray::new(&[4], "int16").chunks(&[2])
}

#[test]
fn marks_of_version_2_stay_where_a_chunk_is_missing() {
    let v2 = || new().dialect(Dialect::V2).fill(-999);
    let joined = join(&[store(v2(), 2), store(v2(), 1)], &registry(), &along_time().values(0)).expect("joined");
    let all: Arc<dyn Store> = Arc::new(joined.store.clone());
    let a = Array::open(&all, "/a", &registry()).expect("an array");
    assert_eq!(a.read::<i16>(..).expect("elements"), [7, -999, 7, -999, 7, -999, -999, -999]);
    let fill = || Some(Value::from(-999));
    assert_eq!(a.attributes().expect("attributes").get("_FillValue").cloned(), fill());
    // The fill value is the mark again.
    let again: Arc<dyn Store> = Arc::new(joined.in_dialect(Dialect::V2).expect("in version 2").store);
    assert_eq!(Array::open(&again, "/a", &registry()).expect("an array").metadata().fill_value, fill());
}

#[test]
fn fill_values_that_would_become_marks_are_refused() {
    let in_v2 = |new: NewArray, chunks: usize| {
        join(&[store(new, chunks)], &registry(), &JoinOptions::default()).expect("joined").in_dialect(Dialect::V2)
    };
    in_v2(new().fill(0), 2).expect("all chunks are stored");
    let error = in_v2(new().fill(0), 1).expect_err("refused");
    assert_eq!(error.kind(), ErrorKind::NotExpressible, "{error}");
    assert!(error.to_string().contains("0 now marks missing data"), "{error}");
    let error = in_v2(new().fill(0).attribute("_FillValue", -999), 1).expect_err("refused");
    assert!(error.to_string().contains("-999 no longer marks"), "{error}");
    in_v2(new().fill(-999).attribute("_FillValue", -999), 1).expect("the mark is the fill value");
}

/// Returns a file of times with `units` and their bounds with `bounds_units`. The attribute `bounds` exists if `names_bounds`.
fn times(units: &str, bounds_units: Option<&str>, names_bounds: bool, numbers: [i32; 2]) -> Input {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let time = || NewArray::new(&[2], "int32").dimension_names(&["time"]);
    let own = time().attribute("units", units).attribute("calendar", "noleap");
    let own = if names_bounds { own.attribute("bounds", "time_bnds") } else { own };
    let bounds = match bounds_units {
        Some(units) => time().attribute("units", units),
        None => time(),
    };
    for (path, new) in [("/time", own), ("/time_bnds", bounds)] {
        Array::create(&store, path, new, &registry()).expect("created").write(.., &numbers).expect("written");
    }
    Input::of_store("times", &store, &|_| Ok(None)).expect("an input")
}

#[test]
fn bounds_are_counted_as_their_variable() {
    let read = |inputs: &[Input]| {
        let all: Arc<dyn Store> = Arc::new(join(inputs, &registry(), &along_time()).expect("joined").store);
        let of = |path| Array::open(&all, path, &registry()).expect("an array").read::<i32>(..).expect("times");
        (of("/time"), of("/time_bnds"))
    };
    let (early, late) = ("days since 2000-01-01", "days since 2001-01-01");
    // A year of the calendar has 365 days, 2000 too. The second file names no bounds.
    let expected = vec![0, 1, 365, 366];
    for own in [false, true] {
        let units = |units| Some(units).filter(|_| own);
        for names in [[true, true], [true, false], [false, true]] {
            let first = times(early, units(early), names[0], [0, 1]);
            let second = times(late, units(late), names[1], [0, 1]);
            assert_eq!(read(&[first, second]), (expected.clone(), expected.clone()), "{own} {names:?}");
        }
    }
}
