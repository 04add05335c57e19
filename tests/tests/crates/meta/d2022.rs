//! Documents and hierarchies of the core draft of 2022.

use super::store::{Store, changed};
use zarr_json::{Value, json};
use zarr_meta::{ArrayMetadata, Dialect, Documents, ErrorKind, Node, NodePath, Probe, StoredNode, documents};

const ENTRY: &str = r#"{
    "zarr_format": "https://purl.org/zarr/spec/core/3.0",
    "metadata_encoding": {"type": "json", "metadata_key_suffix": ".json"},
    "extensions": []
}"#;

/// The first example of the text, as it was before its fields were made smaller.
const EXAMPLE: &str = r#"{
    "shape": [10000, 1000],
    "data_type": "<f8",
    "chunk_grid": {"type": "regular", "chunk_shape": [1000, 100], "separator": "/"},
    "chunk_memory_layout": "C",
    "codecs": [{"type": "https://purl.org/zarr/spec/codecs/gzip/1.0", "configuration": {"level": 1}}],
    "fill_value": "NaN",
    "extensions": [],
    "attributes": {"foo": 42, "bar": "apples", "baz": [1, 2, 3, 4]}
}"#;

fn document(changes: &str) -> String {
    let document = json!({
        "shape": [4, 6], "data_type": "int32",
        "chunk_grid": {"type": "regular", "chunk_shape": [2, 3], "separator": "/"},
        "chunk_memory_layout": "C", "codecs": [], "fill_value": 0, "extensions": [], "attributes": {}
    });
    changed(&document.to_string(), changes)
}

fn store(changes: &str) -> Store {
    Store::with(&[("zarr.json", ENTRY), ("meta/a.array.json", &document(changes))])
}

fn found(changes: &str) -> StoredNode {
    store(changes).found("/a")
}

fn array(changes: &str) -> ArrayMetadata {
    found(changes).node.as_array().unwrap().clone()
}

fn codecs(changes: &str) -> String {
    Value::Array(array(changes).codecs.iter().map(|codec| codec.short_value()).collect()).to_string()
}

/// The array document that is written for the one with these changes, as JSON.
fn written(changes: &str) -> Value {
    let found = found(changes);
    let documents = documents(Dialect::V3Draft2022, &found.path, &found.node, None).unwrap();
    let keys: Vec<_> = documents.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys, ["zarr.json", "meta/a.array.json"]);
    Value::from_json(std::str::from_utf8(documents[1].1.as_ref().unwrap()).unwrap()).unwrap()
}

// clause: d2022-18, d2022-28, d2022-29, d2022-87, d2022-89, d2022-105, d2022-106, d2022-137, d2022-144, d2022-145,
// clause: d2022-149, d2022-151
#[test]
fn the_examples_of_the_text() {
    let group = r#"{"attributes": {"spam": "ham", "eggs": 42,}}"#;
    let datetime = EXAMPLE.replace("\"NaN\"", "null").replace(
        "\"<f8\"",
        r#"{"extension": "https://purl.org/zarr/spec/extensions/data-types/datetime/1.0", "type": "<M8[ns]", "fallback": "<i8"}"#,
    );
    let store = Store::with(&[
        ("zarr.json", ENTRY),
        ("meta/foo/bar.group.json", group),
        ("meta/foo/baz.array.json", EXAMPLE),
        ("meta/time.array.json", &datetime),
    ]);
    let found = store.found("/foo/baz");
    assert_eq!(found.dialect, Dialect::V3Draft2022);
    assert_eq!(found.chunk_prefix(), "data/foo/baz/");
    let array = found.node.as_array().unwrap();
    assert_eq!(array.shape, [10000, 1000]);
    assert_eq!(array.data_type.short_value(), json!("float64"));
    assert_eq!(array.chunk_grid.configuration.to_string(), r#"{"chunk_shape":[1000,100]}"#);
    let keys = json!({"name": "joined", "configuration": {"separator": "/"}});
    assert_eq!(array.chunk_key_encoding.to_value(), keys);
    assert_eq!(array.fill_value, Some(json!("NaN")));
    let chain = r#"[{"name":"bytes","configuration":{"endian":"little"}},{"name":"gzip","configuration":{"level":1}}]"#;
    assert_eq!(Value::Array(array.codecs.iter().map(|codec| codec.to_value()).collect()).to_string(), chain);
    assert_eq!(array.attributes.len(), 3);
    let bar = store.found("/foo/bar");
    assert_eq!(bar.node.attributes().get("eggs"), Some(&json!(42)));
    assert!(bar.warnings[0].what.contains("trailing comma"), "{:?}", bar.warnings);
    let time = store.found("/time");
    let time_array = time.node.as_array().unwrap();
    assert_eq!(time_array.data_type.name, "numpy.datetime64");
    assert_eq!((&time_array.fill_value, time.fallback.is_some()), (&None, false));
    for (path, implicit) in [("/", true), ("/foo", true), ("/foo/bar", false)] {
        assert_eq!(store.found(path).implicit, implicit, "{path}");
    }
    for path in ["/foo/bar/baz", "/bar", "/fo"] {
        assert!(store.probe(path, None).unwrap().is_none(), "{path}");
    }
}

// clause: d2022-34, d2022-35, d2022-57, d2022-79, d2022-109, d2022-138
#[test]
fn byte_orders() {
    let endian = |word: &str| {
        format!(
            r#"{{"type": "https://purl.org/zarr/spec/codecs/endian/1.0", "configuration": {{"endian": "{word}"}}}}"#
        )
    };
    let gzip = r#"{"type": "https://purl.org/zarr/spec/codec/gzip", "configuration": {"level": 1}}"#;
    let bytes = |word: &str| format!(r#"{{"name":"bytes","configuration":{{"endian":"{word}"}}}}"#);
    for (data_type, stored, order) in [
        ("int32", String::new(), "little"),
        (">i4", String::new(), "big"),
        ("int32", endian("big"), "big"),
        (">i4", endian("little"), "little"),
        ("<i4", endian("big"), "big"),
    ] {
        let changes = format!(r#"{{"data_type": "{data_type}", "codecs": [{stored}]}}"#);
        assert_eq!(codecs(&changes), format!("[{}]", bytes(order)), "{changes}");
        let comma = if stored.is_empty() { "" } else { "," };
        let changes = format!(r#"{{"data_type": "{data_type}", "codecs": [{stored}{comma} {gzip}]}}"#);
        assert!(codecs(&changes).starts_with(&format!("[{},", bytes(order))), "{changes}");
        let document = written(&changes);
        assert_eq!(document.get("data_type"), Some(&json!("int32")));
        let first = document.get("codecs").unwrap().as_array().unwrap()[0].to_string();
        assert_eq!(first.contains("endian/1.0"), order == "big", "{first}");
    }
    assert_eq!(codecs(&format!(r#"{{"data_type": "uint8", "codecs": [{}]}}"#, endian("big"))), r#"["bytes"]"#);
    assert_eq!(codecs(r#"{"codecs": "absent"}"#), format!("[{}]", bytes("little")));
    // Behind a filter, it is the filter's type that has a byte order.
    let delta = r#"{"type": "https://purl.org/zarr/spec/codecs/delta/1.0", "configuration": {"dtype": "<i4", "astype": "<i2"}}"#;
    let changes = format!(r#"{{"codecs": [{delta}, {}, {gzip}]}}"#, endian("big"));
    assert!(codecs(&changes).contains(&format!("}}}},{},", bytes("big"))), "{}", codecs(&changes));
    assert_eq!(written(&changes).get("codecs").unwrap().as_array().unwrap().len(), 3);
    for wrong in [
        format!("[{gzip}, {}]", endian("big")),
        format!("[{}, {}]", endian("big"), endian("big")),
        format!("[{}]", endian("middle")),
        format!("[{}, {delta}]", endian("big")),
        r#"[{"type": "https://purl.org/zarr/spec/codecs/endian/1.0"}]"#.to_owned(),
    ] {
        error(&format!(r#"{{"codecs": {wrong}}}"#), ErrorKind::InvalidMetadata, "/codecs/");
    }
}

// clause: d2022-76, d2022-122, d2022-206
#[test]
fn layouts_and_shards() {
    let bytes = r#"{"name":"bytes","configuration":{"endian":"little"}}"#;
    let turned = format!(r#"[{{"name":"transpose","configuration":{{"order":[1,0]}}}},{bytes}]"#);
    assert_eq!(codecs(r#"{"chunk_memory_layout": "F"}"#), turned);
    assert_eq!(written(r#"{"chunk_memory_layout": "F"}"#).get("chunk_memory_layout"), Some(&json!("F")));
    let sharded = r#"{"chunk_memory_layout": "F", "storage_transformers": [{
        "extension": "https://purl.org/zarr/spec/extensions/storage_transformers/sharding/1.0",
        "type": "indexed", "configuration": {"chunks_per_shard": [2, 1]}
    }]}"#;
    let array = array(sharded);
    assert_eq!(array.chunk_grid.configuration.to_string(), r#"{"chunk_shape":[4,3]}"#);
    let inner = Value::from_json(&turned).unwrap();
    let expected = json!({"name": "sharding_indexed", "configuration": {
        "chunk_shape": [2, 3], "codecs": inner,
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "index_location": "end"
    }});
    assert_eq!(array.codecs.len(), 1);
    assert!(array.codecs[0].to_value().semantically_eq(&expected), "{}", array.codecs[0].to_value());
    assert!(array.storage_transformers.is_empty());
    assert!(written(sharded).semantically_eq(&Value::from_json(&document(sharded)).unwrap()));
    let empty = self::array(r#"{"shape": [0, 6], "chunk_grid": {"type": "regular", "chunk_shape": [0, 3]}}"#);
    assert_eq!(empty.chunk_grid.configuration.to_string(), r#"{"chunk_shape":[1,3]}"#);
    assert_eq!(empty.chunk_key_encoding.configuration.to_string(), r#"{"separator":"/"}"#);
}

#[test]
fn a_scalar_may_lie_at_c0() {
    let scalar = found(r#"{"shape": [], "chunk_grid": {"type": "regular", "chunk_shape": [], "separator": "."}}"#);
    let [keys] = scalar.fallback_keys.as_slice() else { unreachable!("{:?}", scalar.fallback_keys) };
    assert_eq!(keys.prefix, "data/a/");
    let encoding = json!({"name": "suffix", "configuration": {
        "suffix": "0", "base_encoding": {"name": "joined", "configuration": {"separator": "/"}}
    }});
    assert_eq!(keys.encoding.to_value(), encoding);
    assert!(found("{}").fallback_keys.is_empty());
}

// clause: d2022-48, d2022-113
#[test]
fn fallbacks_are_reported() {
    let changes = r#"{"data_type": {"extension": "http://example.org/types", "type": {"m": 2}, "fallback": ["other", "r32"]},
        "fill_value": "0x00000001"}"#;
    let found = found(changes);
    let array = found.node.as_array().unwrap();
    assert_eq!((array.data_type.name.as_str(), &array.fill_value), ("raw_bytes", &Some(json!("AQAAAA=="))));
    let [warning] = found.warnings.as_slice() else { unreachable!("{:?}", found.warnings) };
    assert_eq!((warning.key.as_str(), warning.pointer.as_str()), ("meta/a.array.json", "/data_type"));
    assert!(warning.what.contains("raw_bytes"), "{warning}");
    let reason = found.fallback.as_ref().unwrap();
    assert_eq!((reason.kind(), reason.pointer()), (ErrorKind::UnknownExtension, "/data_type"));
    // A change of another member keeps members that are not understood.
    let mut attributes = array.attributes.clone();
    attributes.insert("new", 1);
    let node = found.with_attributes(attributes);
    let changed = documents(Dialect::V3Draft2022, &found.path, &node, Some(&found.documents)).unwrap();
    let [(key, Some(text))] = changed.as_slice() else { unreachable!("{changed:?}") };
    assert_eq!(key, "meta/a.array.json");
    let text = Value::from_json(std::str::from_utf8(text).unwrap()).unwrap();
    assert_eq!(text.get("data_type").unwrap().get("type"), Some(&json!({"m": 2})));
    assert_eq!(text.get("attributes"), Some(&json!({"new": 1})));
}

// clause: d2022-129
#[test]
fn null_stays_but_is_not_written() {
    let found = found(r#"{"fill_value": null}"#);
    assert_eq!(found.node.as_array().unwrap().fill_value, None);
    assert_eq!(found.warnings.len(), 1);
    let error = documents(Dialect::V3Draft2022, &found.path, &found.node, None).unwrap_err();
    assert_eq!((error.kind(), error.pointer()), (ErrorKind::NotExpressible, "/fill_value"));
    let same = documents(Dialect::V3Draft2022, &found.path, &found.node, Some(&found.documents)).unwrap();
    assert_eq!(same[0].1.as_deref(), found.documents.get("meta/a.array.json"));
}

// clause: d2022-107, d2022-135, d2022-147
#[test]
fn mandatory_members_and_spellings() {
    let document = written(r#"{"extensions": "absent", "attributes": "absent", "codecs": "absent"}"#);
    let names: Vec<_> = document.as_object().unwrap().keys().collect();
    let expected =
        ["shape", "data_type", "chunk_grid", "chunk_memory_layout", "codecs", "fill_value", "extensions", "attributes"];
    assert_eq!(names, expected);
    let infinite = written(r#"{"data_type": "<f8", "fill_value": "Infinity"}"#);
    assert_eq!(infinite.get("fill_value"), Some(&json!("+Infinity")));
    assert_eq!(infinite.get("data_type"), Some(&json!("float64")));
    let raw = written(r#"{"data_type": "r16", "fill_value": "0b0001001000110100"}"#);
    assert_eq!(raw.get("fill_value"), Some(&json!("0x1234")));
    let ignorable = r#"{"extensions": [{"extension": "http://example.org/x", "must_understand": false}]}"#;
    assert!(written(ignorable).semantically_eq(&Value::from_json(&self::document(ignorable)).unwrap()));
    let group = Node::Group(zarr_meta::GroupMetadata::default());
    let group = documents(Dialect::V3Draft2022, &NodePath::root(), &group, None).unwrap();
    assert_eq!(group[0].0, "zarr.json");
    assert!(
        Value::from_json(ENTRY)
            .unwrap()
            .semantically_eq(&Value::from_json(std::str::from_utf8(group[0].1.as_ref().unwrap()).unwrap()).unwrap())
    );
    assert_eq!(group[1], ("meta/group.json".to_owned(), Some(b"{\n  \"attributes\": {}\n}\n".to_vec())));
}

#[track_caller]
fn error(changes: &str, kind: ErrorKind, pointer: &str) {
    let error = store(changes).probe("/a", None).unwrap_err();
    assert_eq!((error.kind(), error.key()), (kind, Some("meta/a.array.json")), "{error}");
    assert!(error.pointer().starts_with(pointer), "{error}");
}

// clause: d2022-28, d2022-62, d2022-89, d2022-107, d2022-111, d2022-117, d2022-119, d2022-122, d2022-127, d2022-128,
// clause: d2022-133, d2022-135, d2022-136, d2022-137, d2022-142, d2022-143, d2022-148, d2022-150, d2022-209,
// clause: d2022-214
#[test]
fn wrong_documents_are_refused() {
    for member in ["shape", "data_type", "chunk_grid", "chunk_memory_layout", "fill_value"] {
        error(&format!(r#"{{"{member}": "absent"}}"#), ErrorKind::InvalidMetadata, &format!("/{member}"));
    }
    for (changes, kind, pointer) in [
        (r#"{"new": 1}"#, ErrorKind::UnknownMember, "/new"),
        (r#"{"dimension_names": ["y", "x"]}"#, ErrorKind::UnknownMember, "/dimension_names"),
        (r#"{"attributes": null}"#, ErrorKind::InvalidMetadata, "/attributes"),
        (r#"{"shape": [4]}"#, ErrorKind::InvalidMetadata, "/chunk_grid/chunk_shape"),
        (r#"{"fill_value": 2147483648}"#, ErrorKind::InvalidMetadata, "/fill_value"),
        (r#"{"data_type": "r16", "fill_value": "0x123"}"#, ErrorKind::InvalidMetadata, "/fill_value"),
        (r#"{"data_type": {"type": "x"}}"#, ErrorKind::InvalidMetadata, "/data_type/extension"),
        (r#"{"data_type": {"extension": "x"}}"#, ErrorKind::InvalidMetadata, "/data_type/type"),
        (r#"{"attributes": []}"#, ErrorKind::InvalidMetadata, "/attributes"),
        (r#"{"codecs": {}}"#, ErrorKind::InvalidMetadata, "/codecs"),
        (r#"{"chunk_memory_layout": "A"}"#, ErrorKind::InvalidMetadata, "/chunk_memory_layout"),
        (
            r#"{"chunk_grid": {"type": "regular", "chunk_shape": [2, 3], "separator": "-"}}"#,
            ErrorKind::InvalidMetadata,
            "/chunk_grid/separator",
        ),
        (
            r#"{"chunk_grid": {"type": "regular", "chunk_shape": [2, 3], "new": 1}}"#,
            ErrorKind::UnknownMember,
            "/chunk_grid/new",
        ),
        (r#"{"codecs": [{"type": "gzip"}]}"#, ErrorKind::UnknownExtension, "/codecs/0/type"),
        (
            r#"{"extensions": [{"extension": "http://example.org/x", "must_understand": true}]}"#,
            ErrorKind::UnknownExtension,
            "/extensions/0/extension",
        ),
    ] {
        error(changes, kind, pointer);
    }
    let group = Store::with(&[("zarr.json", ENTRY), ("meta/g.group.json", r#"{"attributes": {}, "extensions": []}"#)]);
    let error = group.probe("/g", None).unwrap_err();
    assert_eq!((error.kind(), error.pointer()), (ErrorKind::UnknownMember, "/extensions"));
    let bare = Store::with(&[("zarr.json", ENTRY), ("meta/a.array.json", &EXAMPLE.replace("\"NaN\"", "NaN"))]);
    assert_eq!(bare.probe("/a", None).unwrap_err().kind(), ErrorKind::InvalidJson);
}

/// Members that are not known keep elements from being read, and nothing else.
// clause: d2022-121, d2022-123, d2022-211, d2022-212, d2022-213
#[test]
fn extensions_that_are_not_known() {
    for (changes, pointer) in [
        (r#"{"data_type": "float80"}"#, "/data_type"),
        (r#"{"chunk_memory_layout": {"extension": "x"}}"#, "/chunk_memory_layout/extension"),
        (r#"{"chunk_grid": {"extension": "x", "type": "y"}}"#, "/chunk_grid/extension"),
        (
            r#"{"storage_transformers": [{"extension": "http://example.org/mirror", "type": "x"}]}"#,
            "/storage_transformers/0/extension",
        ),
    ] {
        let error = found(changes).unknown.unwrap();
        assert_eq!((error.kind(), error.key()), (ErrorKind::UnknownExtension, Some("meta/a.array.json")), "{error}");
        assert_eq!(error.pointer(), pointer, "{error}");
    }
    let codec = found(r#"{"codecs": [{"type": "https://example.org/rot13/1.0"}]}"#);
    assert!(codec.unknown.is_none());
    assert_eq!(codec.node.as_array().unwrap().codecs.last().unwrap().name, "https://example.org/rot13/1.0");
}

// clause: d2022-1, d2022-95
#[test]
fn later_versions_may_have_more() {
    let entry = ENTRY.replace("core/3.0", "core/3.7").replace("\"extensions\": []", "\"extensions\": [], \"new\": 1");
    let text = document(r#"{"new": {"x": 1}}"#);
    let store = Store::with(&[("zarr.json", &entry), ("meta/a.array.json", &text)]);
    let found = store.found("/a");
    assert_eq!(found.node.as_array().unwrap().extra.get("new"), Some(&json!({"x": 1})));
    // It stays where it is, and cannot be said in the first version.
    let same = documents(Dialect::V3Draft2022, &found.path, &found.node, Some(&found.documents)).unwrap();
    assert_eq!(same, [("meta/a.array.json".to_owned(), Some(text.into_bytes()))]);
    let error = documents(Dialect::V3Draft2022, &found.path, &found.node, None).unwrap_err();
    assert_eq!((error.kind(), error.pointer()), (ErrorKind::NotExpressible, "/new"));
}

// clause: d2022-91, d2022-92, d2022-93, d2022-96, d2022-174
#[test]
fn the_entry_decides() {
    let array = document("{}");
    // Without it there is nothing, whatever lies there.
    let lost = Store::with(&[("meta/a.array.json", &array)]);
    assert!(lost.probe("/a", Some(Dialect::V3Draft2022)).unwrap().is_none());
    assert!(lost.probe("/a", None).unwrap().is_none());
    assert!(lost.probe("/", Some(Dialect::V3Draft2022)).unwrap().is_none());
    let suffixed = ENTRY.replace(".json", ".js");
    let store = Store::with(&[("zarr.json", &suffixed), ("meta/a.array.js", &array), ("meta/b.array.json", &array)]);
    assert_eq!(store.found("/a").documents.iter().count(), 2);
    assert!(store.probe("/b", None).unwrap().is_none());
    // A new node is called as the others are, and the entry stays as it is.
    let entry: Documents = [("zarr.json".to_owned(), suffixed.into_bytes())].into_iter().collect();
    let node = store.found("/a").node;
    let new = documents(Dialect::V3Draft2022, &NodePath::parse("/c").unwrap(), &node, Some(&entry)).unwrap();
    let keys: Vec<_> = new.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys, ["meta/c.array.js"]);
    for (text, kind) in [
        (ENTRY.replace("purl.org", "example.org"), ErrorKind::UnsupportedVersion),
        (ENTRY.replace("core/3.0", "core/4.0"), ErrorKind::UnsupportedVersion),
        (ENTRY.replace("\"json\"", "\"cbor\""), ErrorKind::UnknownExtension),
        (ENTRY.replace("[]", "[{\"extension\": \"x\"}]"), ErrorKind::UnknownExtension),
        (changed(ENTRY, r#"{"metadata_encoding": "absent"}"#), ErrorKind::InvalidMetadata),
    ] {
        for path in ["/", "/a"] {
            let store = Store::with(&[("zarr.json", &text), ("meta/a.array.json", &array)]);
            assert_eq!(store.probe(path, None).unwrap_err().kind(), kind, "{path} {text}");
        }
    }
    // An entry point document that is no object makes no hierarchy.
    for text in ["[]", "\"https://purl.org/zarr/spec/core/3.0\"", "3"] {
        let store = Store::with(&[("zarr.json", text), ("meta/a.array.json", &array)]);
        assert!(!matches!(store.probe("/a", None), Ok(Some(_))), "{text}");
    }
    // The result names the keys that were tried.
    let zarr_meta::ProbeStep::NotFound { tried } = store.run(Probe::new(NodePath::parse("/x").unwrap(), None)).unwrap()
    else {
        unreachable!()
    };
    assert!(
        ["zarr.json", "meta/x.array.js", "meta/x.group.js"].iter().all(|key| tried.iter().any(|tried| tried == key))
    );
}

// clause: d2022-17
#[test]
fn keys_of_a_node() {
    let store = store("{}");
    let owned = store.found("/a").owned();
    assert_eq!(owned.prefixes, ["meta/a/", "data/a/"]);
    assert_eq!(owned.keys, ["meta/a.array.json", "meta/a.group.json"]);
    let root = store.found("/").owned();
    assert_eq!(
        (root.prefixes, root.keys),
        (vec!["meta/".to_owned(), "data/".to_owned()], vec!["zarr.json".to_owned()])
    );
}

// clause: p2019-3, p2019-27, d2022-15, d2022-41, d2022-153
#[test]
fn names_to_be_written() {
    for (name, good) in
        [("a.array", true), ("A-_.9", true), ("root", true), ("é", false), ("a b", false), ("a\\b", false)]
    {
        for dialect in [Dialect::V3Draft2022, Dialect::V3Protocol2019] {
            let path = NodePath::root().join(name).unwrap();
            assert_eq!(dialect.check_path(&path).is_ok(), good, "{name} in {dialect}");
        }
    }
    // A name that lies there is read, whatever it is.
    let store = Store::with(&[("zarr.json", ENTRY), ("meta/é b.group.json", r#"{"attributes": {}}"#)]);
    assert!(!store.found("/é b").implicit);
}
