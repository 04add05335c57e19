//! `zarr view`.

use crate::folder::{Folder, int16};
use crate::ome::image;
use zarr::meta::json::Value;

/// The pixels of a PNG file.
pub(crate) fn decoded(file: &[u8]) -> (usize, usize, Vec<[u8; 3]>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (info.width as usize, info.height as usize, pixels.as_chunks().0.to_vec())
}

/// A packed variable with missing data on latitudes and longitudes.
fn climate() -> Folder {
    let folder = Folder::new();
    let create = |args: &[&str]| folder.ok(&[&["create", "c.zarr"], args].concat());
    let attributes =
        r#"{"scale_factor":0.5,"add_offset":270.0,"_FillValue":-1,"units":"K","long_name":"air temperature"}"#;
    create(&[
        "t",
        "--shape",
        "2,6,8",
        "--dtype",
        "int16",
        "--dims",
        "time,lat,lon",
        "--attributes",
        attributes,
        "--codecs",
        "none",
    ]);
    create(&[
        "time",
        "--shape",
        "2",
        "--dtype",
        "int16",
        "--dims",
        "time",
        "--attributes",
        r#"{"units":"days since 2020-01-01"}"#,
    ]);
    create(&[
        "lat",
        "--shape",
        "6",
        "--dtype",
        "int16",
        "--dims",
        "lat",
        "--attributes",
        r#"{"units":"degrees_north"}"#,
    ]);
    create(&["lon", "--shape", "8", "--dtype", "int16", "--dims", "lon"]);
    folder.fill("c.zarr", "t", "<i2", "(2, 6, 8)", &int16((0..96).map(|it| if it == 0 { -1 } else { it })));
    folder.fill("c.zarr", "time", "<i2", "(2,)", &int16([0, 31]));
    folder.fill("c.zarr", "lat", "<i2", "(6,)", &int16((0..6).map(|it| it * 10 - 20)));
    folder.fill("c.zarr", "lon", "<i2", "(8,)", &int16((0..8).map(|it| it * 5)));
    folder
}

#[test]
fn a_plane_as_png() {
    let folder = climate();
    folder.ok(&["view", "c.zarr", "t", "--bare", "-o", "t.png", "--width", "8", "--height", "6", "--range", "full"]);
    let (width, height, pixels) = decoded(&std::fs::read(folder.path("t.png")).unwrap());
    assert_eq!((width, height), (8, 6));
    // The greatest latitude is at the top; the missing value in the row of the least, in grey.
    assert_eq!(pixels[40], [128; 3]);
    assert_eq!(pixels[7], [253, 231, 37]);
    // viridis at 256 * (value - 1) / 46, of the stored value 24.
    assert_eq!(pixels[16], [33, 145, 140]);
    // As it is stored, -1 is a value.
    folder.ok(&[
        "view", "c.zarr", "t", "--bare", "-o", "t.png", "--width", "16", "--height", "12", "--raw", "--range", "full",
        "--cmap", "gray",
    ]);
    let (width, height, pixels) = decoded(&std::fs::read(folder.path("t.png")).unwrap());
    assert_eq!((width, height, pixels[16 * 10]), (16, 12, [0; 3]));
    // With its axes.
    folder.ok(&["view", "c.zarr", "t", "-o", "t.png", "--width", "320", "--height", "240"]);
    let (width, height, pixels) = decoded(&std::fs::read(folder.path("t.png")).unwrap());
    assert!(width > 320 && height > 240, "{width} {height}");
    assert_eq!(pixels[0], [255; 3]);
}

#[test]
fn a_plane_as_text() {
    let folder = climate();
    let text = folder.ok(&["view", "c.zarr", "t", "--select", "time=1", "--height", "14"]);
    assert!(text.starts_with("t: air temperature, time = 2020-02-01\nlat (degrees_north)\n"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("lon\n") && text.trim_end().ends_with(" K"), "{text}");
    let rows: Vec<&str> =
        text.lines().filter(|line| line.contains('-') && line.trim_start().starts_with(['2', '-', '0'])).collect();
    assert!(!rows.is_empty(), "{text}");
    let coloured = folder.ok(&["view", "c.zarr", "t", "--color", "always"]);
    assert!(coloured.contains("\u{1b}[38;2;") && coloured.contains('▀'), "{coloured:?}");
    assert!(coloured.contains("time = 2020-01-01 (first of 2)"), "{coloured:?}");
    let kitty = folder.ok(&["view", "c.zarr", "t", "--protocol", "kitty", "--width", "99"]);
    assert!(kitty.starts_with("\u{1b}_Ga=T,f=100,"), "{kitty:?}");
    assert!(folder.ok(&["view", "c.zarr", "t", "--protocol", "sixel", "--width", "99"]).starts_with("\u{1b}P0;1;0q"));
    let line = folder.ok(&["view", "c.zarr", "t", "--select", "0, 2"]);
    assert!(line.starts_with("t: air temperature, time = 2020-01-01, lat = 0 degrees_north\nK\n"), "{line}");
    assert_eq!(folder.ok(&["view", "c.zarr", "t", "--select", "0, 0, 1"]).lines().last(), Some("270.5 K"));
    assert_eq!(folder.ok(&["view", "c.zarr", "t", "--select", "0, 0, 1", "--raw"]).lines().last(), Some("1"));
}

#[test]
fn a_plane_as_facts() {
    let folder = climate();
    let text = folder
        .ok(&["view", "c.zarr", "t", "--plane", "time,lon", "--select", "lat=-1", "--json", "-o", "x.png", "--bare"]);
    let facts = Value::from_json(&text).unwrap();
    let at = |pointer: &str| facts.pointer(pointer).map(ToString::to_string).unwrap_or_default();
    assert_eq!(at("/axes/0"), r#"{"dimension":"time","axis":0,"start":0,"step":1,"count":2,"of":2}"#);
    assert_eq!(at("/axes/1/dimension"), "\"lon\"");
    assert_eq!(at("/at/0"), r#"{"dimension":"lat","axis":1,"index":5,"by_default":false}"#);
    assert_eq!((at("/least").as_str(), at("/greatest").as_str(), at("/missing").as_str()), ("290.0", "317.5", "0"));
    assert_eq!((at("/decoded").as_str(), at("/colors/map").as_str()), ("true", "\"viridis\""));
    assert_eq!(at("/picture_size"), "[1024,256]");
}

#[test]
fn animations_have_a_frame_for_each_index() {
    let folder = climate();
    let text = folder.ok(&[
        "view",
        "c.zarr",
        "t",
        "--animate",
        "time",
        "-o",
        "t.png",
        "--json",
        "--width",
        "200",
        "--height",
        "150",
    ]);
    assert_eq!(Value::from_json(&text).unwrap().get("frames").unwrap().to_string(), "2");
    let file = std::fs::read(folder.path("t.png")).unwrap();
    let reader = png::Decoder::new(std::io::Cursor::new(&file)).read_info().unwrap();
    assert_eq!(reader.info().animation_control.unwrap().num_frames, 2);
    for (args, expected) in [
        (&["--animate", "lat", "-o", "x.png"][..], "--animate lat: the dimension is shown in the picture"),
        (
            &["--animate", "time", "--select", "0", "-o", "x.png"],
            "--animate time: an index of the dimension is selected",
        ),
        (&["--animate", "tim", "-o", "x.png"], "found no dimension \"tim\", expected one of time, lat, lon"),
    ] {
        let ran = folder.run(&[&["view", "c.zarr", "t"], args].concat());
        assert_eq!(ran.code, Some(2));
        assert!(ran.err.contains(expected), "{}", ran.err);
    }
}

/// The pixels of all frames of an animation.
fn frames(file: &[u8]) -> Vec<Vec<[u8; 3]>> {
    let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
    let count = reader.info().animation_control.unwrap().num_frames;
    let mut frame = || {
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        pixels.as_chunks().0.to_vec()
    };
    (0..count).map(|_| frame()).collect()
}

/// Animates an array whose chunks have all times of a part of the plane.
#[test]
fn animations_of_long_chunks_have_all_pixels() {
    let folder = Folder::new();
    let create =
        ["create", "f", "a", "--shape", "300,40,40", "--dtype", "int16", "--chunks", "300,20,20", "--dims", "t,y,x"];
    folder.ok(&create);
    let element = |number: i64| (number / 1600 + number % 1600) as i16;
    folder.fill("f", "a", "<i2", "(300, 40, 40)", &int16((0..300 * 1600).map(element)));
    let view = ["view", "f", "a", "--animate", "t", "--bare", "-o", "a.png", "--width", "40", "--height", "40"];
    let facts = folder.ok(&[&view[..], &["--json", "--cmap", "gray", "--range", "0:1899"]].concat());
    let facts = Value::from_json(&facts).unwrap();
    let at = |name: &str| facts.get(name).unwrap().to_string();
    // Every second time.
    assert_eq!(
        (at("frames"), at("of"), at("picture_size")),
        ("150".to_owned(), "300".to_owned(), "[40,40]".to_owned())
    );
    let frames = frames(&std::fs::read(folder.path("a.png")).unwrap());
    assert_eq!(frames.len(), 150);
    for (number, frame) in frames.iter().enumerate() {
        for (at, pixel) in frame.iter().enumerate() {
            let value = (2 * number + at) as f64;
            assert!((f64::from(pixel[0]) - 255.0 * value / 1899.0).abs() <= 1.0, "{number} {at} {pixel:?}");
        }
    }
}

/// Frames differ in their titles, where nothing else does.
#[test]
fn frames_have_the_label_of_their_index() {
    let folder = climate();
    folder.fill("c.zarr", "t", "<i2", "(2, 6, 8)", &int16((0..96).map(|it| it % 48)));
    let view = [
        "view",
        "c.zarr",
        "t",
        "--animate",
        "time",
        "-o",
        "a.png",
        "--width",
        "300",
        "--height",
        "200",
        "--range",
        "full",
    ];
    folder.ok(&view);
    let frames = frames(&std::fs::read(folder.path("a.png")).unwrap());
    let differing = frames[0].iter().zip(&frames[1]).filter(|(a, b)| a != b).count();
    assert!(differing > 5 && differing < 500, "{differing}");
    // The picture of one time has the title that its frame has.
    for (number, frame) in frames.iter().enumerate() {
        let select = format!("time={number}");
        folder.ok(&[
            "view", "c.zarr", "t", "--select", &select, "-o", "one.png", "--width", "300", "--height", "200",
            "--range", "full",
        ]);
        assert!(decoded(&std::fs::read(folder.path("one.png")).unwrap()).2 == *frame, "{number}");
    }
}

#[test]
fn labels_and_elements_have_all_digits() {
    let folder = Folder::new();
    let create = |name: &str, shape: &str, dtype: &str, dims: &str| {
        folder.ok(&["create", "d", name, "--shape", shape, "--dtype", dtype, "--dims", dims]);
    };
    create("a", "2,3", "int64", "id,x");
    create("id", "2", "int64", "id");
    create("x", "3", "float32", "x");
    let int64 = |values: &[i64]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let big = 9_007_199_254_740_993_i64;
    folder.fill("d", "a", "<i8", "(2, 3)", &int64(&[0, 1, 2, 3, big, 5]));
    folder.fill("d", "id", "<i8", "(2,)", &int64(&[big, big + 2]));
    let x: Vec<u8> = [0.1_f32, 0.2, 0.3].iter().flat_map(|value| value.to_le_bytes()).collect();
    folder.fill("d", "x", "<f4", "(3,)", &x);
    let text = folder.ok(&["view", "d", "a", "--select", "1, 1", "--raw"]);
    assert_eq!(text, "a, id = 9007199254740995, x = 0.2\n9007199254740993\n");
    let facts = folder.ok(&["view", "d", "a", "--select", "1, 1", "--json"]);
    assert_eq!(Value::from_json(&facts).unwrap().get("greatest").unwrap().to_string(), big.to_string());
    let text = folder.ok(&["view", "d", "a", "--plane", "x,id"]);
    assert!(text.contains("9007199254740993"), "{text}");
}

/// The first index of a selection is no first of the whole dimension, and nothing but the variable and its coordinates is opened.
#[test]
fn parts_of_hidden_dimensions_are_said() {
    let folder = climate();
    folder.ok(&["create", "c.zarr", "other", "--shape", "7", "--dtype", "int16", "--dims", "lat"]);
    let ran = folder.run(&["view", "c.zarr", "t", "--select", "time=1:", "--plane", "lat,lon"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let text = String::from_utf8(ran.out).unwrap();
    assert!(text.starts_with("t: air temperature, time = 2020-02-01\n"), "{text}");
    let text = folder.ok(&["view", "c.zarr", "t", "--select", "lat=2:4", "--plane", "time,lon"]);
    assert!(text.starts_with("t: air temperature, lat = 0 degrees_north (first of 2)\n"), "{text}");
}

#[test]
fn pictures_that_were_cut_are_said_to_be() {
    let folder = Folder::new();
    // 6400 chunks, of which 4096 are read.
    folder.ok(&["create", "f", "a", "--shape", "80,80", "--dtype", "int16", "--chunks", "1,1"]);
    let view = ["view", "f", "a", "--bare", "-o", "a.png", "--width", "80", "--height", "80"];
    let ran = folder.run(&view);
    assert_eq!(ran.code, Some(0));
    assert!(ran.err.contains("a.png: every row and every 2nd column of 80 x 80; --full reads more"), "{}", ran.err);
    let ran = folder.run(&[&view[..], &["--full"]].concat());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
}

#[test]
fn what_cannot_be_shown_is_said() {
    let folder = climate();
    folder.ok(&["create", "c.zarr", "names", "--shape", "2,2", "--dtype", "string"]);
    for (args, code, expected) in [
        (&["c.zarr", "names"][..], 2, "/names: found elements of string, expected numbers or bools"),
        (&["c.zarr"], 2, "found a group, expected an array, an OME-Zarr image or a pyramid of maps"),
        (&["c.zarr", "t", "--plane", "lat,lat"], 2, "axis 1 is given twice"),
        (&["c.zarr", "t", "--plane", "lat,x"], 2, "found no dimension \"x\""),
        (&["c.zarr", "t", "--select", "5"], 2, "index 5 is out of bounds for axis 0 of length 2"),
        (&["c.zarr", "t", "--select", "0, [1, 2]"], 2, "lists and masks are no plane"),
        (&["c.zarr", "t", "--level", "1"], 2, "an array has no levels"),
        (&["c.zarr", "t", "--range", "5"], 2, "found range"),
        (&["c.zarr", "t", "--log", "--range", "0:25"], 2, "found range 0:25, expected positive numbers"),
        (&["c.zarr", "t", "--select", "lat=9:"], 2, "the selection is empty"),
        (&["c.zarr", "t", "--select", "time=2:"], 2, "the selection is empty"),
        (
            &["c.zarr", "t", "-o", "x.png", "--width", "16384", "--height", "16384"],
            2,
            "--width and --height: found 16384 x 16384 pixels, expected at most 67_108_864",
        ),
        (&["c.zarr", "t", "--animate", "time", "--select", "time=2:", "-o", "x.png"], 2, "there is nothing to show"),
        (&["c.zarr", "t", "--cmap", "jet"], 2, "expected one of viridis"),
        (&["c.zarr", "t", "--select", "0,0,0", "-o", "x.png"], 2, "a single element is no picture"),
        (&["c.zarr", "none"], 3, "none"),
    ] {
        let ran = folder.run(&[&["view"], args].concat());
        assert_eq!(ran.code, Some(code), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(expected), "{args:?}: {}", ran.err);
    }
    assert!(!folder.path("x.png").exists());
}

#[test]
fn few_integers_are_categories() {
    let folder = Folder::new();
    let attributes = r#"{"flag_values":[0,1,2],"flag_meanings":"sea land ice"}"#;
    folder.ok(&["create", "m", "a", "--shape", "6,8", "--dtype", "int16", "--attributes", attributes]);
    folder.fill("m", "a", "<i2", "(6, 8)", &int16((0..48).map(|it| it / 16)));
    let text = folder.ok(&["view", "m", "a"]);
    assert!(text.contains("0 = sea  1 = land  2 = ice"), "{text}");
    folder.ok(&["create", "m", "b", "--shape", "2,2", "--dtype", "bool"]);
    folder.ok(&["view", "m", "b", "--bare", "-o", "b.png", "--width", "2", "--height", "2"]);
    assert_eq!(decoded(&std::fs::read(folder.path("b.png")).unwrap()).2, [[0, 34, 78]; 4]);
}

#[test]
fn images_are_shown_from_the_level_that_fits() {
    let folder = image("0.65");
    let level = |args: &[&str]| {
        let text = folder.ok(&[&["view", "i.zarr", "img", "--json", "--no-composite"], args].concat());
        let facts = Value::from_json(&text).unwrap();
        (
            facts.get("level").unwrap().to_string(),
            facts.pointer("/axes/1/of").unwrap().to_string(),
            facts.pointer("/colors/range").map(ToString::to_string),
        )
    };
    assert_eq!(level(&[]), ("1".to_owned(), "200".to_owned(), Some("[0.0,510.0]".to_owned())));
    assert_eq!(level(&["-o", "x.png"]).0, "0");
    assert_eq!(
        level(&["--level", "0", "--range", "0:9"]),
        ("0".to_owned(), "400".to_owned(), Some("[0.0,9.0]".to_owned()))
    );
    assert_eq!(level(&["--select", "c=1, y=100:200, x=100:110", "-o", "x.png"]).1, "10");
    folder.ok(&[
        "view", "i.zarr", "img", "--bare", "--level", "1", "--width", "200", "--height", "200", "-o", "x.png",
        "--cmap", "gray",
    ]);
    let (width, height, pixels) = decoded(&std::fs::read(folder.path("x.png")).unwrap());
    assert_eq!((width, height, pixels[0]), (200, 200, [128; 3]));
    let text = folder.ok(&["view", "i.zarr", "img", "--no-composite"]);
    assert!(text.starts_with("cells, c = 0 (DAPI) (first of 2)\ny (µm)\n"), "{text}");
    assert!(text.contains("level 1 of 0 to 1"), "{text}");
}

#[test]
fn a_faulty_image_is_an_error() {
    let folder = image("0.65");
    let path = folder.path("i.zarr/img/zarr.json");
    let document = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, document.replacen("\"axes\"", "\"no axes\"", 1)).unwrap();
    let ran = folder.run(&["view", "i.zarr", "img"]);
    assert_eq!(ran.code, Some(4), "{}", ran.err);
    assert!(ran.err.contains("/multiscales/0/axes: OME-Zarr 0.5: found nothing"), "{}", ran.err);
    // It is shown without positions where only these are at fault.
    let folder = image("-1");
    let ran = folder.run(&["view", "i.zarr", "img"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("/coordinateTransformations/0/scale/1: found -1"), "{}", ran.err);
}
