//! `zarr convert`.

use crate::folder::{Folder, int16};
use zarr::meta::json::Value;

/// A hierarchy of two arrays in a group, of version 3.
fn source() -> Folder {
    let folder = Folder::new();
    let create = |args: &str| folder.ok(&[&["create", "s"][..], &args.split(' ').collect::<Vec<_>>()].concat());
    create(
        "g/a --shape 20,30 --dtype int16 --chunks 7,30 --fill -9 --dims y,x --attributes {\"long_name\":\"a\",\"n\":1.50}",
    );
    create("g/b --shape 5 --dtype float32 --fill NaN");
    folder.fill("s", "g/a", "<i2", "(20, 30)", &int16(0..600));
    folder
}

fn facts(folder: &Folder, store: &str, path: &str) -> Value {
    let list = Value::from_json(&folder.ok(&["tree", store, "--json"])).unwrap();
    let nodes = list.as_array().unwrap();
    nodes.iter().find(|node| node.get("path").and_then(Value::as_str) == Some(path)).cloned().unwrap()
}

fn member(folder: &Folder, store: &str, path: &str, name: &str) -> String {
    facts(folder, store, path).get(name).cloned().unwrap_or_default().to_string()
}

fn how(folder: &Folder, args: &[&str]) -> Vec<String> {
    let summary = Value::from_json(&folder.ok(&[&["convert", "--json"], args].concat())).unwrap();
    let nodes = summary.get("nodes").and_then(Value::as_array).unwrap();
    nodes.iter().filter_map(|node| Some(node.get("how")?.as_str()?.to_owned())).collect()
}

#[test]
fn a_change_of_chunks_keeps_everything_else() {
    let folder = source();
    folder.ok(&["create", "s", "g/c", "--shape", "5", "--dtype", "float32", "--fill", "0x7fc00001"]);
    let before = folder.files("s");
    let nodes = how(&folder, &["s", "d", "--chunks", "20,4"]);
    assert_eq!(nodes, ["group", "group", "recoded", "copied", "copied"]);
    assert_eq!(folder.raw("d", "g/a"), folder.raw("s", "g/a"));
    let kept = ["shape", "data_type", "fill_value", "codecs", "dimension_names", "attributes", "dialect"];
    for path in ["/g/a", "/g/b", "/g/c"] {
        for name in kept {
            assert_eq!(member(&folder, "d", path, name), member(&folder, "s", path, name), "{path} {name}");
        }
    }
    assert_eq!(member(&folder, "d", "/g/a", "chunk_shape"), "[20,4]");
    assert_eq!(member(&folder, "d", "/g/c", "fill_value"), "\"0x7fc00001\"");
    assert_eq!(folder.files("s"), before);
}

#[test]
fn metadata_alone_is_changed_by_copying_chunks() {
    let folder = source();
    folder.ok(&[
        "create",
        "v2",
        "a",
        "--shape",
        "20,30",
        "--dtype",
        ">i2",
        "--dialect",
        "v2",
        "--chunks",
        "7,30",
        "--fill",
        "-9",
        "--dims",
        "y,x",
    ]);
    folder.fill("v2", "a", "<i2", "(20, 30)", &int16(0..600));
    assert_eq!(how(&folder, &["v2", "v3", "--dialect", "v3"]), ["group", "copied"]);
    let chunk = |file: &str| std::fs::read(folder.path(file)).unwrap();
    assert_eq!(chunk("v2/a/1.0"), chunk("v3/a/c/1/0"));
    assert_eq!(folder.raw("v3", "a"), int16(0..600));
    assert_eq!(member(&folder, "v3", "/a", "dimension_names"), "[\"y\",\"x\"]");
    assert_eq!(member(&folder, "v3", "/a", "attributes"), "{\"_FillValue\":-9}");
    // And back: xarray's convention has the names.
    assert_eq!(how(&folder, &["v3", "back", "--dialect", "v2"]), ["group", "copied"]);
    assert_eq!(member(&folder, "back", "/a", "attributes"), "{\"_ARRAY_DIMENSIONS\":[\"y\",\"x\"]}");
    assert_eq!(folder.raw("back", "a"), int16(0..600));
}

#[test]
fn shards_come_and_go() {
    let folder = source();
    folder.ok(&["convert", "s", "sharded", "--node", "g/a", "--chunks", "5,6", "--shards", "10,30"]);
    assert_eq!(member(&folder, "sharded", "/g/a", "shard_shape"), "[10,30]");
    assert_eq!(folder.files("sharded"), ["g/a/c/0/0", "g/a/c/1/0", "g/a/zarr.json", "g/zarr.json", "zarr.json"]);
    folder.ok(&["convert", "sharded", "plain", "--shards", "none"]);
    assert_eq!(member(&folder, "plain", "/g/a", "chunk_shape"), "[5,6]");
    assert_eq!(member(&folder, "plain", "/g/a", "shard_shape"), "null");
    // Version 2 has no shards.
    folder.ok(&["convert", "sharded", "old", "--dialect", "v2", "--codecs", "gzip"]);
    assert_eq!(member(&folder, "old", "/g/a", "chunk_shape"), "[5,6]");
    for store in ["sharded", "plain", "old"] {
        assert_eq!(folder.raw(store, "g/a"), int16(0..600), "{store}");
    }
}

#[test]
fn memory_is_kept_to() {
    let folder = Folder::new();
    folder
        .ok(&["create", "s", "a", "--shape", "64,4096", "--dtype", "int16", "--chunks", "1,4096", "--codecs", "none"]);
    let items: Vec<u8> = int16((0..64 * 4096).map(|number| number as i16));
    folder.fill("s", "a", "<i2", "(64, 4096)", &items);
    let refused = folder.run(&["convert", "s", "d", "--chunks", "64,4096", "--memory", "256KiB"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("hint: "), "{}", refused.err);
    folder.ok(&["convert", "s", "e", "--chunks", "64,16", "--memory", "256KiB", "--threads", "2"]);
    assert_eq!(folder.raw("e", "a"), items);
}

#[test]
fn the_source_and_existing_nodes_are_safe() {
    let folder = source();
    for target in ["s", "./s/", "s/g", "."] {
        let ran = folder.run(&["convert", "s", target, "--overwrite"]);
        assert_eq!(ran.code, Some(2), "{target}: {}", ran.err);
    }
    folder.ok(&["convert", "s", "d"]);
    std::fs::write(folder.path("d/notes.txt"), "mine").unwrap();
    std::fs::create_dir_all(folder.path("d/letters/old")).unwrap();
    std::fs::write(folder.path("d/letters/aunt"), "dear").unwrap();
    // A node that is in a folder of other things, and one that is broken.
    folder.ok(&["create", "d/letters/old", "a", "--shape", "2", "--dtype", "int8"]);
    std::fs::write(folder.path("d/g/b/zarr.json"), "{").unwrap();
    let ran = folder.run(&["convert", "s", "d", "--dialect", "v2"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("--overwrite"), "{}", ran.err);
    folder.ok(&["convert", "s", "d", "--dialect", "v2", "--overwrite"]);
    assert_eq!(member(&folder, "d", "/g/a", "dialect"), "\"v2\"");
    let files = folder.files("d");
    assert!(
        files.contains(&"notes.txt".to_owned()) && !files.iter().any(|name| name.ends_with("zarr.json")),
        "{files:?}"
    );
    // Files of others are no store to be filled.
    std::fs::create_dir(folder.path("home")).unwrap();
    std::fs::write(folder.path("home/letter"), "dear").unwrap();
    assert_eq!(folder.run(&["convert", "s", "home"]).code, Some(2));
    assert_eq!(folder.files("home"), ["letter"]);
}

#[test]
fn an_impossible_conversion_leaves_nothing_behind() {
    let folder = source();
    for args in [
        &["convert", "s", "d", "--chunks", "1,2,3"][..],
        &[
            "convert",
            "s",
            "d",
            "--dialect",
            "v2",
            "--codecs",
            "[{\"name\":\"transpose\",\"configuration\":{\"order\":[9]}}]",
        ],
        &["convert", "s", "d", "--codecs", "nil"],
        &["convert", "nowhere", "d"],
    ] {
        assert!(matches!(folder.run(args).code, Some(2..=4)), "{args:?}");
        assert!(!folder.path("d").exists(), "{args:?}");
    }
    std::fs::write(folder.path("s/g/a/c/1/0"), "torn").unwrap();
    let ran = folder.run(&["convert", "s", "d", "--chunks", "5,5"]);
    assert_eq!(ran.code, Some(4), "{}", ran.err);
    // An array that is not complete is not there.
    assert!(!folder.files("d").contains(&"g/a/zarr.json".to_owned()));
}

#[test]
fn one_array_joins_a_hierarchy() {
    let folder = source();
    folder.ok(&["create", "d", "g/other", "--shape", "2", "--dtype", "int8", "--attributes", "{\"mine\":true}"]);
    folder.ok(&["convert", "s", "d", "--node", "/g/a"]);
    assert_eq!(folder.raw("d", "g/a"), int16(0..600));
    assert_eq!(member(&folder, "d", "/g/other", "attributes"), "{\"mine\":true}");
    assert_eq!(folder.run(&["convert", "s", "d", "--node", "/g/a"]).code, Some(2));
    folder.ok(&["convert", "s", "d", "--node", "/g/a", "--overwrite", "--chunks", "1,30"]);
    assert_eq!(folder.run(&["convert", "s", "d", "--node", "/nothing", "--overwrite"]).code, Some(3));
}

/// xarray read -999 as a number after a conversion to version 3, and 0 as missing after one to version 2.
#[test]
fn fill_values_mean_the_same_or_are_reported() {
    let folder = Folder::new();
    let create = |path: &str, fill: &str| {
        let args = ["create", "s", path, "--shape", "2", "--dtype", "float32", "--dims", "x", "--fill", fill];
        folder.ok(&[&args[..], &["--dialect", "v2"]].concat());
    };
    create("a", "-999");
    create("b", "NaN");
    for (to, convert) in [("v3", &["convert", "s", "v3"][..]), ("copy", &["cp", "s", "copy::/g"])] {
        if to == "copy" {
            folder.ok(&["create", "copy", "/", "--group"]);
        }
        let dialect = if to == "v3" { &["--dialect", "v3"][..] } else { &[] };
        let ran = folder.run(&[convert, dialect].concat());
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
        let path = if to == "v3" { "/a" } else { "/g/a" };
        assert_eq!(member(&folder, to, path, "attributes"), "{\"_FillValue\":\"AAAAAAA4j8A=\"}");
    }
    assert_eq!(folder.run(&["convert", "v3", "back", "--dialect", "v2"]).err, "");
    let document = |path: &str| std::fs::read_to_string(folder.path(path)).unwrap();
    let spelled =
        document("back/a/.zarray").replace("\"dimension_separator\": \"/\"", "\"dimension_separator\": \".\"");
    assert_eq!(spelled, document("s/a/.zarray"));
    assert_eq!(document("back/a/.zattrs"), document("s/a/.zattrs"));
    let ran = folder.run(&["convert", "s", "literal", "--dialect", "v3", "--literal"]);
    assert_eq!((ran.code, ran.err.lines().count()), (Some(0), 1), "{}", ran.err);
    assert!(ran.err.starts_with("warning: /a: /fill_value: -999.0 no longer marks"), "{}", ran.err);
    let ran = folder.run(&["convert", "literal", "v2", "--dialect", "v2", "--literal"]);
    assert!(ran.err.starts_with("warning: /a: /fill_value: -999.0 now marks"), "{}", ran.err);
    assert_eq!(folder.run(&["convert", "literal", "quiet", "--dialect", "v2", "--literal", "-q"]).err, "");
    assert_eq!(folder.run(&["convert", "literal", "none", "--dialect", "v2", "--convention", "none"]).err, "");
    assert_eq!(member(&folder, "none", "/a", "fill_value"), member(&folder, "v2", "/a", "fill_value"));
    assert_eq!(folder.run(&["convert", "literal", "d", "--convention", "cf"]).code, Some(2));
    // In place too, to the letter if that is wanted.
    for (name, options, attributes) in
        [("s", &[][..], "{\"_FillValue\":\"AAAAAAA4j8A=\"}"), ("quiet", &["--literal"], "{}")]
    {
        folder.ok(&[&["migrate", name][..], options].concat());
        assert_eq!(member(&folder, name, "/a", "attributes"), attributes, "{name}");
    }
    // xarray demands names of every array of version 2, also of arrays without dimensions.
    folder.ok(&["create", "v3", "scalar", "--shape", "", "--dtype", "int8"]);
    folder.ok(&["convert", "v3", "named", "--dialect", "v2"]);
    assert_eq!(member(&folder, "named", "/scalar", "attributes"), "{\"_ARRAY_DIMENSIONS\":[]}");
}

#[test]
fn a_dry_run_reports_the_conversion_and_writes_nothing() {
    let folder = source();
    let text = folder.ok(&["convert", "s", "d", "--dialect", "v2", "--codecs", "gzip", "--dry-run"]);
    assert!(text.contains("/g/a  decoded and encoded, 3 chunks ("), "{text}");
    assert!(text.ends_with("0 cannot be converted; nothing was written\n"), "{text}");
    assert!(!folder.path("d").exists());
    // Two arrays that version 2 cannot say, and one that it can.
    for name in ["x", "y"] {
        folder.ok(&["create", "s", name, "--shape", "4,4,4", "--dtype", "int8", "--codecs", "transpose(1,0,2)"]);
    }
    let ran = folder.run(&["convert", "s", "d", "--dialect", "v2", "--dry-run", "--json"]);
    let summary = Value::from_json(std::str::from_utf8(&ran.out).unwrap()).unwrap();
    let refused = summary.get("refused").and_then(Value::as_array).unwrap();
    let paths: Vec<_> = refused.iter().map(|one| one.get("path").and_then(Value::as_str).unwrap()).collect();
    assert_eq!((ran.code, paths), (Some(2), vec!["/x", "/y"]), "{}", ran.err);
    let ran = folder.run(&["convert", "s", "d", "--dialect", "v2"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("1 more"), "{}", ran.err);
    assert!(!folder.path("d").exists());
}

#[test]
fn members_without_counterpart_are_left_out_or_carried() {
    let folder = source();
    let read = |store: &str| std::fs::read_to_string(folder.path(store).join("g/a/zarr.json")).unwrap();
    let text = read("s").replacen('{', "{\"made_by\": {\"name\": \"me\", \"must_understand\": false},", 1);
    std::fs::write(folder.path("s/g/a/zarr.json"), text).unwrap();
    let ran = folder.run(&["convert", "s", "without", "--dialect", "v2"]);
    assert!(ran.code == Some(0) && ran.err.contains("/made_by: left out"), "{}", ran.err);
    folder.ok(&["convert", "s", "with", "--dialect", "v2", "--carry"]);
    assert!(member(&folder, "with", "/g/a", "attributes").contains("_zarr_carried"));
    folder.ok(&["convert", "with", "back", "--dialect", "v3"]);
    assert!(read("back").contains("\"made_by\""));
    for name in ["dimension_names", "attributes", "fill_value"] {
        assert_eq!(member(&folder, "back", "/g/a", name), member(&folder, "s", "/g/a", name), "{name}");
    }
    assert_eq!(folder.raw("back", "g/a"), int16(0..600));
}

#[test]
fn a_data_type_may_fall_back_or_be_refused() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("s/meta")).unwrap();
    let entry = r#"{"zarr_format": "https://purl.org/zarr/spec/core/3.0",
        "metadata_encoding": {"type": "json", "metadata_key_suffix": ".json"}, "extensions": []}"#;
    std::fs::write(folder.path("s/zarr.json"), entry).unwrap();
    let array = r#"{"shape": [1], "data_type": {"extension": "https://example.org/x", "type": "x", "fallback": "int8"},
        "chunk_grid": {"type": "regular", "chunk_shape": [1], "separator": "/"},
        "chunk_memory_layout": "C", "fill_value": 7, "extensions": [], "attributes": {}}"#;
    std::fs::write(folder.path("s/meta/a.array.json"), array).unwrap();
    let ran = folder.run(&["read", "s", "a"]);
    assert_eq!((ran.code, ran.out.as_slice()), (Some(0), &b"7\n"[..]), "{}", ran.err);
    assert!(ran.err.starts_with("warning: "), "{}", ran.err);
    // Another type of that size.
    std::fs::create_dir_all(folder.path("s/data/a")).unwrap();
    std::fs::write(folder.path("s/data/a/c0"), [200]).unwrap();
    assert_eq!(folder.run(&["read", "s", "a"]).out, b"-56\n");
    assert_eq!(folder.run(&["read", "s", "a", "--fallback-type", "uint8"]).out, b"200\n");
    assert!(folder.ok(&["info", "s", "a", "--fallback-type", "uint8", "-q"]).contains("uint8"));
    let json = r#"{"name": "raw_bytes", "configuration": {"length_bytes": 1}}"#;
    assert_eq!(folder.run(&["read", "s", "a", "--fallback-type", json, "--as", "raw"]).out, [200]);
    let ran = folder.run(&["convert", "s", "v3", "--dialect", "v3", "--fallback-type", "uint8"]);
    assert!(ran.code == Some(0) && ran.err.contains("uint8"), "{}", ran.err);
    assert_eq!(folder.ok(&["read", "v3", "a"]), "200\n");
    let ran = folder.run(&["read", "s", "a", "--fallback-type", "int16"]);
    assert!(ran.code == Some(2) && ran.err.contains("differ in size"), "{}", ran.err);
    std::fs::remove_dir_all(folder.path("s/data")).unwrap();
    let ran = folder.run(&["read", "s", "a", "--refuse-fallbacks"]);
    assert_eq!(ran.code, Some(4), "{}", ran.err);
    assert!(ran.err.contains("/data_type"), "{}", ran.err);
    assert_eq!(folder.ok(&["ls", "s"]), "a\n");
    for command in ["ls", "tree", "info"] {
        let ran = folder.run(&[command, "s", "--refuse-fallbacks"]);
        assert_eq!(ran.code, Some(4), "{command}: {}", ran.err);
        assert!(ran.err.contains("/a") && ran.err.contains("/data_type"), "{command}: {}", ran.err);
    }
}

/// The arrays of a hierarchy.
fn arrays(folder: &Folder, store: &str) -> Vec<String> {
    let list = Value::from_json(&folder.ok(&["tree", store, "--json"])).unwrap();
    let arrays =
        list.as_array().unwrap().iter().filter(|node| node.get("kind").and_then(Value::as_str) == Some("array"));
    arrays.filter_map(|node| Some(node.get("path")?.as_str()?.to_owned())).collect()
}

#[test]
fn variables_are_converted_with_their_coordinates() {
    let climate = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/climate.zarr");
    let folder = Folder::new();
    folder.ok(&["convert", climate, "one", "--variables", "sst", "--dialect", "v3"]);
    assert_eq!(arrays(&folder, "one"), ["/lat", "/lon", "/sst", "/time"]);
    assert_eq!(folder.raw("one", "sst"), folder.raw(climate, "sst"));
    assert_eq!(folder.ok(&["consolidate", "one", "--check"]), "up to date\n");
    assert_eq!(how(&folder, &[climate, "two", "--variables", "lat,lon"]), ["group", "copied", "copied"]);
    let plan = folder.ok(&["convert", climate, "none", "--variables", "time", "--dry-run"]);
    assert!(plan.contains("/time ") && !plan.contains("/sst") && plan.contains("1 group and 1 array "), "{plan}");
    let ran = folder.run(&["convert", climate, "none", "--variables", "sst,lit"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(ran.err.contains("found no variable lit") && ran.err.contains("lat"), "{}", ran.err);
    assert!(!folder.path("none").exists());
    // A node that is broken and not asked for is in no one's way; a group below is another data set.
    folder.ok(&["cp", climate, "s"]);
    folder.ok(&["create", "s", "g/sst", "--shape", "2", "--dtype", "int8", "--dialect", "v2"]);
    std::fs::write(folder.path("s/anomaly/.zarray"), "{").unwrap();
    folder.ok(&["convert", "s", "three", "--variables", "sst"]);
    assert_eq!(arrays(&folder, "three"), ["/lat", "/lon", "/sst", "/time"]);
    // Asked for, it says why it is broken.
    assert_eq!(folder.run(&["convert", "s", "four", "--variables", "anomaly"]).code, Some(4));
}

#[test]
fn lists_of_nczarr_name_the_converted_variables() {
    let folder = Folder::new();
    for (name, dims) in [("x", "x"), ("a", "x"), ("b", "x")] {
        folder.ok(&["create", "s", name, "--shape", "3", "--dims", dims, "--dtype", "int8", "--dialect", "v2"]);
    }
    folder.ok(&["create", "s", "g/a", "--shape", "3", "--dims", "x", "--dtype", "int8"]);
    let lists = r#"{"dimensions": {"x": 3}, "arrays": ["x", "a", "b"], "groups": ["g"]}"#;
    folder.ok(&["attrs", "s", "--set", &format!("_nczarr_group={lists}")]);
    folder.ok(&["convert", "s", "t", "--variables", "a"]);
    assert_eq!(arrays(&folder, "t"), ["/a", "/x"]);
    let attributes = Value::from_json(&folder.ok(&["attrs", "t"])).unwrap();
    let expected = r#"{"dimensions":{"x":3},"arrays":["x","a"],"groups":[]}"#;
    assert_eq!(attributes.get("_nczarr_group").unwrap().to_string(), expected);
}

/// By the names of dimensions, whatever the number of them.
#[test]
fn chunks_and_shards_are_given_by_names_of_dimensions() {
    let folder = Folder::new();
    for (name, shape, dims) in
        [("t2m", "20,30,40", "time,lat,lon"), ("mask", "30,40", "lat,lon"), ("time", "20", "time")]
    {
        folder.ok(&["create", "s", name, "--shape", shape, "--dtype", "int16", "--dims", dims, "--chunks", shape]);
    }
    let layout = |name: &str| {
        let info = Value::from_json(&folder.ok(&["info", "d", name, "--json"])).unwrap();
        let lengths = |member: &str| info.get(member).map(ToString::to_string).unwrap_or_default();
        (lengths("chunk_shape"), lengths("shard_shape"))
    };
    let convert = |args: &[&str]| {
        let ran = folder.run(&[&["convert", "s", "d", "--overwrite"], args].concat());
        assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.err);
        ran.err
    };
    let both = |chunks: &str, shards: &str| (chunks.to_owned(), shards.to_owned());
    assert_eq!(convert(&["--chunks", "time=5,lat=100"]), "");
    assert_eq!(layout("t2m"), both("[5,30,40]", "null"));
    assert_eq!((layout("mask").0, layout("time").0), ("[30,40]".to_owned(), "[5]".to_owned()));
    convert(&["--chunks", "time=5,lat=10,lon=10", "--shards", "time=10,lat=25"]);
    assert_eq!(layout("t2m"), both("[5,10,10]", "[10,30,10]"));
    assert_eq!(layout("mask"), both("[10,10]", "[30,10]"));
    // All of these arrays fit into one shard, and `time` into one chunk.
    convert(&["--chunks", "time=20,lat=5", "--shards", "auto"]);
    assert_eq!(layout("t2m"), both("[20,5,40]", "[20,40,40]"));
    assert_eq!(layout("time"), both("[20]", "null"));
    // A shape that fits some arrays alone is told.
    let told = convert(&["--chunks", "10,10"]);
    assert!(told.contains("are not of that shape: /t2m;"), "{told}");
    assert_eq!((layout("t2m").0, layout("mask").0), ("[20,30,40]".to_owned(), "[10,10]".to_owned()));
    for (args, says) in [
        (
            &["--chunks", "tim=5"][..],
            "found dimension tim, expected one of the dimensions of the arrays: lat, lon, time",
        ),
        (&["--shards", "x=5"], "shards: found dimension x"),
        (&["--chunks", "time=0"], "length 0 along time"),
        (&["--chunks", "time=5,time=6"], "given more than once"),
        (&["--chunks", "auto"], "not a length"),
    ] {
        let ran = folder.run(&[&["convert", "s", "e"], args].concat());
        assert!(ran.code == Some(2) && ran.err.contains(says), "{args:?}: {}", ran.err);
    }
}
