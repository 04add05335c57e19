//! Stores as trees, pictures and checks show them.

use super::{case, findings, is_sound, lines, refused, warned};
use std::fmt::Write;
use std::fs;

/// Files and directories of other formats are named by what they are.
#[test]
fn foreign_containers() {
    let folder = case("foreign_containers");
    let odd = "comp/.zattrs /_ARRAY_DIMENSIONS: 1 names, expected a name for each of 2 dimensions; it names none";
    let tree = warned(&folder, &["tree", "store"], &[odd]);
    assert_eq!(tree[0], "store  v2 group  9 arrays, 0 groups");
    // References to the values of a store.
    let mut references = r#"{"version":1,"refs":{".zgroup":"{\"zarr_format\":2}""#.to_owned();
    for file in folder.files("store").iter().filter(|file| file.as_str() != ".zgroup") {
        let size = fs::metadata(folder.path("store").join(file)).unwrap().len();
        write!(references, r#","{file}":["store/{file}",0,{size}]"#).unwrap();
    }
    fs::write(folder.path("refs.json"), references + "}}").unwrap();
    // They are read as the store is.
    let tree_of_references = warned(&folder, &["tree", "refs.json"], &[odd]);
    assert_eq!(tree_of_references[1..], tree[1..]);
    folder.ok(&["convert", "refs.json", "from_references", "--keep-going"]);
    folder.ok(&["convert", "store", "from_store", "--keep-going"]);
    folder.ok(&["diff", "from_references", "from_store"]);
    let err = refused(&folder, 5, &["attrs", "refs.json", "--set", "a=1"]);
    assert!(err.contains("the store is read-only") && err.contains("zarr convert"), "{err}");
    fs::write(folder.path("x.grib"), [b"GRIB".as_slice(), &[0; 500]].concat()).unwrap();
    for name in ["ice/snapshots", "ice/manifests", "ice/refs", "n5"] {
        fs::create_dir_all(folder.path(name)).unwrap();
    }
    fs::write(folder.path("n5/attributes.json"), r#"{"n5":"2.5.0"}"#).unwrap();
    for (name, code, what) in [
        ("x.grib", 2, "found a GRIB file"),
        ("ice", 3, "this is an Icechunk repository"),
        ("n5", 3, "this is an N5 container"),
    ] {
        for args in [["tree", name].as_slice(), &["read", name], &["convert", name, "OUT"]] {
            let err = refused(&folder, code, args);
            assert!(err.contains(what) && err.lines().any(|line| line.starts_with("hint: ")), "{args:?}: {err}");
        }
    }
}

/// `multiscales` of GeoZarr is an object, and no image of OME-Zarr.
#[test]
fn geozarr_multiscales() {
    let folder = case("geozarr_multiscales");
    is_sound(&folder, "store");
    let tree = lines(&folder, &["tree", "store"]);
    assert_eq!(tree[0], "store  v3 group  2 arrays, 2 groups");
    let err = refused(&folder, 2, &["view", "store"]);
    assert!(err.contains("found a group, expected an array, an OME-Zarr image or a pyramid of maps"), "{err}");
    folder.ok(&["view", "store", "r10m/b02"]);
}

#[test]
fn plate_duplicate_rows() {
    let name = "zarr.json#/attributes/ome/plate/rows/1/name";
    let expected = format!(r#"error    {name}  found "A", expected a name that no other of rows has [bad-plate]"#);
    assert_eq!(findings(&case("plate_duplicate_rows"), "store"), [expected]);
}

#[test]
fn plate_ok() {
    is_sound(&case("plate_ok"), "store");
}

/// A transformation of the whole image that is not known hides no pixels.
#[test]
fn spatialdata_affine_view() {
    let folder = case("spatialdata_affine_view");
    let ran = folder.run(&["view", "store", "-o", "x.png"]);
    let expected = "warning: indices instead of positions, which are not known: \
        /attributes/ome/multiscales/0/coordinateTransformations/1/type: found \"affine\", expected identity, scale or translation\n";
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), expected));
    assert!(fs::read(folder.path("x.png")).unwrap().starts_with(b"\x89PNG"));
    assert_eq!(lines(&folder, &["tree", "store"])[0], "store  v3 group  1 array, 0 groups  image, 1 level");
    let found = findings(&folder, "store");
    let finding = "found \"affine\", expected identity, scale or translation [bad-image]";
    assert!(found.iter().any(|line| line.starts_with("error ") && line.ends_with(finding)), "{found:?}");
}
