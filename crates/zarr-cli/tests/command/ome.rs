//! Output of `zarr tree` and `zarr info` about OME-Zarr images.

mod windows;

use crate::folder::Folder;
use zarr::meta::json::Value;

/// An image of two levels and two channels.
pub(crate) fn image(scale: &str) -> Folder {
    let folder = Folder::new();
    let level = |path: &str, size: &str| {
        format!(r#"{{"path":"{path}","coordinateTransformations":[{{"type":"scale","scale":[1,{size},{size}]}}]}}"#)
    };
    let space = |name: &str| format!(r#"{{"name":"{name}","type":"space","unit":"micrometer"}}"#);
    let attributes = format!(
        r#"{{"ome":{{"version":"0.5","multiscales":[{{"name":"cells","axes":[{{"name":"c","type":"channel"}},{},{}],"datasets":[{},{}]}}],
        "omero":{{"channels":[{{"label":"DAPI","window":{{"start":0,"end":510,"min":0,"max":65535}}}},{{"label":"GFP"}}]}}}}}}"#,
        space("y"),
        space("x"),
        level("0", scale),
        level("1", "1.3"),
    );
    folder.ok(&["create", "i.zarr", "img", "--group", "--attributes", &attributes]);
    folder.ok(&["create", "i.zarr", "img/0", "--shape", "2,400,400", "--dtype", "int16", "--chunks", "1,100,100"]);
    folder.ok(&["create", "i.zarr", "img/1", "--shape", "2,200,200", "--dtype", "int16", "--fill", "255"]);
    folder
}

#[test]
fn tree_and_info_know_images() {
    let folder = image("0.65");
    let tree = folder.ok(&["tree", "i.zarr"]);
    assert_eq!(tree.lines().nth(1), Some("`- img/  image, 2 levels, 0.65 µm"), "{tree}");
    let info = folder.ok(&["info", "i.zarr", "img"]);
    for line in [
        "OME-Zarr           : 0.5, image, 2 levels, 0.65 µm",
        "Axes               : c (channel), y (space, µm), x (space, µm)",
        "Levels             : 0  scale (1, 0.65, 0.65)",
        "                     1  scale (1, 1.3, 1.3)",
        "Channels           : DAPI, GFP",
    ] {
        assert!(info.lines().any(|found| found == line), "{line}\n{info}");
    }
    let json = Value::from_json(&folder.ok(&["info", "i.zarr", "img", "--json"])).unwrap();
    assert_eq!(json.pointer("/ome/images/0/levels/1/scale").unwrap().to_string(), "[1.0,1.3,1.3]");
    assert_eq!(
        json.pointer("/ome/images/0/axes/1").unwrap().to_string(),
        r#"{"name":"y","type":"space","unit":"micrometer"}"#
    );
}

#[test]
fn a_faulty_image_is_a_warning_of_info() {
    let folder = Folder::new();
    folder.ok(&[
        "create",
        "i.zarr",
        "img",
        "--group",
        "--attributes",
        r#"{"ome":{"version":"0.5","multiscales":[{}]}}"#,
    ]);
    let tree = folder.ok(&["tree", "i.zarr"]);
    assert_eq!(tree.lines().nth(1), Some("`- img/  image with faulty metadata"), "{tree}");
    warns(&folder, "/attributes/ome/multiscales/0/datasets: ", "found nothing, expected this member");
    // Scales are of no matter for what an image is.
    let folder = image("-1");
    let tree = folder.ok(&["tree", "i.zarr"]);
    assert_eq!(tree.lines().nth(1), Some("`- img/  image, 2 levels"), "{tree}");
    let fault = "/attributes/ome/multiscales/0/datasets/0/coordinateTransformations/0/scale/1: ";
    warns(&folder, fault, "found -1, expected a positive number");
}

/// The first warning of `info` has the pointer of the fault, as text and in JSON.
fn warns(folder: &Folder, fault: &str, message: &str) {
    let info = folder.ok(&["info", "i.zarr", "img"]);
    let warning = info.lines().find(|line| line.starts_with("Warning") && line.contains(fault));
    assert!(warning.is_some_and(|warning| warning.ends_with(message)), "{info}");
    let json = Value::from_json(&folder.ok(&["info", "i.zarr", "img", "--json"])).unwrap();
    assert!(json.get("warnings").unwrap().to_string().contains(fault), "{json}");
}

/// An image of a version without scales is no faulty one.
#[test]
fn images_of_older_versions_are_said_to_be() {
    let folder = Folder::new();
    let attributes = r#"{"multiscales":[{"version":"0.3","axes":["y","x"],"datasets":[{"path":"0"}]}]}"#;
    folder.ok(&["create", "o", "img", "--group", "--attributes", attributes]);
    folder.ok(&["create", "o", "img/0", "--shape", "4,4", "--dtype", "int16"]);
    let tree = folder.ok(&["tree", "o"]);
    assert!(tree.contains("img/  image of a version of OME-Zarr that is not read"), "{tree}");
    let ran = folder.run(&["view", "o", "img"]);
    let expected =
        r#"found version "0.3", whose levels have no scales, expected 0.4 or later; the arrays of its levels"#;
    assert!(ran.code != Some(0) && ran.err.contains(expected), "{}", ran.err);
    folder.ok(&["view", "o", "img/0"]);
}

/// An image of one level, with transformations of the whole image.
fn with_transformations(folder: &Folder, store: &str, of_all: &str) {
    let axis = |name: &str| format!(r#"{{"name":"{name}","type":"space","unit":"micrometer"}}"#);
    let level = r#"{"path":"0","coordinateTransformations":[{"type":"scale","scale":[2,2]}]}"#;
    let attributes = format!(
        r#"{{"ome":{{"version":"0.5","multiscales":[{{"axes":[{},{}],"datasets":[{level}],"coordinateTransformations":{of_all}}}]}}}}"#,
        axis("y"),
        axis("x"),
    );
    folder.ok(&["create", store, "/", "--group", "--attributes", &attributes]);
    folder.ok(&["create", store, "0", "--shape", "8,8", "--dtype", "uint8"]);
}

#[test]
fn an_image_with_an_unknown_transformation_is_shown_by_indices() {
    let folder = Folder::new();
    with_transformations(&folder, "s", r#"[{"type":"affine","affine":[[1,0,5],[0,1,6]]}]"#);
    let pointer = "/attributes/ome/multiscales/0/coordinateTransformations/0/type";
    let ran = folder.run(&["view", "s", "-o", "x.png"]);
    let expected = format!("indices instead of positions, which are not known: {pointer}: found \"affine\"");
    assert!(ran.code == Some(0) && ran.err.contains(&expected), "{}", ran.err);
    assert!(folder.path("x.png").exists());
    let tree = folder.ok(&["tree", "s"]);
    assert!(tree.lines().next().is_some_and(|line| line.ends_with("  image, 1 level")), "{tree}");
    let info = folder.ok(&["info", "s"]);
    assert!(info.contains("Axes               : y (space), x (space)\n"), "{info}");
    let json = Value::from_json(&folder.ok(&["info", "s", "--json"])).unwrap();
    assert!(json.pointer("/ome/images/0/unplaced").unwrap().as_str().unwrap().starts_with(pointer), "{json}");
    let ran = folder.run(&["check", "s"]);
    let out = String::from_utf8(ran.out).unwrap();
    assert!(ran.code == Some(1) && out.contains(&format!("#{pointer}")) && out.contains("[bad-image]"), "{out}");
}

/// `multiscales` of GeoZarr is an object, that of map pyramids a list without axes.
#[test]
fn pyramids_of_other_conventions_are_groups_like_any_other() {
    for attributes in [
        r#"{"multiscales":{"layout":[{"asset":"a"},{"asset":"b","derived_from":"a"}]}}"#,
        r#"{"multiscales":[{"datasets":[{"path":"a","crs":"EPSG:3857"}],"type":"reduce","metadata":{"version":"1"}}]}"#,
    ] {
        let folder = Folder::new();
        folder.ok(&["create", "s", "/", "--group", "--attributes", attributes]);
        folder.ok(&["create", "s", "a", "--shape", "4,4", "--dtype", "uint8"]);
        let tree = folder.ok(&["tree", "s"]);
        assert!(!tree.contains("image"), "{tree}");
        let checked = folder.ok(&["check", "s"]);
        assert!(checked.contains("0 errors, 0 warnings"), "{checked}");
        let ran = folder.run(&["view", "s"]);
        let expected =
            "found a group, expected an array, an OME-Zarr image or a pyramid of maps\nhint: it has the arrays a";
        assert!(ran.code == Some(2) && ran.err.contains(expected), "{}", ran.err);
        for args in [["convert", "s", "d"], ["cp", "s", "c"]] {
            let out = folder.ok(&args);
            assert!(!out.contains("OME-Zarr"), "{out}");
        }
    }
}

/// An image of 0.4 in a store of version 2.
fn old(folder: &Folder) {
    let axis = |name: &str| format!(r#"{{"name":"{name}","type":"space"}}"#);
    let attributes = format!(
        r#"{{"multiscales":[{{"version":"0.4","axes":[{},{}],"datasets":[
        {{"path":"0","coordinateTransformations":[{{"type":"scale","scale":[0.5,0.5]}}]}}]}}],"other":1}}"#,
        axis("y"),
        axis("x"),
    );
    folder.ok(&["create", "v2", "/", "--group", "--dialect", "v2", "--attributes", &attributes]);
    folder.ok(&["create", "v2", "0", "--shape", "4,4", "--dtype", "uint8", "--dialect", "v2"]);
    folder.fill("v2", "0", "|u1", "(4, 4)", &[1; 16]);
}

#[test]
fn conversions_write_the_version_of_the_format() {
    let folder = Folder::new();
    old(&folder);
    let line = "OME-Zarr metadata of 1 group in the form of 0.5; --literal leaves it as it is\n";
    let plan = folder.ok(&["convert", "v2", "v3", "--dialect", "v3", "--dry-run"]);
    assert!(plan.contains(line) && plan.contains("/attributes: OME-Zarr metadata becomes that of 0.5"), "{plan}");
    let out = folder.ok(&["convert", "v2", "v3", "--dialect", "v3"]);
    assert!(out.ends_with(line), "{out}");
    let checked = folder.ok(&["check", "v3"]);
    assert!(checked.contains("0 errors, 0 warnings"), "{checked}");
    let json = Value::from_json(&folder.ok(&["info", "v3", "--json"])).unwrap();
    assert_eq!(json.pointer("/ome/version").unwrap().as_str(), Some("0.5"));
    assert_eq!(json.pointer("/attributes/other"), Some(&Value::from(1_u64)));
    let json = Value::from_json(&folder.ok(&["info", "v3", "0", "--json"])).unwrap();
    assert_eq!(json.get("dimension_names").unwrap().to_string(), r#"["y","x"]"#);
    let ran = folder.run(&["diff", "v2", "v3"]);
    assert_eq!(ran.code, Some(0), "{}", String::from_utf8_lossy(&ran.out));
    // A group of version 3 takes an image of version 2, and one of version 2 takes it back.
    folder.ok(&["create", "into", "/", "--group"]);
    let out = folder.ok(&["cp", "v2", "into::/img"]);
    assert!(out.ends_with(line), "{out}");
    assert_eq!(folder.run(&["check", "into"]).code, Some(0));
    let back = folder.ok(&["convert", "v3", "back", "--dialect", "v2"]);
    assert!(back.ends_with(&line.replace("0.5", "0.4")), "{back}");
    assert_eq!(folder.ok(&["attrs", "back"]), folder.ok(&["attrs", "v2"]));
    assert_eq!(folder.ok(&["attrs", "back", "0"]), folder.ok(&["attrs", "v2", "0"]));
    // To the letter.
    let out = folder.ok(&["convert", "v2", "same", "--dialect", "v3", "--literal"]);
    assert!(!out.contains("OME-Zarr"), "{out}");
    assert_eq!(folder.run(&["diff", "v2", "same"]).code, Some(0));
    let ran = folder.run(&["check", "same"]);
    assert!(ran.code == Some(1) && String::from_utf8(ran.out).unwrap().contains("[image-version]"));
    let out = folder.ok(&["migrate", "v2", "--dialect", "v3"]);
    assert!(out.ends_with(line), "{out}");
}

#[test]
fn a_plate_with_two_rows_of_one_name_is_an_error() {
    let folder = Folder::new();
    let plate = |rows: &str| {
        format!(
            r#"{{"ome":{{"version":"0.5","plate":{{"rows":{rows},"columns":[{{"name":"1"}}],
            "wells":[{{"path":"A/1","rowIndex":0,"columnIndex":0}}]}}}}}}"#
        )
    };
    let image = r#"{"ome":{"version":"0.5","multiscales":[{"axes":[{"name":"y","type":"space"},{"name":"x","type":"space"}],
        "datasets":[{"path":"0","coordinateTransformations":[{"type":"scale","scale":[1,1]}]}]}]}}"#;
    let well = r#"{"ome":{"version":"0.5","well":{"images":[{"path":"0"}]}}}"#;
    for (store, rows, errors) in [("good", r#"[{"name":"A"}]"#, 0), ("bad", r#"[{"name":"A"},{"name":"A"}]"#, 1)] {
        folder.ok(&["create", store, "/", "--group", "--attributes", &plate(rows)]);
        folder.ok(&["create", store, "A", "--group"]);
        folder.ok(&["create", store, "A/1", "--group", "--attributes", well]);
        folder.ok(&["create", store, "A/1/0", "--group", "--attributes", image]);
        folder.ok(&["create", store, "A/1/0/0", "--shape", "2,2", "--dtype", "uint8"]);
        let ran = folder.run(&["check", store]);
        let out = String::from_utf8(ran.out).unwrap();
        assert_eq!(ran.code, Some(errors), "{out}");
        let expected = "zarr.json#/attributes/ome/plate/rows/1/name";
        assert_eq!(out.contains(expected) && out.contains("[bad-plate]"), errors == 1, "{out}");
    }
}

/// A folder with an array of 2 channels.
fn plain() -> Folder {
    let folder = Folder::new();
    folder.ok(&["create", "p.zarr", "/", "--shape", "2,4,6", "--dtype", "uint16", "--chunks", "1,4,6"]);
    folder.ok(&["write", "p.zarr", "/", "--select", "1,1:3,1:3", "--value", "9"]);
    folder
}

const OME: [&str; 4] = ["convert", "p.zarr", "x.ome.zarr", "--convention"];

fn failed(folder: &Folder, args: &[&str]) -> String {
    let ran = folder.run(args);
    assert_ne!(ran.code, Some(0), "{args:?}");
    ran.err
}

fn attributes(folder: &Folder, store: &str) -> Value {
    Value::from_json(&folder.ok(&["attrs", store, "--json"])).unwrap()
}

#[test]
fn an_array_becomes_an_image() {
    for (version, dialect) in [("0.4", "v2"), ("0.5", "v3"), ("0.6", "v3")] {
        let folder = plain();
        let options =
            ["ome", "--axes", "cyx", "--scale", "y=0.5um,x=2um", "--channel-names", "a,b", "--ome-version", version];
        folder.ok(&[&OME[..], &options].concat());
        let info = folder.ok(&["info", "x.ome.zarr"]);
        for line in [
            &format!("OME-Zarr           : {version}, image, 1 level, 0.5 x 2 µm"),
            "Axes               : c (channel), y (space, µm), x (space, µm)",
            "Channels           : a, b",
        ] {
            assert!(info.lines().any(|found| found == line), "{line}\n{info}");
        }
        assert!(folder.ok(&["info", "x.ome.zarr", "0"]).contains(&format!(": {dialect} ")));
        assert_eq!(folder.ok(&["read", "x.ome.zarr", "0", "--select", "1,2,1:3"]).trim(), "9\n9");
        folder.ok(&["check", "x.ome.zarr"]);
        // Back and forth.
        folder.ok(&["convert", "x.ome.zarr", "y.zarr", "--convention", "ome", "--ome-version", "0.5"]);
        folder.ok(&["convert", "y.zarr", "z.zarr", "--convention", "ome", "--ome-version", version]);
        assert!(attributes(&folder, "z.zarr").semantically_eq(&attributes(&folder, "x.ome.zarr")));
    }
}

/// Checks that channels, windows and positions are those of the region that is converted.
#[test]
fn a_region_becomes_an_image() {
    let folder = Folder::new();
    let array = ["--shape", "3,4,6", "--dtype", "int32", "--chunks", "1,4,6", "--dims", "c,y,x"];
    folder.ok(&[&["create", "p.zarr", "/"], &array[..]].concat());
    for (value, select) in [("7", "1,0:4,0:6"), ("9", "1,1,1"), ("50", "1,0,0"), ("70", "2,0:4,0:6")] {
        folder.ok(&["write", "p.zarr", "/", "--select", select, "--value", value]);
    }
    let region = ["ome", "--isel", "c=1:2", "--isel", "y=1:4", "--isel", "x=1:6:2", "--scale", "y=0.5um,x=2um"];
    let both = [&OME[..], &region, &["--channel-windows", "minmax", "--channel-names"]].concat();
    assert!(failed(&folder, &[&both[..], &["a,b,c"]].concat()).contains("found 3 names, expected 1"));
    folder.ok(&[&both[..], &["DAPI"]].concat());
    let attributes = attributes(&folder, "x.ome.zarr");
    let found = |pointer: &str| attributes.pointer(pointer).unwrap().to_string();
    let channels = attributes.pointer("/ome/omero/channels").unwrap().as_array().unwrap();
    assert_eq!(channels.len(), 1);
    assert_eq!(found("/ome/omero/channels/0/window"), r#"{"start":7,"end":9,"min":7,"max":9}"#);
    let placed = found("/ome/multiscales/0/datasets/0/coordinateTransformations");
    assert_eq!(placed, r#"[{"type":"scale","scale":[1,0.5,4]},{"type":"translation","translation":[0,0.5,2]}]"#);
    assert_eq!(folder.ok(&["read", "x.ome.zarr", "0", "--select", "0,0,0:3"]).trim(), "9\n7\n7");
}

/// Checks that an image is never made in a group of other metadata.
#[test]
fn an_image_never_replaces_other_metadata() {
    for (dialect, version, there, expected) in [
        ("v3", "0.5", r#"{"ome":{"version":"0.5","plate":{"rows":[],"columns":[],"wells":[]}}}"#, "found plate"),
        ("v2", "0.4", r#"{"multiscales":{"layout":[{"asset":"a"}]}}"#, "multiscales of another convention"),
    ] {
        let folder = plain();
        folder.ok(&["create", "x.ome.zarr", "/", "--group", "--dialect", dialect, "--attributes", there]);
        let to = ["convert", "p.zarr", "x.ome.zarr", "--convention", "ome", "--axes", "cyx", "--overwrite"];
        let said = failed(&folder, &[&to[..], &["--ome-version", version]].concat());
        assert!(said.contains(expected), "{said}");
        let expected = Value::from_json(there).unwrap();
        assert!(attributes(&folder, "x.ome.zarr").semantically_eq(&expected), "{said}");
    }
}

#[test]
fn what_is_no_image_is_said() {
    let folder = plain();
    let fails = |options: &[&str], expected: &str| {
        let said = failed(&folder, &[&OME[..], options].concat());
        assert!(said.contains(expected), "{said}");
        assert!(!std::path::Path::new(&folder.path("x.ome.zarr")).exists());
    };
    fails(&["ome"], "expected --axes, such as tczyx");
    fails(&["ome", "--axes", "yx"], "expected 2 as the axes y, x");
    fails(&["ome", "--axes", "cyx", "--channel-names", "a"], "found 1 names, expected 2");
    fails(&["ome", "--axes", "cyx", "--scale", "z=1um"], "no axis \"z\"");
    fails(&["ome", "--axes", "cyx", "--ome-version", "0.3"], "expected 0.4, 0.5 or 0.6");
    fails(&["ome", "--axes", "cyx", "--ome-version", "0.4", "--dialect", "v3"], "expected dialect v2");
    fails(&["none", "--axes", "cyx"], "without --convention ome");
    let copied = failed(&folder, &["cp", "p.zarr", "q.zarr", "--convention", "ome"]);
    assert!(copied.contains("`zarr convert` makes images of arrays"), "{copied}");
    folder.ok(&["create", "g.zarr", "/", "--group"]);
    fails(&["ome", "--axes", "cyx", "--ome-version", "1"], "expected 0.4, 0.5 or 0.6");
    let old = failed(&folder, &["convert", "g.zarr", "y", "--convention", "ome", "--ome-version", "0.5"]);
    assert!(old.contains("found no group with metadata of OME-Zarr, expected one to convert to 0.5"), "{old}");
    folder.ok(&["create", "many.zarr", "/", "--shape", "1001,2,2", "--dtype", "int32"]);
    let windows = ["many.zarr", "y", "--convention", "ome", "--axes", "cyx", "--channel-windows", "minmax"];
    let many = failed(&folder, &[&["convert"][..], &windows].concat());
    assert!(many.contains("/: --channel-windows: found 1001 channels, expected at most 1000"), "{many}");
    let of_group = failed(&folder, &["convert", "g.zarr", "x.ome.zarr", "--convention", "ome"]);
    assert!(of_group.contains("found a group, expected an array to make an image of"), "{of_group}");
}

/// Checks that an image in one file has its document first and the comment that RFC-9 asks for.
#[test]
fn an_array_becomes_an_image_in_one_file() {
    let folder = plain();
    folder.ok(&["convert", "p.zarr", "x.ozx", "--convention", "ome", "--axes", "cyx", "--ome-version", "0.6"]);
    let bytes = std::fs::read(folder.path("x.ozx")).unwrap();
    assert_eq!(bytes.get(30..39), Some(&b"zarr.json"[..]));
    assert!(bytes.ends_with(br#"{"ome":{"version":"0.6","zipFile":{"centralDirectory":{"jsonFirst":true}}}}"#));
    assert!(folder.ok(&["tree", "x.ozx"]).contains("image, 1 level"));
    assert_eq!(folder.ok(&["read", "x.ozx", "0", "--select", "1,2,1:3"]).trim(), "9\n9");
}
