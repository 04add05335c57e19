//! Documents and hierarchies of the first protocol draft.

use super::store::Store;
use zarr_json::{Value, json};
use zarr_meta::{Dialect, ErrorKind, Node, NodePath, documents};

const ARRAY: &str = r#"{
    "zarr_format": "http://purl.org/zarr/spec/protocol/core/3.0",
    "shape": [5, 4],
    "data_type": ">i4",
    "chunk_grid": {"type": "regular", "chunk_shape": [2, 3]},
    "chunk_memory_layout": "F",
    "chunk_codecs": [{"codec": "http://purl.org/zarr/spec/codec/gzip", "level": 1}],
    "fill_value": 7,
    "extensions": [],
    "attributes": {"units": "m"}
}"#;

const GROUP: &str =
    r#"{"zarr_format": "http://purl.org/zarr/spec/protocol/core/3.0", "extensions": [], "attributes": {"x": 1}}"#;

fn array(changes: impl Fn(&str) -> String) -> Result<zarr_meta::StoredNode, zarr_meta::Error> {
    let text = changes(ARRAY);
    Store::with(&[("meta/a.a/array.json", &text)]).probe("/a", None).map(Option::unwrap)
}

// clause: p2019-5, p2019-6, p2019-21, p2019-37, p2019-38, p2019-39, p2019-40, p2019-42, p2019-43, p2019-44, p2019-45
#[test]
fn the_keys_of_the_text() {
    let store = Store::with(&[
        ("meta/group.json", GROUP),
        ("meta/foo.g/bar.g/group.json", GROUP),
        ("meta/spam.g/eggs.a/array.json", ARRAY),
        ("meta/x.g.g/y.a.a/array.json", ARRAY),
    ]);
    for (path, implicit) in [("/", false), ("/foo", true), ("/foo/bar", false), ("/spam", true), ("/x.g", true)] {
        for dialect in [None, Some(Dialect::V3Protocol2019)] {
            let found = store.probe(path, dialect).unwrap().unwrap();
            assert_eq!((found.dialect, found.implicit), (Dialect::V3Protocol2019, implicit), "{path}");
            assert!(found.node.as_group().is_some());
        }
    }
    let eggs = store.found("/spam/eggs");
    assert_eq!(eggs.chunk_prefix(), "data/spam.g/eggs.a/");
    let array = eggs.node.as_array().unwrap();
    assert_eq!(array.data_type.short_value(), json!("int32"));
    assert_eq!(array.chunk_key_encoding.to_value(), json!({"name": "v2", "configuration": {"separator": "."}}));
    let chain: Vec<_> = array.codecs.iter().map(|codec| codec.to_value().to_string()).collect();
    assert_eq!(
        chain,
        [
            r#"{"name":"transpose","configuration":{"order":[1,0]}}"#,
            r#"{"name":"bytes","configuration":{"endian":"big"}}"#,
            r#"{"name":"gzip","configuration":{"level":1}}"#
        ]
    );
    assert!(store.found("/x.g/y.a").node.as_array().is_some());
    for path in ["/x", "/foo.g", "/eggs", "/foo/bar/baz"] {
        assert!(store.probe(path, None).unwrap().is_none(), "{path}");
    }
    let owned = eggs.owned();
    assert_eq!(owned.keys, [""; 0]);
    let prefixes = ["meta/spam.g/eggs.g/", "meta/spam.g/eggs.a/", "data/spam.g/eggs.g/", "data/spam.g/eggs.a/"];
    assert_eq!(owned.prefixes, prefixes);
}

// clause: p2019-38, p2019-42
#[test]
fn the_root_need_not_have_a_document() {
    for key in ["meta/a.g/b.g/c.a/array.json", "meta/a.a/array.json", "meta/a.g/group.json"] {
        let text = if key.contains("array") { ARRAY } else { GROUP };
        let root = Store::with(&[(key, text), ("data/a.g/x", "")]).found("/");
        assert!(root.implicit && root.dialect == Dialect::V3Protocol2019, "{key}");
    }
    let root = Store::with(&[("meta/array.json", ARRAY)]).found("/");
    assert_eq!(root.chunk_prefix(), "data/");
    assert!(Store::with(&[("meta/a/array.json", ARRAY)]).probe("/", None).unwrap().is_none());
}

// clause: p2019-22
#[test]
fn documents_are_written_as_they_are_read() {
    let found = array(str::to_owned).unwrap();
    let new = documents(Dialect::V3Protocol2019, &found.path, &found.node, None).unwrap();
    let [(key, Some(text))] = new.as_slice() else { unreachable!("{new:?}") };
    assert_eq!(key, "meta/a.a/array.json");
    let text = std::str::from_utf8(text).unwrap();
    assert_eq!(Value::from_json(text).unwrap().to_string(), Value::from_json(ARRAY).unwrap().to_string());
    let group = Store::with(&[("meta/g.g/group.json", GROUP)]).found("/g");
    let new = documents(Dialect::V3Protocol2019, &group.path, &group.node, None).unwrap();
    let text = std::str::from_utf8(new[0].1.as_ref().unwrap()).unwrap();
    assert_eq!(Value::from_json(text).unwrap().to_string(), Value::from_json(GROUP).unwrap().to_string());
}

// clause: p2019-11, p2019-13, p2019-23
#[test]
fn optional_members_may_be_missing() {
    let bare = r#"{"shape": [3], "data_type": "bool", "chunk_grid": {"type": "regular", "chunk_shape": [2]},
        "chunk_memory_layout": "C",}"#;
    let found = array(|_| bare.to_owned()).unwrap();
    let Node::Array(node) = &found.node else { unreachable!() };
    assert_eq!((node.data_type.name.as_str(), &node.fill_value), ("bool", &None));
    assert!(found.warnings.iter().any(|warning| warning.what.contains("comma")));
    let compressed =
        array(|text| {
            text.replace("\"chunk_codecs\": [{\"codec\": \"http://purl.org/zarr/spec/codec/gzip\", \"level\": 1}]", 
            r#""compressor": {"codec": "https://purl.org/zarr/spec/codec/gzip/1.0", "configuration": {"level": 1}}"#)
        });
    assert_eq!(compressed.unwrap().node, array(str::to_owned).unwrap().node);
    // Unknown members are kept.
    let extra = array(|text| text.replace("\"extensions\"", "\"new\": [1], \"extensions\"")).unwrap();
    assert_eq!(extra.node.as_array().unwrap().extra.get("new"), Some(&json!([1])));
    for (text, attributes) in [(r#"{"u": 1}"#, 1), ("{}", 0)] {
        let without = ARRAY.replace(",\n    \"attributes\": {\"units\": \"m\"}", "");
        let store = Store::with(&[("meta/a.a/array.json", &without), ("meta/a.a/attributes.json", text)]);
        assert_eq!(store.found("/a").node.attributes().len(), attributes);
        let inside = Store::with(&[("meta/a.a/array.json", ARRAY), ("meta/a.a/attributes.json", text)]);
        assert!(inside.found("/a").node.attributes().contains_key("units"));
    }
    let fallback = array(|text| {
        text.replace("\">i4\"", r#"{"extension": "http://example.org", "type": "mystery", "fallback": "<i4"}"#)
    });
    assert!(fallback.unwrap().fallback.is_some());
}

// clause: p2019-9, p2019-15, p2019-22
#[test]
fn wrong_documents_are_refused() {
    for (from, to, kind) in [
        (
            "\"zarr_format\": \"http://purl.org/zarr/spec/protocol/core/3.0\"",
            "\"zarr_format\": 2",
            ErrorKind::UnsupportedVersion,
        ),
        ("protocol/core/3.0", "protocol/core/4.0", ErrorKind::UnsupportedVersion),
        ("\"F\"", "\"A\"", ErrorKind::InvalidMetadata),
        ("\"shape\": [5, 4],", "", ErrorKind::InvalidMetadata),
        ("[2, 3]", "[2]", ErrorKind::InvalidMetadata),
        ("\"fill_value\": 7", "\"fill_value\": 7.5", ErrorKind::InvalidMetadata),
        ("\"extensions\": []", "\"extensions\": [{\"extension\": \"x\"}]", ErrorKind::UnknownExtension),
        ("\"attributes\": {\"units\": \"m\"}", "\"attributes\": 1", ErrorKind::InvalidMetadata),
        ("{", "{,", ErrorKind::InvalidJson),
    ] {
        assert!(ARRAY.contains(from), "{from}");
        let error = array(|text| text.replacen(from, to, 1)).unwrap_err();
        assert_eq!((error.kind(), error.key()), (kind, Some("meta/a.a/array.json")), "{from} {to} {error}");
    }
    for (from, to) in [("\">i4\"", "\">q8\""), ("\"F\"", "{\"extension\": \"x\"}")] {
        let found = array(|text| text.replacen(from, to, 1)).unwrap();
        assert_eq!(found.unknown.unwrap().kind(), ErrorKind::UnknownExtension, "{from} {to}");
    }
    let found = array(|text| text.replacen("codec/gzip", "other/gzip", 1)).unwrap();
    assert!(found.node.as_array().unwrap().codecs.last().unwrap().name.contains("://"));
    let found = array(str::to_owned).unwrap();
    let Node::Array(mut slashed) = found.node else { unreachable!() };
    slashed.chunk_key_encoding.configuration.insert("separator", "/");
    let error = documents(Dialect::V3Protocol2019, &NodePath::root(), &Node::Array(slashed), None).unwrap_err();
    assert_eq!((error.kind(), error.pointer()), (ErrorKind::NotExpressible, "/chunk_key_encoding"));
}
