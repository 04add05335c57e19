//! Changed documents keep their unchanged members.

use super::store::Store;
use zarr_json::json;
use zarr_meta::{Dialect, ErrorKind, Node, NodePath, StoredNode, documents};

const V3: &str = r#"{"node_type":"array", "zarr_format":3,
 "shape":[ 4 ], "data_type": {"name": "float32"}, "fill_value": 1e0,
 "chunk_grid": {"configuration": {"chunk_shape": [2]}, "name": "regular"},
 "chunk_key_encoding": {"name": "default"},
 "codecs": ["bytes", {"name": "gzip", "configuration": {"level": 1}}],
 "dimension_names": null, "consolidated_metadata": null,
 "attributes": {"z": 1.50, "a": [1e2, {"k": 1}], "u": "\u00e9"},
 "note": {"must_understand": false}
}"#;

fn rewritten(store: &Store, found: &StoredNode, change: impl Fn(&mut Node)) -> Vec<(String, Option<String>)> {
    let mut node = found.node.clone();
    change(&mut node);
    let changes = documents(found.dialect, &found.path, &node, Some(&found.documents)).unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let shown = changes.clone().into_iter().map(|(key, bytes)| (key, bytes.map(text))).collect();
    // Whatever it looks like, it means the node.
    let mut after = Store(store.0.clone());
    after.apply(changes);
    assert_eq!(after.found(&found.path.to_string()).node, node);
    shown
}

#[test]
fn unchanged_documents_stay_byte_for_byte() {
    let store = Store::with(&[("zarr.json", V3)]);
    let changes = rewritten(&store, &store.found("/"), |_| {});
    assert_eq!(changes, [("zarr.json".to_owned(), Some(V3.to_owned()))]);
}

#[test]
fn one_change_in_v3() {
    let store = Store::with(&[("zarr.json", V3)]);
    let found = store.found("/");
    let changes = rewritten(&store, &found, |node| drop(node.attributes_mut().insert("a", json!([1, {"k": 1}]))));
    let text = changes[0].1.clone().unwrap();
    assert!(
        text.contains(r#""a": ["#) && text.contains("\"z\": 1.50") && text.contains("\"fill_value\": 1e0"),
        "{text}"
    );
    let order: Vec<_> = ["node_type", "shape", "fill_value", "codecs", "dimension_names", "attributes", "note"]
        .iter()
        .map(|name| text.find(&format!("\"{name}\"")).unwrap())
        .collect();
    assert!(order.is_sorted(), "{text}");
    assert!(text.contains(r#""bytes","#) && text.contains(r#""consolidated_metadata": null"#), "{text}");
    let resized = rewritten(&store, &found, |node| {
        if let Node::Array(array) = node {
            array.shape = vec![9];
            array.dimension_names = Some(vec![Some("x".to_owned())]);
        }
    });
    let text = resized[0].1.clone().unwrap();
    assert!(text.contains("\"shape\": [9]") && text.contains("\"dimension_names\": [\"x\"]"), "{text}");
    let removed = rewritten(&store, &found, |node| drop(node.attributes_mut().remove("z")));
    assert!(!removed[0].1.clone().unwrap().contains("\"z\""));
}

#[test]
fn v2_documents_change_apart() {
    let zarray = r#"{"chunks":[2],"compressor":{"level":1,"id":"zlib"},"dtype":"<u1","fill_value":5.0,"filters":[],"order":"F","shape":[4],"zarr_format":2,"_NCZARR_ARRAY":{"dimrefs":["/x"]}}"#;
    let zattrs = r#"{"a":NaN,"b":1.0}"#;
    let store = Store::with(&[(".zarray", zarray), (".zattrs", zattrs)]);
    let found = store.found("/");
    let same = rewritten(&store, &found, |_| {});
    assert_eq!(
        same,
        [(".zarray".to_owned(), Some(zarray.to_owned())), (".zattrs".to_owned(), Some(zattrs.to_owned()))]
    );
    let changes = rewritten(&store, &found, |node| drop(node.attributes_mut().insert("b", json!(1))));
    assert_eq!(changes[0].1.as_deref(), Some(zarray));
    assert_eq!(changes[1].1.as_deref(), Some("{\n  \"a\": NaN,\n  \"b\": 1\n}\n"));
    let emptied = rewritten(&store, &found, |node| *node.attributes_mut() = Default::default());
    assert_eq!(emptied[1], (".zattrs".to_owned(), None));
    // The form found is kept, and said when it is not the default.
    let nested = rewritten(&store, &found, |node| {
        if let Node::Array(array) = node {
            array.chunk_key_encoding.configuration.insert("separator", "/");
        }
    });
    let text = nested[0].1.clone().unwrap();
    assert!(text.contains("\"dimension_separator\": \"/\"") && text.contains("\"level\": 1,\n    \"id\""), "{text}");
    // What is read with a warning is not written anew.
    assert_eq!(found.warnings.len(), 3, "{:?}", found.warnings);
    assert!(text.contains("\"fill_value\": 5,") && text.contains("\"dtype\": \"|u1\""), "{text}");
}

/// In each dialect with text numbers: a fill value in quotes is read with a warning, and stays where nothing else changes.
#[test]
fn a_fill_value_in_quotes_is_written_anew_as_a_number() {
    let zarray = r#"{"zarr_format":2,"shape":[4],"chunks":[2],"dtype":"<i4","fill_value":7,"order":"C","filters":null,
        "compressor":{"id":"blosc","cname":"lz4","clevel":5,"shuffle":1,"blocksize":0}}"#;
    let node = Store::with(&[(".zarray", zarray)]).found("/").node;
    for dialect in Dialect::ALL.into_iter().filter(|dialect| !dialect.is_v3()) {
        let (node, _) = zarr_meta::for_dialect(&node, dialect).unwrap();
        let path = NodePath::root();
        let mut store = Store::default();
        store.apply(documents(dialect, &path, &node, None).unwrap());
        let has_fill = |text: &[u8]| String::from_utf8_lossy(text).contains("fill_value");
        let (key, text) =
            store.0.iter().find(|(_, text)| has_fill(text)).map(|(key, text)| (key.clone(), text.clone())).unwrap();
        let quoted = String::from_utf8(text).unwrap().replace("\"fill_value\": 7", "\"fill_value\": \"7\"");
        store.apply(vec![(key.clone(), Some(quoted.clone().into_bytes()))]);
        let found = store.found("/");
        assert_eq!((found.dialect, &found.node), (dialect, &node));
        assert!(
            found.warnings.iter().any(|warning| warning.pointer == "/fill_value"),
            "{dialect}: {:?}",
            found.warnings
        );
        let of_array =
            |changes: Vec<(String, Option<String>)>| changes.into_iter().find(|(it, _)| *it == key).unwrap().1;
        assert_eq!(of_array(rewritten(&store, &found, |_| {})), Some(quoted), "{dialect}");
        let changed = of_array(rewritten(&store, &found, |node| {
            if let Node::Array(array) = node {
                array.shape = vec![9];
            }
        }));
        assert!(changed.unwrap().contains("\"fill_value\": 7"), "{dialect}");
    }
}

#[test]
fn an_old_document_stays_old_where_it_is_not_changed() {
    let old = r#"{"zarr_format": 3, "node_type": "array", "shape": [8], "data_type": "int32", "fill_value": null,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}}, "attributes": {},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [2], "codecs": []}}]}"#;
    let store = Store::with(&[("zarr.json", old)]);
    let found = store.found("/");
    assert_eq!(found.dialect, Dialect::V3Provisional2023);
    let text = rewritten(&store, &found, |node| drop(node.attributes_mut().insert("x", 1)))[0].1.clone().unwrap();
    assert!(text.contains("\"fill_value\": null") && !text.contains("index_c"), "{text}");
    // By itself it cannot be said in the settled form.
    let error = documents(Dialect::V3, &found.path, &found.node, None).unwrap_err();
    assert_eq!((error.kind(), error.pointer()), (ErrorKind::NotExpressible, "/codecs/0/configuration/index_codecs"));
}

#[test]
fn another_kind_or_dialect_erases_the_old_documents() {
    let store = Store::with(&[(".zgroup", r#"{"zarr_format":2}"#), (".zattrs", r#"{"a":1}"#)]);
    let found = store.found("/");
    let changes = documents(Dialect::V3, &NodePath::root(), &found.node, Some(&found.documents)).unwrap();
    let shown: Vec<_> = changes.iter().map(|(key, bytes)| (key.as_str(), bytes.is_some())).collect();
    assert_eq!(shown, [("zarr.json", true), (".zgroup", false), (".zattrs", false)]);
    let array = Store::with(&[("zarr.json", V3)]).found("/").node;
    let (array, _) = zarr_meta::for_dialect(&array, Dialect::V2).unwrap();
    let changes = documents(Dialect::V2, &NodePath::root(), &array, Some(&found.documents)).unwrap();
    assert!(changes.contains(&(".zgroup".to_owned(), None)), "{changes:?}");
}

#[test]
fn errors_name_the_member_that_a_dialect_lacks() {
    let mut array = Store::with(&[("zarr.json", V3)]).found("/").node;
    let error = |array: &Node, pointer: &str| {
        let error = documents(Dialect::V2, &NodePath::root(), array, None).unwrap_err();
        assert_eq!((error.kind(), error.pointer()), (ErrorKind::NotExpressible, pointer), "{error}");
    };
    error(&array, "/chunk_key_encoding");
    let Node::Array(inner) = &mut array else { unreachable!() };
    inner.chunk_key_encoding = zarr_json::NamedConfig::new("v2");
    inner.codecs[0].configuration.insert("endian", "little");
    inner.extra = Default::default();
    error(&array, "/chunk_key_encoding/configuration");
    let Node::Array(inner) = &mut array else { unreachable!() };
    inner.chunk_key_encoding.configuration.insert("separator", ".");
    inner.dimension_names = Some(vec![Some("x".to_owned())]);
    error(&array, "/dimension_names");
    let Node::Array(inner) = &mut array else { unreachable!() };
    inner.dimension_names = None;
    inner.codecs[1].name = "sharding_indexed".to_owned();
    error(&array, "/codecs/1");
}
