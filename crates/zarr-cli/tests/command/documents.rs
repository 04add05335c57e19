//! Errors, warnings and conversions name members of documents as a store has them.

use crate::folder::{Folder, int16};
use zarr::meta::json::Value;

fn edit(folder: &Folder, key: &str, from: &str, to: &str) {
    let text = std::fs::read_to_string(folder.path(key)).unwrap();
    assert!(text.contains(from), "{key}: {from}: {text}");
    std::fs::write(folder.path(key), text.replace(from, to)).unwrap();
}

fn error(folder: &Folder, args: &[&str]) -> (Value, String) {
    let ran = folder.run(&[args, &["--json"]].concat());
    assert_ne!(ran.code, Some(0), "{args:?}");
    (Value::from_json(ran.err.lines().last().unwrap()).unwrap(), ran.err)
}

// clause: d2022-121
#[test]
fn errors_point_into_the_document_that_is_there() {
    for (dialect, key, codec, pointer) in [
        ("v2", ".zarray", "\"gzip\"", "/compressor"),
        ("p2019", "meta/array.json", "codec/gzip", "/chunk_codecs/0"),
        ("p2020", "meta/root.array.json", "codec/gzip", "/compressor"),
        ("d2022", "meta/array.json", "codecs/gzip", "/codecs/0"),
        ("v3", "zarr.json", "\"gzip\"", "/codecs/1"),
    ] {
        let folder = Folder::new();
        let args = ["create", "s", "/", "--shape", "4", "--dtype", "i4", "--codecs", "gzip", "--dialect", dialect];
        folder.ok(&args);
        edit(&folder, &format!("s/{key}"), codec, &codec.replace("gzip", "nonesuch"));
        let (error, text) = error(&folder, &["read", "s", "/"]);
        let member = |name: &str| error.get(name).and_then(Value::as_str).map(str::to_owned);
        assert_eq!(member("pointer").as_deref(), Some(pointer), "{dialect}: {text}");
        assert_eq!(member("key").as_deref(), Some(key), "{dialect}: {text}");
        assert!(text.contains(&format!("key {key}: {pointer}: unknown codec")), "{dialect}: {text}");
    }
    // A codec that has another name in version 3.
    let folder = Folder::new();
    folder.ok(&["create", "s", "/", "--shape", "4", "--dtype", "i4", "--codecs", "zlib", "--dialect", "v2"]);
    edit(&folder, "s/.zarray", "\"zlib\"", "\"szip\"");
    let (_, text) = error(&folder, &["read", "s", "/"]);
    assert!(text.contains("/compressor: unknown codec \"szip\""), "{text}");
    // A member that is not known in the configuration of a codec.
    let folder = Folder::new();
    folder.ok(&["create", "s", "/", "--shape", "4", "--dtype", "i4", "--codecs", "gzip", "--dialect", "v2"]);
    edit(&folder, "s/.zarray", "\"level\"", "\"mood\": 1, \"level\"");
    let ran = folder.run(&["read", "s", "/"]);
    assert!(ran.err.contains("warning: .zarray /compressor/mood: unknown member, ignored"), "{}", ran.err);
    // A grid of an extension.
    folder.ok(&["create", "t", "/", "--shape", "4", "--dtype", "i4", "--dialect", "d2022"]);
    edit(&folder, "t/meta/array.json", "\"type\": \"regular\"", "\"extension\": \"x:y\", \"type\": \"regular\"");
    let (error, text) = error(&folder, &["info", "t", "/"]);
    assert_eq!(error.get("pointer").and_then(Value::as_str), Some("/chunk_grid/extension"), "{text}");
    assert!(text.contains("found \"x:y\", expected a grid of type"), "{text}");
}

#[test]
fn a_broken_root_is_named_where_a_child_is_not_found() {
    let folder = Folder::new();
    for dialect in ["p2020", "d2022", "v3"] {
        folder.ok(&["create", dialect, "a", "--shape", "4", "--dtype", "i4", "--dialect", dialect]);
        std::fs::write(folder.path(dialect).join("zarr.json"), "{\"zarr_format\": oops").unwrap();
        let path = if dialect == "v3" { "b" } else { "a" };
        let ran = folder.run(&["read", dialect, path]);
        assert_eq!(ran.code, Some(4), "{dialect}: {}", ran.err);
        assert!(ran.err.contains("key zarr.json: line 1, column 17"), "{dialect}: {}", ran.err);
    }
    // A child with a document of its own needs no root.
    folder.ok(&["info", "v3", "a"]);
}

#[test]
fn node_names_that_are_paths_elsewhere_are_refused() {
    let folder = Folder::new();
    for dialect in ["v2", "v3"] {
        let ran = folder.run(&["create", "s", "a\\b", "--shape", "4", "--dtype", "i4", "--dialect", dialect]);
        assert_eq!(ran.code, Some(2), "{dialect}: {}", ran.err);
        assert!(ran.err.contains("has a `\\`") && !folder.path("s").exists(), "{dialect}: {}", ran.err);
    }
}

#[test]
fn odd_documents_are_not_consolidated_strictly() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "g/a", "--shape", "4", "--dtype", "i4"]);
    edit(&folder, "s/g/a/zarr.json", "\"attributes\": {}", "\"attributes\": {\"x\": NaN}");
    let ran = folder.run(&["consolidate", "s", "--strict"]);
    assert_eq!(ran.code, Some(4), "{}", ran.err);
    assert!(ran.err.contains("/g/a") && ran.err.contains("the literal NaN"), "{}", ran.err);
    folder.ok(&["consolidate", "s"]);
}

#[test]
fn equivalent_metadata_are_not_stale() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "g/a", "--shape", "4", "--dtype", "i4"]);
    folder.ok(&["consolidate", "s"]);
    edit(&folder, "s/zarr.json", "\"shape\"", "\"storage_transformers\": [], \"shape\"");
    assert_eq!(folder.ok(&["consolidate", "s", "--check"]), "up to date\n");
    edit(&folder, "s/g/a/zarr.json", "\"attributes\": {}", "\"attributes\": {\"x\": 1}");
    assert_eq!(folder.run(&["consolidate", "s", "--check"]).code, Some(4));
    folder.ok(&["create", "t", "g/a", "--shape", "4", "--dtype", "i4", "--dialect", "v2"]);
    folder.ok(&["consolidate", "t"]);
    let text = std::fs::read_to_string(folder.path("t/.zmetadata")).unwrap();
    let mut copy = Value::from_json(&text).unwrap();
    if let Value::Object(document) = &mut copy
        && let Some(Value::Object(metadata)) = document.get_mut("metadata")
        && let Some(Value::Object(group)) = metadata.get_mut("g/.zgroup")
    {
        group.insert(
            "consolidated_metadata",
            zarr::meta::json!({"metadata": {}, "must_understand": false, "kind": "inline"}),
        );
    }
    assert_ne!(copy.to_string(), Value::from_json(&text).unwrap().to_string());
    std::fs::write(folder.path("t/.zmetadata"), copy.to_string()).unwrap();
    assert_eq!(folder.ok(&["consolidate", "t", "--check"]), "up to date\n");
    folder.ok(&["attrs", "t", "g", "--set", "x=1"]);
    std::fs::write(folder.path("t/.zmetadata"), copy.to_string()).unwrap();
    assert_eq!(folder.run(&["consolidate", "t", "--check"]).code, Some(4));
}

/// Consolidated metadata that zarr-python and xarray wrote: copies in which defaults are filled in, fill values are spelled in another
/// way, and groups have empty consolidated metadata of their own.
// clause: xarray-35
#[test]
fn copies_that_others_wrote_are_not_stale() {
    let folder = Folder::new();
    for (archive, names) in [
        ("v2", &["consolidated", "zarr3_writes_v2"][..]),
        ("v3", &["consolidated", "release_3_0", "release_3_4"]),
        ("xarray-v2", &["calendar", "climate"]),
        ("xarray-v3", &["calendar", "climate"]),
    ] {
        for case in zarr_tests::cases(archive).unwrap() {
            if names.contains(&case.name.as_str()) {
                assert_eq!(
                    folder.ok(&["consolidate", &case.url(), "--check"]),
                    "up to date\n",
                    "{archive} {}",
                    case.name
                );
            }
        }
    }
    // As zarr-python 3.1 copies the documents of other writers.
    folder.ok(&["create", "s", "g/a", "--shape", "4", "--dtype", "f4", "--fill", "0x7fc00001", "--codecs", "zstd"]);
    folder.ok(&["consolidate", "s"]);
    let text = std::fs::read_to_string(folder.path("s/zarr.json")).unwrap();
    let copy = r#"{"g": {"attributes": {}, "zarr_format": 3, "consolidated_metadata": {"kind": "inline", "must_understand": false,
        "metadata": {}}, "node_type": "group"}, "g/a": {"shape": [4], "data_type": "float32", "chunk_grid": {"name": "regular",
        "configuration": {"chunk_shape": [4]}}, "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": "NaN", "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zstd", "configuration":
        {"level": 0, "checksum": false}}], "attributes": {}, "zarr_format": 3, "node_type": "array", "storage_transformers": []}}"#;
    let mut document = Value::from_json(&text).unwrap();
    let Value::Object(root) = &mut document else { panic!("{text}") };
    let Some(Value::Object(consolidated)) = root.get_mut("consolidated_metadata") else { panic!("{text}") };
    consolidated.insert("metadata", Value::from_json(copy).unwrap());
    std::fs::write(folder.path("s/zarr.json"), document.to_string()).unwrap();
    assert_eq!(folder.ok(&["consolidate", "s", "--check"]), "up to date\n");
    edit(&folder, "s/g/a/zarr.json", "0x7fc00001", "0x7f800000");
    assert_eq!(folder.run(&["consolidate", "s", "--check"]).code, Some(4));
}

#[test]
fn copies_of_an_unknown_kind_are_named() {
    for (dialect, key, from, to) in [
        ("v3", "s/zarr.json", "\"inline\"", "\"elsewhere\""),
        ("v2", "s/.zmetadata", "\"zarr_consolidated_format\": 1", "\"zarr_consolidated_format\": 2"),
    ] {
        let folder = Folder::new();
        folder.ok(&["create", "s", "g/a", "--shape", "4", "--dtype", "i4", "--dialect", dialect]);
        folder.ok(&["consolidate", "s"]);
        edit(&folder, key, from, to);
        let ran = folder.run(&["consolidate", "s", "--check"]);
        assert_eq!(
            (ran.code, ran.out.as_slice()),
            (Some(0), &b"there is no consolidated metadata\n"[..]),
            "{}",
            ran.err
        );
        assert!(ran.err.contains("of an unknown kind"), "{dialect}: {}", ran.err);
        folder.ok(&["consolidate", "s"]);
        assert_eq!(folder.ok(&["consolidate", "s", "--check"]), "up to date\n");
    }
}

// clause: p2019-13, d2022-116
#[test]
fn a_fallback_type_is_reported_and_carried() {
    for dialect in ["p2019", "p2020", "d2022"] {
        let folder = Folder::new();
        folder.ok(&["create", "s", "a", "--shape", "4", "--dtype", "int16", "--dialect", dialect]);
        folder.fill("s", "a", "<i2", "(4,)", &int16(1..5));
        let (key, name) = match dialect {
            "p2019" => ("meta/a.a/array.json", "\"<i2\""),
            "p2020" => ("meta/root/a.array.json", "\"<i2\""),
            _ => ("meta/a.array.json", "\"int16\""),
        };
        let unknown = format!(r#"{{"extension":"https://example.org/mood","type":"mood","fallback":{name}}}"#);
        edit(&folder, &format!("s/{key}"), &format!("\"data_type\": {name}"), &format!("\"data_type\": {unknown}"));
        let tells = |args: &[&str]| {
            let ran = folder.run(args);
            assert_eq!(ran.code, Some(0), "{dialect} {args:?}: {}", ran.err);
            let text = format!("{}{}", String::from_utf8_lossy(&ran.out), ran.err);
            assert!(text.contains("mood") && text.contains("fallback"), "{dialect} {args:?}: {text}");
        };
        tells(&["tree", "s"]);
        tells(&["ls", "s"]);
        tells(&["info", "s"]);
        tells(&["read", "s", "a"]);
        tells(&["convert", "s", "dry", "--dialect", "v3", "--dry-run"]);
        tells(&["convert", "s", "plain", "--dialect", "v3"]);
        assert_eq!(folder.raw("plain", "a"), int16(1..5));
        for between in ["v3", "v2"] {
            folder.ok(&["convert", "s", between, "--dialect", between, "--carry"]);
            assert!(folder.ok(&["attrs", between, "a"]).contains("mood"), "{dialect} {between}");
            let back = format!("back-{between}");
            folder.ok(&["convert", between, &back, "--dialect", dialect]);
            let text = std::fs::read_to_string(folder.path(&back).join(key)).unwrap();
            let document = Value::from_json(&text).unwrap();
            assert_eq!(document.get("data_type").unwrap().to_string(), unknown, "{dialect} {between}");
            assert_eq!(folder.raw(&back, "a"), int16(1..5));
            assert_eq!(folder.ok(&["attrs", &back, "a"]), "{}\n");
        }
        // In its own dialect it stays.
        folder.ok(&["convert", "s", "same", "--dialect", dialect, "--chunks", "2"]);
        let text = std::fs::read_to_string(folder.path("same").join(key)).unwrap();
        assert!(text.contains("mood"), "{dialect}: {text}");
        let refused = folder.run(&["convert", "s", "refused", "--refuse-fallbacks"]);
        assert_eq!(refused.code, Some(4), "{}", refused.err);
    }
}

#[test]
fn parameters_of_2019_stand_where_they_are_read() {
    let folder = Folder::new();
    let args = ["create", "s", "/", "--shape", "4", "--dtype", "i4", "--codecs", "gzip", "--dialect", "p2019"];
    folder.ok(&args);
    let key = "s/meta/array.json";
    let sound = std::fs::read_to_string(folder.path(key)).unwrap();
    let mut document = Value::from_json(&sound).unwrap();
    let uri = "http://purl.org/zarr/spec/codec/gzip";
    for (member, codec, pointer) in [
        (
            "chunk_codecs",
            zarr::meta::json!([{"codec": uri, "configuration": {"level": 5}}]),
            "/chunk_codecs/0/configuration",
        ),
        ("compressor", zarr::meta::json!({"codec": uri, "level": 5}), "/compressor/level"),
    ] {
        if let Value::Object(members) = &mut document {
            members.remove("chunk_codecs");
            members.insert(member, codec);
        }
        std::fs::write(folder.path(key), document.to_string()).unwrap();
        let (error, text) = error(&folder, &["info", "s", "/"]);
        assert_eq!(error.get("pointer").and_then(Value::as_str), Some(pointer), "{text}");
        assert_eq!(error.get("kind").and_then(Value::as_str), Some("unknown-member"), "{text}");
    }
    if let Value::Object(members) = &mut document {
        members.insert("compressor", zarr::meta::json!({"codec": uri, "configuration": {"level": 5}}));
    }
    std::fs::write(folder.path(key), document.to_string()).unwrap();
    assert!(folder.ok(&["info", "s", "/"]).contains("gzip(5)"));
}

/// netCDF sees the arrays alone that a group lists.
#[test]
fn lists_of_nczarr_follow_the_nodes() {
    for (key, lists) in [
        ("s/.zattrs", r#"{"_nczarr_group": {"dimensions": {}, "arrays": ["a"], "groups": ["g"]}}"#),
        ("s/.zgroup", r#"{"zarr_format": 2, "_NCZARR_GROUP": {"dims": {}, "vars": ["a"], "groups": ["g"]}}"#),
    ] {
        let folder = Folder::new();
        folder.ok(&["create", "s", "a", "--shape", "4", "--dtype", "int16", "--dialect", "v2"]);
        folder.ok(&["create", "s", "g", "--group"]);
        std::fs::write(folder.path(key), lists).unwrap();
        let listed = || {
            let text = std::fs::read_to_string(folder.path(key)).unwrap();
            let document = Value::from_json(&text).unwrap();
            let group = document.get("_nczarr_group").or_else(|| document.get("_NCZARR_GROUP")).unwrap().clone();
            let arrays = group.get("arrays").or_else(|| group.get("vars")).unwrap();
            format!("{arrays} {}", group.get("groups").unwrap())
        };
        folder.ok(&["cp", "s::/a", "s::/b"]);
        assert_eq!(listed(), r#"["a","b"] ["g"]"#);
        folder.ok(&["cp", "s::/g", "s::/h"]);
        assert_eq!(listed(), r#"["a","b"] ["g","h"]"#);
        folder.ok(&["mv", "s::/a", "s::/c"]);
        assert_eq!(listed(), r#"["b","c"] ["g","h"]"#);
        folder.ok(&["cp", "s::/b", "t::/x"]);
        folder.ok(&["mv", "t::/x", "s::/d"]);
        assert_eq!(listed(), r#"["b","c","d"] ["g","h"]"#);
        folder.ok(&["rm", "s", "/b"]);
        folder.ok(&["rm", "-r", "s", "/h"]);
        assert_eq!(listed(), r#"["c","d"] ["g"]"#);
        // A new node is entered, and of several that are made the one in the group that is there.
        folder.ok(&["create", "s", "e", "--shape", "4", "--dtype", "int16"]);
        folder.ok(&["create", "s", "i/j/k", "--shape", "4", "--dtype", "int16"]);
        folder.ok(&["create", "s", "l", "--group"]);
        folder.ok(&["create", "s", "e", "--group", "--overwrite"]);
        assert_eq!(listed(), r#"["c","d"] ["g","i","l","e"]"#);
        folder.ok(&["create", "s", "e", "--shape", "5", "--dtype", "int16", "--overwrite"]);
        assert_eq!(listed(), r#"["c","d","e"] ["g","i","l"]"#);
        assert_eq!(folder.run(&["check", "s"]).code, Some(0));
        assert!(folder.ok(&["tree", "s"]).contains("|- c"));
    }
}

// clause: d2022-46, d2022-75, d2022-77
#[test]
fn variable_length_under_both_layouts_of_2022() {
    let folder = Folder::new();
    for (letter, codecs) in [("C", "none"), ("F", "transpose(1,0)")] {
        let args =
            ["create", "s", letter, "--shape", "2,2", "--dtype", "string", "--codecs", codecs, "--dialect", "d2022"];
        folder.ok(&args);
        let text = std::fs::read_to_string(folder.path("s/meta").join(format!("{letter}.array.json"))).unwrap();
        let document = Value::from_json(&text).unwrap();
        assert_eq!(document.get("chunk_memory_layout").and_then(Value::as_str), Some(letter));
        let values = br#"[["a","bb"],["c","d"]]"#;
        let ran = folder.run_with(&["write", "s", letter, "--from", "-", "--as", "json"], values);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert_eq!(folder.ok(&["read", "s", letter, "--as", "csv"]), "a,bb\nc,d\n");
        let chunk = std::fs::read(folder.path("s/data").join(letter).join("c0/0")).unwrap();
        let texts: Vec<u8> = chunk.iter().copied().filter(u8::is_ascii_alphabetic).collect();
        assert_eq!(texts, if letter == "C" { b"abbcd" } else { b"acbbd" });
    }
    let args = ["create", "s", "x", "--shape", "2,2,2", "--dtype", "string", "--codecs", "transpose(1,0,2)"];
    let ran = folder.run(&args);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
}

// clause: d2022-216, d2022-217
#[test]
fn implied_groups_go_with_the_last_node_below_them() {
    for dialect in ["p2019", "p2020", "d2022"] {
        let folder = Folder::new();
        for path in ["g/h/a", "g/h/b", "k/l/a"] {
            folder.ok(&["create", "s", path, "--shape", "4", "--dtype", "i4", "--dialect", dialect]);
        }
        folder.ok(&["create", "s", "k", "--group", "--overwrite"]);
        folder.ok(&["create", "s", "k/l/a", "--shape", "4", "--dtype", "i4"]);
        folder.ok(&["rm", "s", "/g/h/a"]);
        assert_eq!(folder.ok(&["ls", "s", "/g/h"]), "b\n");
        folder.ok(&["rm", "s", "/g/h/b"]);
        folder.ok(&["rm", "s", "/k/l/a"]);
        assert_eq!(folder.ok(&["ls", "s"]), "k/\n", "{dialect}");
        assert_eq!(folder.ok(&["ls", "s", "/k"]), "", "{dialect}");
    }
}

/// GDAL writes `"delta": 1` into lzma, which zarr-python 3 refuses in version 3 with the array and its group; older software left out
/// `fill_value`, and editors on Windows put a byte order mark in front.
#[test]
fn deviations_are_found_refused_if_asked_and_left_out_of_copies() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("s/a")).unwrap();
    let document = r#"{"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "<i4", "order": "C", "filters": null,
        "compressor": {"id": "lzma", "format": 1, "check": -1, "preset": null, "filters": null, "delta": 1}}"#;
    std::fs::write(folder.path("s/a/.zarray"), format!("\u{feff}{document}")).unwrap();
    std::fs::write(folder.path("s/.zgroup"), r#"{"zarr_format": 2}"#).unwrap();
    let copies =
        r#"{"zarr_consolidated_format": 1, "metadata": {".zgroup": {"zarr_format": 2}, "a/.zarray": DOCUMENT}}"#;
    std::fs::write(folder.path("s/.zmetadata"), format!("\u{feff}{}", copies.replace("DOCUMENT", document))).unwrap();
    let check = folder.run(&["check", "s"]);
    assert_eq!(check.code, Some(1));
    let found = String::from_utf8(check.out).unwrap();
    for due in ["a/.zarray  a byte", "/fill_value", "/compressor/delta", ".zmetadata  a byte order mark"] {
        assert!(found.contains(due), "{due}: {found}");
    }
    let strict = folder.run(&["read", "s", "a", "--strict"]);
    assert!(strict.err.contains("refused by strict reading"), "{}", strict.err);
    for dialect in ["v2", "v3"] {
        let converted = folder.run(&["convert", "s", dialect, "--dialect", dialect]);
        assert_eq!(converted.code, Some(0), "{}", converted.err);
        assert!(converted.err.contains("delta: unknown member"), "{}", converted.err);
        let check = folder.run(&["check", dialect]);
        assert_eq!(check.code, Some(0), "{}", String::from_utf8_lossy(&check.out));
        folder.ok(&["read", dialect, "a", "--strict"]);
    }
    let written = std::fs::read_to_string(folder.path("v2/a/.zarray")).unwrap();
    assert!(written.contains(r#""fill_value": null"#) && !written.contains("delta"), "{written}");
}
