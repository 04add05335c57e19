//! Tables of parts of data sets: selections that fit, coordinates that cannot be opened, arrays that form no data set.

use crate::folder::{Folder, Ran};
use std::fs;

const CLIMATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/climate.zarr");

/// Makes a group `s::g` of `a(x)`, `b(x, y)`, and the coordinate `x`.
fn group() -> Folder {
    let folder = Folder::new();
    folder.ok(&["create", "s", "g/x", "--shape", "3", "--dtype", "float64", "--dims", "x"]);
    folder.ok(&["write", "s", "g/x", "--value", "7"]);
    folder.ok(&["create", "s", "g/a", "--shape", "3", "--dtype", "int8", "--dims", "x"]);
    folder.ok(&["create", "s", "g/b", "--shape", "3,2", "--dtype", "int8", "--dims", "x,y"]);
    folder
}

fn table(folder: &Folder, args: &[&str]) -> Ran {
    folder.run(&[&["read"], args, &["--as", "arrow"]].concat())
}

/// Whether a stream has a column.
fn has(ran: &Ran, name: &str) -> bool {
    let text = format!("\0{name}\0");
    ran.out.windows(text.len()).any(|part| part == text.as_bytes())
}

#[test]
fn selections_are_of_dimensions_and_indices_that_the_table_has() {
    let folder = group();
    let failed = |args: &[&str], words: &str| {
        let ran = table(&folder, args);
        assert!(ran.code == Some(2) && ran.err.contains(words), "{args:?}: {:?} {}", ran.code, ran.err);
        assert!(ran.out.is_empty());
    };
    failed(&["s", "g/a", "--isel", "y=0"], "found no dimension y: a has x");
    failed(&["s", "g/a", "--sel", "y=0"], "found no dimension y: a has x");
    failed(&["s", "g/a", "b", "--isel", "z=0"], "found no dimension z: a, b have x, y");
    failed(&["s", "g", "--isel", "z=0"], "found no dimension z: the data set has ");
    failed(&["s", "g/b", "--sel", "y=0"], "dimension y has no coordinate");
    failed(&["s", "g/b", "--select", "0, 0:1, 0:1, 5"], "selection has 4 dimensions, the array has 2");
    failed(&["s", "g/b", "--select", "..., 0, ..."], "...");
    failed(&["s", "g/a", "b", "--select", "0"], "--select is of one array");
    assert!(has(&table(&folder, &["s", "g/b", "--isel", "y=0"]), "b"));
    // One variable behind its group is one array.
    let behind = table(&folder, &["s", "g", "b", "--select", "0:1"]);
    assert_eq!(behind.code, Some(0), "{}", behind.err);
    assert_eq!(behind.out, table(&folder, &["s", "g/b", "--isel", "x=0:1"]).out);
}

#[test]
fn labels_that_find_nothing_or_another_one_are_told() {
    let folder = Folder::new();
    let told = |labels: &str| table(&folder, &[CLIMATE, "sst", "--sel", labels]).err;
    let empty = told("lat=5..-5");
    assert!(
        empty.contains("warning: --sel lat=5..-5 selects nothing: lat goes from -4.9999924 to 4.4444504"),
        "{empty}"
    );
    let far = told("lon=-160~");
    assert!(far.contains("warning: --sel lon=-160~: the nearest label is 0.0, 160 away"), "{far}");
}

#[test]
fn a_coordinate_that_cannot_be_opened_is_no_column_of_indices() {
    let folder = group();
    folder.ok(&["create", "s", "g/place", "--shape", "3,2", "--dtype", "int8", "--dims", "x,y"]);
    folder.ok(&["attrs", "s", "g/b", "--set", "coordinates=place"]);
    assert!(has(&table(&folder, &["s", "g/b"]), "place"));
    fs::write(folder.path("s/g/place/zarr.json"), "{").unwrap();
    let left_out = table(&folder, &["s", "g/b"]);
    assert!(left_out.code == Some(0) && !has(&left_out, "place"), "{}", left_out.err);
    assert!(left_out.err.contains("warning: left out, for it cannot be opened: ") && left_out.err.contains("g/place"));
    fs::write(folder.path("s/g/x/zarr.json"), "{").unwrap();
    for args in [&["s", "g/a"][..], &["s", "g", "b"], &["s", "g"]] {
        let ran = table(&folder, args);
        assert!(
            ran.code == Some(4) && ran.err.contains("error: coordinate x: "),
            "{args:?}: {:?} {}",
            ran.code,
            ran.err
        );
        assert!(ran.out.is_empty());
    }
    let by_label = table(&folder, &["s", "g/a", "--sel", "x=7"]);
    assert!(by_label.code == Some(4) && by_label.err.contains("error: coordinate x: "), "{}", by_label.err);
    let one = table(&folder, &["s", "g/b", "--isel", "x=0"]);
    assert!(one.code == Some(0) && has(&one, "b"), "{}", one.err);
    assert!(
        one.err.contains("warning: left out, for it cannot be opened: ") && one.err.contains("/g/x"),
        "{}",
        one.err
    );
    // The labels of a group above do not take their place.
    folder.ok(&["create", "s", "x", "--shape", "3", "--dtype", "int8", "--dims", "x"]);
    let above = table(&folder, &["s", "g/a"]);
    assert!(
        above.code == Some(4) && above.err.contains("error: coordinate x: ") && above.err.contains("/g/x"),
        "{}",
        above.err
    );
}

#[test]
fn variables_beside_arrays_that_form_no_data_set() {
    let folder = group();
    folder.ok(&["create", "s", "g/odd", "--shape", "3", "--dtype", "int8"]);
    let read = table(&folder, &["s", "g/a"]);
    assert!(read.code == Some(0) && has(&read, "x") && has(&read, "a"), "{}", read.err);
    assert!(read.err.contains("warning: without coordinates other than those of dimensions: "), "{}", read.err);
    assert!(read.err.contains("odd"), "{}", read.err);
    let unknown = table(&folder, &["s", "g/a", "typo"]);
    assert!(unknown.code == Some(3) && unknown.err.contains("typo"), "{:?} {}", unknown.code, unknown.err);
    let whole = table(&folder, &["s", "g"]);
    assert!(whole.code == Some(4) && whole.err.contains("odd"), "{:?} {}", whole.code, whole.err);
}
