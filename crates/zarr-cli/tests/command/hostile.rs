//! Names, attributes, elements and arguments with characters that control a terminal: no verb prints them raw.

use crate::folder::Folder;
use std::fs;
use std::path::Path;
use zarr::meta::json::Value;
use zarr::meta::{Dialect, json};

/// The title of the window, a colour, C1, DEL, bidirectional controls, separators of lines and paragraphs.
const EVIL: &str = "x\u{1b}]0;y\u{7}\u{1b}[31m\u{9b}2J\u{7f}\u{202e}\u{2066}\u{200f}\u{61c}\u{2028}\u{2029}\r\u{8}z";

/// As in JSON documents, which have no other escapes.
fn quoted(text: &str) -> String {
    let escaped: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
    format!("\"{escaped}\"")
}

fn is_evil(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn put(at: &Path, text: &str) {
    fs::create_dir_all(at).unwrap();
    fs::write(at.join("zarr.json"), text).unwrap();
}

fn array(data_type: &str, codecs: &str) -> String {
    let evil = quoted(EVIL);
    format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [2], "data_type": {data_type}, "fill_value": 0,
        "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [2]}}}},
        "chunk_key_encoding": {{"name": "default"}}, "codecs": {codecs}, "dimension_names": [{evil}],
        "attributes": {{{evil}: {evil}, "units": {evil}}}}}"#
    )
}

/// A hierarchy in which all that can be named has such a name.
fn hostile() -> Folder {
    let folder = Folder::new();
    let (evil, root) = (quoted(EVIL), folder.path("s"));
    let bytes = r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#;
    put(&root, &format!(r#"{{"zarr_format": 3, "node_type": "group", "attributes": {{{evil}: [{evil}]}}}}"#));
    put(&root.join(EVIL), r#"{"zarr_format": 3, "node_type": "group"}"#);
    put(&root.join(EVIL).join(EVIL), &array("\"int16\"", bytes));
    put(&root.join("type"), &array(&evil, bytes));
    put(&root.join("codec"), &array("\"int16\"", &format!("[{evil}]")));
    put(&root.join("broken"), &array("\"int16\"", bytes).replace("\"regular\"", &evil));
    put(&root.join("text").join(EVIL), &format!("{{{evil}"));
    for (name, shape) in [("texts", "2"), ("table", "2,2")] {
        folder.ok(&["create", "s", name, "--shape", shape, "--dtype", "string"]);
        let json =
            if shape == "2" { format!("[{evil}, \"b\\n\"]") } else { format!("[[{evil}, \"b\"], [\"\", \"c\"]]") };
        let ran = folder.run_with(&["write", "s", name, "--from", "-", "--as", "json"], json.as_bytes());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }
    let fields = format!(r#"[[{evil}, "<U40"], ["b", "<i2"]]"#);
    folder.ok(&["create", "s", "struct", "--shape", "1", "--dtype", &fields]);
    let json = format!("[{{{evil}: {evil}, \"b\": 1}}]");
    let ran = folder.run_with(&["write", "s", "struct", "--from", "-", "--as", "json"], json.as_bytes());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    folder
}

/// Runs a verb, in text and with `--json`, and looks at every character that it prints, some of which are to be escaped.
fn check(folder: &Folder, args: &[&str]) {
    for all in printed(folder, args) {
        // Output without the escaped character proves nothing.
        assert!(all.contains("\\u{1b}") || all.contains("\\u001b"), "{args:?}: {all:?}");
    }
}

/// The output of a verb, in text and with `--json`; it has no character that is to be escaped.
fn printed(folder: &Folder, args: &[&str]) -> [String; 2] {
    [&[][..], &["--json"]].map(|more| {
        let args = [args, more].concat();
        let ran = folder.run(&args);
        let out = String::from_utf8(ran.out).unwrap();
        for (name, text) in [("stdout", &out), ("stderr", &ran.err)] {
            let found: Vec<char> = text.chars().filter(|&c| is_evil(c)).collect();
            assert!(found.is_empty(), "{args:?}: {name}: {found:?} in {text:?}");
        }
        format!("{out}{}", ran.err)
    })
}

#[test]
fn no_verb_prints_control_characters_raw() {
    let folder = hostile();
    let inner = format!("/{EVIL}/{EVIL}");
    let at = format!("s::{inner}");
    let group = format!("s::/{EVIL}");
    for args in [
        &["tree", "s"][..],
        &["tree", "s", "--color", "never"],
        &["tree", &at],
        &["ls", "s"],
        &["ls", "-l", "s"],
        &["ls", &at],
        &["info", "s"],
        &["info", &at],
        &["info", "s", "type"],
        &["info", "s", "codec"],
        &["info", "s", "struct"],
        &["info", &at, "--chunks"],
        &["du", "s"],
        &["du", "s", "--by", "codec"],
        &["du", "s", "--by", "dtype"],
        &["stats", &at],
        &["stats", &at, "--along", EVIL],
        &["stats", "s", "texts"],
        &["stats", "s", "struct"],
        &["stats", "s", "struct", "--field", EVIL],
        &["bench-codecs", &at, "--codecs", "none\u{1b}"],
        &["bench-codecs", &at, "--codecs", "none", "--time", "0"],
        &["advise", &at, "--reads", "\u{1b}=1"],
        &["advise", &at, "--reads", "0=1", "--codecs", "none", "--time", "0"],
        &["advise", "s", "--reads", "all", "--codecs", "none", "--time", "0"],
        &["info", &at, "--explain"],
        &["ds", &group],
        &["read", &at, "--decode"],
        &["read", &at, "--decode", "--as", "csv"],
        &["read", &at, "--isel", "\u{1b}=1"],
        &["read", &at, "--sel", "\u{1b}=1"],
        &["read", &at, "--sel", &format!("{EVIL}=1")],
        &["view", &at],
        &["view", &at, "--raw"],
        &["view", &at, "--plane", "\u{1b}"],
        &["attrs", "s"],
        &["attrs", &at],
        &["attrs", "s", "--unset", "\u{1b}"],
        &["read", "s", "texts"],
        &["read", "s", "table"],
        &["read", "s", "struct"],
        &["read", "s", "texts", "--as", "json"],
        &["read", "s", "texts", "--as", "csv"],
        &["read", "s", "table", "--as", "csv"],
        &["read", "s", "struct", "--as", "csv"],
        &["read", "s", "type"],
        &["read", "s", "codec"],
        &["read", "s", "broken"],
        &["read", "s", "struct", "--field", "\u{1b}"],
        &["read", "s", "texts", "--select", "\u{1b}"],
        &["read", "s", "texts", "-o", "no\u{1b}folder/x"],
        &["write", "s", "texts", "--from", "no\u{1b}.npy"],
        &["create", "s", &inner, "--shape", "1", "--dtype", "int8"],
        &["create", "s", "new", "--shape", "1", "--dtype", EVIL],
        &["convert", "s", "t", "--dialect", "v2", "--dry-run"],
        &["convert", "s", "t", "--dialect", "v2"],
        &["pyramid", &at],
        &["virtualize", "s", "-o", "r.json"],
        &["migrate", "s", "--dialect", "v2", "--dry-run"],
        &["migrate", "s", "--dialect", "v2"],
        &["cp", &at, &at],
        &["diff", &at, "s::/type"],
        &["diff", &at, "s::/texts"],
        &["digest", &group],
        &["digest", &at, "--compare", "no\u{1b}"],
        &["mv", "s::nothing\u{1b}", "s::/b"],
        &["rm", "s", &format!("/{EVIL}")],
        &["check", "s"],
        &["check", "s", "--level", "documents"],
        &["consolidate", "s"],
        &["resize", &at, "--shape", "1"],
        &["resize", &at, "--dim", "\u{1b}=1"],
        &["rename-dims", &at, "--dim", &format!("{EVIL}={EVIL}")],
        &["rename-dims", "s", "--dim", "\u{1b}=1"],
        &["remove-metadata", "v2", &at],
        &["remove-metadata", "v3", "s", "--dry-run", "--force"],
        &["man", "\u{1b}"],
        &["read", &at, "--raw", "--head", "1", "--sel", "\u{1b}=1"],
        &["tree", "no\u{1b}where"],
        &["serve", "no\u{1b}where"],
        &["serve", "s", "--port", "0", "--cors", "\u{1b}"],
    ] {
        check(&folder, args);
    }
    // CDL has escapes of its own, and tabs before lines.
    let header = folder.ok(&["ds", &group, "--header"]);
    assert!(header.contains("\\033]0;y\\007") && header.contains("\\%1b"), "{header:?}");
    assert!(!header.lines().any(|line| line.trim_start_matches('\t').contains(is_evil)), "{header:?}");
    // Invalid arguments may not be printed at all.
    for args in [&[EVIL][..], &["tree", "s", &format!("--{EVIL}")], &["tree", "s", "--color", EVIL]] {
        printed(&folder, args);
    }
    // Messages about nodes that moved, and about stale copies of metadata.
    for broken in ["type", "codec", "broken", "text"] {
        fs::remove_dir_all(folder.path("s").join(broken)).unwrap();
    }
    folder.ok(&["consolidate", "s"]);
    fs::remove_dir_all(folder.path("s").join(EVIL).join(EVIL)).unwrap();
    check(&folder, &["consolidate", "s", "--check"]);
    check(&folder, &["convert", "s", &format!("t{EVIL}"), "--node", &format!("/{EVIL}"), "--overwrite"]);
}

#[test]
fn tables_and_json_come_back_as_they_were() {
    let folder = hostile();
    let dtype = format!(r#"[[{}, "<U40"], ["b", "<i2"]]"#, quoted(EVIL));
    for (name, shape, dtype) in [("texts", "2", "string"), ("table", "2,2", "string"), ("struct", "1", &dtype)] {
        let json = folder.ok(&["read", "s", name, "--json"]);
        assert!(json.contains("\\u001b") && json.contains("\\u202e"), "{json}");
        assert!(Value::from_json(&json).unwrap().to_string().contains('\u{202e}'), "{json}");
        for form in ["csv", "json"] {
            let (file, copy) = (format!("f.{form}"), format!("{name}-{form}"));
            folder.ok(&["read", "s", name, "--as", form, "-o", &file]);
            folder.ok(&["create", "s", &copy, "--shape", shape, "--dtype", dtype]);
            folder.ok(&["write", "s", &copy, "--from", &file]);
            assert_eq!(folder.ok(&["read", "s", &copy, "--json"]), json, "{name} {form}");
        }
    }
}

/// Escapes are printed, but never stored.
#[test]
fn stored_names_keep_their_characters() {
    let folder = hostile();
    folder.ok(&["attrs", "s", "--set", &format!("a={EVIL}")]);
    let attributes = Value::from_json(&folder.ok(&["attrs", "s"])).unwrap();
    assert_eq!(attributes.get("a").and_then(Value::as_str), Some(EVIL));
    assert_eq!(attributes.get(EVIL), Some(&json!([EVIL])));
    let found = zarr::hierarchy::open_node(&*zarr::store::open(folder.path("s").to_str().unwrap()).unwrap(), "/", None)
        .unwrap();
    assert_eq!((found.dialect, found.node.attributes()), (Dialect::V3, attributes.as_object().unwrap()));
}
