//! Arrays of the drafts of version 3 with extensions that are not known, which anybody may publish anywhere.

use crate::folder::{Folder, int16};
use std::fs;
use zarr::meta::json::{Value, json};

const OWN: &str = "https://example.org/own/1.0";

/// The dialects, each with the document of the array `/g/a` in a store and the member that has its codecs.
const DRAFTS: [(&str, &str, &str); 3] = [
    ("d2022", "meta/g/a.array.json", "codecs"),
    ("p2020", "meta/root/g/a.array.json", "compressor"),
    ("p2019", "meta/g.g/a.a/array.json", "chunk_codecs"),
];

/// A store with the array `/g/a` of two chunks, one member of whose document is changed.
fn store(dialect: &str, document: &str, member: &str, value: &Value) -> Folder {
    let folder = Folder::new();
    folder.ok(&[
        "create",
        "s",
        "g/a",
        "--shape",
        "4",
        "--dtype",
        "int16",
        "--chunks",
        "2",
        "--codecs",
        "none",
        "--dialect",
        dialect,
    ]);
    folder.ok(&["create", "s", "g/b", "--shape", "4", "--dtype", "int16"]);
    folder.fill("s", "g/b", "<i2", "(4,)", &int16(0..4));
    let old = fs::read_to_string(folder.path(&format!("s/{document}"))).unwrap();
    let mut map = Value::from_json(&old).unwrap().as_object().unwrap().clone();
    map.insert(member, value.clone());
    fs::write(folder.path(&format!("s/{document}")), map.to_string()).unwrap();
    for (name, bytes) in [("0", [1, 2, 3, 4]), ("1", [5, 6, 7, 8])] {
        let key = match dialect {
            "d2022" => format!("data/g/a/c{name}"),
            "p2020" => format!("data/root/g/a/c{name}"),
            _ => format!("data/g.g/a.a/{name}"),
        };
        fs::create_dir_all(folder.path(&format!("s/{key}")).parent().unwrap()).unwrap();
        fs::write(folder.path(&format!("s/{key}")), bytes).unwrap();
    }
    folder
}

/// The values of the chunks among the files of a store.
fn chunks(folder: &Folder, store: &str) -> Vec<Vec<u8>> {
    let files = folder.files(store).into_iter().filter(|file| file.starts_with("data/") && !file.contains("/b"));
    files.map(|file| fs::read(folder.path(&format!("{store}/{file}"))).unwrap()).collect()
}

/// Listed, described, copied, changed, moved and erased; only elements are an error, which names what the document says.
// clause: d2022-3, d2022-211
#[test]
fn arrays_with_unknown_extensions_are_nodes() {
    let mine = |kind: &str| json!({"extension": OWN, "type": kind});
    for (dialect, document, codecs) in DRAFTS {
        let codec = match dialect {
            "p2020" => json!({"codec": OWN, "configuration": {"a": 1}}),
            "p2019" => json!([{"codec": OWN, "a": 1}]),
            _ => json!([{"type": OWN, "configuration": {"a": 1}}]),
        };
        let foreign = match dialect {
            "p2020" => json!({"codec": "https://purl.org/zarr/spec/codec/rot13/1.0", "configuration": {}}),
            "p2019" => json!([{"codec": "https://purl.org/zarr/spec/codec/rot13"}]),
            _ => json!([{"type": "https://purl.org/zarr/spec/codecs/rot13/1.0"}]),
        };
        let mut cases = vec![
            (codecs, codec, OWN),
            (codecs, foreign, "https://purl.org/zarr/spec/codec"),
            ("data_type", mine("mine"), OWN),
            ("data_type", json!("float80"), "float80"),
            ("chunk_grid", mine("hexagonal"), OWN),
            ("chunk_memory_layout", mine("hilbert"), OWN),
        ];
        if dialect != "p2019" {
            cases.push(("storage_transformers", json!([(mine("mirror"))]), OWN));
        }
        for (member, value, name) in cases {
            let folder = store(dialect, document, member, &value);
            let what = format!("{dialect} {member} {value}");
            let stored = chunks(&folder, "s");
            assert_eq!(stored, [[1, 2, 3, 4], [5, 6, 7, 8]], "{what}");
            let tree = folder.ok(&["tree", "s"]);
            assert!(tree.contains(" a ") && tree.contains(" b "), "{what}: {tree}");
            assert_eq!(folder.ok(&["ls", "s", "g"]).lines().count(), 2, "{what}");
            for args in [&["read", "s", "g/a"][..], &["info", "s", "g/a"]] {
                let ran = folder.run(args);
                assert_eq!(ran.code, Some(4), "{what}: {}", ran.err);
                assert!(ran.err.contains(name) && !ran.err.contains("numcodecs"), "{what}: {}", ran.err);
                assert_eq!(ran.out.starts_with(b"Type "), args[0] == "info", "{what}");
            }
            assert_eq!(folder.raw("s", "g/b"), int16(0..4));
            folder.ok(&["attrs", "s", "g/a", "--set", "units=K"]);
            let text = fs::read_to_string(folder.path(&format!("s/{document}"))).unwrap();
            let changed = Value::from_json(&text).unwrap();
            assert_eq!(changed.get(member), Some(&value), "{what}");
            assert!(folder.ok(&["attrs", "s", "g/a"]).contains("units"), "{what}");
            folder.ok(&["cp", "s", "t"]);
            assert_eq!(
                (chunks(&folder, "t"), fs::read_to_string(folder.path(&format!("t/{document}"))).unwrap()),
                (stored.clone(), text),
                "{what}"
            );
            folder.ok(&["cp", "s::/g/a", "s::/g/c"]);
            folder.ok(&["rm", "s", "g/c"]);
            folder.ok(&["mv", "s::/g/a", "s::/h"]);
            assert_eq!(chunks(&folder, "s"), stored, "{what}");
            assert!(folder.ok(&["tree", "s"]).contains(" h "), "{what}");
            folder.ok(&["rm", "s", "h"]);
            assert!(chunks(&folder, "s").is_empty() && !folder.ok(&["tree", "s"]).contains(" h "), "{what}");
        }
    }
}

/// Codecs and data types as the document of the dialect has them.
// clause: d2022-115
#[test]
fn arrays_are_created_by_objects_of_documents() {
    for (dialect, document, member, codecs) in [
        (
            "d2022",
            "meta/a.array.json",
            "codecs",
            r#"[{"type":"https://purl.org/zarr/spec/codecs/gzip/1.0","configuration":{"level":3}}]"#,
        ),
        (
            "p2019",
            "meta/a.a/array.json",
            "chunk_codecs",
            r#"[{"codec":"http://purl.org/zarr/spec/codec/gzip","level":3}]"#,
        ),
        ("v2", "a/.zarray", "filters", r#"[{"id":"delta","dtype":"<i4"}]"#),
    ] {
        let folder = Folder::new();
        folder.ok(&["create", "s", "a", "--shape", "4", "--dtype", "int32", "--dialect", dialect, "--codecs", codecs]);
        let text = fs::read_to_string(folder.path(&format!("s/{document}"))).unwrap();
        assert_eq!(Value::from_json(&text).unwrap().get(member), Some(&Value::from_json(codecs).unwrap()));
        let items: Vec<u8> = (0..4_i32).flat_map(i32::to_le_bytes).collect();
        folder.fill("s", "a", "<i4", "(4,)", &items);
        assert_eq!(folder.raw("s", "a"), items);
    }
    let folder = Folder::new();
    let time = r#"{"extension":"https://purl.org/zarr/spec/extensions/data-types/datetime/1.0","type":"<M8[ns]","fallback":["mine","uint64"]}"#;
    let create =
        |name: &'static str, more: &[&'static str]| [&["create", "s", name, "--shape", "2", "--dtype"], more].concat();
    folder.ok(&create("t", &[time, "--dialect", "d2022"]));
    let text = fs::read_to_string(folder.path("s/meta/t.array.json")).unwrap();
    assert_eq!(Value::from_json(&text).unwrap().get("data_type"), Some(&Value::from_json(time).unwrap()));
    let fails = |args: &[&str], words: &str| {
        let ran = folder.run(args);
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(words), "{args:?}: {}", ran.err);
    };
    fails(
        &["create", "v", "t", "--shape", "2", "--dtype", time],
        "a fallback of the data type, which dialect v3 does not have",
    );
    let own = r#"{"extension":"https://example.org/own/1.0","type":"mine","fallback":"int8"}"#;
    fails(&create("u", &[own]), OWN);
    fails(&create("u", &["int8", "--codecs", r#"[{"type":"https://example.org/own/1.0"}]"#]), OWN);
}
