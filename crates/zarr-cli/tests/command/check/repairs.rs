//! Repairs that fail, or have nothing to do, and what a dry run says.

use crate::folder::{Folder, int16};
use std::fs;
use zarr::meta::json::Value;

fn json(ran: &crate::folder::Ran) -> Value {
    let text = std::str::from_utf8(&ran.out).unwrap();
    Value::from_json(text).unwrap()
}

/// The lines of what was done, or would be.
fn done(folder: &Folder, args: &[&str]) -> Vec<String> {
    let ran = folder.run(&[&["check", "s"], args].concat());
    let lines = String::from_utf8(ran.out).unwrap();
    let is_done = |line: &&str| ["removed ", "erased ", "kept ", "consolidated "].iter().any(|it| line.starts_with(it));
    lines.lines().filter(is_done).map(str::to_owned).collect()
}

#[test]
fn a_check_that_fails_prints_no_half_of_a_document() {
    let folder = Folder::new();
    let ran = folder.run(&["check", "none", "--json"]);
    assert_eq!((ran.code, ran.out.len()), (Some(3), 0));
    assert!(Value::from_json(ran.err.lines().last().unwrap()).is_ok(), "{}", ran.err);
}

/// The others are done, and the document is complete.
#[test]
fn a_repair_that_fails_keeps_no_other_from_being_done() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "/", "--group"]);
    for group in ["bad", "good"] {
        let array = format!("{group}/a");
        folder.ok(&["create", "s", group, "--group"]);
        folder.ok(&["create", "s", &array, "--shape", "4", "--dtype", "int16", "--codecs", "none"]);
        folder.ok(&["consolidate", "s", group]);
        let path = folder.path(&format!("s/{array}/zarr.json"));
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, text.replacen("\"shape\": [4]", "\"shape\": [3]", 1)).unwrap();
    }
    fs::create_dir(folder.path("s/empty")).unwrap();
    fs::write(folder.path("s/bad/a/zarr.json"), "{").unwrap();
    fs::create_dir(folder.path("s/bad/b")).unwrap();
    fs::copy(folder.path("s/good/a/zarr.json"), folder.path("s/bad/b/zarr.json")).unwrap();
    let ran = folder.run(&["check", "s", "--repair", "--json"]);
    let value = json(&ran);
    let of = |name: &str, place: &str| {
        let list = value.get(name).and_then(Value::as_array).unwrap();
        list.iter().any(|it| it.get("place").and_then(Value::as_str) == Some(place))
    };
    assert!(of("failed", "/bad") && of("repaired", "/good") && of("repaired", "empty/"), "{value}");
    assert_eq!((value.get("complete"), ran.code), (Some(&Value::Bool(true)), Some(1)));
    let ran = folder.run(&["check", "s", "--repair"]);
    let out = String::from_utf8(ran.out).unwrap();
    assert!(out.lines().any(|line| line.starts_with("failed        /bad: ")), "{out}");
    assert!(ran.err.contains("1 repair failed"), "{}", ran.err);
}

/// More faults than are listed make no shard one that is broken as a whole.
#[test]
fn a_dry_run_says_what_a_run_does() {
    let folder = Folder::new();
    let args = ["create", "s", "/", "--shape", "2500", "--dtype", "int16", "--chunks", "1", "--shards", "2500"];
    folder.ok(&[&args[..], &["--codecs", "bytes,crc32c"]].concat());
    folder.fill("s", "/", "<i2", "(2500,)", &int16(1..2501));
    let path = folder.path("s/c/0");
    let mut bytes = fs::read(&path).unwrap();
    (0..2000).for_each(|inner| bytes[6 * inner] ^= 1);
    fs::write(&path, &bytes).unwrap();
    let ran = folder.run(&["check", "s"]);
    let out = String::from_utf8(ran.out).unwrap();
    assert!(out.contains("error    c/0  1000 more faults of this shard [more-faults]\n"), "{out}");
    let planned = done(&folder, &["--drop-torn", "--dry-run"]);
    assert_eq!(planned, ["kept          c/0"]);
    assert_eq!(done(&folder, &["--drop-torn"]), planned);
    assert!(path.exists());
}

/// Directories above that become empty are removed too, and one in which somebody writes stays.
#[test]
fn directories_are_said_to_be_removed_if_they_are() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "/", "--group"]);
    fs::create_dir_all(folder.path("s/x/y/z")).unwrap();
    fs::create_dir_all(folder.path("s/busy")).unwrap();
    let name = "s/busy/.00112233445566778899aabbccddeeff.zarr-tmp";
    let held = fs::File::create(folder.path(name)).unwrap();
    held.lock().unwrap();
    let removed = ["removed       x/", "removed       x/y/", "removed       x/y/z/"];
    let planned = done(&folder, &["--repair", "--dry-run"]);
    assert!(removed.iter().all(|line| planned.contains(&(*line).to_owned())), "{planned:?}");
    assert!(folder.path("s/x/y/z").exists());
    assert_eq!(done(&folder, &["--repair"]), removed);
    assert!(!folder.path("s/x").exists() && folder.path(name).exists());
}
