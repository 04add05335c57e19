//! `zarr append`.

use crate::folder::Folder;
use std::path::Path;
use zarr::dataset::{NewDataset, NewVariable};

/// A data set of some days, from a day on.
fn days(path: &Path, first: i64, count: i64) {
    let time: Vec<i64> = (first..first + count).collect();
    let values: Vec<f32> = time.iter().map(|&day| day as f32 + 0.5).collect();
    let time = NewVariable::new("time", &["time"], time).unwrap().attribute("standard_name", "time");
    let values = NewVariable::new("t2m", &["time"], values).unwrap().stored_as("int16").encoding("scale_factor", 0.5);
    let height = NewVariable::new("height", &[], [2.0]).unwrap();
    let new = NewDataset::new().variable(time).variable(values.chunks(&[3])).coordinate(height);
    zarr::create(path).dataset(new).unwrap();
}

// clause: xarray-31
#[test]
fn data_sets_grow_by_data_sets() {
    let folder = Folder::new();
    days(&folder.path("a.zarr"), 0, 4);
    days(&folder.path("b.zarr"), 4, 3);
    folder.ok(&["append", "a.zarr", "--from", "b.zarr"]);
    let dataset = zarr::open(folder.path("a.zarr")).dataset().unwrap();
    let t2m = dataset.variable("t2m").unwrap();
    assert_eq!(t2m.read().unwrap().to_vec::<f64>().unwrap(), [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5]);
    assert_eq!(t2m.stored().read::<i16>(5..6).unwrap(), [11]);
    assert_eq!(dataset.variable("time").unwrap().shape(), [7]);
    folder.ok(&["consolidate", "a.zarr", "--check"]);

    let fails = |arguments: &[&str], message: &str| {
        let ran = folder.run(arguments);
        assert!(ran.err.contains(message), "{}", ran.err);
        assert_ne!(ran.code, Some(0));
    };
    fails(&["append", "a.zarr", "--from", "b.zarr", "--along", "lat"], "found dimensions time, expected lat");
    fails(&["append", "a.zarr", "--from", "b.zarr::time"], "found an array, expected a data set");
    fails(&["append", "a.zarr", "t2m", "--from", "b.zarr::t2m"], "variable time has dimension time as well");
    fails(&["append", "a.zarr", "--from", "nowhere.zarr"], "nowhere.zarr");
    assert_eq!(zarr::open(folder.path("a.zarr")).dataset().unwrap().variable("t2m").unwrap().shape(), [7]);
}

#[test]
fn arrays_grow_by_arrays_and_files() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "a", "--shape", "2,3", "--chunks", "2,2", "--dtype", "int32"]);
    std::fs::write(folder.path("rows.json"), "[[1, 2, 3]]").unwrap();
    folder.ok(&["append", "s", "a", "--from", "rows.json"]);
    std::fs::write(folder.path("column.json"), "[[7], [8], [9]]").unwrap();
    folder.ok(&["append", "s", "a", "--from", "column.json", "--along", "1"]);
    let read = || zarr::open(folder.path("s/a")).array().unwrap().read::<i32>(..).unwrap();
    assert_eq!(read(), [0, 0, 0, 7, 0, 0, 0, 8, 1, 2, 3, 9]);
    let npy = folder.run(&["read", "s", "a", "--as", "npy", "--select", "2"]).out;
    std::fs::write(folder.path("row.npy"), npy).unwrap();
    let ran = folder.run(&["append", "s", "a", "--from", "row.npy"]);
    assert_ne!(ran.code, Some(0), "one dimension less");
    let npy = folder.run(&["read", "s", "a", "--as", "npy", "--select", "2:3"]).out;
    std::fs::write(folder.path("row.npy"), npy).unwrap();
    folder.ok(&["append", "s", "a", "--from", "row.npy"]);
    folder.ok(&["append", "s", "a", "--from", "s::a"]);
    assert_eq!(read().len(), 8 * 4);
    assert_eq!(read()[8..16], [1, 2, 3, 9, 1, 2, 3, 9]);
    for (arguments, message) in [
        (["--from", "rows.json", "--along", "2"], "found no dimension \"2\""),
        (["--from", "rows.csv", "--along", "0"], "rows.csv"),
    ] {
        let ran = folder.run(&[&["append", "s", "a"][..], &arguments].concat());
        assert!(ran.err.contains(message), "{}", ran.err);
    }
    std::fs::write(folder.path("short.json"), "[[1, 2]]").unwrap();
    let ran = folder.run(&["append", "s", "a", "--from", "short.json"]);
    assert!(ran.err.contains("an array of 2, expected 4"), "{}", ran.err);
}

/// Rows of no elements are appended at once, however many there are; a cast is not asked of text.
#[test]
fn rows_without_elements_and_casts_of_text() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "a", "--shape", "5,0", "--dtype", "int16"]);
    let input = crate::folder::npy("<i2", false, "(1152921504606846976, 0)", &[]);
    let ran = folder.run_with(&["append", "s", "a", "--from", "-"], &input);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(zarr::open(folder.path("s/a")).array().unwrap().shape(), [1_152_921_504_606_846_981, 0]);
    folder.ok(&["create", "s", "b", "--shape", "1", "--dtype", "int16"]);
    let before = folder.files("s");
    let ran = folder.run_with(&["append", "s", "b", "--from", "-", "--as", "json", "--cast"], b"[1]");
    assert!(ran.code == Some(2) && ran.err.contains("--cast is for elements of numpy"), "{:?} {}", ran.code, ran.err);
    assert_eq!(folder.files("s"), before);
}
