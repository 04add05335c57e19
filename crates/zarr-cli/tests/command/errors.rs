//! Exit codes and errors.

use crate::folder::{Folder, int16};
use zarr::meta::json::Value;

fn check(folder: &Folder, args: &[&str], code: i32, kind: &str, word: &str) {
    let ran = folder.run(&[args, &["--json"]].concat());
    assert_eq!(ran.code, Some(code), "{args:?}: {}", ran.err);
    let mut lines = ran.err.lines();
    let first = lines.next().unwrap();
    assert!(first.starts_with("error: ") && first.contains(word), "{args:?}: {}", ran.err);
    let object = Value::from_json(ran.err.lines().last().unwrap()).unwrap();
    assert_eq!(object.get("kind").and_then(Value::as_str), Some(kind), "{args:?}: {}", ran.err);
    for member in ["message", "path", "key", "pointer"] {
        assert!(object.get(member).is_some(), "{args:?}: {}", ran.err);
    }
}

#[test]
fn exit_codes_and_kinds() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "a", "--shape", "4", "--dtype", "float32", "--chunks", "2", "--codecs", "crc32c"]);
    folder.fill("s", "a", "<f4", "(4,)", &[1; 16]);
    let check = |args: &[&str], code, kind, word| check(&folder, args, code, kind, word);
    check(&["tree", "nowhere"], 3, "not-found", "nowhere");
    check(&["read", "s", "b"], 3, "not-found", "/b");
    check(&["read", "s", "/"], 3, "not-found", "expected an array");
    check(&["read", "s", "a/../b"], 2, "path", "periods");
    check(&["read", "s", "a", "--select", "9"], 2, "argument", "9");
    check(&["read", "s", "a", "--select", "1:2:3:4"], 2, "argument", "");
    check(&["read", "s", "a", "--as", "png"], 2, "argument", "png");
    check(&["frobnicate"], 2, "argument", "frobnicate");
    check(&["create", "s", "c", "--shape", "4", "--dtype", "float33"], 2, "argument", "float33");
    check(&["create", "s", "c", "--shape", "4", "--dtype", "int8", "--fill", "300"], 2, "argument", "300");
    check(&["create", "s", "c", "--shape", "4", "--dtype", "int8", "--codecs", "nil"], 2, "unknown-extension", "nil");
    check(&["write", "s", "a", "--from", "no.npy"], 3, "not-found", "no.npy");
    check(&["tree", "ftp://bucket/x"], 2, "argument", "ftp://");
    assert!(!folder.path("nowhere").exists());

    let chunk = folder.path("s/a/c/0");
    let mut bytes = std::fs::read(&chunk).unwrap();
    bytes[0] ^= 1;
    std::fs::write(&chunk, &bytes).unwrap();
    check(&["read", "s", "a", "--as", "raw"], 4, "checksum-mismatch", "key a/c/0");
    std::fs::write(&chunk, &bytes[..3]).unwrap();
    check(&["read", "s", "a", "--as", "raw"], 4, "corrupt-chunk", "/a: chunk [0]");
    // One broken chunk does not make others unreadable.
    assert_eq!(folder.ok(&["read", "s", "a", "--select", "2:3"]).lines().count(), 1);
    std::fs::write(folder.path("s/a/zarr.json"), "{\"zarr_format\": 3, \"node_type\": \"array\"}").unwrap();
    check(&["info", "s", "a"], 4, "invalid-metadata", "a/zarr.json");
}

#[test]
fn an_array_that_cannot_be_created_leaves_no_store() {
    let folder = Folder::new();
    let create = |path: &str, dtype: &str, more: &[&str]| {
        let args = ["create", "new/s", path, "--shape", "4", "--dtype", dtype, "--chunks", "2"];
        let ran = folder.run(&[&args, more].concat());
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.err);
        assert!(!folder.path("new").exists(), "{args:?}");
    };
    create("a", "float33", &[]);
    create("a", "int8", &["--fill", "300"]);
    create("a", "int8", &["--codecs", "nil"]);
    create("a", "string", &["--dialect", "v1"]);
    create("a/b", "int8", &["--dialect", "v1"]);
    create("__a", "int8", &[]);
    create("/../a", "int8", &[]);
    create("a", "int8", &["--dims", "x,y"]);
    create("a", "int8", &["--fill", "null"]);
    create("a", "int8", &["--attributes", "[]"]);
    for args in [&["--group", "--dialect", "v1"][..], &["--group", "--attributes", "3"]] {
        let ran = folder.run(&[&["create", "new/s", "a"], args].concat());
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.err);
        assert!(!folder.path("new").exists() && !ran.err.contains("memory"), "{args:?}: {}", ran.err);
    }
    let ran = folder.run(&["cp", "none::/a", "new/s::/a"]);
    assert!(ran.code == Some(3) && !folder.path("new").exists(), "{}", ran.err);
    folder.ok(&["create", "new/s", "a", "--shape", "4", "--dtype", "int8"]);
}

#[test]
fn errors_as_json_have_their_location_and_causes() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "a", "--shape", "4", "--dtype", "int8", "--chunks", "2", "--codecs", "none"]);
    folder.fill("s", "a", "|i1", "(4,)", &[1; 4]);
    let error = |args: &[&str]| {
        let ran = folder.run(&[args, &["--json"]].concat());
        assert_ne!(ran.code, Some(0), "{args:?}");
        Value::from_json(ran.err.lines().last().unwrap()).unwrap()
    };
    let check = |error: &Value, expected: &[(&str, &str)]| {
        for (member, value) in expected {
            assert_eq!(error.get(member).unwrap().to_string(), *value, "{member}: {error}");
        }
    };
    let (read, chunk) = (["read", "s", "a", "--as", "raw"], folder.path("s/a/c/1"));
    std::fs::write(&chunk, [1]).unwrap();
    check(
        &error(&read),
        &[("store", "\"s\""), ("path", "\"/a\""), ("key", "\"a/c/1\""), ("chunk", "[1]"), ("causes", "[]")],
    );
    // The store tells the key, and the failure of the file.
    std::fs::remove_file(&chunk).unwrap();
    std::fs::create_dir(&chunk).unwrap();
    std::fs::write(chunk.join("x"), []).unwrap();
    let values = folder.path("v.npy");
    std::fs::write(values, crate::folder::npy("|i1", false, "(4,)", &[1; 4])).unwrap();
    let failed = error(&["write", "s", "a", "--from", "v.npy"]);
    check(&failed, &[("store", "\"s\""), ("path", "\"/a\""), ("key", "\"a/c/1\"")]);
    let missing = error(&["write", "s", "a", "--from", "no.npy"]);
    check(&missing, &[("key", "null"), ("causes", "[\"No such file or directory (os error 2)\"]")]);
    std::fs::write(folder.path("s/a/zarr.json"), "{\n  \"zarr_format\": 3,\n  oops}").unwrap();
    check(
        &error(&read),
        &[("kind", "\"invalid-json\""), ("key", "\"a/zarr.json\""), ("offset", "24"), ("chunk", "null")],
    );
    let failed = error(&["read", "s/zarr.json", "a"]);
    check(&failed, &[("store", "\"s/zarr.json\""), ("key", "null")]);
}

#[test]
fn help_is_no_error() {
    let folder = Folder::new();
    assert!(folder.ok(&["--help"]).contains("convert"));
    assert!(folder.ok(&["read", "--help"]).contains("--select"));
    assert!(folder.ok(&["--version"]).starts_with("zarr "));
    assert!(folder.ok(&["completions", "bash"]).contains("_zarr"));
    // Help fits a terminal; rare options are in the long one.
    for args in [&["-h"][..], &["--help"], &["read", "-h"], &["convert", "--help"], &["create", "-h"]] {
        let help = folder.ok(args);
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{args:?}: {help}");
    }
    let (short, long) = (folder.ok(&["read", "-h"]), folder.ok(&["read", "--help"]));
    for option in ["--explain", "--pickle-values", "--strict-writers"] {
        assert!(!short.contains(option) && long.contains(option), "{option}: {short}");
    }
    assert!(short.contains("Which elements:") && short.contains("--head"), "{short}");
    let verbs = folder.ok(&["-h"]);
    assert!(verbs.contains("\nLook at data:\n  tree ") && verbs.contains("\nConvert:\n  convert "), "{verbs}");
    assert!(verbs.contains("s3://") && verbs.contains("\nExit: 0 done") && verbs.lines().count() <= 40, "{verbs}");
    assert_eq!(verbs, folder.ok(&["--help"]));
    let options = folder.ok(&["help", "options"]);
    assert!(options.contains("--strict-writers") && options.contains("141"), "{options}");
    let bare = folder.run(&[]);
    assert_eq!(bare.code, Some(2));
    assert!(bare.err.contains("Usage"));
}

#[test]
fn an_output_file_is_whole_or_not_there() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "a", "--shape", "4", "--dtype", "int8", "--codecs", "crc32c"]);
    folder.fill("s", "a", "|i1", "(4,)", &[1, 2, 3, 4]);
    std::fs::write(folder.path("out"), "old").unwrap();
    folder.ok(&["read", "s", "a", "--as", "raw", "-o", "out"]);
    assert_eq!(std::fs::read(folder.path("out")).unwrap(), [1, 2, 3, 4]);
    std::fs::write(folder.path("s/a/c/0"), "torn").unwrap();
    assert_eq!(folder.run(&["read", "s", "a", "--as", "raw", "-o", "out"]).code, Some(4));
    assert_eq!(std::fs::read(folder.path("out")).unwrap(), [1, 2, 3, 4]);
    assert_eq!(std::fs::read_dir(folder.path(".")).unwrap().count(), 2);
}

#[test]
fn near_names_are_asked_for() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "g/temp", "--shape", "4", "--dtype", "float32"]);
    let hint = |args: &[&str]| {
        let ran = folder.run(args);
        assert_ne!(ran.code, Some(0), "{args:?}");
        ran.err.lines().find_map(|line| line.strip_prefix("hint: ").map(str::to_owned)).unwrap_or_default()
    };
    assert_eq!(hint(&["read", "s", "g/tmp"]), "is \"/g/temp\" meant?");
    assert_eq!(hint(&["info", "s", "/f/temp"]), "is \"/g\" meant?");
    assert_eq!(hint(&["read", "s", "other"]), "`zarr tree s` shows the nodes that are there");
    assert_eq!(hint(&["cp", "s::/g/tmp", "s::/t"]), "is \"/g/temp\" meant?");
    assert_eq!(hint(&["mv", "s::/g/tmp", "s::/t"]), "is \"/g/temp\" meant?");
    assert_eq!(hint(&["convert", "s", "t", "--node", "g/tmp"]), "is \"/g/temp\" meant?");
    assert_eq!(hint(&["convert", "s", "t", "--node", "g/tmp", "--dry-run"]), "is \"/g/temp\" meant?");
    assert_eq!(
        hint(&["convert", "s", "t", "--node", "other", "--variables", "temp"]),
        "`zarr tree s` shows the nodes that are there"
    );
    assert_eq!(hint(&["convert", "s", "t", "--node", "gg", "--variables", "temp"]), "is \"/g\" meant?");
    assert_eq!(hint(&["raed", "s", "g/temp"]), "is \"read\" meant?");
    assert_eq!(hint(&["man", "raed"]), "is \"read\" meant?");
    assert_eq!(hint(&["frobnicate"]), "`zarr -h` lists the verbs");
    folder.ok(&["attrs", "s", "g/temp", "--set", "units=K"]);
    assert_eq!(hint(&["attrs", "s", "g/temp", "--unset", "unit"]), "is \"units\" meant?");
    let create =
        |data_type, codecs| hint(&["create", "s", "a", "--shape", "4", "--dtype", data_type, "--codecs", codecs]);
    assert_eq!(create("Int23", "zstd"), "is \"int32\" meant?");
    assert_eq!(create("flaot32", "zstd"), "is \"float32\" meant?");
    assert!(create("date", "zstd").starts_with("names are as in"));
    let codecs = create("int8", "gzp");
    assert!(codecs.starts_with("is \"gzip\" meant? known codecs are ") && codecs.contains("zstd"), "{codecs}");
}

/// Threads that the system does not give are an error, not a read on fewer.
#[cfg(all(unix, target_pointer_width = "64"))]
#[test]
fn threads_that_the_system_refuses_are_named() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "a", "--shape", "4", "--dtype", "int8", "--chunks", "2"]);
    let read = |stack: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_zarr"));
        command.args(["read", "s", "a", "--threads", "2"]).env("RUST_MIN_STACK", stack).current_dir(folder.path(""));
        let ran = command.output().unwrap();
        (ran.status.code(), String::from_utf8(ran.stderr).unwrap())
    };
    assert_eq!(read("2000000"), (Some(0), String::new()));
    // No address space is so large.
    let (code, error) = read(&(1_u64 << 60).to_string());
    assert!(code != Some(0) && error.contains("the system refuses 2 threads"), "{error}");
}

/// Other formats are named, with what reads them.
#[test]
fn other_formats_are_named() {
    let folder = Folder::new();
    let fails = |args: &[&str], code: i32, says: &[&str]| {
        let ran = folder.run(args);
        assert_eq!(ran.code, Some(code), "{args:?}: {}", ran.err);
        for text in says {
            assert!(ran.err.contains(text), "{args:?}: {text}: {}", ran.err);
        }
        assert!(!ran.err.contains("(tried"), "{}", ran.err);
    };
    std::fs::write(folder.path("x.grib"), b"GRIB").unwrap();
    std::fs::write(folder.path("refs.json"), b"{\"version\": 1, \"refs\": {}}").unwrap();
    fails(&["tree", "x.grib"], 2, &["found a GRIB file, expected a directory", "hint: xarray with cfgrib"]);
    fails(&["read", "refs.json", "a"], 3, &["refs.json"]);
    for key in ["ice/snapshots/A", "ice/refs/branch.main/ref.json"] {
        let path = folder.path(key);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }
    for verb in ["tree", "ls", "info", "du", "check", "consolidate"] {
        fails(&[verb, "ice"], 3, &["this is an Icechunk repository"]);
    }
    folder.ok(&["create", "s.zarr", "g/t2m", "--shape", "4", "--dtype", "int16"]);
    folder.fill("s.zarr", "g/t2m", "<i2", "(4,)", &int16(1..5));
    for verb in ["tree", "info", "du", "check"] {
        fails(&[verb, "s.zarr", "g/t2mm"], 3, &["is \"/g/t2m\" meant?"]);
    }
    fails(&["info", "s.zarr/g/t2m/zarr.json"], 3, &["that is the document of /g/t2m, not a node"]);
    fails(&["read", "s.zarr", "g/t2m/c/0"], 3, &["that is the key of chunk [0] of /g/t2m, not a node"]);
    // Scripts have all keys that were looked at.
    let ran = folder.run(&["info", "s.zarr", "no", "--json"]);
    assert!(ran.err.contains("tried"), "{}", ran.err);
    // Outside of a directory whose name shows a store.
    std::fs::rename(folder.path("s.zarr"), folder.path("s")).unwrap();
    fails(&["tree", "s/g/t2m/zarr.json"], 2, &["found a document of a node", "hint: the node is s/g/t2m"]);
    fails(&["tree", "s/g/t2m/c/0"], 2, &["found a file below a node", "hint: the node is s/g/t2m"]);
}

/// OME-Zarr in one file.
#[test]
fn a_zip_file_may_be_called_ozx() {
    let folder = Folder::new();
    // A zip file with one member that is stored: `zarr.json`.
    let document = br#"{"zarr_format": 3, "node_type": "group"}"#;
    let store = zarr::store::ZipStore::create(folder.path("x.zip")).unwrap();
    zarr::store::StoreExt::set_all(&store, &zarr::store::Key::new("zarr.json").unwrap(), document).unwrap();
    store.close().unwrap();
    std::fs::rename(folder.path("x.zip"), folder.path("x.ozx")).unwrap();
    assert!(folder.ok(&["tree", "x.ozx"]).contains("v3 group"));
    std::fs::rename(folder.path("x.ozx"), folder.path("x.dat")).unwrap();
    let ran = folder.run(&["info", "x.dat"]);
    assert!(ran.code == Some(2) && ran.err.contains("found a zip file") && ran.err.contains("zip:FILE"), "{}", ran.err);
}

#[test]
fn hints_name_options_and_nodes() {
    let folder = Folder::new();
    let create = |name: &str| folder.ok(&["create", "s", name, "--shape", "4,2", "--dtype", "int16"]);
    (0..9).for_each(|number| drop(create(&format!("a{number}"))));
    let hint = |args: &[&str], words: &str| {
        let ran = folder.run(args);
        let hint = ran.err.split_once("hint: ").map(|(_, hint)| hint.trim_end().to_owned());
        assert!(
            ran.code != Some(0) && hint.as_deref().is_some_and(|hint| hint.contains(words)),
            "{args:?}: {}",
            ran.err
        );
        assert!(!ran.err.contains("'-- "), "{args:?}: {}", ran.err);
    };
    hint(&["consolidate", "s", "aa1", "--drop"], "is \"/a1\" meant?");
    hint(&["ds", "s", "a1"], "`zarr ds s` shows the data set");
    hint(&["ds", "s"], "--number-dimensions");
    hint(&["convert", "s", "d", "--chunks", "2,2", "--memory", "10B"], "--memory allows more");
    hint(&["create", "s", "b", "--shape", "4", "--dtype", "int8", "--zarr-version", "3"], "--dialect v3");
    folder.ok(&["create", "s", "b", "--shape", "4", "--dtype", "int8", "--zarr-format", "3"]);
    folder.ok(&["create", "s", "cube", "--shape", "2,2,2", "--dtype", "int8"]);
    hint(&["read", "s", "cube", "--as", "csv"], "--decode prints a row for each value");
}
