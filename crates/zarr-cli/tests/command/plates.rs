//! `zarr view` of plates and wells.

use crate::folder::Folder;
use crate::view::decoded;
use zarr::meta::json::Value;

/// A plate of 2 rows and 2 columns, of which two wells have fields of one value each.
fn plate() -> Folder {
    let folder = Folder::new();
    let group = |path: &str, ome: &str| {
        let attributes = format!(r#"{{"ome":{{"version":"0.5",{ome}}}}}"#);
        folder.ok(&["create", "p.zarr", path, "--group", "--attributes", &attributes]);
    };
    let wells = r#"[{"path":"A/1","rowIndex":0,"columnIndex":0},{"path":"B/2","rowIndex":1,"columnIndex":1}]"#;
    group(
        "/",
        &format!(
            r#""plate":{{"rows":[{{"name":"A"}},{{"name":"B"}}],"columns":[{{"name":"1"}},{{"name":"2"}}],"wells":{wells}}}"#
        ),
    );
    let axis = |name: &str, kind: &str| format!(r#"{{"name":"{name}","type":"{kind}"}}"#);
    let axes = format!("{},{},{}", axis("c", "channel"), axis("y", "space"), axis("x", "space"));
    let level = r#"{"path":"0","coordinateTransformations":[{"type":"scale","scale":[1,1,1]}]}"#;
    let window = r#""window":{"start":0,"end":100,"min":0,"max":255}"#;
    let omero = format!(
        r#"{{"channels":[{{"label":"DAPI","color":"0000FF",{window}}},{{"label":"GFP","color":"00FF00",{window}}}]}}"#
    );
    for (well, values) in [("A/1", &["100", "0"][..]), ("B/2", &["50"])] {
        let images: Vec<String> = (0..values.len()).map(|number| format!(r#"{{"path":"{number}"}}"#)).collect();
        group(well, &format!(r#""well":{{"images":[{}]}}"#, images.join(",")));
        for (number, value) in values.iter().enumerate() {
            let path = format!("{well}/{number}");
            group(&path, &format!(r#""multiscales":[{{"axes":[{axes}],"datasets":[{level}]}}],"omero":{omero}"#));
            folder.ok(&[
                "create",
                "p.zarr",
                &format!("{path}/0"),
                "--shape",
                "2,8,8",
                "--dtype",
                "uint16",
                "--fill",
                value,
            ]);
        }
    }
    folder
}

fn pixels(folder: &Folder, args: &[&str]) -> (usize, usize, Vec<[u8; 3]>) {
    folder.ok(&[&["view", "p.zarr"], args, &["--bare", "-o", "x.png", "--width", "18", "--height", "18"]].concat());
    decoded(&std::fs::read(folder.path("x.png")).unwrap())
}

#[test]
fn plates_and_wells_are_grids() {
    let folder = plate();
    let (width, height, shown) = pixels(&folder, &[]);
    assert_eq!((width, height), (17, 17));
    let at = |row: usize, column: usize| shown[row * 17 + column];
    assert_eq!((at(0, 0), at(16, 16)), ([0, 255, 255], [0, 128, 128]));
    assert_eq!((at(0, 8), at(0, 16), at(16, 0)), ([72; 3], [72; 3], [72; 3]));
    assert_eq!(pixels(&folder, &["--channel", "GFP"]).2[0], [0, 255, 0]);
    // The fields of a well beside each other.
    let (width, height, shown) = pixels(&folder, &["A/1"]);
    assert_eq!((width, height, shown[0], shown[16]), (17, 8, [0, 255, 255], [0, 0, 0]));
    let text = folder.ok(&["view", "p.zarr"]);
    assert!(text.starts_with("plate\n") && text.contains("A-") && text.contains("0 = DAPI  1 = GFP"), "{text}");
    let facts = Value::from_json(&folder.ok(&["view", "p.zarr", "--json"])).unwrap();
    let fact = |pointer: &str| facts.pointer(pointer).unwrap().to_string();
    assert_eq!((fact("/grid"), fact("/rows"), fact("/drawn")), ("\"plate\"".into(), r#"["A","B"]"#.into(), "2".into()));
    assert_eq!(fact("/channels/1/name"), "\"GFP\"");
}

#[test]
fn what_a_plate_has_not_is_said() {
    let folder = plate();
    for args in [&["--isel", "c=0"][..], &["--labels", "x"], &["--cmap", "gray"], &["--animate", "c", "-o", "x.png"]] {
        let ran = folder.run(&[&["view", "p.zarr"], args].concat());
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.err);
        assert!(ran.err.contains("found a plate, expected an image or an array"), "{args:?}: {}", ran.err);
    }
    let ran = folder.run(&["view", "p.zarr", "--channel", "RFP"]);
    assert!(ran.err.contains(r#"found no channel "RFP", expected one of 0 (DAPI), 1 (GFP)"#), "{}", ran.err);
    assert_eq!(ran.code, Some(2));
    // A well that is not there is left out.
    folder.ok(&["rm", "p.zarr", "B/2", "--recursive"]);
    let ran = folder.run(&["view", "p.zarr"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("B/2 is left out: "), "{}", ran.err);
}

/// Wells that are not shown are said, also if the picture has no room for it.
#[test]
fn wells_that_are_not_shown_are_said() {
    let folder = plate();
    let names = |prefix: &str| {
        let names: Vec<String> = (0..40).map(|number| format!(r#"{{"name":"{prefix}{number}"}}"#)).collect();
        names.join(",")
    };
    let wells = (0..1600).map(|number| format!("r{}/c{}", number / 40, number % 40));
    let wells: Vec<String> =
        std::iter::once("A/1".to_owned()).chain(wells).map(|path| format!(r#"{{"path":"{path}"}}"#)).collect();
    let plate = format!(
        r#"ome={{"version":"0.5","plate":{{"rows":[{{"name":"A"}},{}],"columns":[{{"name":"1"}},{}],"wells":[{}]}}}}"#,
        names("r"),
        names("c"),
        wells.join(",")
    );
    folder.ok(&["attrs", "p.zarr", "/", "--set", &plate]);
    let ran = folder.run(&["view", "p.zarr", "--bare", "-o", "x.png"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("x.png: 1_536 of 1_601 wells; --full shows all"), "{}", ran.err);
    assert!(ran.err.contains("r0/c0 is left out: ") && ran.err.contains("1_527 more are left out"), "{}", ran.err);
    assert!(ran.err.lines().count() < 20, "{}", ran.err);
}
