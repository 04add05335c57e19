//! The protocol drafts of 2020 to 2024.

use super::store::{Store, changed};
use zarr_json::{Value, json};
use zarr_meta::consolidated::{document_key, without_consolidated};
use zarr_meta::{
    ArrayMetadata, Consolidated, Dialect, ErrorKind, GroupMetadata, Node, NodePath, StoredNode, children, documents,
};

const PYTHON: &str = r#"{"extensions": [], "metadata_encoding": "https://purl.org/zarr/spec/protocol/core/3.0",
    "metadata_key_suffix": ".json", "zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0"}"#;
const JULY: &str = r#"{"zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0",
    "metadata_encoding": "application/json", "extensions": []}"#;
const SEPTEMBER: &str = r#"{"zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0",
    "metadata_encoding": "https://purl.org/zarr/spec/protocol/core/3.0", "extensions": []}"#;

const ARRAY: &str = r#"{"attributes": {}, "chunk_grid": {"chunk_shape": [2, 5], "separator": "/", "type": "regular"},
    "chunk_memory_layout": "C",
    "compressor": {"codec": "https://purl.org/zarr/spec/codec/gzip/1.0", "configuration": {"level": 1}},
    "data_type": "<i4", "extensions": [], "fill_value": 0, "shape": [5, 10]}"#;

fn found(changes: &str) -> StoredNode {
    Store::with(&[("zarr.json", PYTHON), ("meta/root/a.array.json", &changed(ARRAY, changes))]).found("/a")
}

fn array_of(changes: &str) -> ArrayMetadata {
    found(changes).node.as_array().unwrap().clone()
}

fn path(text: &str) -> NodePath {
    NodePath::parse(text).unwrap()
}

#[test]
fn the_form_follows_from_the_entry_point_document() {
    let dotted = ARRAY.replace(r#", "separator": "/""#, "");
    for (entry, key, text, prefix, keys) in [
        (
            PYTHON,
            "meta/root/a/b.array.json",
            ARRAY,
            "data/root/a/b/",
            r#"{"name":"joined","configuration":{"separator":"/"}}"#,
        ),
        (
            SEPTEMBER,
            "meta/root/a/b.array",
            ARRAY,
            "data/root/a/b/",
            r#"{"name":"joined","configuration":{"separator":"/"}}"#,
        ),
        (
            SEPTEMBER,
            "meta/root/a/b.array",
            &dotted,
            "data/root/a/b/",
            r#"{"name":"joined","configuration":{"separator":"/"}}"#,
        ),
        (JULY, "meta/root/a/b.array", &dotted, "data/a/b/", r#"{"name":"v2","configuration":{"separator":"."}}"#),
        (
            &PYTHON.replace(".json\"", ".x\""),
            "meta/root/a/b.array.x",
            ARRAY,
            "data/root/a/b/",
            r#"{"name":"joined","configuration":{"separator":"/"}}"#,
        ),
    ] {
        let mut store = Store::with(&[("zarr.json", entry), (key, text)]);
        let found = store.found("/a/b");
        assert_eq!((found.dialect, found.chunk_prefix().as_str()), (Dialect::V3Protocol2020, prefix));
        assert_eq!(found.node.as_array().unwrap().chunk_key_encoding.to_value().to_string(), keys);
        assert!(store.found("/").implicit && store.found("/a").implicit, "{entry}");
        assert_eq!(store.probe("/b", None).unwrap().map(|found| found.path), None);
        // Another node goes where it belongs in this hierarchy, whose entry point document stays.
        let known = store.found("/").documents;
        let group = Node::Group(GroupMetadata::default());
        let changes = documents(Dialect::V3Protocol2020, &path("/a/c"), &group, Some(&known)).unwrap();
        assert_eq!(changes.len(), 1);
        assert_eq!(changes[0].0, key.replace("b.array", "c.group"));
        store.apply(changes);
        assert!(!store.found("/a/c").implicit);
        let listed = children(
            Dialect::V3Protocol2020,
            &path("/a"),
            &[&changes_key(key), key, "meta/root/a/x.zmetadata"],
            &["meta/root/a/d/"],
            &known,
        );
        assert_eq!(listed.candidates, [path("/a/b"), path("/a/c")]);
        assert_eq!(listed.maybe_implicit, [path("/a/d")]);
    }
}

fn changes_key(key: &str) -> String {
    key.replace("b.array", "c.group")
}

#[test]
fn a_first_node_brings_the_entry_point_document() {
    let node = found("{}").node;
    let written = documents(Dialect::V3Protocol2020, &path("/x/y"), &node, None).unwrap();
    let keys: Vec<_> = written.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys, ["zarr.json", "meta/root/x/y.array.json"]);
    let value =
        |index: usize| Value::from_json(std::str::from_utf8(written[index].1.as_ref().unwrap()).unwrap()).unwrap();
    assert_eq!(value(0).to_string(), Value::from_json(PYTHON).unwrap().to_string());
    assert_eq!(value(1).to_string(), Value::from_json(ARRAY).unwrap().to_string());
    let root = documents(Dialect::V3Protocol2020, &NodePath::root(), &node, None).unwrap();
    assert_eq!(root[1].0, "meta/root.array.json");
    // Not beside another dialect.
    let other =
        [("zarr.json".to_owned(), br#"{"zarr_format": 3, "node_type": "group"}"#.to_vec())].into_iter().collect();
    let error = documents(Dialect::V3Protocol2020, &path("/x"), &node, Some(&other)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnsupportedVersion);
}

#[test]
fn the_root_is_a_group_once_there_is_an_entry_point_document() {
    let store = Store::with(&[("zarr.json", JULY)]);
    let root = store.found("/");
    assert!(root.implicit && root.own_documents().eq(["zarr.json"]));
    assert!(store.probe("/a", None).unwrap().is_none());
    assert_eq!(root.own_prefixes(), [""]);
    let array = Store::with(&[("zarr.json", PYTHON), ("meta/root.array.json", ARRAY), ("meta/root.group.json", "{}")])
        .found("/");
    assert_eq!((array.chunk_prefix().as_str(), array.warnings.len()), ("data/root/", 1));
    let deep = found("{}");
    assert!(deep.own_documents().eq(["meta/root/a.array.json"]));
    assert_eq!(deep.own_prefixes(), ["meta/root/a/", "data/root/a/"]);
}

#[test]
fn entry_point_documents_that_are_wrong() {
    for (from, to, kind, pointer) in [
        (
            "\"extensions\": []",
            "\"extensions\": [{\"extension\": \"http://x\"}]",
            ErrorKind::UnknownExtension,
            "/extensions/0/extension",
        ),
        ("\"extensions\": [], ", "", ErrorKind::InvalidMetadata, "/extensions"),
        (".json\"", "/json\"", ErrorKind::InvalidMetadata, "/metadata_key_suffix"),
        ("metadata_encoding", "encoding", ErrorKind::InvalidMetadata, "/metadata_encoding"),
        (
            "\"https://purl.org/zarr/spec/protocol/core/3.0\",",
            "\"text/yaml\",",
            ErrorKind::UnknownExtension,
            "/metadata_encoding",
        ),
    ] {
        let entry = PYTHON.replacen(from, to, 1);
        for at in ["/", "/a"] {
            let error = Store::with(&[("zarr.json", &entry)]).probe(at, None).unwrap_err();
            assert_eq!((error.kind(), error.key(), error.pointer()), (kind, Some("zarr.json"), pointer), "{entry}");
        }
    }
    // An extension that may be ignored is ignored.
    let entry = PYTHON.replace("[]", r#"[{"extension": "http://x", "must_understand": false},]"#);
    assert!(Store::with(&[("zarr.json", &entry)]).found("/").implicit);
}

#[test]
fn chunks_may_lie_elsewhere() {
    let locations = |found: &StoredNode| -> Vec<String> {
        let index = |keys: &zarr_meta::ChunkKeyForm| format!("{} {}", keys.prefix, keys.encoding.name);
        found.fallback_keys.iter().map(index).collect()
    };
    assert_eq!(locations(&found("{}")), ["data/a/ joined"]);
    let scalar = found(r#"{"shape": [], "chunk_grid": {"type": "regular", "chunk_shape": [], "separator": "/"}}"#);
    // zarr-python 2 has `c0`, the text and zarrita `c`.
    let c0 = r#"{"name":"suffix","configuration":{"suffix":"0","base_encoding":{"name":"joined","configuration":{"separator":"/"}}}}"#;
    assert_eq!(scalar.node.as_array().unwrap().chunk_key_encoding.to_value().to_string(), c0);
    assert_eq!(locations(&scalar), ["data/root/a/ joined", "data/a/ suffix", "data/a/ joined"]);
    // Where `data/P/` holds the chunks of other arrays, it is not looked at.
    let store = Store::with(&[("zarr.json", PYTHON), ("meta/root/root/b.array.json", ARRAY)]);
    assert!(store.found("/root/b").fallback_keys.is_empty());
}

#[test]
fn data_types_by_their_type_strings() {
    let object = |kind: &str| {
        format!(r#"{{"data_type": {{"extension": "x", "fallback": null, "type": {kind}}}, "fill_value": null}}"#)
    };
    for (kind, name) in [
        ("\"<c8\"", "\"complex64\""),
        ("\"|S5\"", r#"{"name":"null_terminated_bytes","configuration":{"length_bytes":5}}"#),
        ("\">U2\"", r#"{"name":"fixed_length_utf32","configuration":{"length_bytes":8}}"#),
        ("\"<M8[ns]\"", r#"{"name":"numpy.datetime64","configuration":{"unit":"ns","scale_factor":1}}"#),
        (r#"[["", "|V3"]]"#, r#"{"name":"raw_bytes","configuration":{"length_bytes":3}}"#),
        (r#"[["a", "|u1"]]"#, r#"{"name":"struct","configuration":{"fields":[{"name":"a","data_type":"uint8"}]}}"#),
    ] {
        let found = found(&object(kind));
        assert_eq!(found.node.as_array().unwrap().data_type.short_value().to_string(), name);
        let written = documents(Dialect::V3Protocol2020, &found.path, &found.node, None).unwrap();
        let value = Value::from_json(std::str::from_utf8(written[1].1.as_ref().unwrap()).unwrap()).unwrap();
        assert_eq!(value.get("data_type").unwrap().get("type"), Some(&Value::from_json(kind).unwrap()));
    }
    // Single letters are no full type strings; another type is taken where there is one, with a warning.
    let error = found(&object("\"q\"")).unknown.unwrap();
    assert_eq!((error.kind(), error.pointer()), (ErrorKind::UnknownExtension, "/data_type/extension"));
    let fallback = found(&object("\"q\"").replace("null, \"type\"", "[\"other\", \"<i8\"], \"type\""));
    assert_eq!(fallback.node.as_array().unwrap().data_type.name, "int64");
    assert_eq!(fallback.warnings[0].key, "meta/root/a.array.json");
    assert!(fallback.fallback.is_some());
}

#[test]
fn filters_are_no_attributes() {
    let delta = r#"{"attributes": {"filters": [{"id": "delta", "dtype": "<i4", "astype": "<i2"}], "k": 1}}"#;
    let filtered = found(delta);
    let array = filtered.node.as_array().unwrap();
    let names: Vec<_> = array.codecs.iter().map(|codec| codec.name.as_str()).collect();
    assert_eq!(names, ["numcodecs.delta", "bytes", "gzip"]);
    assert!(array.attributes.keys().eq(["k"]));
    // They come back.
    let node = filtered.with_attributes([("k".to_owned(), json!(2))].into_iter().collect());
    let changes = documents(Dialect::V3Protocol2020, &filtered.path, &node, Some(&filtered.documents)).unwrap();
    let text = String::from_utf8(changes[0].1.clone().unwrap()).unwrap();
    assert!(text.contains("\"delta\"") && text.contains("\"k\": 2"), "{text}");
    // A list of something else is the user's, and cannot stand beside filters.
    let own = found(r#"{"attributes": {"filters": ["g", "r"]}}"#);
    assert!(own.node.attributes().contains_key("filters"));
    let node = filtered.with_attributes([("filters".to_owned(), json!([1]))].into_iter().collect());
    let error = documents(Dialect::V3Protocol2020, &filtered.path, &node, Some(&filtered.documents)).unwrap_err();
    assert_eq!((error.kind(), error.pointer()), (ErrorKind::NotExpressible, "/attributes/filters"));
    let objects = array_of(
        r#"{"data_type": {"extension": "x", "type": "|O"}, "attributes": {"filters": [{"id": "vlen-utf8"}]}}"#,
    );
    assert_eq!((objects.data_type.name.as_str(), objects.fill_value), ("string", Some(json!(""))));
}

#[test]
fn shards() {
    let sharded = |uri: &str| {
        found(&format!(
            r#"{{"storage_transformers": [{{"configuration": {{"chunks_per_shard": [2, 1]}}, "extension": "{uri}", "type": "indexed"}}],
                "chunk_memory_layout": "F"}}"#
        ))
    };
    let python = sharded("https://purl.org/zarr/spec/storage_transformers/sharding/1.0");
    let array = python.node.as_array().unwrap();
    assert_eq!(array.chunk_grid.configuration.get("chunk_shape"), Some(&json!([4, 5])));
    let shard = &array.codecs[0].configuration;
    assert_eq!(shard.get("chunk_shape"), Some(&json!([2, 5])));
    assert_eq!(shard.get("index_codecs"), Some(&json!([{"name": "bytes", "configuration": {"endian": "little"}}])));
    let names: Vec<_> = shard
        .get("codecs")
        .and_then(Value::as_array)
        .unwrap()
        .iter()
        .map(|codec| codec.get("name").unwrap().to_string())
        .collect();
    assert_eq!(names, ["\"transpose\"", "\"bytes\"", "\"gzip\""]);
    let written = documents(Dialect::V3Protocol2020, &python.path, &python.node, None).unwrap();
    let value = Value::from_json(std::str::from_utf8(written[1].1.as_ref().unwrap()).unwrap()).unwrap();
    let transformers = r#"[{"extension":"https://purl.org/zarr/spec/storage_transformers/sharding/1.0","type":"indexed","configuration":{"chunks_per_shard":[2,1]}}]"#;
    assert_eq!(value.get("storage_transformers").unwrap().to_string(), transformers);
    assert_eq!(sharded("https://purl.org/zarr/spec/extensions/storage_transformers/sharding/1.0").node, python.node);
    let scalar = r#"{"shape": [], "chunk_grid": {"type": "regular", "chunk_shape": [], "separator": "/"}, "storage_transformers":
        [{"configuration": {"chunks_per_shard": [1]}, "extension": "https://purl.org/zarr/spec/storage_transformers/sharding/1.0", "type": "indexed"}]}"#;
    let scalar = found(scalar);
    let written = documents(Dialect::V3Protocol2020, &scalar.path, &scalar.node, None).unwrap();
    assert!(String::from_utf8(written[1].1.clone().unwrap()).unwrap().contains("\"chunks_per_shard\": [1]"));
}

#[test]
fn odd_members_are_reported() {
    let odd = found(r#"{"dimension_separator": "/", "comment": 1, "attributes": null, "compressor": null}"#);
    assert_eq!(odd.warnings.len(), 1);
    assert_eq!(
        (odd.warnings[0].key.as_str(), odd.warnings[0].pointer.as_str()),
        ("meta/root/a.array.json", "/comment")
    );
    assert!(odd.node.as_array().unwrap().extra.keys().eq(["comment"]));
    for (changes, kind, pointer) in [
        (r#"{"shape": "absent"}"#, ErrorKind::InvalidMetadata, "/shape"),
        (r#"{"chunk_memory_layout": "absent"}"#, ErrorKind::InvalidMetadata, "/chunk_memory_layout"),
        (r#"{"chunk_memory_layout": "A"}"#, ErrorKind::InvalidMetadata, "/chunk_memory_layout"),
        (r#"{"fill_value": "absent"}"#, ErrorKind::InvalidMetadata, "/fill_value"),
        (r#"{"fill_value": 1.5}"#, ErrorKind::InvalidMetadata, "/fill_value"),
        (
            r#"{"chunk_grid": {"type": "regular", "chunk_shape": [2, 0], "separator": "/"}}"#,
            ErrorKind::InvalidMetadata,
            "/chunk_grid/chunk_shape",
        ),
        (
            r#"{"chunk_grid": {"type": "regular", "chunk_shape": [2, 1], "separator": "-"}}"#,
            ErrorKind::InvalidMetadata,
            "/chunk_grid/separator",
        ),
        (r#"{"compressor": {"codec": "gzip"}}"#, ErrorKind::UnknownExtension, "/compressor/codec"),
        (
            r#"{"extensions": [{"extension": "http://x", "must_understand": true}]}"#,
            ErrorKind::UnknownExtension,
            "/extensions/0/extension",
        ),
    ] {
        let store = Store::with(&[("zarr.json", PYTHON), ("meta/root/a.array.json", &changed(ARRAY, changes))]);
        let error = store.probe("/a", None).unwrap_err();
        assert_eq!(
            (error.kind(), error.key(), error.pointer()),
            (kind, Some("meta/root/a.array.json"), pointer),
            "{changes}"
        );
    }
    for (changes, pointer) in [
        (r#"{"chunk_grid": {"type": "other", "chunk_shape": [2, 1]}}"#, "/chunk_grid/type"),
        (r#"{"storage_transformers": [{"extension": "http://x", "type": "y"}]}"#, "/storage_transformers/0/extension"),
    ] {
        let error = found(changes).unknown.unwrap();
        assert_eq!((error.kind(), error.pointer()), (ErrorKind::UnknownExtension, pointer), "{changes}");
    }
    let python = found("{}");
    let names: Vec<_> =
        ["a b", "é"].map(|name| Dialect::V3Protocol2020.check_path(&path(name)).unwrap_err().kind()).into();
    assert_eq!(names, [ErrorKind::Path; 2]);
    assert!(Dialect::V3Protocol2020.check_path(&python.path).unwrap().is_empty());
}

#[test]
fn consolidated_metadata_is_no_node() {
    let text = format!(
        r#"{{"metadata": {{"meta/root.group.json": {{"attributes": {{}}}}, "meta/root/g/a.array.json": {ARRAY},
            "meta/root/../b.group.json": {{}}, "zarr.json": {PYTHON}, "other": 1}}, "zarr_consolidated_format": 1}}"#
    );
    let key = "meta/root/consolidated/.zmetadata";
    let store = Store::with(&[("zarr.json", PYTHON), ("meta/root.group.json", "{\"attributes\": {}}"), (key, &text)]);
    let root = store.found("/");
    assert_eq!(document_key(&root).as_deref(), Some(key));
    assert_eq!(without_consolidated(&root).unwrap(), [(key.to_owned(), None)]);
    assert!(store.probe("/consolidated", None).unwrap().is_none());
    let consolidated = Consolidated::parse_document(Dialect::V3Protocol2020, key, text.as_bytes()).unwrap().unwrap();
    assert_eq!(consolidated.check().unwrap_err().kind(), ErrorKind::Path);
    let nodes = consolidated.nodes(&NodePath::root());
    assert!(nodes.keys().eq([&NodePath::root(), &path("/g/a")]));
    let copy = Store(nodes[&path("/g/a")].iter().map(|(key, bytes)| (key.to_owned(), bytes.to_vec())).collect());
    let copied = copy.found("/g/a");
    assert_eq!(copied.node, found("{}").node);
    let collected = Consolidated::collect(Dialect::V3Protocol2020, &NodePath::root(), [&root, &copied]).unwrap();
    assert!(collected.documents.keys().eq(["zarr.json", "meta/root.group.json", "meta/root/g/a.array.json"]));
    let again = Consolidated::parse_document(Dialect::V3Protocol2020, key, &collected.to_v2()).unwrap().unwrap();
    assert_eq!(again, collected);
}

/// The example documents of the text of October 2020, under the keys of its example hierarchy.
#[test]
fn the_examples_of_the_text() {
    let entry = PYTHON.replace(
        "\"extensions\": []",
        r#""extensions": [{"extension": "http://example.org/zarr/extension/foo", "must_understand": false, "configuration": {"foo": "bar"}}]"#,
    );
    let array = r#"{"shape": [10000, 1000], "data_type": "<f8",
        "chunk_grid": {"type": "regular", "chunk_shape": [1000, 100], "separator" : "/"}, "chunk_memory_layout": "C",
        "compressor": {"codec": "https://purl.org/zarr/spec/codec/gzip/1.0", "configuration": {"level": 1}},
        "fill_value": "NaN", "extensions": [], "attributes": {"foo": 42, "bar": "apples", "baz": [1, 2, 3, 4]}}"#;
    let datetime = array.replace("\"NaN\"", "null").replace(
        "\"<f8\"",
        r#"{"extension": "https://purl.org/zarr/spec/protocol/extensions/datetime-dtypes/1.0", "type": "<M8[ns]", "fallback": "<i8"}"#,
    );
    let group = r#"{"attributes": {"spam": "ham", "eggs": 42,}}"#;
    let store = Store::with(&[
        ("zarr.json", &entry),
        ("meta/root/foo/baz.array.json", array),
        ("meta/root/foo/bar.group.json", group),
        ("meta/root/time.array.json", &datetime),
    ]);
    let baz = store.found("/foo/baz");
    assert_eq!(baz.chunk_prefix(), "data/root/foo/baz/");
    let expected = json!({
        "zarr_format": 3, "node_type": "array", "shape": [10000, 1000], "data_type": "float64",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1000, 100]}},
        "chunk_key_encoding": {"name": "joined", "configuration": {"separator": "/"}},
        "fill_value": "NaN",
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "gzip", "configuration": {"level": 1}}],
        "attributes": {"foo": 42, "bar": "apples", "baz": [1, 2, 3, 4]}
    });
    assert_eq!(baz.node.to_value().to_string(), expected.to_string());
    let bar = store.found("/foo/bar");
    assert_eq!(Value::Object(bar.node.attributes().clone()), json!({"spam": "ham", "eggs": 42}));
    let time = store.found("/time");
    let read = time.node.as_array().unwrap();
    assert_eq!((read.data_type.name.as_str(), &read.fill_value), ("numpy.datetime64", &None));
    assert!(time.fallback.is_none() && store.found("/foo").implicit);
    // The same extension, if it has to be understood.
    let demanding = entry.replace("\"must_understand\": false", "\"must_understand\": true");
    let error =
        Store::with(&[("zarr.json", &demanding), ("meta/root/foo/baz.array.json", array)]).probe("/foo/baz", None);
    assert_eq!(error.unwrap_err().kind(), ErrorKind::UnknownExtension);
}
