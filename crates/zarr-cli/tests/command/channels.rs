//! `zarr view` of images with channels.

use crate::folder::{Folder, int16};
use crate::ome::image;
use crate::view::decoded;
use zarr::meta::json::Value;

/// Sets a member of the attribute `ome` of a group.
pub(crate) fn set(folder: &Folder, path: &str, member: &str, json: &str) {
    let attributes = Value::from_json(&folder.ok(&["attrs", "i.zarr", path])).unwrap();
    let mut members = attributes.as_object().unwrap().clone();
    members.set_pointer(&format!("/ome/{member}"), Value::from_json(json).unwrap()).unwrap();
    folder.ok(&["attrs", "i.zarr", path, "--set", &format!("ome={}", members.pointer("/ome").unwrap())]);
}

/// The facts and the pixels of level 1 of the image.
fn pixels(folder: &Folder, args: &[&str]) -> (Value, Vec<[u8; 3]>) {
    let view = [
        "view", "i.zarr", "img", "--json", "--level", "1", "--bare", "-o", "x.png", "--width", "200", "--height", "200",
    ];
    let facts = folder.ok(&[&view[..], args].concat());
    (Value::from_json(&facts).unwrap(), decoded(&std::fs::read(folder.path("x.png")).unwrap()).2)
}

/// The names of the channels that are drawn together.
fn names(facts: &Value) -> Vec<String> {
    let categories = facts.pointer("/colors/categories").and_then(Value::as_array).unwrap_or_default();
    categories.iter().map(|one| one.get("name").and_then(Value::as_str).unwrap().to_owned()).collect()
}

/// An image whose level 1 is 255, but for the first element of channel 1, which is 510.
fn lit(channels: &str) -> Folder {
    let folder = image("0.65");
    set(&folder, "img", "omero", &format!(r#"{{"channels":[{channels}]}}"#));
    let file = crate::folder::npy("<i2", false, "(1, 1)", &int16([510]));
    let written = folder.run_with(&["write", "i.zarr", "img/1", "--select", "1, 0:1, 0:1", "--from", "-"], &file);
    assert_eq!(written.code, Some(0), "{}", written.err);
    folder
}

const WINDOW: &str = r#""window":{"start":0,"end":510,"min":0,"max":9}"#;

#[test]
fn channels_are_shown_together() {
    let folder = lit(&format!(
        r#"{{"label":"DAPI","color":"0000FF",{WINDOW},"active":true}},{{"label":"GFP","color":"00FF00",{WINDOW}}}"#
    ));
    let (facts, shown) = pixels(&folder, &[]);
    assert_eq!((shown[0], shown[1], names(&facts)), ([0, 255, 128], [0, 128, 128], vec!["DAPI".into(), "GFP".into()]));
    let text = folder.ok(&["view", "i.zarr", "img", "--level", "1"]);
    assert!(text.starts_with("cells\ny (µm)\n") && text.contains("0 = DAPI  1 = GFP"), "{text}");
}

#[test]
fn channels_are_chosen() {
    let folder = lit(&format!(
        r#"{{"label":"DAPI","color":"0000FF",{WINDOW}}},{{"label":"GFP","color":"00FF00",{WINDOW},"active":false,"inverted":true}}"#
    ));
    let of = |args: &[&str]| {
        let (facts, shown) = pixels(&folder, args);
        (names(&facts).join(","), shown[0])
    };
    assert_eq!(of(&[]), ("DAPI".to_owned(), [0, 0, 128]));
    assert_eq!(of(&["--channel", "gfp"]), ("GFP".to_owned(), [0, 0, 0]));
    assert_eq!(of(&["--channel", "1,DAPI"]), ("GFP,DAPI".to_owned(), [0, 0, 128]));
    assert_eq!(of(&["--no-composite", "--range", "0:510", "--cmap", "gray"]), (String::new(), [128; 3]));
    for (args, message) in [
        (&["--channel", "RFP"][..], r#"--channel: found no channel "RFP", expected one of 0 (DAPI), 1 (GFP)"#),
        (&["--channel", "GFP", "--cmap", "gray"], "--channel: channels have their own colours and ranges"),
        (&["--channel", "GFP", "--isel", "c=0"], "--channel: no channels can be chosen: an index of the axis"),
        (&["--channel", "GFP", "--no-composite"], "cannot be used with"),
        (&["--channel", ""], r#"found no channel """#),
        (&["--channel", "GFP", "--animate", "c", "-o", "x.png"], "--channel: the frames along c are channels"),
    ] {
        let ran = folder.run(&[&["view", "i.zarr", "img"], args].concat());
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(message), "{args:?}: {}", ran.err);
    }
    let ran = folder.run(&["view", "i.zarr", "img/0", "--channel", "0"]);
    assert!(ran.err.contains("--channel: an array has no channels, only an image"), "{}", ran.err);
}

#[test]
fn windows_without_a_length_are_a_warning() {
    let folder = lit(r#"{"color":"FF0000","window":{"start":5,"end":5}},{"color":"red"}"#);
    let ran = folder.run(&["view", "i.zarr", "img"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains(r#"/omero/channels/1/color: found "red""#), "{}", ran.err);
    let folder = lit(r#"{"color":"FF0000","window":{"start":5,"end":5}}"#);
    let ran = folder.run(&["view", "i.zarr", "img"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("channel 0: its window begins and ends at 5"), "{}", ran.err);
}
