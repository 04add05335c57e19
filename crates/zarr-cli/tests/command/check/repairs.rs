//! Repairs that fail, or have nothing to do, and what a dry run says.

use crate::folder::{Folder, int16};
use std::fs;
use zarr::meta::json::Value;

fn json(ran: &crate::folder::Ran) -> Value {
    let text = std::str::from_utf8(&ran.out).unwrap();
    Value::from_json(text).unwrap()
}

/// The lines of what was done, or would be, in the words of what was done.
fn done(folder: &Folder, args: &[&str]) -> Vec<String> {
    let ran = folder.run(&[&["check", "s"], args].concat());
    let lines = String::from_utf8(ran.out).unwrap();
    let repair = |line: &str| {
        let words = [("remove", "removed"), ("erase", "erased"), ("keep", "kept"), ("consolidate", "consolidated")];
        words.iter().find_map(|(planned, done)| {
            let word = if args.contains(&"--dry-run") { format!("would {planned} ") } else { format!("{done} ") };
            Some(format!("{done:<12}  {}", line.strip_prefix(&word)?.trim_start()))
        })
    };
    lines.lines().filter_map(repair).collect()
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
    assert_eq!(planned, ["kept          c/0: some of its inner chunks can be read"]);
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

/// A document that is in the copy alone is not lost by a repair, be it of an array or of its attributes.
#[test]
fn a_copy_is_kept_while_it_has_documents_that_are_nowhere_else() {
    for (dialect, lost) in [("v3", "s/a/zarr.json"), ("v2", "s/a/.zarray"), ("v2", "s/a/.zattrs")] {
        let folder = Folder::new();
        folder.ok(&["create", "s", "/", "--group", "--dialect", dialect]);
        for array in ["a", "b"] {
            let args = ["create", "s", array, "--shape", "4", "--dtype", "int16", "--codecs", "none"];
            folder.ok(&[&args[..], &["--dialect", dialect]].concat());
            folder.fill("s", array, "<i2", "(4,)", &int16(1..5));
        }
        folder.ok(&["attrs", "s", "a", "--set", "k=1"]);
        folder.ok(&["consolidate", "s"]);
        let copy = folder.path(if dialect == "v2" { "s/.zmetadata" } else { "s/zarr.json" });
        let before = fs::read(&copy).unwrap();
        let document = fs::read(folder.path(lost)).unwrap();
        fs::remove_file(folder.path(lost)).unwrap();
        let kept = ["kept          /: it has documents that are nowhere else"];
        assert_eq!(done(&folder, &["--repair", "--dry-run"]), kept, "{lost}");
        assert_eq!(done(&folder, &["--repair"]), kept, "{lost}");
        assert_eq!(fs::read(&copy).unwrap(), before, "{lost}");
        let ran = folder.run(&["check", "s", "--repair", "--json"]);
        let out = json(&ran).to_string();
        assert!(ran.code == Some(1) && out.contains("Restore the documents that are missing from the copy"), "{out}");
        // With it there is nothing to repair.
        fs::write(folder.path(lost), document).unwrap();
        folder.ok(&["check", "s"]);
    }
}

/// Parts of a chunk that is not compressed are read, whatever its length.
#[test]
fn chunks_that_are_not_compressed_stay_unless_they_are_empty() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "/", "--group"]);
    for (array, codecs) in [("a", "none"), ("z", "bytes,gzip")] {
        let args = ["create", "s", array, "--shape", "16", "--dtype", "int16", "--chunks", "4", "--codecs", codecs];
        folder.ok(&args);
        folder.fill("s", array, "<i2", "(16,)", &int16(1..17));
    }
    let chunk = |number: usize| folder.path(&format!("s/a/c/{number}"));
    let mut longer = fs::read(chunk(0)).unwrap();
    longer.extend([0; 4]);
    fs::write(chunk(0), &longer).unwrap();
    fs::write(chunk(1), &fs::read(chunk(1)).unwrap()[..6]).unwrap();
    fs::write(chunk(2), "").unwrap();
    fs::write(folder.path("s/z/c/0"), "torn").unwrap();
    let before = ["0:2", "4:6"].map(|part| folder.raw_region("s", "a", part));
    assert_eq!(before, [int16(1..3), int16(5..7)]);
    let why = "it is not compressed, and parts of it can be read";
    let due = [&*format!("kept          a/c/0: {why}"), &*format!("kept          a/c/1: {why}")];
    let due = [&due[..], &["erased        a/c/2", "erased        z/c/0"]].concat();
    assert_eq!(done(&folder, &["--drop-torn", "--dry-run"]), due);
    assert_eq!(done(&folder, &["--drop-torn"]), due);
    assert_eq!(["0:2", "4:6"].map(|part| folder.raw_region("s", "a", part)), before);
    assert!(chunk(0).exists() && chunk(1).exists() && !chunk(2).exists());
}
