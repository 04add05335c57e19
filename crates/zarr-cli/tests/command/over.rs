//! `zarr view --labels`: labels over images.

use crate::channels::set;
use crate::folder::{Folder, int16};
use crate::ome::image;
use crate::view::decoded;

/// An image of which all elements are 255, with the labels `cells` of two levels: the first row of level 1 is 0, 1, 2, 1, .. , and the rest 0.
fn labelled() -> Folder {
    let folder = image("0.65");
    let window = r#"{"color":"FFFFFF","window":{"start":0,"end":510}}"#;
    set(&folder, "img", "omero", &format!(r#"{{"channels":[{window}]}}"#));
    let level = |path: &str| {
        format!(r#"{{"path":"{path}","coordinateTransformations":[{{"type":"scale","scale":[0.65,0.65]}}]}}"#)
    };
    let axis = |name: &str| format!(r#"{{"name":"{name}","type":"space","unit":"micrometer"}}"#);
    let attributes = format!(
        r#"{{"ome":{{"version":"0.5","multiscales":[{{"axes":[{},{}],"datasets":[{},{}]}}],
        "image-label":{{"colors":[{{"label-value":1,"rgba":[255,0,0,255]}}]}}}}}}"#,
        axis("y"),
        axis("x"),
        level("0"),
        level("1"),
    );
    folder.ok(&[
        "create",
        "i.zarr",
        "img/labels",
        "--group",
        "--attributes",
        r#"{"ome":{"version":"0.5","labels":["cells"]}}"#,
    ]);
    folder.ok(&["create", "i.zarr", "img/labels/cells", "--group", "--attributes", &attributes]);
    folder.ok(&["create", "i.zarr", "img/labels/cells/0", "--shape", "400,400", "--dtype", "int16", "--fill", "2"]);
    folder.ok(&["create", "i.zarr", "img/labels/cells/1", "--shape", "200,200", "--dtype", "int16"]);
    let file = crate::folder::npy("<i2", false, "(1, 3)", &int16([0, 1, 2]));
    let written =
        folder.run_with(&["write", "i.zarr", "img/labels/cells/1", "--select", "0:1, 0:3", "--from", "-"], &file);
    assert_eq!(written.code, Some(0), "{}", written.err);
    folder
}

fn pixels(folder: &Folder, args: &[&str]) -> Vec<[u8; 3]> {
    let view = ["view", "i.zarr", "img", "--bare", "-o", "x.png", "--width", "200", "--height", "200"];
    folder.ok(&[&view[..], args].concat());
    decoded(&std::fs::read(folder.path("x.png")).unwrap()).2
}

#[test]
fn labels_lie_over_the_image() {
    let folder = labelled();
    // The grey of the image, half of it red, half of it orange.
    assert_eq!(pixels(&folder, &["--labels", "cells"])[..3], [[128; 3], [192, 64, 64], [192, 128, 71]]);
    assert_eq!(pixels(&folder, &["--labels", "labels/cells", "--label-opacity", "1"])[1], [255, 0, 0]);
    assert_eq!(pixels(&folder, &["--labels", "cells", "--label-opacity", "0"])[1], [128; 3]);
    // One channel is grey below labels.
    let alone = pixels(&folder, &["--labels", "cells", "--no-composite"]);
    assert_eq!(alone[..2], [[128; 3], [192, 64, 64]]);
    let text = folder.ok(&["view", "i.zarr", "img", "--labels", "cells"]);
    assert!(text.contains("level 1 of 0 to 1") && text.ends_with(", labels cells\n"), "{text}");
}

#[test]
fn labels_that_are_not_there_are_said() {
    let folder = labelled();
    for (args, message) in [
        (&["img", "--labels", "nuclei"][..], r#"error: --labels: found no labels "nuclei", expected one of cells"#),
        (&["img", "--labels", "cells", "--label-opacity", "2"], "expected a number from 0 to 1"),
        (&["img", "--labels", "cells", "--plane", "x"], "--labels: labels are drawn over planes alone"),
        (&["img/0", "--labels", "cells"], "--labels: an array has no labels, only an image"),
    ] {
        let ran = folder.run(&[&["view", "i.zarr"], args].concat());
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(message), "{args:?}: {}", ran.err);
    }
    folder.ok(&["resize", "i.zarr", "img/labels/cells/0", "--shape", "400,399", "--shrink"]);
    let ran = folder.run(&["view", "i.zarr", "img", "--labels", "cells"]);
    assert!(
        ran.err.contains("labels cells: found shape [400, 399], expected that of a level of the image"),
        "{}",
        ran.err
    );
}

#[test]
fn frames_have_their_labels() {
    let folder = labelled();
    folder.ok(&[
        "view",
        "i.zarr",
        "img",
        "--labels",
        "cells",
        "--animate",
        "c",
        "--bare",
        "-o",
        "x.png",
        "--width",
        "200",
        "--height",
        "200",
    ]);
    let file = std::fs::read(folder.path("x.png")).unwrap();
    assert_eq!(decoded(&file).2[1], [192, 64, 64]);
}
