//! `zarr diff`.

use crate::folder::{Folder, int16};
use zarr::meta::json::Value;

fn store() -> Folder {
    let folder = Folder::new();
    let args = "create s g/a --shape 20,30 --dtype int16 --chunks 7,30 --fill -9 --dims y,x";
    folder.ok(&args.split(' ').collect::<Vec<_>>());
    folder.ok(&["attrs", "s", "g/a", "--set", "units=K"]);
    folder.ok(&["create", "s", "g/b", "--shape", "3", "--dtype", "float32", "--fill", "NaN"]);
    folder.fill("s", "g/a", "<i2", "(20, 30)", &int16(0..600));
    folder
}

fn out(folder: &Folder, code: i32, args: &[&str]) -> String {
    let ran = folder.run(&[&["diff"], args].concat());
    assert_eq!(ran.code, Some(code), "{args:?}: {}", ran.err);
    String::from_utf8(ran.out).unwrap()
}

#[test]
fn other_layouts_are_no_difference() {
    let folder = store();
    assert_eq!(out(&folder, 0, &["s", "s"]), "equal: 4 nodes compared\n");
    folder.ok(&["convert", "s", "v2", "--dialect", "v2", "--chunks", "5,6"]);
    folder.ok(&["convert", "s", "shards", "--chunks", "5,6", "--shards", "10,12", "--codecs", "gzip"]);
    folder.ok(&["convert", "s", "d2022", "--dialect", "d2022", "--carry"]);
    for (other, nodes) in [("v2", 4), ("shards", 2)] {
        let text = format!("equal: 4 nodes compared; another layout in {nodes} (--layout)\n");
        assert_eq!(out(&folder, 0, &["s", other]), text);
        assert_eq!(out(&folder, 0, &[other, "s"]), text);
        let text = out(&folder, 1, &["s", other, "--layout"]);
        assert!(text.ends_with("equal, in another layout: 4 nodes compared\n"), "{text}");
        assert!(text.contains("/chunk_grid/configuration/chunk_shape/0: 7 -> "), "{text}");
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
    }
    // Whatever a dialect cannot say is told.
    out(&folder, 0, &["s", "d2022", "--skip", "metadata,attributes"]);
}

#[test]
fn differences_are_shown() {
    let folder = store();
    folder.ok(&["convert", "s", "t"]);
    let mut changed: Vec<i16> = (0..600).collect();
    (changed[31], changed[35], changed[599]) = (41, 35 - 1, 0);
    folder.fill("t", "g/a", "<i2", "(20, 30)", &int16(changed));
    folder.ok(&["attrs", "t", "g/a", "--set", "units=degC"]);
    folder.ok(&["create", "t", "h", "--shape", "1", "--dtype", "int8"]);
    folder.ok(&["rm", "t", "g/b"]);
    let text = out(&folder, 1, &["s", "t", "--first", "2"]);
    let expected = "\
/g/b  only in A
/h  only in B
/g/a
  /attributes/units: \"K\" -> \"degC\"
  3 of 600 elements differ, by at most 599.0, within [1:20, 1:30]
    [1, 1]: 31 -> 41
    [1, 5]: 35 -> 34
    1 more
different: 3 nodes compared
";
    assert_eq!(text, expected);
    assert_eq!(out(&folder, 1, &["s::/g/a", "t::/g/a", "--skip", "attributes", "--atol", "10"]).lines().count(), 4);
    out(&folder, 0, &["s::/g/a", "t::/g/a", "--skip", "attributes", "--atol", "599"]);
    let skipped = out(&folder, 0, &["s::/g/a", "t::/g/a", "--skip", "attributes", "--skip", "values"]);
    assert_eq!(skipped, "equal: 1 node compared, without values, without attributes\n");
    let ran = folder.run(&["diff", "s", "t", "--json"]);
    let json = Value::from_json(&String::from_utf8(ran.out).unwrap()).unwrap();
    assert_eq!(json.get("only_in_second").unwrap().to_string(), "[\"/h\"]");
    let node = json.get("nodes").and_then(Value::as_array).unwrap()[0].to_string();
    assert!(node.contains(r#""different":3,"max_abs":599.0,"bounds":[[1,20],[1,30]]"#), "{node}");
    assert!(node.contains(r#"{"index":[1,1],"first":31,"second":41}"#), "{node}");
    assert!(ran.err.starts_with("error: s and t differ\n"), "{}", ran.err);
}

/// Counts are exact for arrays with more than 2^64 elements.
#[test]
fn large_counts_are_exact() {
    let folder = Folder::new();
    for (store, fill) in [("s", "0"), ("t", "1")] {
        folder.ok(&["create", store, "a", "--shape", "8589934592,8589934592", "--dtype", "int8", "--fill", fill]);
    }
    let text = out(&folder, 1, &["s", "t", "--first", "1"]);
    let all = "73_786_976_294_838_206_464";
    assert!(text.contains(&format!("  {all} of {all} elements differ")), "{text}");
    assert!(text.contains("    73_786_976_294_838_206_463 more\n"), "{text}");
}

#[test]
fn faults_are_named() {
    let folder = store();
    let check = |args: &[&str], code: i32, expected: &str| {
        let ran = folder.run(&[&["diff"], args].concat());
        assert_eq!(ran.code, Some(code), "{}", ran.err);
        assert!(ran.err.contains(expected), "{}", ran.err);
    };
    check(&["s", "none"], 3, "none: no such store");
    check(&["s", "s::/x"], 3, "/x");
    check(&["s", "s", "--rtol=-1"], 2, "expected a number from 0");
    folder.ok(&["create", "t", "g/a", "--shape", "20,31", "--dtype", "int16"]);
    let text = out(&folder, 1, &["s::/g/a", "t::/g/a"]);
    assert!(text.contains("  /shape: [20,30] -> [20,31]\n"), "{text}");
    assert!(text.contains("  elements not compared: shapes differ\n"), "{text}");
    assert!(text.contains("different: 1 node compared, elements of 1 not; another layout in 1 (--layout)\n"), "{text}");
    let args = ["s::/g/a", "t::/g/a", "--skip", "metadata,attributes"];
    let text = out(&folder, 1, &args);
    assert!(
        text.ends_with("not comparable: 1 node compared, without attributes, without metadata, elements of 1 not\n"),
        "{text}"
    );
    // The exit code says it, and the line of the error.
    assert_eq!(out(&folder, 1, &["s::/g/a", "t::/g/a", "--quiet"]), "");
    let ran = folder.run(&[&["diff", "--json"], &args[..]].concat());
    let json = Value::from_json(&String::from_utf8(ran.out).unwrap()).unwrap();
    assert_eq!((json.get("equal"), json.get("not_compared")), (Some(&Value::from(false)), Some(&Value::from(1_u64))));
    assert!(ran.err.starts_with("error: s::/g/a and t::/g/a cannot be compared\n"), "{}", ran.err);
    let chunk = folder.files("s").into_iter().find(|file| file.contains("g/a/c/2")).unwrap();
    std::fs::write(folder.path("s").join(chunk), "torn").unwrap();
    check(&["s", "s"], 4, "chunk [2, 0]");
}

#[test]
fn labels_are_told() {
    let folder = Folder::new();
    let climate = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/climate.zarr");
    for copy in ["s", "t"] {
        folder.ok(&["convert", climate, copy, "--variables", "sst"]);
    }
    std::fs::write(folder.path("x.json"), "[[[77]]]").unwrap();
    folder.ok(&["write", "t", "sst", "--from", "x.json", "--as", "json", "--select", "2:3, 1:2, 3:4"]);
    let text = out(&folder, 1, &["s", "t"]);
    let line = text.lines().find(|line| line.contains("[2, 1, 3]")).unwrap_or_else(|| panic!("{text}"));
    assert!(
        line.starts_with("    [2, 1, 3] (time 2006-06-16, lat ")
            && line.contains(", lon ")
            && line.ends_with(" -> 77.0"),
        "{line}"
    );
}

#[test]
fn arrays_with_an_unknown_codec_are_equal_where_their_bytes_are() {
    let folder = Folder::new();
    for store in ["a", "b"] {
        folder.ok(&["create", store, "/x", "--shape", "4", "--dtype", "int8", "--chunks", "2", "--codecs", "none"]);
        folder.fill(store, "/x", "|i1", "(4,)", &[1, 2, 3, 4]);
        let document = folder.path(store).join("x/zarr.json");
        let text = std::fs::read_to_string(&document).unwrap();
        let value = Value::from_json(&text).unwrap();
        let text = value.to_string().replace(r#"{"name":"bytes"}"#, r#"{"name":"bytes"},{"name":"jpegxl"}"#);
        assert!(text.contains("jpegxl"), "{text}");
        std::fs::write(&document, text).unwrap();
    }
    assert!(folder.ok(&["diff", "a", "b"]).starts_with("equal"));
    std::fs::write(folder.path("b/x/c/1"), [3, 5]).unwrap();
    let ran = folder.run(&["diff", "a", "b"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(String::from_utf8_lossy(&ran.out).contains("not known, and stored bytes differ"), "{ran:?}");
    assert!(folder.ok(&["diff", "a", "b", "--skip", "values"]).starts_with("equal"));
}
