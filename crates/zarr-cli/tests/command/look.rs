//! `zarr tree` and `zarr info`.

use crate::folder::{Folder, int16};
use zarr::meta::json::Value;

fn weather() -> Folder {
    let folder = Folder::new();
    let create = |args: &str| folder.ok(&[&["create", "air.zarr"][..], &args.split(' ').collect::<Vec<_>>()].concat());
    create(
        "t2m --shape 30,18,36 --dtype int16 --chunks 5,9,9 --shards 10,18,36 --dims time,lat,lon --attributes {\"units\":\"K\"}",
    );
    create("time --shape 30 --dims time --dtype int64 --codecs none");
    create("deep/er/mask --shape 18,36 --dtype bool --codecs none");
    folder.fill("air.zarr", "time", "<i8", "(30,)", &(0..30_i64).flat_map(i64::to_le_bytes).collect::<Vec<_>>());
    folder
}

#[test]
fn the_tree_is_drawn() {
    let folder = weather();
    let expected = "\
air.zarr  v3 group  3 arrays, 2 groups
|- deep/
|  `- er/
|     `- mask  (18, 36)  bool  chunks 18x36
|- t2m   (time 30, lat 18, lon 36)  int16  chunks 5x9x9  shards 10x18x36  zstd(0)  \"K\"
`- time  (time 30)                  int64  chunks 30
";
    assert_eq!(folder.ok(&["tree", "air.zarr"]), expected);
    assert_eq!(folder.ok(&["tree", "air.zarr", "-L", "1"]).lines().count(), 4);
    assert_eq!(folder.ok(&["tree", "air.zarr::deep/er"]).lines().next(), Some("er  v3 group  1 array, 0 groups"));
}

#[test]
fn the_tree_as_json() {
    let folder = weather();
    let list = Value::from_json(&folder.ok(&["tree", "air.zarr", "--json"])).unwrap();
    let nodes = list.as_array().unwrap();
    let paths: Vec<&str> = nodes.iter().filter_map(|node| node.get("path")?.as_str()).collect();
    assert_eq!(paths, ["/", "/deep", "/deep/er", "/deep/er/mask", "/t2m", "/time"]);
    let facts = r#"{"path":"/t2m","kind":"array","dialect":"v3","implicit":false,"shape":[30,18,36],"data_type":"int16","fill_value":0,"chunk_shape":[5,9,9],"shard_shape":[10,18,36],"codecs":["sharding_indexed"],"dimension_names":["time","lat","lon"],"attributes":{"units":"K"}}"#;
    assert_eq!(nodes[4].to_string(), facts);
    assert_eq!(nodes[0].to_string(), r#"{"path":"/","kind":"group","dialect":"v3","implicit":false,"attributes":{}}"#);
}

#[test]
fn a_node_in_full() {
    let folder = weather();
    let items = int16(0..5 * 9);
    let args = ["write", "air.zarr", "t2m", "--from", "-", "--select", "0:5, 0:9, 0"];
    let file = crate::folder::npy("<i2", false, "(5, 9)", &items);
    assert_eq!(folder.run_with(&args, &file).code, Some(0));
    let text = folder.ok(&["info", "air.zarr", "t2m"]);
    for line in [
        "Type               : Array",
        "Shape              : (30, 18, 36)  dims (time, lat, lon)",
        "Shard shape        : 10x18x36",
        "Chunk shape        : 5x9x9",
        "No. bytes          : 38.0 KiB (38_880)",
        "Shards initialized : 1 of 3 (33 %)",
        "Attributes         : units = \"K\"",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    let json = Value::from_json(&folder.ok(&["info", "air.zarr", "t2m", "--json"])).unwrap();
    let number = |name: &str| json.get(name).and_then(Value::as_u64);
    assert_eq!((number("chunks"), number("chunks_stored")), (Some(3), Some(1)));
    assert_eq!((number("logical_bytes"), number("padded_bytes")), (Some(38_880), Some(38_880)));
    assert!(number("stored_bytes").is_some_and(|size| size > 0));
    let group = folder.ok(&["info", "air.zarr"]);
    assert!(group.contains("Arrays             : 2 here, 3 in all"), "{group}");
}

#[test]
fn info_prints_what_the_library_prints() {
    use zarr::hierarchy::Summary;
    let folder = weather();
    let store = zarr::store::open(folder.path("air.zarr").to_str().unwrap()).unwrap();
    for path in ["/t2m", "/time", "/deep/er/mask"] {
        let array = zarr::open((&store, path)).array().unwrap();
        let sizes = array.sizes().unwrap();
        let expected = format!("{}\n", array.summary().sizes(&sizes));
        assert_eq!(folder.ok(&["info", "air.zarr", path]), expected);
    }
    for path in ["/", "/deep"] {
        let group = zarr::open((&store, path)).group().unwrap();
        let walk = group.walk().unwrap();
        let expected = format!("{}\n", Summary::of(group.found()).below(&walk));
        assert_eq!(folder.ok(&["info", "air.zarr", path]), expected);
    }
}

#[test]
fn unknown_codecs_hide_nothing_but_data() {
    let folder = weather();
    let document = folder.path("air.zarr/time/zarr.json");
    let text = std::fs::read_to_string(&document).unwrap();
    std::fs::write(&document, text.replace("\"codecs\": [", "\"codecs\": [{\"name\": \"new\\u001b\"},")).unwrap();
    assert!(folder.ok(&["tree", "air.zarr"]).contains("|- t2m"));
    let info = folder.run(&["info", "air.zarr", "time"]);
    assert_eq!(info.code, Some(4));
    assert!(String::from_utf8(info.out).unwrap().contains("Codecs             : new\\u{1b}"));
    assert!(info.err.contains("unknown codec"), "{}", info.err);
}

#[test]
fn a_broken_node_does_not_hide_others() {
    let folder = weather();
    std::fs::write(folder.path("air.zarr/time/zarr.json"), "{").unwrap();
    let ran = folder.run(&["tree", "air.zarr", "--json"]);
    assert_eq!(ran.code, Some(4));
    let list = Value::from_json(std::str::from_utf8(&ran.out).unwrap()).unwrap();
    assert_eq!(list.as_array().unwrap().len(), 5);
    let error = Value::from_json(ran.err.lines().last().unwrap()).unwrap();
    assert_eq!(error.get("kind").and_then(Value::as_str), Some("invalid-json"));
    assert_eq!(error.get("path").and_then(Value::as_str), Some("/time"));
    assert_eq!(error.get("key").and_then(Value::as_str), Some("time/zarr.json"));
}

/// Characters of CJK and emoji take two columns, combining ones none.
#[test]
fn columns_are_as_wide_as_they_are_printed() {
    let folder = Folder::new();
    let dims = ["x", "経", "y", "x"];
    for (name, dim) in ["a", "気温", "e\u{301}te", "🦀"].iter().zip(dims) {
        folder.ok(&["create", "s", name, "--shape", "7", "--dtype", "int8", "--dims", dim, "--codecs", "none"]);
    }
    let tree = "\
s  v3 group  4 arrays, 0 groups
|- a     (x 7)   int8  chunks 7
|- e\u{301}te   (y 7)   int8  chunks 7
|- 気温  (経 7)  int8  chunks 7
`- 🦀    (x 7)   int8  chunks 7
";
    assert_eq!(folder.ok(&["tree", "s"]), tree);
    let list = "\
a     (x 7)  int8  chunks 7
e\u{301}te   (y 7)  int8  chunks 7
気温  (経 7)  int8  chunks 7
🦀    (x 7)  int8  chunks 7
";
    assert_eq!(folder.ok(&["ls", "-l", "s"]), list);
    let plan = folder.ok(&["convert", "s", "t", "--dry-run"]);
    for line in ["/      group", "/a     chunks copied", "/e\u{301}te   chunks copied", "/気温  chunks copied"] {
        assert!(plan.lines().any(|found| found.starts_with(line)), "{line}: {plan}");
    }
    folder.ok(&["create", "t", "text", "--shape", "2,2", "--dtype", "string"]);
    let values = r#"[["気温", "a"], ["e\u0301te", "bc"]]"#;
    assert_eq!(
        folder.run_with(&["write", "t", "text", "--from", "-", "--as", "json"], values.as_bytes()).code,
        Some(0)
    );
    assert_eq!(folder.ok(&["read", "t", "text"]), "\"気温\" \"a\"   \n\"e\u{301}te\"  \"bc\"  \n");
}

#[test]
fn trees_and_lists_warn_of_deviations_once() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("s/a")).unwrap();
    std::fs::write(folder.path("s/.zgroup"), r#"{"zarr_format": 2}"#).unwrap();
    let array = r#"{"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "<i4", "compressor": null, "filters": null, "order": "C"}"#;
    std::fs::write(folder.path("s/a/.zarray"), array).unwrap();
    for verb in ["tree", "ls"] {
        let ran = folder.run(&[verb, "s"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(ran.err.matches("warning: a/.zarray").count(), 1, "{verb}: {}", ran.err);
        assert_eq!(folder.run(&[verb, "s", "-q"]).err, "");
    }
}

#[test]
fn a_data_set_warns_of_variables_that_cannot_be_opened() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "/good", "--shape", "2", "--dtype", "int8", "--dims", "x"]);
    folder.ok(&["create", "s", "/bad", "--shape", "2", "--dtype", "int8", "--dims", "x"]);
    let document = folder.path("s/bad/zarr.json");
    let text = std::fs::read_to_string(&document).unwrap();
    let value = Value::from_json(&text).unwrap().to_string();
    std::fs::write(&document, value.replace(r#""dimension_names":["x"]"#, r#""dimension_names":[]"#)).unwrap();
    let ran = folder.run(&["ds", "s"]);
    assert!(ran.err.contains("warning: left out, for it cannot be opened"), "{ran:?}");
}

#[test]
fn creating_takes_no_option_of_readers() {
    let folder = Folder::new();
    let new = ["create", "s", "/a", "--shape", "2", "--dtype", "<M8[ns]", "--dialect", "d2022"];
    let ran = folder.run(&[&new[..], &["--fallback-type", "uint64"]].concat());
    assert!(ran.code == Some(2) && ran.err.contains("--fallback-type is for reading"), "{ran:?}");
}
