//! `zarr view` of maps: coordinates at the edges, and the coordinate reference system.

use crate::folder::{Folder, int16};

/// An array of rows and columns that is placed by a transformation.
fn placed(crs: &str, transform: &str) -> Folder {
    let folder = Folder::new();
    folder
        .ok(&["create", "a.zarr", "red", "--shape", "30,40", "--dtype", "int16", "--dims", "y,x", "--codecs", "none"]);
    folder.fill("a.zarr", "red", "<i2", "(30, 40)", &int16(0..1200));
    folder.ok(&["convert", "a.zarr", "m.zarr", "--convention", "geozarr", "--crs", crs, "--transform", transform]);
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
