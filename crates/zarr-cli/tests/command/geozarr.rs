//! Attributes of GeoZarr that `zarr convert` writes and other verbs show.

use crate::folder::Folder;
use zarr::geo::Georeference;
use zarr::meta::json::Value;

const SST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/netcdf/sst-2006-04.nc");
const PLACE: [&str; 4] = ["--convention", "geozarr", "--crs", "EPSG:32633"];
const TRANSFORM: &str = "10,0,500000,0,-10,5000000";

fn scene() -> Folder {
    let folder = Folder::new();
    folder.ok(&["create", "a.zarr", "red", "--shape", "2,8,6", "--dtype", "uint8", "--dims", "band,y,x"]);
    folder.ok(&["create", "a.zarr", "deep/blue", "--shape", "8,6", "--dtype", "uint8", "--dims", "y,x"]);
    folder
}

fn georeference(folder: &Folder, store: &str, path: &str) -> Georeference {
    let attributes = Value::from_json(&folder.ok(&["attrs", store, path])).unwrap();
    Georeference::read(attributes.as_object().unwrap()).unwrap()
}

#[test]
fn a_conversion_places_all_arrays() {
    let folder = scene();
    let before = folder.ok(&["digest", "a.zarr"]);
    folder.ok(&[&["convert", "a.zarr", "b.zarr", "--transform", TRANSFORM][..], &PLACE].concat());
    for path in ["red", "/", "deep/blue", "deep"] {
        let found = georeference(&folder, "b.zarr", path);
        assert!(found.faults.is_empty(), "{path}: {:?}", found.faults);
        assert_eq!(
            found.to_string(),
            "EPSG:32633, pixels of 10 x 10, x 500000 to 500060, y 4999920 to 5000000",
            "{path}"
        );
    }
    let checked = folder.ok(&["check", "b.zarr", "--convention", "geozarr", "--level", "documents"]);
    assert!(checked.contains("0 errors, 0 warnings, 0 notes"), "{checked}");
    assert_eq!(folder.ok(&["digest", "b.zarr"]).split_whitespace().next(), before.split_whitespace().next());
    let info = folder.ok(&["info", "b.zarr", "red"]);
    for line in ["CRS", "Extent", "Pixels"] {
        assert!(info.lines().any(|found| found.starts_with(line)), "{line}\n{info}");
    }
    let ds = folder.ok(&["ds", "b.zarr"]);
    assert!(ds.contains("\nPlaces:\n  red: EPSG:32633, pixels of 10 x 10"), "{ds}");
}

#[test]
fn one_array_is_placed_alone() {
    let folder = scene();
    folder.ok(&["cp", "a.zarr::/deep/blue", "one.zarr"]);
    folder.ok(&[&["convert", "one.zarr", "b.zarr", "--transform", TRANSFORM][..], &PLACE].concat());
    assert_eq!(georeference(&folder, "b.zarr", "/").extent(), Some([500_000.0, 4_999_920.0, 500_060.0, 5_000_000.0]));
}

#[test]
fn a_region_is_placed_where_it_is() {
    let folder = Folder::new();
    let region = ["--sel", "lon=10..20", "--convention", "geozarr", "--crs", "EPSG:4326"];
    folder.ok(&[&["convert", SST, "b.zarr"][..], &region].concat());
    let [left, _, right, _] = georeference(&folder, "b.zarr", "sst").extent().unwrap();
    assert!((left - 9.583).abs() < 0.01 && (right - 20.417).abs() < 0.01, "{left} {right}");
}

#[test]
fn what_cannot_be_placed_is_refused_before_anything_is_written() {
    let folder = scene();
    folder.ok(&["create", "c.zarr", "z", "--shape", "8,6", "--dtype", "uint8", "--dims", "a,b"]);
    folder.ok(&["create", "two.zarr", "r10m/a", "--shape", "8,6", "--dtype", "uint8", "--dims", "y,x"]);
    folder.ok(&["create", "two.zarr", "r20m/a", "--shape", "4,3", "--dtype", "uint8", "--dims", "y,x"]);
    for (args, said) in [
        (&["convert", "a.zarr", "b.zarr", "--convention", "geozarr"][..], "coordinate reference system"),
        (&[&["convert", "a.zarr", "b.zarr"][..], &PLACE].concat(), "evenly spaced"),
        (&[&["convert", "c.zarr", "b.zarr", "--transform", TRANSFORM][..], &PLACE].concat(), "dimensions of y and x"),
        (&["convert", "a.zarr", "b.zarr", "--crs", "EPSG:4326"], "--convention geozarr"),
        (&["convert", "a.zarr", "b.zarr", "--convention", "geozarr", "--crs", "utm33"], "expected a code"),
        (&["convert", "a.zarr", "b.zarr", "--convention", "geozarr", "--transform", "1,2"], "six numbers"),
        (&["migrate", "a.zarr", "--convention", "geozarr"], "zarr convert --convention geozarr"),
        (&["cp", "a.zarr", "b.zarr", "--convention", "geozarr"], "zarr convert --convention geozarr"),
        (&["mv", "a.zarr::/red", "b.zarr", "--convention", "geozarr"], "zarr convert --convention geozarr"),
        (
            &[&["convert", "two.zarr", "b.zarr", "--transform", TRANSFORM][..], &PLACE].concat(),
            "/r10m/a has [8, 6] rows and columns, and /r20m/a has [4, 3]",
        ),
        (&["convert", SST, "b.zarr", "--variables", "time", "--convention", "geozarr"], "dimensions of y and x"),
    ] {
        let ran = folder.run(args);
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(said), "{args:?}: {}", ran.err);
        assert!(!folder.path("b.zarr").exists(), "{args:?}");
    }
}

/// Attributes of the source are those of the whole.
#[test]
fn regions_of_a_placed_source_are_where_they_are() {
    let folder = scene();
    folder.ok(&[&["convert", "a.zarr", "b.zarr", "--transform", TRANSFORM][..], &PLACE].concat());
    let region = ["--isel", "y=2:4", "--isel", "x=3:6"];
    let extent = Some([500_030.0, 4_999_960.0, 500_060.0, 4_999_980.0]);
    folder.ok(&[&["convert", "b.zarr", "kept.zarr"][..], &region].concat());
    folder.ok(&[&["convert", "b.zarr", "anew.zarr", "--convention", "geozarr"][..], &region].concat());
    for (store, path) in [("kept.zarr", "red"), ("kept.zarr", "deep/blue"), ("anew.zarr", "red"), ("anew.zarr", "/")] {
        assert_eq!(georeference(&folder, store, path).extent(), extent, "{store} {path}");
    }
    assert_eq!(georeference(&folder, "kept.zarr", "/").extent(), None);
    for store in ["kept.zarr", "anew.zarr"] {
        let checked = folder.ok(&["check", store, "--convention", "geozarr", "--level", "documents"]);
        assert!(checked.contains("0 errors, 0 warnings"), "{checked}");
    }
}

/// One column has no spacing of its own; a zip file is written at the end.
#[test]
fn one_column_is_placed_in_a_zip_file_too() {
    let folder = Folder::new();
    let region = ["--isel", "lon=12:13", "--convention", "geozarr", "--crs", "EPSG:4326"];
    for target in ["b.zarr", "b.zip"] {
        folder.ok(&[&["convert", SST, target][..], &region].concat());
        let [left, _, right, _] = georeference(&folder, target, "sst").extent().unwrap();
        assert!((left - 9.583_333_333).abs() < 1e-6 && (right - 10.416_666_667).abs() < 1e-6, "{left} {right}");
    }
}

#[test]
fn a_transformation_is_that_of_corners() {
    let folder = scene();
    folder.ok(&["attrs", "a.zarr", "red", "--set", "spatial:registration=\"node\""]);
    folder.ok(&[&["convert", "a.zarr", "b.zarr", "--transform", TRANSFORM][..], &PLACE].concat());
    assert_eq!(georeference(&folder, "b.zarr", "red").extent(), Some([500_000.0, 4_999_920.0, 500_060.0, 5_000_000.0]));
}

#[test]
fn groups_that_are_no_data_sets_are_named() {
    let folder = scene();
    folder.ok(&["create", "a.zarr", "odd/p", "--shape", "8,6", "--dtype", "uint8", "--dims", "y,x"]);
    folder.ok(&["create", "a.zarr", "odd/q", "--shape", "8,5", "--dtype", "uint8", "--dims", "y,x"]);
    let ran = folder.run(&[&["convert", "a.zarr", "b.zarr", "--transform", TRANSFORM][..], &PLACE].concat());
    assert!(ran.code == Some(0) && ran.err.contains("/odd: no places are written"), "{}", ran.err);
    // A coordinate that cannot be read is no missing one.
    folder.ok(&["convert", SST, "s.zarr"]);
    let chunk = folder.path("s.zarr/lon/c/0");
    std::fs::write(&chunk, b"x").unwrap();
    let ran = folder.run(&["convert", "s.zarr", "c.zarr", "--convention", "geozarr", "--crs", "EPSG:4326"]);
    assert!(ran.code != Some(0) && ran.err.contains("lon") && !folder.path("c.zarr").exists(), "{}", ran.err);
}

#[test]
fn consolidated_metadata_has_the_attributes() {
    let folder = scene();
    folder.ok(&["consolidate", "a.zarr"]);
    for (target, document) in [("b.zarr", "b.zarr/zarr.json"), ("b.zip", "b.zip")] {
        folder.ok(&[&["convert", "a.zarr", target, "--transform", TRANSFORM][..], &PLACE].concat());
        let checked = folder.ok(&["check", target]);
        assert!(checked.contains("0 errors, 0 warnings"), "{checked}");
        // Documents are not compressed in zip files.
        let bytes = std::fs::read(folder.path(document)).unwrap();
        assert!(String::from_utf8_lossy(&bytes).contains("consolidated_metadata"), "{target}");
    }
}

/// An array without attributes of its own is where its group says, and a level where the pyramid says.
#[test]
fn info_shows_what_is_inherited() {
    let folder = Folder::new();
    let level = |asset: &str, size: u64, shape: &str| {
        format!(r#"{{"asset":"{asset}","spatial:shape":{shape},"spatial:transform":[{size},0,0,0,-{size},80]}}"#)
    };
    let entries: Vec<String> =
        zarr::geo::Convention::ALL.iter().map(|it| Value::Object(it.entry()).to_string()).collect();
    let attributes = format!(
        r#"{{"zarr_conventions":[{}],"proj:code":"EPSG:32633","spatial:dimensions":["y","x"],"multiscales":{{"layout":[{},{}]}}}}"#,
        entries.join(","),
        level("0", 10, "[8,6]"),
        level("1", 20, "[4,3]"),
    );
    folder.ok(&["create", "p.zarr", "/", "--group", "--attributes", &attributes]);
    for (path, shape) in [("0", "8,6"), ("1/data", "4,3")] {
        folder.ok(&["create", "p.zarr", path, "--shape", shape, "--dtype", "uint8", "--dims", "y,x"]);
    }
    for (path, size) in [("0", "10"), ("1/data", "20")] {
        let info = folder.ok(&["info", "p.zarr", path]);
        assert!(info.contains(&format!("{size} x {size}, areas")), "{info}");
        let json = Value::from_json(&folder.ok(&["info", "p.zarr", path, "--json"])).unwrap();
        assert_eq!(json.pointer("/geo/pixel_size/0").unwrap().to_string().trim_end_matches(".0"), size);
        assert_eq!(json.pointer("/geo/extent").unwrap().to_string().replace(".0", ""), "[0,0,60,80]");
    }
    // The root of p.zarr describes no array of other dimensions.
    folder.ok(&["create", "p.zarr", "z", "--shape", "2,2", "--dtype", "uint8", "--dims", "a,b"]);
    assert!(!folder.ok(&["info", "p.zarr", "z"]).contains("CRS"));
}
