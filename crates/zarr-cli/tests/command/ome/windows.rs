//! Windows of the channels of images.

use super::*;

#[test]
fn windows_of_channels_are_those_of_the_elements() {
    for (windows, expected) in
        [("minmax", [0.0, 9.0, 0.0, 9.0]), ("50,100", [0.0, 9.0, 0.0, 9.0]), ("0,50", [0.0, 0.0, 0.0, 9.0])]
    {
        let folder = plain();
        folder.ok(&[&OME[..], &["ome", "--axes", "cyx", "--channel-windows", windows]].concat());
        let attributes = attributes(&folder, "x.ome.zarr");
        let window = attributes.pointer("/ome/omero/channels/1/window").unwrap();
        let found = ["start", "end", "min", "max"].map(|name| window.get(name).unwrap().as_f64().unwrap());
        assert_eq!(found, expected, "{windows}");
        assert_eq!(attributes.pointer("/ome/multiscales/0/name").unwrap().as_str(), Some("x"));
    }
}

/// Checks that images that are there get windows by their elements, and keep all else: of the least and greatest value of the finest level,
/// or of percentiles of the coarsest level with enough elements.
#[test]
fn channels_of_images_get_other_windows() {
    let folder = Folder::new();
    let level = |path: &str, size: u32| {
        format!(r#"{{"path":"{path}","coordinateTransformations":[{{"type":"scale","scale":[1,{size},{size}]}}]}}"#)
    };
    let axes = r#"[{"name":"c","type":"channel"},{"name":"y","type":"space"},{"name":"x","type":"space"}]"#;
    let omero = r#"{"rdefs":{"model":"color"},"channels":[
        {"label":"DAPI","color":"0000FF","coefficient":1,"window":{"start":0,"end":510,"min":0,"max":300,"of":"us"}},
        {"label":"GFP","color":"00FF00"}]}"#;
    let (fine, coarse) = (level("0", 1), level("1", 2));
    let multiscales = format!(r#"[{{"version":"0.4","axes":{axes},"datasets":[{fine},{coarse}]}}]"#);
    let with = |more: &str| format!(r#"{{"multiscales":{multiscales},{more}}}"#);
    let all = [("i.zarr", "2048,2048", "1024,1024", 1), ("small.zarr", "2048,2046", "1024,1023", 0)];
    for (store, fine, coarse, level) in all {
        let create = ["create", store, "/", "--dialect", "v2", "--group", "--attributes"];
        folder.ok(&[&create[..], &[&with(&format!(r#""omero":{omero}"#))]].concat());
        folder.ok(&[
            &create[..2],
            &["labels/l", "--dialect", "v2", "--group", "--attributes", &with(r#""image-label":{}"#)],
        ]
        .concat());
        let array = |path: &str, shape: &str, fill: &str| {
            let shape = format!("2,{shape}");
            let array = ["--dtype", "uint16", "--chunks", "1,1024,1024", "--dialect", "v2", "--shape", &shape];
            folder.ok(&[&["create", store, path][..], &array, &["--fill", fill]].concat());
        };
        array("0", fine, "40");
        array("1", coarse, "50");
        folder.ok(&["write", store, "0", "--select", "0,0:2,0", "--value", "900"]);
        folder.ok(&["write", store, "1", "--select", "1,:,0:512", "--value", "70"]);
        let convert = |target: &str, windows: &str| {
            let to = ["convert", store, target, "--convention", "ome", "--channel-windows", windows];
            folder.run(&[&to[..], &["--ome-version", "0.5", "--overwrite"]].concat())
        };
        let windows = |target: &str| {
            let found = attributes(&folder, target);
            let channel = |number: u32| found.pointer(&format!("/ome/omero/channels/{number}")).unwrap().clone();
            for (pointer, value) in
                [("rdefs/model", "color"), ("channels/0/label", "DAPI"), ("channels/1/color", "00FF00")]
            {
                assert_eq!(found.pointer(&format!("/ome/omero/{pointer}")).unwrap().as_str(), Some(value), "{found}");
            }
            [channel(0), channel(1)].map(|channel| channel.get("window").unwrap().to_string())
        };
        let told = convert("whole.zarr", "minmax");
        assert!(told.code == Some(0) && !told.err.contains("windows of channels"), "{}", told.err);
        let expected =
            [r#"{"start":40,"end":900,"min":40,"max":900,"of":"us"}"#, r#"{"min":40,"max":40,"start":40,"end":40}"#];
        assert_eq!(windows("whole.zarr"), expected);
        let told = convert("most.zarr", "1,99");
        let text = told.err;
        assert_eq!(told.code, Some(0), "{text}");
        assert_eq!(text.contains("/: windows of channels are percentiles of level 1 of 0 to 1"), level == 1, "{text}");
        let expected = match level {
            1 => {
                [r#"{"start":50,"end":50,"min":0,"max":300,"of":"us"}"#, r#"{"min":0,"max":65535,"start":50,"end":70}"#]
            }
            _ => {
                [r#"{"start":40,"end":40,"min":0,"max":300,"of":"us"}"#, r#"{"min":0,"max":65535,"start":40,"end":40}"#]
            }
        };
        assert_eq!(windows("most.zarr"), expected);
        // Labels have no channels.
        assert!(!folder.ok(&["info", "most.zarr", "labels/l", "--json"]).contains("omero"));
    }
    folder.ok(&["create", "g.zarr", "/", "--group"]);
    let none = ["convert", "g.zarr", "y.zarr", "--convention", "ome", "--channel-windows", "minmax"];
    assert!(failed(&folder, &none).contains("found a group, expected an array to make an image of"));
}

/// Checks that windows of infinite values have finite ends, the least first, and that channels without finite values are refused.
#[test]
fn windows_of_infinite_values_have_finite_ends() {
    let (minus, plus) = ("-Infinity", "Infinity");
    for (values, ends) in [
        ([minus, "-5", "-3", "-3"], Some([-5.0, -3.0])),
        (["5", "7", plus, plus], Some([5.0, 7.0])),
        ([minus, "100000", "100000", plus], Some([1e5, 1e5])),
        ([plus, plus, plus, plus], None),
        (["NaN", "NaN", "NaN", "NaN"], None),
    ] {
        let folder = Folder::new();
        folder.ok(&["create", "p.zarr", "/", "--shape", "1,1,4", "--dtype", "float32", "--dims", "c,y,x"]);
        for (at, value) in values.iter().enumerate() {
            let select = format!("0,0,{at}");
            folder.ok(&["write", "p.zarr", "/", "--select", &select, &format!("--value={value}")]);
        }
        for windows in ["minmax", "0,100", "1,99"] {
            let to = ["convert", "p.zarr", "x.ome.zarr", "--convention", "ome", "--axes", "cyx", "--overwrite"];
            let to = [&to[..], &["--channel-windows", windows]].concat();
            let Some([start, end]) = ends else {
                let said = failed(&folder, &to);
                assert!(said.contains("/: --channel-windows: found no finite values of channel 0"), "{said}");
                // Where no windows are asked for, that is no error.
                folder.ok(&[&to[..8], &["--channel-names", "a"]].concat());
                let attributes = attributes(&folder, "x.ome.zarr");
                let window = attributes.pointer("/ome/omero/channels/0/window").unwrap();
                assert_eq!([0.0, 1.0], ["start", "end"].map(|name| window.get(name).unwrap().as_f64().unwrap()));
                continue;
            };
            folder.ok(&to);
            let attributes = attributes(&folder, "x.ome.zarr");
            let window = attributes.pointer("/ome/omero/channels/0/window").unwrap();
            let found = ["min", "max", "start", "end"].map(|name| window.get(name).unwrap().as_f64().unwrap());
            assert_eq!(found[..2], [start, end], "{windows} {values:?}");
            let is_within = start <= found[2] && found[2] <= found[3] && found[3] <= end;
            assert!(is_within, "{windows} {values:?}: {found:?}");
        }
    }
}

/// Checks that the images that are converted get windows: no labels, and no image that is left out.
#[test]
fn images_that_are_converted_get_windows() {
    let folder = Folder::new();
    folder.ok(&["create", "h.zarr", "/", "--group"]);
    let labels = r#"{"ome":{"version":"0.5","labels":["l"]}}"#;
    folder.ok(&["create", "h.zarr", "/labels", "--group", "--attributes", labels]);
    let axes = r#"[{"name":"c","type":"channel"},{"name":"x","type":"space"}]"#;
    let scale = r#"[{"type":"scale","scale":[1,1]}]"#;
    let datasets = format!(r#"[{{"path":"0","coordinateTransformations":{scale}}}]"#);
    let image = format!(r#"{{"ome":{{"version":"0.5","multiscales":[{{"axes":{axes},"datasets":{datasets}}}]}}}}"#);
    for (path, value) in [("/a", "7"), ("/b", "NaN"), ("/labels/l", "3")] {
        folder.ok(&["create", "h.zarr", path, "--group", "--attributes", &image]);
        let array = ["--shape", "1,4", "--dtype", "float32", "--dims", "c,x", "--fill", value];
        folder.ok(&[&["create", "h.zarr", &format!("{path}/0")][..], &array].concat());
    }
    let windows = ["--convention", "ome", "--channel-windows", "minmax", "--ome-version", "0.5"];
    let convert =
        |target: &str, options: &[&str]| folder.run(&[&["convert", "h.zarr", target][..], &windows, options].concat());
    let attributes = |target: &str, path: &str| folder.ok(&["attrs", target, path, "--json"]);
    let none = "/b/0: --channel-windows: found no finite values of channel 0, expected some";
    let all = convert("all.zarr", &[]);
    assert!(all.code != Some(0) && all.err.contains(none), "{}", all.err);
    let others = convert("others.zarr", &["--keep-going"]);
    assert!(
        others.code == Some(0) && others.err.contains("/b: windows of channels stay as they are"),
        "{}",
        others.err
    );
    assert!(others.err.contains(none), "{}", others.err);
    let most = convert("most.zarr", &["--exclude", "/b"]);
    assert!(most.code == Some(0) && !most.err.contains("/b"), "{}", most.err);
    for target in ["others.zarr", "most.zarr"] {
        let found = Value::from_json(&attributes(target, "/a")).unwrap();
        let window = found.pointer("/ome/omero/channels/0/window").unwrap();
        assert_eq!(window.to_string(), r#"{"start":7,"end":7,"min":7,"max":7}"#, "{target}");
    }
    for (target, path) in [("others.zarr", "/b"), ("most.zarr", "/labels/l")] {
        let found = attributes(target, path);
        assert!(found.contains("multiscales") && !found.contains("omero"), "{target} {path}: {found}");
    }
    let labels = convert("labels.zarr", &["--exclude", "/a", "--exclude", "/b"]);
    assert!(labels.err.contains("/: --channel-windows: found no image with channels"), "{}", labels.err);
}
