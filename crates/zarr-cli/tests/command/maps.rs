//! `zarr view` of maps: coordinates at the edges, and the coordinate reference system.

use crate::folder::{Folder, int16};
use zarr::meta::json::Value;

/// An array of rows and columns that is placed by a transformation.
fn placed(crs: &str, transform: &str) -> Folder {
    placed_as("red", "m.zarr", crs, transform)
}

/// The same by the name of the array and that of the store.
fn placed_as(name: &str, store: &str, crs: &str, transform: &str) -> Folder {
    let folder = Folder::new();
    folder.ok(&["create", "a.zarr", name, "--shape", "30,40", "--dtype", "int16", "--dims", "y,x", "--codecs", "none"]);
    folder.fill("a.zarr", name, "<i2", "(30, 40)", &int16(0..1200));
    folder.ok(&["convert", "a.zarr", store, "--convention", "geozarr", "--crs", crs, "--transform", transform]);
    folder
}

#[test]
fn coordinates_stand_at_the_edges() {
    let folder = placed("EPSG:32633", "10,0,500000,0,-10,5000000");
    let text = folder.ok(&["view", "m.zarr", "red"]);
    assert!(text.contains("y (m)\n") && text.contains("x (m)\n") && text.contains("EPSG:32633"), "{text}");
    assert!(text.contains("500100") && text.contains("4999900-"), "{text}");
    // A row that is not drawn is at its coordinate.
    let text = folder.ok(&["view", "m.zarr", "red", "--isel", "y=2"]);
    assert!(text.starts_with("red, y = ") && !text.contains("EPSG"), "{text}");
    // Degrees, with the south in the first row: it is drawn at the bottom.
    let folder = placed("EPSG:4326", "0.5,0,-10,0,0.5,30");
    let text = folder.ok(&["view", "m.zarr", "red"]);
    assert!(text.contains("x (degrees)") && text.contains("EPSG:4326"), "{text}");
    let (north, south) = (text.find("40-").unwrap(), text.find("35-").unwrap());
    assert!(north < south, "{text}");
    // The unit of a code that is not known is left out.
    let folder = placed("EPSG:2225", "1,0,0,0,-1,0");
    let text = folder.ok(&["view", "m.zarr", "red"]);
    assert!(text.contains("x\n") && text.contains("EPSG:2225"), "{text}");
}

#[test]
fn maps_in_metres_have_a_scale_bar() {
    for (crs, transform, has_bar) in [
        ("EPSG:32633", "10,0,500000,0,-10,5000000", true),
        ("EPSG:4326", "0.5,0,-10,0,0.5,30", false),
        // A metre of web Mercator is half a metre on the ground at a latitude of 60 degrees.
        ("EPSG:3857", "10,0,500000,0,-10,8400000", false),
    ] {
        let folder = placed(crs, transform);
        let pixels = |args: &[&str]| {
            folder.ok(&[&["view", "m.zarr", "red", "-o", "x.png", "--width", "400", "--height", "300"], args].concat());
            std::fs::read(folder.path("x.png")).unwrap()
        };
        assert_eq!(pixels(&[]) != pixels(&["--no-scale-bar"]), has_bar, "{crs}");
    }
}

#[test]
fn a_pyramid_of_maps_is_drawn_by_the_level_that_fits() {
    let folder = placed_as("0", "p.zarr", "EPSG:32633", "10,0,500000,0,-10,5000000");
    folder.ok(&["pyramid", "p.zarr::/0", "--levels", "2", "--chunks", "16,16"]);
    let drawn = |args: &[&str]| {
        let text =
            folder.ok(&[&["view", "p.zarr", "--json", "-o", "x.png", "--bare", "--no-scale-bar"], args].concat());
        let facts = Value::from_json(&text).unwrap();
        let fact = |name: &str| facts.get(name).unwrap().to_string();
        (fact("level"), fact("path"), std::fs::read(folder.path("x.png")).unwrap())
    };
    for (width, level) in [("40", 0), ("39", 1), ("20", 1), ("19", 1), ("10", 2), ("5", 2)] {
        let (found, path, pixels) = drawn(&["--width", width, "--height", "400"]);
        assert_eq!((found, path), (level.to_string(), format!("\"/{level}\"")), "{width}");
        let path = format!("p.zarr::/{level}");
        folder.ok(&["view", &path, "-o", "y.png", "--bare", "--no-scale-bar", "--width", width, "--height", "400"]);
        assert!(pixels == std::fs::read(folder.path("y.png")).unwrap(), "{width}");
    }
    assert_eq!(drawn(&["--width", "40", "--height", "400", "--level", "2"]).0, "2");
    // Indices are those of the finest level, of which any level shows the same part.
    for (select, level, part) in [("y=0:20", "1", "0:10, :"), ("y=4:20", "2", "1:5, :"), ("x=20:40", "0", ":, 20:40")] {
        let all = ["--width", "20", "--height", "400", "--isel", select, "--level", level];
        let (found, _, pixels) = drawn(&all);
        let path = format!("p.zarr::/{level}");
        let alone = ["view", &path, "-o", "y.png", "--bare", "--no-scale-bar", "--width", "20", "--height", "400"];
        folder.ok(&[&alone[..], &["--select", part]].concat());
        assert!(found == level && pixels == std::fs::read(folder.path("y.png")).unwrap(), "{select}");
        // The level that fits a part is that of the whole in as many pixels as the whole has.
        let expected = if select.starts_with('y') { "1" } else { "0" };
        assert_eq!(drawn(&all[..6]).0, expected, "{select}");
    }
    let ran = folder.run(&["view", "p.zarr", "--isel", "y=0:20:3", "--level", "1"]);
    assert!(ran.code != Some(0) && ran.err.contains("found step 3, expected 1 for another level"), "{}", ran.err);
    assert_eq!(drawn(&["--width", "5", "--height", "400", "--isel", "y=0:20:3"]).0, "0");
    let text = folder.ok(&["view", "p.zarr"]);
    assert!(text.contains("level 0 of 0 to 2") && text.contains("EPSG:32633"), "{text}");
    let ran = folder.run(&["view", "p.zarr", "--level", "3"]);
    assert!(ran.code == Some(2) && ran.err.contains("--level: found 3, expected 0 to 2"), "{}", ran.err);
    // Without a level, numbers of levels and of elements would be those of others.
    let finest = folder.path("p.zarr/0/zarr.json");
    std::fs::write(finest, "{").unwrap();
    let ran = folder.run(&["view", "p.zarr", "--width", "20"]);
    assert!(ran.code == Some(0) && ran.err.contains("level 0 is left out"), "{}", ran.err);
    for choice in [["--level", "1"], ["--isel", "y=0:20"]] {
        let ran = folder.run(&[&["view", "p.zarr", "--width", "20"][..], &choice].concat());
        assert!(ran.code == Some(4) && ran.err.contains("0/zarr.json"), "{choice:?}: {}", ran.err);
    }
}

/// Latitudes and longitudes of each element are no coordinates of rows and columns.
#[test]
fn curvilinear_grids_are_drawn_by_index() {
    let folder = Folder::new();
    folder.ok(&["create", "c.zarr", "/", "--group"]);
    let array = ["--shape", "8,9", "--dtype", "float32", "--dims", "y,x"];
    for (name, attributes) in [
        ("t", r#"{"coordinates": "lat gone lon"}"#),
        ("lat", r#"{"units": "degrees_north"}"#),
        ("lon", r#"{"units": "degrees_east"}"#),
    ] {
        folder.ok(&[&["create", "c.zarr", name, "--attributes", attributes][..], &array].concat());
    }
    let text = folder.ok(&["view", "c.zarr", "t"]);
    assert!(text.contains("y (index)") && text.contains("x (index)"), "{text}");
    // A document that cannot be asked for is not one that is not there.
    #[cfg(unix)]
    {
        let document = folder.path("c.zarr/lat/zarr.json");
        let stored = std::fs::read(&document).unwrap();
        std::fs::remove_file(&document).unwrap();
        std::os::unix::fs::symlink("zarr.json", &document).unwrap();
        let ran = folder.run(&["view", "c.zarr", "t"]);
        assert!(ran.code == Some(5) && ran.err.contains("lat/zarr.json"), "{:?} {}", ran.code, ran.err);
        std::fs::remove_file(&document).unwrap();
        std::fs::write(&document, stored).unwrap();
    }
    folder.ok(&["rm", "c.zarr", "lat"]);
    folder.ok(&["rm", "c.zarr", "lon"]);
    let text = folder.ok(&["view", "c.zarr", "t"]);
    assert!(text.contains("x\n") && !text.contains("index"), "{text}");
}
