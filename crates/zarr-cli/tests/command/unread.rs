//! Arrays that no other software reads in their new form.

use crate::folder::Folder;
use std::fs;
use zarr::meta::json::{Value, json};

/// An array of version 2 of two elements in one chunk.
fn array(folder: &Folder, path: &str, dtype: &str, (filters, compressor): (Value, Value), chunk: &[u8]) {
    let fill = if dtype == "|O" { Value::Null } else { Value::from(0) };
    let document = json!({
        "zarr_format": 2, "shape": [2], "chunks": [2], "dtype": dtype, "compressor": compressor, "filters": filters,
        "fill_value": fill, "order": "C"
    });
    fs::create_dir_all(folder.path(path)).unwrap();
    fs::write(folder.path(path).join(".zarray"), document.to_string()).unwrap();
    fs::write(folder.path(path).join("0"), chunk).unwrap();
}

/// A hierarchy with objects, a codec that is not known, and an array that everybody reads.
fn write(folder: &Folder) {
    fs::create_dir_all(folder.path("s")).unwrap();
    fs::write(folder.path("s/.zgroup"), r#"{"zarr_format": 2}"#).unwrap();
    array(folder, "s/good", "<i4", (Value::Null, Value::Null), &[1, 0, 0, 0, 2, 0, 0, 0]);
    array(folder, "s/jp2", "|u1", (Value::Null, json!({"id": "imagecodecs_jpeg2k", "level": 10})), &[0; 9]);
    array(folder, "s/pick", "|O", (json!([{"id": "pickle", "protocol": 5}]), Value::Null), b"\x80\x04\x95");
    array(folder, "s/texts", "|O", (json!([{"id": "json2"}]), Value::Null), br#"["a","bcd","|O",[2]]"#);
    array(folder, "s/mixed", "|O", (json!([{"id": "json2"}]), Value::Null), br#"["a",null,"|O",[2]]"#);
}

fn json_of(text: &str) -> Value {
    Value::from_json(text).unwrap()
}

/// Why no other software reads the new arrays, by their paths.
fn unread(facts: &Value) -> Vec<(String, String)> {
    let nodes = facts.get("nodes").and_then(Value::as_array).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let of_node = |node: &Value| {
        let causes = node.get("unread").and_then(Value::as_array).unwrap();
        causes.iter().map(|cause| (text(node.get("path").unwrap()), text(cause))).collect::<Vec<_>>()
    };
    nodes.iter().flat_map(of_node).collect()
}

#[test]
fn a_conversion_says_which_arrays_no_other_software_reads() {
    let folder = Folder::new();
    write(&folder);
    let objects = "no other software is known that reads data type v2_object in Zarr v3";
    let codec =
        "codec numcodecs.imagecodecs_jpeg2k is not known, nor whether other software has it by that name in Zarr v3";
    let due = [("/jp2", codec), ("/mixed", objects), ("/pick", objects), ("/texts", objects)];
    let due = due.map(|(path, cause)| (path.to_owned(), cause.to_owned()));
    let facts = json_of(&folder.ok(&["convert", "s", "t", "--dialect", "v3", "--dry-run", "--json", "-q"]));
    assert_eq!(unread(&facts), due);
    let plan = folder.run(&["convert", "s", "t", "--dialect", "v3", "--dry-run"]);
    assert!(String::from_utf8_lossy(&plan.out).contains(codec), "{plan:?}");

    let ran = folder.run(&["convert", "s", "t", "--dialect", "v3"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.err.contains(&format!("warning: {objects}: /mixed, /pick, /texts\n")), "{}", ran.err);
    assert!(ran.err.contains(&format!("warning: {codec}: /jp2\n")), "{}", ran.err);
    assert!(ran.err.contains("--objects-as-strings"), "{}", ran.err);
    let facts = json_of(&folder.ok(&["convert", "s", "json", "--dialect", "v3", "--json", "-q"]));
    assert_eq!(unread(&facts), due);

    // Nothing changes for other software where an array stays in its format.
    assert_eq!(folder.run(&["convert", "s", "again", "--dialect", "v2"]).err, "");
    assert_eq!(folder.run(&["convert", "t", "same"]).err, "");
    // In numpy's types there is no bfloat16.
    folder.ok(&["create", "b", "/", "--shape", "2", "--dtype", "bfloat16"]);
    let ran = folder.run(&["convert", "b", "b2", "--dialect", "v2"]);
    assert!(ran.err.contains("data type bfloat16 in Zarr v2: /\n"), "{}", ran.err);
}

#[test]
fn copies_and_migrations_into_another_format_say_it_too() {
    let folder = Folder::new();
    write(&folder);
    let objects = "no other software is known that reads data type v2_object in Zarr v3: ";
    folder.ok(&["create", "t", "/", "--group"]);
    let ran = folder.run(&["cp", "s::/mixed", "t::/m"]);
    assert!(ran.code == Some(0) && ran.err.contains(&format!("{objects}/mixed\n")), "{ran:?}");
    let ran = folder.run(&["migrate", "v3", "s", "--dry-run"]);
    assert!(ran.err.contains(&format!("{objects}/mixed, /pick, /texts\n")), "{}", ran.err);
    let ran = folder.run(&["migrate", "v3", "s"]);
    assert!(ran.code == Some(0) && ran.err.contains(&format!("{objects}/mixed, /pick, /texts\n")), "{ran:?}");
}

#[test]
fn a_strict_conversion_refuses_arrays_that_no_other_software_reads() {
    let folder = Folder::new();
    write(&folder);
    let ran = folder.run(&["convert", "s", "t", "--dialect", "v3", "--strict"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.err.contains("/jp2") && ran.err.contains("refused since the conversion is strict"), "{}", ran.err);
    assert!(!folder.path("t").exists());
    let ran = folder.run(&["migrate", "v3", "s", "--strict"]);
    assert!(ran.code == Some(2) && !folder.path("s/zarr.json").exists(), "{ran:?}");
    folder.ok(&["convert", "s/good", "t", "--dialect", "v3", "--strict"]);
}

#[test]
fn consolidated_metadata_names_nothing_that_others_refuse() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path("s")).unwrap();
    fs::write(folder.path("s/.zgroup"), r#"{"zarr_format": 2}"#).unwrap();
    array(&folder, "s/plain", "<i4", (Value::Null, Value::Null), &[1, 0, 0, 0, 2, 0, 0, 0]);
    array(&folder, "s/vs", "|O", (json!([{"id": "json2"}]), Value::Null), br#"["a","bcd","|O",[2]]"#);
    folder.ok(&["consolidate", "s"]);
    let is_consolidated = |store: &str| {
        fs::read_to_string(folder.path(store).join("zarr.json")).unwrap().contains("consolidated_metadata")
    };
    let ran = folder.run(&["convert", "s", "t", "--dialect", "v3"]);
    assert!(ran.err.contains("no consolidated metadata is written for /"), "{}", ran.err);
    assert!(!is_consolidated("t"));
    assert_eq!(folder.ok(&["read", "t", "vs", "--json"]), "[\"a\", \"bcd\"]\n");

    // Texts as strings are read by others, also where the hierarchy lies.
    let ran = folder.run(&["convert", "s", "u", "--dialect", "v3", "--objects-as-strings"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(is_consolidated("u"));
    let document = json_of(&fs::read_to_string(folder.path("u/vs/zarr.json")).unwrap());
    assert_eq!(document.get("data_type"), Some(&json!("string")));
    assert_eq!(document.get("codecs").unwrap().to_string(), r#"[{"name":"vlen-utf8"}]"#);
    assert_eq!(folder.ok(&["read", "u", "vs", "--json"]), "[\"a\", \"bcd\"]\n");
    let ran = folder.run(&["migrate", "v3", "s", "--objects-as-strings"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(is_consolidated("s"));
    assert_eq!(folder.ok(&["read", "s", "vs", "--dialect", "v3", "--json"]), "[\"a\", \"bcd\"]\n");
    assert_eq!(folder.ok(&["read", "s", "vs", "--dialect", "v2", "--json"]), "[\"a\", \"bcd\"]\n");
}

#[test]
fn objects_that_are_not_all_texts_stay_objects() {
    let folder = Folder::new();
    write(&folder);
    let ran = folder.run(&["convert", "s", "t", "--dialect", "v3", "--objects-as-strings"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.err.contains("v2_object in Zarr v3: /mixed, /pick\n"), "{}", ran.err);
    assert!(!ran.err.contains("hint:"), "{}", ran.err);
    assert_eq!(folder.ok(&["read", "t", "mixed", "--json"]), "[\"a\", null]\n");
    assert!(folder.ok(&["info", "t", "texts"]).contains("string"));
    // A missing chunk is null here, which is no text.
    fs::remove_file(folder.path("s/texts/0")).unwrap();
    folder.ok(&["convert", "s/texts", "u", "--dialect", "v3", "--objects-as-strings"]);
    assert_eq!(folder.ok(&["read", "u", "--json"]), "[null, null]\n");
}
