//! Attributes that are no JSON, through arrays, conversions and strict opening.

use std::sync::Arc;
use zarr_array::{Array, ErrorKind, Options};
use zarr_convert::{Conversion, ConvertOptions};
use zarr_json::{Number, Value, json};
use zarr_meta::{Dialect, NodePath};
use zarr_store::{Key, MemoryStore, Store, StoreExt};

const ZARRAY: &str = r#"{"zarr_format":2,"shape":[2],"chunks":[2],"dtype":"<f4","fill_value":NaN,"order":"C","filters":null,"compressor":null}"#;
const ATTRIBUTES: &str = r#"{"a":NaN,"b":[1.50,-Infinity],"c":"\ud800"}"#;

fn store(values: &[(&str, &str)]) -> Arc<dyn Store> {
    let store = MemoryStore::new();
    for (key, text) in values {
        store.set_all(&Key::new(key).unwrap(), text.as_bytes()).unwrap();
    }
    Arc::new(store)
}

fn v2() -> Arc<dyn Store> {
    store(&[(".zgroup", r#"{"zarr_format":2}"#), ("a/.zarray", ZARRAY), ("a/.zattrs", ATTRIBUTES)])
}

fn attributes(store: &Arc<dyn Store>) -> String {
    Value::Object(zarr::open((store, "/a")).array().unwrap().metadata().attributes.clone()).to_string()
}

/// The stored attributes, and whether there was a warning of them.
fn converted(source: &Arc<dyn Store>, dialect: Dialect, carry: bool) -> (Arc<dyn Store>, bool) {
    let options = ConvertOptions::default().dialect(dialect).carry(carry);
    let conversion = Conversion::plan(source, &zarr::registry::default(), options).unwrap();
    let noted = conversion.nodes().iter().flat_map(|node| &node.notes).any(|note| note.pointer == "/attributes/a");
    let warned = conversion.nodes().iter().any(|node| node.warning.is_some());
    assert_eq!(warned, noted);
    let target = store(&[]);
    conversion.run(&target, |_| {}).unwrap();
    (target, noted)
}

#[test]
fn setting_one_attribute_keeps_nan_and_surrogates() {
    let store = v2();
    let mut array = zarr::open((&store, "/a")).array().unwrap();
    assert_eq!(array.read::<f32>(..).unwrap().len(), 2);
    let mut changed = array.metadata().attributes.clone();
    changed.insert("d", 1);
    array.set_attributes(changed).unwrap();
    assert_eq!(attributes(&store), ATTRIBUTES.replace('}', ",\"d\":1}"));
    let text = store.get_all(&Key::new("a/.zattrs").unwrap()).unwrap().unwrap();
    let text = std::str::from_utf8(&text).unwrap();
    assert!(text.contains(": NaN,") && text.contains("[1.50, -Infinity]") && text.contains("\"\\ud800\""), "{text}");
}

#[test]
fn conversions_keep_nan_or_tell() {
    let (same, noted) = converted(&v2(), Dialect::V2, false);
    assert_eq!((attributes(&same).as_str(), noted), (ATTRIBUTES, false));
    let texts = ATTRIBUTES.replace("NaN", "\"NaN\"").replace("-Infinity", "\"-Infinity\"");
    let (v3, noted) = converted(&v2(), Dialect::V3, false);
    assert_eq!((attributes(&v3), noted), (texts.clone(), true));
    let (v3, _) = converted(&v2(), Dialect::V3, true);
    assert_eq!(attributes(&converted(&v3, Dialect::V2, false).0), ATTRIBUTES);
    // Version 3 keeps its literals.
    let key = Key::new("a/zarr.json").unwrap();
    let stored = converted(&v2(), Dialect::V3, false).0.get_all(&key).unwrap().unwrap();
    let bare = std::str::from_utf8(&stored).unwrap().replacen("\"NaN\"", "NaN", 2);
    let bare = bare.replace("\"-Infinity\"", "-Infinity");
    let bare = bare.replacen("\"fill_value\": NaN", "\"fill_value\": \"NaN\"", 1);
    let source = store(&[("zarr.json", r#"{"zarr_format":3,"node_type":"group"}"#), ("a/zarr.json", &bare)]);
    assert_eq!(attributes(&source), ATTRIBUTES);
    let (copy, noted) = converted(&source, Dialect::V3, false);
    assert_eq!((attributes(&copy).as_str(), noted), (ATTRIBUTES, false));
    // A document without literals gets none.
    let (v3, _) = converted(&v2(), Dialect::V3, false);
    let mut array = zarr::open((&v3, "/a")).array().unwrap();
    let mut changed = array.metadata().attributes.clone();
    changed.insert("d", Value::Number(Number::NAN));
    let error = array.set_attributes(changed).unwrap_err();
    assert_eq!((error.kind(), error.location().pointer.as_deref()), (ErrorKind::NotExpressible, Some("/attributes/d")));
    assert_eq!(attributes(&v3), texts);
}

#[test]
fn documents_of_2023_become_version_3_without_nan_literals() {
    let document = r#"{"zarr_format":"https://purl.org/zarr/spec/v3#array","node_type":"array","shape":[2],"data_type":"float32","fill_value":0.0,"attributes":{"a":NaN,"b":[1.50,-Infinity],"c":"\ud800"},
        "chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2]}},"chunk_key_encoding":{"name":"default"},
        "codecs":[{"name":"endian","configuration":{"endian":"little"}}]}"#;
    let source = store(&[("a/zarr.json", document)]);
    assert_eq!(zarr::hierarchy::open_node(&*source, "/a", None).unwrap().dialect, Dialect::V3Provisional2023);
    assert_eq!(attributes(&source), ATTRIBUTES);
    let options = ConvertOptions::default().dialect(Dialect::V3).node(path("/a"));
    let conversion = Conversion::plan(&source, &zarr::registry::default(), options).unwrap();
    assert!(conversion.nodes().iter().any(|node| node.warning.is_some()));
    let target = store(&[]);
    conversion.run(&target, |_| {}).unwrap();
    let texts = ATTRIBUTES.replace("NaN", "\"NaN\"").replace("-Infinity", "\"-Infinity\"");
    assert_eq!(attributes(&target), texts);
}

fn path(text: &str) -> NodePath {
    NodePath::parse(text).unwrap()
}

#[test]
fn strict_opening_refuses_documents_with_warnings() {
    let store = v2();
    let strict = Options::default().strict(true);
    let array = zarr::open((&store, "/a")).array().unwrap();
    assert!(!array.warnings().is_empty());
    let error = array.with(strict.clone()).unwrap_err();
    let location = error.location();
    assert_eq!(error.kind(), ErrorKind::InvalidMetadata);
    assert_eq!((location.key.as_deref(), location.pointer.as_deref()), (Some("a/.zarray"), Some("/fill_value")));
    let walk = zarr::hierarchy::walk(&*store, "/", None).unwrap();
    assert_eq!((walk.nodes.len(), walk.broken.len()), (2, 0));
    let walk = walk.strictly("memory");
    assert_eq!((walk.nodes.len(), walk.broken.len()), (1, 1));
    let options = ConvertOptions::default().options(strict.clone());
    assert_eq!(
        Conversion::plan(&store, &zarr::registry::default(), options).unwrap_err().kind(),
        ErrorKind::InvalidMetadata
    );
    // A node without deviations is opened.
    let plain = self::store(&[("a/.zarray", &ZARRAY.replace("NaN", "\"NaN\"")), ("a/.zattrs", r#"{"a":1}"#)]);
    let found = zarr::hierarchy::open_node(&*plain, "/a", None).unwrap();
    assert!(Array::from_found(&plain, found, &zarr::registry::default(), strict).is_ok());
    assert_eq!(zarr::open((&plain, "/a")).array().unwrap().metadata().attributes.get("a"), Some(&json!(1)));
}

#[test]
fn strict_opening_refuses_odd_codecs_and_attributes_that_are_no_json() {
    let document = r#"{"zarr_format":3,"node_type":"array","shape":[2],"data_type":"int8","fill_value":0,"attributes":{},
        "chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2]}},"chunk_key_encoding":{"name":"default"},
        "codecs":["bytes",{"name":"gzip","configuration":{"level":1,"odd":true}}]}"#;
    let store =
        store(&[("a/zarr.json", document), ("b/.zarray", &ZARRAY.replace("NaN", "0")), ("b/.zattrs", "{\"a\":")]);
    let strict = Options::default().strict(true);
    let array = zarr::open((&store, "/a")).array().unwrap();
    let [warning] = array.warnings() else { panic!("{:?}", array.warnings()) };
    assert_eq!((warning.key.as_str(), warning.pointer.as_str()), ("a/zarr.json", "/codecs/1/configuration/odd"));
    let error = array.with(strict.clone()).unwrap_err();
    let location = error.location();
    assert_eq!(
        (error.kind(), location.key.as_deref(), location.pointer.as_deref()),
        (ErrorKind::InvalidMetadata, Some("a/zarr.json"), Some("/codecs/1/configuration/odd"))
    );
    let array = zarr::open((&store, "/b")).array().unwrap();
    let error = array.with(strict).unwrap_err();
    assert_eq!((error.kind(), error.location().key.as_deref()), (ErrorKind::InvalidJson, Some("b/.zattrs")));
}
