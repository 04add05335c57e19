//! `zarr create`: spellings, groups, dialects.

use crate::folder::{Folder, int16};
use zarr::meta::json::Value;

fn facts(folder: &Folder, store: &str, path: &str) -> Value {
    Value::from_json(&folder.ok(&["info", store, path, "--json"])).unwrap()
}

#[test]
fn data_types_as_numpy_spells_them() {
    let folder = Folder::new();
    for (spelled, name) in [
        ("i4", "int32"),
        ("f4", "float32"),
        ("u2", "uint16"),
        ("<f8", "float64"),
        ("<i8", "int64"),
        ("=f8", "float64"),
        ("b1", "bool"),
        ("c16", "complex128"),
        ("float16", "float16"),
        ("int", "int64"),
        ("float", "float64"),
        ("half", "float16"),
        ("str", "string"),
    ] {
        folder.ok(&["create", "s", spelled, "--shape", "2", "--dtype", spelled]);
        assert_eq!(facts(&folder, "s", spelled).get("data_type").and_then(Value::as_str), Some(name), "{spelled}");
    }
    folder.ok(&["create", "s", "date", "--shape", "2", "--dtype", "M8[s]"]);
    assert!(folder.ok(&["info", "s", "date"]).contains("numpy.datetime64[s]"));
    folder.ok(&["create", "s", "big", "--shape", "2", "--dtype", ">i2"]);
    assert!(folder.ok(&["info", "s", "big"]).contains("bytes(big)"));
    for unknown in ["i3", "=x4", "f", "4"] {
        let ran = folder.run(&["create", "s", "x", "--shape", "2", "--dtype", unknown]);
        assert_eq!(ran.code, Some(2), "{unknown}: {}", ran.err);
    }
}

/// zarr-python reads no other name in version 3. An array that is created with another name keeps it.
#[test]
fn raw_bytes_of_numpy_have_the_name_that_zarr_python_reads() {
    let folder = Folder::new();
    let raw = |size: u32| format!(r#"{{"name":"raw_bytes","configuration":{{"length_bytes":{size}}}}}"#);
    let fields = r#"[["a", "<i2"], ["b", "|V3"], ["c", [["d", "V1"]]]]"#;
    let inner = format!(r#"{{"name":"struct","configuration":{{"fields":[{{"name":"d","data_type":{}}}]}}}}"#, raw(1));
    let outer = format!(
        r#"{{"name":"struct","configuration":{{"fields":[{{"name":"a","data_type":"int16"}},{{"name":"b","data_type":{}}},{{"name":"c","data_type":{inner}}}]}}}}"#,
        raw(3)
    );
    for (path, spelled, data_type) in
        [("a", "|V3", &raw(3)), ("b", "V3", &raw(3)), ("c", "r24", &"\"r24\"".to_owned()), ("d", fields, &outer)]
    {
        folder.ok(&["create", "s", path, "--shape", "2", "--dtype", spelled]);
        assert_eq!(&facts(&folder, "s", path).get("data_type").unwrap().to_string(), data_type, "{spelled}");
    }
    // An array in a field, which version 3 does not have.
    folder.ok(&["create", "v2", "a", "--shape", "2", "--dtype", r#"[["a", "|V2", [3]]]"#, "--dialect", "v2"]);
    assert_eq!(folder.raw("v2", "a"), [0; 12]);
}

#[test]
fn filters_have_little_endian_types_in_version_3() {
    let folder = Folder::new();
    let codecs = r#"[{"name": "numcodecs.delta", "configuration": {"dtype": ">i4"}}]"#;
    for (path, codecs) in [("typed", "delta"), ("json", codecs)] {
        folder.ok(&["create", "s", path, "--shape", "2", "--dtype", ">i4", "--codecs", codecs]);
        let document = std::fs::read_to_string(folder.path(&format!("s/{path}/zarr.json"))).unwrap();
        assert_eq!(
            Value::from_json(&document).unwrap().get("codecs").unwrap().to_string(),
            r#"[{"name":"numcodecs.delta","configuration":{"dtype":"<i4"}},{"name":"bytes","configuration":{"endian":"little"}}]"#
        );
    }
    // Where types say the order, as in version 2, the requested order stays.
    folder.ok(&["create", "v2", "a", "--shape", "2", "--dtype", ">i4", "--codecs", "delta", "--dialect", "v2"]);
    assert!(folder.ok(&["info", "v2", "a"]).contains("bytes(big)"));
}

// clause: p2019-46, d2022-183
#[test]
fn groups_take_the_dialect_of_their_hierarchy() {
    for dialect in ["v2", "p2019", "p2020", "d2022", "v3"] {
        let folder = Folder::new();
        folder.ok(&["create", "s", "g", "--group", "--dialect", dialect, "--attributes", r#"{"x": 1.50}"#]);
        folder.ok(&["create", "s", "g/h", "--group"]);
        let group = facts(&folder, "s", "g/h");
        let member = |name: &str| group.get(name).unwrap().to_string();
        assert_eq!((member("dialect"), member("kind")), (format!("{dialect:?}"), "\"group\"".to_owned()));
        assert_eq!(member("implicit"), "false", "{dialect}");
        assert_eq!(facts(&folder, "s", "g").get("attributes").unwrap().to_string(), r#"{"x":1.50}"#);
        let ran = folder.run(&["create", "s", "g", "--group"]);
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert!(ran.err.contains("there is a group already"), "{}", ran.err);
        let other = if dialect == "v2" { "v3" } else { "v2" };
        assert_eq!(folder.run(&["create", "s", "k", "--group", "--dialect", other]).code, Some(2));
        folder.ok(&["create", "s", "g", "--group", "--overwrite"]);
        assert_eq!(folder.ok(&["attrs", "s", "g"]), "{}\n");
        let nodes = folder.ok(&["ls", "s", "g"]);
        assert_eq!(nodes, "", "{dialect}");
    }
    let folder = Folder::new();
    let ran = folder.run(&["create", "s", "g", "--group", "--dtype", "i4"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert_eq!(folder.run(&["create", "s", "a"]).code, Some(2));
    assert!(!folder.path("s").exists());
}

#[test]
fn chunks_that_are_too_large_to_be_written_are_said_to_be() {
    let folder = Folder::new();
    let create = |name: &str, more: &[&str]| {
        let args = ["create", "s", name, "--shape", "100000,100000", "--dtype", "f8"];
        folder.run(&[&args[..], more].concat())
    };
    let ran = create("large", &["--chunks", "100000,100000"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(
        ran.err.contains("chunks [100000, 100000] have 80000000000 bytes, of which at most 4294967296"),
        "{}",
        ran.err
    );
    let written = folder.run(&["write", "s", "large", "--select", "0,0", "--value", "3"]);
    assert!(written.err.contains("80000000000 bytes, limit 4294967296"), "{}", written.err);
    for fitting in [&["--chunks", "1000,1000"][..], &["--chunks", "1000,1000", "--shards", "100000,100000"]] {
        assert_eq!(create("fits", &[fitting, &["--overwrite"]].concat()).err, "", "{fitting:?}");
    }
}

// clause: d2022-185
#[test]
fn all_dialects_are_in_the_help_and_can_be_created() {
    let folder = Folder::new();
    let help = folder.ok(&["create", "--help"]);
    for dialect in ["v0", "v1", "v2", "p2019", "p2020", "d2022", "v3"] {
        assert!(help.contains(dialect), "{dialect}: {help}");
        folder.ok(&["create", dialect, "/", "--shape", "4", "--dtype", "i2", "--dialect", dialect]);
        assert!(folder.ok(&["tree", dialect]).starts_with(&format!("{dialect}  {dialect} array")));
    }
}

// clause: v1-29, p2019-11, d2022-129
#[test]
fn an_undefined_fill_value_where_there_is_one() {
    let folder = Folder::new();
    for dialect in ["v0", "v1", "v2", "p2019", "p2020", "d2022", "v3"] {
        let args = ["create", dialect, "/", "--shape", "4", "--dtype", "i2", "--fill", "null", "--dialect", dialect];
        let ran = folder.run(&args);
        if matches!(dialect, "v3" | "d2022") {
            assert_eq!(ran.code, Some(2), "{}", ran.err);
            assert!(ran.err.contains("the fill value null: dialect"), "{}", ran.err);
            assert!(!folder.path(dialect).exists());
        } else {
            assert_eq!(ran.code, Some(0), "{dialect}: {}", ran.err);
            let fill = facts(&folder, dialect, "/").get("fill_value").unwrap().to_string();
            assert_eq!(fill, "null", "{dialect}");
        }
    }
}

/// xarray took zeros of a new array of version 2 for missing data, and did not open a group with a scalar.
// clause: xarray-4, xarray-28
#[test]
fn new_arrays_of_version_2_follow_the_convention_of_xarray() {
    let folder = Folder::new();
    let create = |path: &str, shape: &str, options: &[&str]| {
        folder
            .ok(&[&["create", "s", path, "--shape", shape, "--dtype", "i2", "--dialect", "v2"][..], options].concat());
        let facts = facts(&folder, "s", path);
        ["fill_value", "attributes"].map(|name| facts.get(name).unwrap().to_string())
    };
    let [x, none] = [r#"{"_ARRAY_DIMENSIONS":["x"]}"#, r#"{"_ARRAY_DIMENSIONS":[]}"#];
    assert_eq!(create("a", "4", &["--dims", "x"]), ["null", x]);
    assert_eq!(create("b", "4", &["--dims", "x", "--fill", "3"]), ["3", x]);
    assert_eq!(create("c", "4", &["--dims", "x", "--fill", "null"]), ["null", x]);
    assert_eq!(create("d", "4", &["--dims", "x", "--convention", "none"]), ["0", x]);
    assert_eq!(create("e", "4", &[]), ["0", "{}"]);
    assert_eq!(create("f", "4", &["--convention", "xarray"]), ["null", "{}"]);
    assert_eq!(create("g", "", &["--dims", ""]), ["null", none]);
    assert_eq!(create("h", "", &["--convention", "xarray"]), ["null", none]);
    assert_eq!(create("i", "", &[]), ["null", none]);
    assert_eq!(create("k", "", &["--convention", "none"]), ["0", "{}"]);
    let ran = folder.run(&["create", "s", "j", "--shape", "4", "--dtype", "i2", "--convention", "nczarr"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    // Version 3 has no null.
    folder.ok(&["create", "v3", "a", "--shape", "4", "--dtype", "i2", "--dims", "x"]);
    assert_eq!(facts(&folder, "v3", "a").get("fill_value").unwrap().to_string(), "0");
}

#[test]
fn dimension_names_of_scalars_and_doubled_ones() {
    let folder = Folder::new();
    for dialect in ["v2", "v3"] {
        let args = ["create", dialect, "a", "--shape", "", "--dims", "", "--dtype", "f8", "--dialect", dialect];
        folder.ok(&args);
        assert_eq!(facts(&folder, dialect, "a").get("shape").unwrap().to_string(), "[]");
    }
    let ran = folder.run(&["create", "s", "a", "--shape", "2,2", "--dims", "x,x", "--dtype", "f8"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("two dimensions have the name \"x\"") && !folder.path("s").exists(), "{}", ran.err);
}

#[test]
fn an_array_that_is_a_store_is_copied_into_hierarchies() {
    for dialect in ["v0", "v1"] {
        let folder = Folder::new();
        folder.ok(&["create", "old", "/", "--shape", "4", "--dtype", "int16", "--dialect", dialect]);
        folder.fill("old", "/", "<i2", "(4,)", &int16(1..5));
        folder.ok(&["cp", "old", "new::/a/b"]);
        assert!(folder.ok(&["tree", "new"]).starts_with("new  v3 group"));
        folder.ok(&["cp", "old", "same"]);
        assert!(folder.ok(&["tree", "same"]).starts_with(&format!("same  {dialect} array")));
        folder.ok(&["create", "v2", "g", "--group", "--dialect", "v2"]);
        folder.ok(&["cp", "old", "v2::/g/a"]);
        for (store, path) in [("new", "a/b"), ("same", "/"), ("v2", "g/a")] {
            assert_eq!(folder.raw(store, path), int16(1..5), "{dialect} {store}");
        }
        let before = folder.files("same");
        let ran = folder.run(&["cp", "v2::/g/a", "same::/x"]);
        assert_eq!((ran.code, folder.files("same")), (Some(2), before), "{}", ran.err);
    }
}

/// Arrays of more than 2^64 bytes are shown with their size, and printing all of one is refused.
#[test]
fn arrays_larger_than_any_file() {
    let folder = Folder::new();
    for (shape, chunks, size) in [
        ("4611686018427387904", "16", "36893488147419103232"),
        ("1099511627776,1099511627776", "16,16", "9671406556917033397649408"),
    ] {
        folder.ok(&["create", "s", size, "--shape", shape, "--dtype", "f8", "--chunks", chunks, "--fill", "3"]);
        let described = facts(&folder, "s", size);
        assert_eq!(described.get("logical_bytes").map(ToString::to_string).as_deref(), Some(size));
        assert!(folder.ok(&["info", "s", size]).contains(if chunks == "16" { "32.0 EiB" } else { "8.0 YiB" }));
        let last = if chunks == "16" { "-1:" } else { "-1:, -1:" };
        assert!(folder.ok(&["read", "s", size, "--select", last]).contains('3'));
        let ran = folder.run(&["read", "s", size]);
        let grouped =
            if chunks == "16" { "36_893_488_147_419_103_232 bytes" } else { "9_671_406_556_917_033_397_649_408 bytes" };
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert!(ran.err.contains(grouped), "{}", ran.err);
    }
    assert!(folder.ok(&["tree", "s"]).contains("1_099_511_627_776"));
    folder.ok(&["convert", "s", "t", "--dialect", "v2"]);
    assert!(folder.ok(&["convert", "s", "u", "--dry-run"]).contains("8.0 YiB"));
}

#[test]
fn what_fails_leaves_no_empty_directory() {
    let folder = Folder::new();
    let create = ["create", "new.zarr", "a", "--shape", "10", "--dtype", "int8", "--chunks", "4", "--shards", "6"];
    assert_eq!(folder.run(&create).code, Some(2));
    assert!(!folder.path("new.zarr").exists());
    // A directory that was there stays.
    std::fs::create_dir(folder.path("new.zarr")).unwrap();
    assert_eq!(folder.run(&create).code, Some(2));
    assert!(folder.path("new.zarr").exists());
}
