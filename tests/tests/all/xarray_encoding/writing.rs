//! The section *Compatibility and Reading*, on data sets that are written into: they stay data sets.

use super::*;
use zarr::dataset::Labels;
use zarr::{ErrorKind, NewArray, Selection};

/// Six hours of two stations, from an hour on.
fn part(first: i64) -> NewDataset {
    let hours: Vec<i64> = (first..first + 6).collect();
    let time = variable("time", &["time"], numpy_times("<M8[h]", &hours)).encoding("units", "hours since 1970-01-01");
    let values: Vec<f64> = hours.iter().flat_map(|&hour| [hour as f64, hour as f64 + 0.5]).collect();
    let t = variable("t", &["time", "station"], ([6, 2], values)).chunks(&[4, 2]).attribute("units", "K");
    let t = t.stored_as("int16").encoding("scale_factor", 0.5).encoding("_FillValue", -1);
    NewDataset::new().variable(time).variable(t).variable(variable("station", &["station"], ["north", "south"]))
}

fn numbers(dataset: &Dataset, name: &str) -> Vec<f64> {
    dataset.variable(name).unwrap().read().unwrap().to_vec().unwrap()
}

/// Compatibility and Reading: arrays and groups that are created in a data set are of its version, so that it stays one.
// clause: xarray-30
#[test]
fn new_nodes_are_of_the_version_of_the_data_set() {
    for dialect in BOTH {
        let store = memory();
        create(&store, part(0).dialect(dialect));
        zarr::create((&store, "/new")).array(NewArray::new(&[2], "int8").dimension_names(&["station"])).unwrap();
        zarr::create((&store, "/g")).group(NewGroup::new()).unwrap();
        zarr::create((&store, "/h")).dataset(NewDataset::new().variable(variable("v", &["x"], [1]))).unwrap();
        for path in ["/new", "/g", "/h", "/h/v"] {
            let node = zarr::hierarchy::open_node(&*store, path, None).unwrap();
            assert_eq!(node.dialect.is_v3(), dialect.is_v3(), "{path}");
        }
        assert_eq!(is_there(&store, "zarr.json"), dialect.is_v3());
        let dataset = open(&store);
        assert_eq!(dataset.variables().map(|it| it.name()).collect::<Vec<_>>(), ["new", "station", "t", "time"]);
        assert_eq!(numbers(&dataset, "t")[..3], [0.0, 0.5, 1.0]);
    }
}

/// Compatibility and Reading: nodes of another version, which would hide a data set, are refused.
// clause: xarray-30
#[test]
fn nodes_of_another_version_are_refused() {
    for (dialect, other) in [(Dialect::V2, Dialect::V3), (Dialect::V3, Dialect::V2)] {
        let store = memory();
        create(&store, part(0).dialect(dialect));
        let before = texts(&open(&store), "t");
        let array = NewArray::new(&[2], "int8").dimension_names(&["station"]).dialect(other);
        let new = NewDataset::new().variable(variable("v", &["x"], [1])).dialect(other);
        let errors = [
            zarr::create((&store, "/new")).array(array).unwrap_err(),
            zarr::create((&store, "/g")).group(NewGroup::new().dialect(other)).unwrap_err(),
            zarr::create((&store, "/h")).dataset(new).unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.kind(), ErrorKind::Argument);
            let expected = format!("the hierarchy is of dialect {dialect}, not {other}, which would hide its nodes");
            assert_eq!(error.message(), expected);
        }
        let dataset = open(&store);
        assert_eq!((dataset.variables().count(), texts(&dataset, "t")), (3, before));
    }
}

/// Compatibility and Reading: appending along a dimension grows its variables and leaves the others; resizing an array keeps its names.
// clause: xarray-31
#[test]
fn appending_and_resizing_keep_the_data_set() {
    for dialect in BOTH {
        let store = memory();
        let dataset = create(&store, part(0).dialect(dialect)).append("time", &part(6)).unwrap();
        let sizes: Vec<_> = dataset.dimensions().iter().map(|it| (it.name.as_str(), it.size)).collect();
        assert!(sizes.contains(&("time", 12)) && sizes.contains(&("station", 2)), "{sizes:?}");
        assert_eq!(numbers(&dataset, "t"), (0..24).map(|half| f64::from(half) / 2.0).collect::<Vec<_>>());
        assert_eq!(texts(&dataset, "time")[11], "1970-01-01T11:00:00.000000000");
        assert_eq!(texts(&dataset, "station"), ["north", "south"]);
        for (name, shape) in [("time", &[5][..]), ("t", &[5, 2])] {
            zarr::open((&store, &*format!("/{name}"))).array().unwrap().resize(shape).unwrap();
        }
        let dataset = open(&store);
        assert_eq!(
            (dimensions(&dataset, "t"), dataset.variable("t").unwrap().shape()),
            (vec!["time", "station"], vec![5, 2])
        );
        assert_eq!(texts(&dataset, "t").join(" "), "0.0 0.5 1.0 1.5 2.0 2.5 3.0 3.5 4.0 4.5");
    }
}

/// Compatibility and Reading: regions are written encoded as the variable is, and change nothing else.
#[test]
fn regions_are_written() {
    for dialect in BOTH {
        let store = memory();
        let dataset = create(&store, part(0).dialect(dialect));
        dataset.sel("time", "1970-01-01T02").unwrap().variable("t").unwrap().write([40.0, f64::NAN]).unwrap();
        let rows = NewDataset::new().variable(variable("t", &["time", "station"], ([2, 2], [60.0, 61.0, 62.0, 63.0])));
        dataset.isel("time", 4..6).unwrap().write(&rows).unwrap();
        assert_eq!(texts(&open(&store), "t").join(" "), "0.0 0.5 1.0 1.5 40.0 NaN 3.0 3.5 60.0 61.0 62.0 63.0");
        let stored = dataset.variable("t").unwrap().stored().read::<i16>((2, ..)).unwrap();
        assert_eq!(stored, [80, -1]);
        // A region of a part of a chunk, which others may write, is refused.
        assert_eq!(dataset.isel("time", 3..5).unwrap().write(&rows).unwrap_err().kind(), ErrorKind::Argument);
        assert!(!zarr::hierarchy::staleness(&*store, "/", None).unwrap().unwrap().is_stale());
    }
}

/// Compatibility and Reading: variables are written again and added.
#[test]
fn variables_are_updated_and_added() {
    for dialect in BOTH {
        let store = memory();
        let dataset = create(&store, part(0).dialect(dialect));
        let new = NewDataset::new().variable(variable("height", &["station"], [10.0, f64::NAN]));
        let dataset = dataset.update(&new.variable(variable("station", &["station"], ["east", "west"]))).unwrap();
        assert_eq!(
            (texts(&dataset, "height"), dimensions(&dataset, "height")),
            (vec!["10.0".to_owned(), "NaN".to_owned()], vec!["station"])
        );
        assert_eq!(texts(&dataset, "station"), ["east", "west"]);
        let long = NewDataset::new().variable(variable("depth", &["station"], [1, 2, 3]));
        assert_eq!(dataset.update(&long).unwrap_err().message(), "dimension station: found 3 elements, expected 2");
    }
}

/// CF Conventions: dimensions have names, by which indices are selected.
// clause: xarray-32
#[test]
fn indices_are_selected_by_names_of_dimensions() {
    for dialect in BOTH {
        let store = memory();
        let dataset = create(&store, part(0).dialect(dialect));
        let part = dataset.isel("station", 1).unwrap().isel("time", 2..4).unwrap();
        assert_eq!((numbers(&part, "t"), dimensions(&part, "t")), (vec![2.5, 3.5], vec!["time"]));
        assert_eq!(part.dimensions().iter().map(|it| (it.name.as_str(), it.size)).collect::<Vec<_>>(), [("time", 2)]);
        let array = zarr::open((&store, "/t")).array().unwrap();
        let selection = Selection::parse("station=1, time=2:4", array.dimension_names().unwrap()).unwrap();
        assert_eq!(array.read::<i16>(selection).unwrap(), [5, 7]);
        assert!(dataset.isel("level", 0).unwrap_err().message().contains("found no dimension level"));
    }
}

/// CF Conventions: coordinates label dimensions: exactly, the nearest, from one label to another; times by their dates, strings.
// clause: xarray-33
#[test]
fn labels_of_coordinates_are_selected() {
    for dialect in BOTH {
        let dataset = create(&memory(), part(0).dialect(dialect));
        let south = dataset.sel("station", "south").unwrap();
        assert_eq!(numbers(&south, "t"), [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]);
        assert_eq!(numbers(&south.sel("time", "1970-01-01T03").unwrap(), "t"), [3.5]);
        assert_eq!(numbers(&south.sel("time", "1970-01-01").unwrap(), "t").len(), 6);
        let between = Labels::between("1970-01-01T01", "1970-01-01T02");
        assert_eq!(numbers(&south.sel("time", between).unwrap(), "t"), [1.5, 2.5]);
        assert_eq!(numbers(&south.sel("time", Labels::nearest("1970-01-01T04:40:00")).unwrap(), "t"), [5.5]);
        assert_eq!(
            numbers(&dataset.sel("station", ["south", "north"]).unwrap().isel("time", 0).unwrap(), "t"),
            [0.5, 0.0]
        );
        assert!(dataset.sel("station", "east").unwrap_err().message().contains("has no label"));
    }
}
