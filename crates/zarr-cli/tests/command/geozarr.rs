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
    for (args, said) in [
        (&["convert", "a.zarr", "b.zarr", "--convention", "geozarr"][..], "coordinate reference system"),
        (&[&["convert", "a.zarr", "b.zarr"][..], &PLACE].concat(), "evenly spaced"),
        (&[&["convert", "c.zarr", "b.zarr", "--transform", TRANSFORM][..], &PLACE].concat(), "dimensions of y and x"),
        (&["convert", "a.zarr", "b.zarr", "--crs", "EPSG:4326"], "--convention geozarr"),
        (&["convert", "a.zarr", "b.zarr", "--convention", "geozarr", "--crs", "utm33"], "expected a code"),
        (&["convert", "a.zarr", "b.zarr", "--convention", "geozarr", "--transform", "1,2"], "six numbers"),
        (&["migrate", "a.zarr", "--convention", "geozarr"], "zarr convert --convention geozarr"),
    ] {
        let ran = folder.run(args);
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(said), "{args:?}: {}", ran.err);
        assert!(!folder.path("b.zarr").exists(), "{args:?}");
    }
}
