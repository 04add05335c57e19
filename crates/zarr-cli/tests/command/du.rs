//! `zarr du`.

use crate::folder::Folder;
use zarr::meta::json::Value;

fn store() -> Folder {
    let folder = Folder::new();
    folder.ok(&["create", "s", "g/a", "--shape", "100", "--dtype", "int8", "--chunks", "10", "--codecs", "none"]);
    folder.ok(&[
        "create", "s", "g/b", "--shape", "64", "--dtype", "int16", "--shards", "32", "--chunks", "8", "--codecs",
        "zstd",
    ]);
    folder.fill("s", "g/a", "|i1", "(100,)", &[1; 100]);
    let data = crate::folder::npy("<i2", false, "(4,)", &[7; 8]);
    assert_eq!(folder.run_with(&["write", "s", "g/b", "--from", "-", "--select", "0:4"], &data).code, Some(0));
    std::fs::write(folder.path("s/g/a/notes"), [0; 50]).unwrap();
    folder
}

#[test]
fn nodes_count_what_lies_below() {
    let folder = store();
    let out = folder.ok(&["du", "s"]);
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].split_whitespace().eq(["STORED", "LOGICAL", "RATIO", "CHUNKS", "PATH"]), "{out}");
    assert!(lines[1].ends_with("11 of 12 (92 %)  /") && lines[2].ends_with(" /g"), "{out}");
    assert!(out.contains("10 of 10 (100 %)  /g/a") && out.contains("1 of 2 (50 %)  /g/b"), "{out}");
    assert!(lines.last().unwrap().contains("50 B in 1 key beside metadata and chunks"), "{out}");
    let all: u64 =
        folder.files("s").iter().map(|file| std::fs::metadata(folder.path("s").join(file)).unwrap().len()).sum();
    let found = Value::from_json(&folder.ok(&["du", "s", "--json", "--inner"])).unwrap();
    assert_eq!(found.get("stored_bytes").and_then(Value::as_u64), Some(all));
    let rows = found.get("rows").unwrap().as_array().unwrap();
    let of = |path: &str| rows.iter().find(|row| row.get("path").and_then(Value::as_str) == Some(path)).unwrap();
    let number = |path: &str, name: &str| of(path).get(name).and_then(Value::as_u64);
    assert_eq!((number("/g/a", "logical_bytes"), number("/g/a", "other_bytes")), (Some(100), Some(50)));
    assert_eq!((number("/", "stored_bytes"), number("/", "arrays")), (Some(all), Some(2)));
    let inner = of("/g/b").get("inner_chunks").unwrap();
    assert_eq!(
        (inner.get("stored").and_then(Value::as_u64), inner.get("possible").and_then(Value::as_u64)),
        (Some(1), Some(8))
    );
    assert_eq!(folder.ok(&["du", "s", "-L", "1"]).lines().count(), 4);
    assert!(folder.ok(&["du", "s", "g/a"]).lines().nth(1).unwrap().ends_with(" /g/a"));
}

/// Counts that can be made are printed, whatever is broken.
#[test]
fn a_shard_without_an_index_is_no_end() {
    let folder = store();
    std::fs::write(folder.path("s/g/b/c/0"), "torn").unwrap();
    let ran = folder.run(&["du", "s", "--inner"]);
    assert!(ran.code != Some(0) && ran.err.contains("/g/b"), "{}", ran.err);
    let out = String::from_utf8(ran.out).unwrap();
    assert!(out.contains("10 of 10 (100 %)") && out.contains("1 of 2 (50 %)"), "{out}");
}

#[test]
fn arrays_of_a_kind_count_together() {
    let folder = store();
    let codecs = folder.ok(&["du", "s", "--by", "codec"]);
    assert!(codecs.contains("100 %)  none") && codecs.contains("zstd"), "{codecs}");
    let types = folder.ok(&["du", "s", "--by", "dtype", "--inner"]);
    assert!(types.contains("int8\n") && types.contains("1 of 8 (12 %)  int16\n"), "{types}");
    assert!(types.lines().all(|line| line.len() <= 90), "{types}");
    assert_eq!(folder.run(&["du", "nothing"]).code, Some(3));
}
