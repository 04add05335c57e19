//! From one dialect to another.

use crate::store::Store;
use zarr_meta::json::Value;
use zarr_meta::{Dialect, ErrorKind, Node, Note, for_dialect, json};

const CLIMATE: &str = r#"{"zarr_format":2,"shape":[4,6],"chunks":[2,3],"dtype":">f4","fill_value":null,"order":"F",
    "filters":[{"id":"shuffle","elementsize":4}],"compressor":{"id":"blosc","cname":"zstd","clevel":3,"shuffle":0,"blocksize":0},
    "comment":"x"}"#;

fn converted(store: &Store, dialect: Dialect) -> (Node, Vec<Note>) {
    for_dialect(&store.found("/").node, dialect).unwrap()
}

#[test]
fn version_2_as_version_3() {
    let store = Store::with(&[(".zarray", CLIMATE), (".zattrs", r#"{"_ARRAY_DIMENSIONS":["y","x"],"units":"m"}"#)]);
    let (node, notes) = converted(&store, Dialect::V3);
    let expected = json!({
        "zarr_format": 3, "node_type": "array", "shape": [4, 6], "data_type": "float32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 3]}},
        "chunk_key_encoding": {"name": "v2", "configuration": {"separator": "."}},
        "fill_value": 0.0,
        "codecs": [
            {"name": "transpose", "configuration": {"order": [1, 0]}},
            {"name": "bytes", "configuration": {"endian": "big"}},
            {"name": "numcodecs.shuffle", "configuration": {"elementsize": 4}},
            {"name": "blosc", "configuration": {"cname": "zstd", "clevel": 3, "shuffle": "noshuffle", "blocksize": 0, "typesize": 1}}
        ],
        "attributes": {"units": "m"},
        "dimension_names": ["y", "x"]
    });
    assert_eq!(node.to_value().to_string(), expected.to_string());
    let pointers: Vec<_> = notes.iter().map(|note| note.pointer.as_str()).collect();
    assert_eq!(pointers, ["/comment", "/fill_value", "/attributes/_ARRAY_DIMENSIONS"]);
    let (back, notes) = for_dialect(&node, Dialect::V2).unwrap();
    assert_eq!(notes.len(), 1);
    assert_eq!(back.attributes().get("_ARRAY_DIMENSIONS"), Some(&json!(["y", "x"])));
}

fn v3(codecs: &str) -> Node {
    let text = r#"{"zarr_format":3,"node_type":"array","shape":[4,6],"data_type":"uint8","fill_value":0,
        "chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2,3]}},
        "chunk_key_encoding":{"name":"default","configuration":{"separator":"/"}},"attributes":{},
        "dimension_names":["y",null],"codecs":"#;
    Store::with(&[("zarr.json", &format!("{text}{codecs}}}"))]).found("/").node
}

#[test]
fn version_3_as_version_2() {
    let codecs = r#"[{"name":"transpose","configuration":{"order":[0,1]}},{"name":"bytes","configuration":{"endian":"little"}},
        {"name":"numcodecs.zlib","configuration":{"level":1}},{"name":"crc32c"}]"#;
    let (node, notes) = for_dialect(&v3(codecs), Dialect::V2).unwrap();
    let Node::Array(array) = &node else { unreachable!() };
    let chain: Vec<_> = array.codecs.iter().map(|codec| codec.short_value().to_string()).collect();
    assert_eq!(chain, ["\"bytes\"", r#"{"name":"numcodecs.zlib","configuration":{"level":1}}"#, "\"crc32c\""]);
    assert_eq!(array.chunk_key_encoding.to_value(), json!({"name": "v2", "configuration": {"separator": "/"}}));
    let pointers: Vec<_> = notes.iter().map(|note| note.pointer.as_str()).collect();
    assert_eq!(pointers, ["/dimension_names", "/chunk_key_encoding", "/codecs"]);
}

#[test]
fn what_has_no_counterpart_is_refused() {
    let refused = |node: &Node, dialect: Dialect, pointer: &str| {
        let error = for_dialect(node, dialect).unwrap_err();
        assert_eq!((error.kind(), error.pointer()), (ErrorKind::NotExpressible, pointer), "{error}");
    };
    let sharded = r#"[{"name":"sharding_indexed","configuration":{"chunk_shape":[1,1],"codecs":["bytes"],"index_codecs":["bytes"]}}]"#;
    refused(&v3(sharded), Dialect::V2, "/codecs/0");
    let mut node = v3(r#"["bytes"]"#);
    let Node::Array(array) = &mut node else { unreachable!() };
    array.chunk_grid = zarr_meta::NamedConfig::new("rectilinear");
    refused(&node, Dialect::V2, "/chunk_grid");
    let Node::Array(array) = &mut node else { unreachable!() };
    array.data_type = zarr_meta::NamedConfig::new("vendor.mine");
    refused(&node, Dialect::V2, "/data_type");
    let nested = r#"{"zarr_format":2,"shape":[],"chunks":[],"dtype":[["a","<i4"],["b","<i2",[2]]],"fill_value":null,"order":"C"}"#;
    let nested = Store::with(&[(".zarray", nested)]).found("/").node;
    refused(&nested, Dialect::V3, "/data_type/configuration/fields/1/data_type");
}

#[test]
fn structs_of_mixed_byte_order_become_little_endian() {
    let text = r#"{"zarr_format":2,"shape":[],"chunks":[],"dtype":[["a","<i2"],["b",">i2"]],"fill_value":"AQAAAg==","order":"C"}"#;
    let (node, notes) = converted(&Store::with(&[(".zarray", text)]), Dialect::V3);
    let Node::Array(array) = &node else { unreachable!() };
    assert_eq!(array.codecs[0].to_value(), json!({"name": "bytes", "configuration": {"endian": "little"}}));
    assert_eq!(array.fill_value, Some(json!({"a": 1, "b": 2})));
    assert_eq!(notes[0].pointer, "/codecs/0/configuration/endian");
    let (back, _) = for_dialect(&node, Dialect::V2).unwrap();
    let stored = zarr_meta::documents(Dialect::V2, &zarr_meta::NodePath::root(), &back, None).unwrap();
    let text = String::from_utf8(stored[0].1.clone().unwrap()).unwrap();
    assert_eq!(Value::from_json(&text).unwrap().get("fill_value"), Some(&json!("AQACAA==")));
}
