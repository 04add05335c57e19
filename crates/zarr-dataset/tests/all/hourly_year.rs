//! Tests of the number of requests of opening and of selections: a year of hours on a grid of a quarter degree with few stored chunks.

use crate::{add, group_in, new, registry, size_of};
use std::sync::Arc;
use zarr_array::{Group, Store};
use zarr_dataset::{DataTree, Dataset, Labels};
use zarr_meta::Dialect;
use zarr_store::{Counted, Counts, MemoryStore};

const HOURS: u64 = 8760;
const SHAPE: [u64; 3] = [HOURS, 721, 1440];
const CHUNKS: [u64; 3] = [365, 37, 36];
/// Indices of latitude and longitude of the only point whose series is stored.
const POINT: (usize, usize) = (150, 53);

/// Creates a store with latitudes from north to south, longitudes from 0 to 360, and the temperature of one point, with consolidated
/// metadata.
fn store(dialect: Dialect) -> Arc<Counted<MemoryStore>> {
    let store = Arc::new(Counted::new(MemoryStore::new()));
    let group = group_in(Arc::clone(&store) as Arc<dyn Store>, dialect);
    let hours: Vec<i64> = (0..HOURS as i64).collect();
    let time = new(&[HOURS], "int64", &["time"]).chunks(&[HOURS]).attribute("units", "hours since 2021-01-01");
    add(&group, "time", time.attribute("calendar", "proleptic_gregorian"), &hours);
    let latitudes: Vec<f32> = (0..721).map(|index| 90.0 - 0.25 * index as f32).collect();
    add(&group, "latitude", new(&[721], "float32", &["latitude"]), &latitudes);
    let longitudes: Vec<f32> = (0..1440).map(|index| 0.25 * index as f32).collect();
    add(&group, "longitude", new(&[1440], "float32", &["longitude"]), &longitudes);
    let t2m = new(&SHAPE, "float32", &["time", "latitude", "longitude"]).chunks(&CHUNKS).fill(f64::NAN);
    let t2m = group.create_array("t2m", t2m.codecs("bytes,zstd").unwrap().attribute("units", "K")).unwrap();
    let series: Vec<f32> = (0..HOURS).map(|hour| 273.0 + hour as f32 / 100.0).collect();
    t2m.write((.., POINT.0, POINT.1), &series).unwrap();
    zarr_hierarchy::consolidate(&*store, "/", None).unwrap();
    store
}

/// Returns the number of gets between two counts, and asserts that there were no lists, sets and erases between them.
fn gets(before: Counts, after: Counts) -> u64 {
    assert_eq!((before.lists, before.sets, before.erases), (after.lists, after.sets, after.erases));
    after.gets - before.gets
}

#[test]
fn opening_is_one_request() {
    // Requests in version 2: `.zgroup`, `.zattrs` and the missing `.zarray` for the group, and `.zmetadata` for the data set.
    for (dialect, of_group, beside) in [(Dialect::V3, 1, 0), (Dialect::V2, 3, 1)] {
        let store = store(dialect);
        let shared = Arc::clone(&store) as Arc<dyn Store>;
        let before = store.counts();
        // Without a dialect, documents of all of them are asked for, at the same time.
        let found = zarr_hierarchy::open_node(&*store, "/", Some(dialect)).unwrap();
        let group = Group::from_found(&shared, found, &registry()).unwrap();
        let opened = store.counts();
        let dataset = Dataset::open(&group).unwrap();
        let after = store.counts();
        assert_eq!((gets(before, opened), gets(opened, after)), (of_group, beside), "{dialect:?}");
        let tree = DataTree::open(&group).unwrap();
        assert_eq!((gets(after, store.counts()), tree.iter().count()), (beside, 1));

        // Selecting by index, and looking at what there is, reads nothing.
        let before = store.counts();
        let part = dataset.isel("time", 0..24).unwrap().isel("latitude", 5).unwrap();
        assert_eq!(part.variable("t2m").unwrap().shape(), [24, 1440]);
        assert_eq!(part.coordinates().count(), 3);
        assert_eq!(part.variable("t2m").unwrap().plan().unwrap().chunks, 40);
        assert_eq!(gets(before, store.counts()), 0);
    }
}

#[test]
fn the_series_of_a_point_reads_its_chunks() {
    let store = store(Dialect::V3);
    let group = Group::open(&(Arc::clone(&store) as Arc<dyn Store>), "/", &registry()).unwrap();
    let dataset = Dataset::open(&group).unwrap();
    let before = store.counts();
    let point = dataset.sel("latitude", 52.5).unwrap().sel("longitude", Labels::nearest(13.3)).unwrap();
    let selected = store.counts();
    // Both coordinates have one chunk; the times are not read.
    assert_eq!(gets(before, selected), 2);
    let t2m = point.variable("t2m").unwrap();
    assert_eq!((t2m.plan().unwrap().chunks, t2m.plan().unwrap().selected_bytes), (24, Some(4 * u128::from(HOURS))));
    let values = t2m.read().unwrap().to_vec::<f32>().unwrap();
    assert_eq!(gets(selected, store.counts()), 24);
    assert_eq!((values.len(), values[0], values[8759]), (8760, 273.0, 360.59));

    // Selection of a month: the coordinate is read, and then the chunks that intersect February.
    let before = store.counts();
    let february = point.sel("time", "2021-02").unwrap();
    assert_eq!(size_of(&february, "time"), Some(28 * 24));
    let selected = store.counts();
    // The first and the last time decide the type of the values, and then the coordinate is read.
    assert_eq!(gets(before, selected), 3);
    assert_eq!(february.variable("t2m").unwrap().read().unwrap().to_vec::<f32>().unwrap()[0], values[31 * 24]);
    assert_eq!(gets(selected, store.counts()), 2);

    // Selection of three points: two points are in the same chunks, and the chunks of one point are not stored.
    let labels = [("latitude", [52.5, 52.25, -30.0]), ("longitude", [13.25, 13.5, 200.0])];
    let points = dataset.sel_points("station", labels).unwrap().isel("time", 0..365).unwrap();
    let before = store.counts();
    let values = points.variable("t2m").unwrap().read().unwrap();
    assert_eq!(values.dimensions(), ["time", "station"]);
    let values = values.to_vec::<f32>().unwrap();
    assert!(values[0] == 273.0 && values[1].is_nan() && values[2].is_nan() && values[3] == 273.01);
    assert_eq!(gets(before, store.counts()), 2);
}
