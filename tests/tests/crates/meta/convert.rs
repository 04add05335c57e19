//! Conversion of nodes from one dialect to another.

use super::store::Store;
use zarr_json::{NamedConfig, Value, json};
use zarr_meta::{Dialect, ErrorKind, Node, Note, for_dialect, for_dialect_carrying, for_dialect_from};

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
        "dimension_names":["y","x"],"codecs":"#;
    Store::with(&[("zarr.json", &format!("{text}{codecs}}}"))]).found("/").node
}

#[test]
fn version_3_as_version_2() {
    let codecs = r#"[{"name":"transpose","configuration":{"order":[0,1]}},{"name":"bytes","configuration":{"endian":"little"}},
        {"name":"numcodecs.zlib","configuration":{"level":1}},{"name":"crc32c"}]"#;
    // Names of some dimensions only would be lost.
    let mut source = v3(codecs);
    let Node::Array(array) = &mut source else { unreachable!() };
    array.dimension_names = Some(vec![Some("y".to_owned()), None]);
    let error = for_dialect(&source, Dialect::V2).unwrap_err();
    assert_eq!((error.kind(), error.pointer()), (ErrorKind::NotExpressible, "/dimension_names"));
    let (node, notes) = for_dialect_carrying(&source, Dialect::V3, Dialect::V2).unwrap();
    let Node::Array(array) = &node else { unreachable!() };
    let chain: Vec<_> = array.codecs.iter().map(|codec| codec.short_value().to_string()).collect();
    assert_eq!(chain, ["\"bytes\"", r#"{"name":"numcodecs.zlib","configuration":{"level":1}}"#, "\"crc32c\""]);
    assert_eq!(array.chunk_key_encoding.to_value(), json!({"name": "v2", "configuration": {"separator": "/"}}));
    let pointers: Vec<_> = notes.iter().map(|note| note.pointer.as_str()).collect();
    assert_eq!(pointers, ["/chunk_key_encoding", "/codecs", "/dimension_names"]);
    assert_eq!(for_dialect(&node, Dialect::V3).unwrap().0.to_value().get("dimension_names"), Some(&json!(["y", null])));
}

#[test]
fn members_without_counterpart_are_refused() {
    let refused = |node: &Node, dialect: Dialect, pointer: &str| {
        let error = for_dialect(node, dialect).unwrap_err();
        assert_eq!((error.kind(), error.pointer()), (ErrorKind::NotExpressible, pointer), "{error}");
    };
    let sharded = r#"[{"name":"sharding_indexed","configuration":{"chunk_shape":[1,1],"codecs":["bytes"],"index_codecs":["bytes"]}}]"#;
    refused(&v3(sharded), Dialect::V2, "/codecs/0");
    let mut node = v3(r#"["bytes"]"#);
    let Node::Array(array) = &mut node else { unreachable!() };
    array.chunk_grid = NamedConfig::new("rectilinear");
    refused(&node, Dialect::V2, "/chunk_grid");
    let Node::Array(array) = &mut node else { unreachable!() };
    array.data_type = NamedConfig::new("vendor.mine");
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

fn stored(node: &Node, dialect: Dialect, key: &str) -> Value {
    let (node, _) = for_dialect(node, dialect).unwrap();
    let documents = zarr_meta::documents(dialect, &zarr_meta::NodePath::root(), &node, None).unwrap();
    let (_, document) = documents.iter().find(|(written, _)| written == key).unwrap();
    Value::from_json(std::str::from_utf8(document.as_deref().unwrap()).unwrap()).unwrap()
}

#[test]
fn numcodecs_gets_the_members_that_version_3_leaves_out() {
    for (order, sign) in [("little", '<'), ("big", '>')] {
        let codecs = format!(
            r#"[{{"name":"numcodecs.delta"}},{{"name":"numcodecs.astype","configuration":{{"encode_dtype":"{sign}i4"}}}},
            {{"name":"bytes","configuration":{{"endian":"{order}"}}}},{{"name":"numcodecs.shuffle"}}]"#
        );
        let mut node = v3(&codecs);
        let Node::Array(array) = &mut node else { unreachable!() };
        array.data_type = NamedConfig::new("int16");
        let document = stored(&node, Dialect::V2, ".zarray");
        let (narrow, wide) = (format!("{sign}i2"), format!("{sign}i4"));
        let filters = json!([
            {"id": "delta", "dtype": (narrow.as_str())},
            {"id": "astype", "encode_dtype": (wide.as_str()), "decode_dtype": (narrow.as_str())},
            {"id": "shuffle", "elementsize": 4}
        ]);
        assert!(document.get("filters").unwrap().semantically_eq(&filters), "{document}");
        assert_eq!(document.get("dtype"), Some(&json!(narrow)));
        // Read again it is the same chain.
        let (again, _) = for_dialect(&for_dialect(&node, Dialect::V2).unwrap().0, Dialect::V3).unwrap();
        let bytes = json!({"name": "bytes", "configuration": {"endian": order}});
        assert_eq!(again.as_array().unwrap().codecs[2].to_value(), bytes);
    }
}

/// A chain of filters, as `NAME` or `view TYPE(NAME ..)` for each codec, and the same of the array after its conversion
/// to version 3. Written in version 2 it is the same document.
fn chains(dtype: &str, filters: &str) -> (String, String) {
    let text = format!(
        r#"{{"zarr_format":2,"shape":[4],"chunks":[2],"dtype":"{dtype}","fill_value":null,"order":"C","compressor":null,"filters":[{filters}]}}"#
    );
    let node = Store::with(&[(".zarray", &text)]).found("/").node;
    let (again, _) = for_dialect(&node, Dialect::V2).unwrap();
    assert_eq!(again, node, "{filters}");
    let mut written = stored(&node, Dialect::V2, ".zarray").get("filters").unwrap().to_string();
    written.retain(|c| c != ' ');
    assert_eq!(written, format!("[{filters}]"));
    let list = |codecs: &[NamedConfig]| codecs.iter().map(shown).collect::<Vec<_>>().join(" ");
    let v3 = for_dialect(&node, Dialect::V3).unwrap().0;
    (list(&node.as_array().unwrap().codecs), list(&v3.as_array().unwrap().codecs))
}

fn shown(codec: &NamedConfig) -> String {
    let list = |member: &str| {
        let list = codec.configuration.get(member).and_then(Value::as_array).unwrap_or_default();
        list.iter().map(|codec| shown(&NamedConfig::from_value(codec).unwrap())).collect::<Vec<_>>().join(" ")
    };
    let endian = codec.configuration.get("endian").and_then(Value::as_str).map(|order| format!(":{order}"));
    match codec.name.as_str() {
        "array_view" => {
            let data_type = codec.configuration.get("data_type").unwrap();
            format!("view {data_type}({} = {})", list("bytes_codecs"), list("codecs"))
        }
        name => format!("{}{}", name.trim_start_matches("numcodecs."), endian.unwrap_or_default()),
    }
}

/// numcodecs takes the bytes that come to a filter for an array of the filter's own type: found with numcodecs 0.15.2.
#[test]
fn filters_take_bytes_for_arrays_of_their_type() {
    let delta = |own: &str| format!(r#"{{"id":"delta","dtype":"{own}"}}"#);
    let shuffle = r#"{"id":"shuffle","elementsize":4}"#;
    let check = |dtype: &str, filters: &[&str], chain: &str, v3: &str| {
        assert_eq!(chains(dtype, &filters.join(",")), (chain.to_owned(), v3.to_owned()), "{dtype} {filters:?}");
    };
    // Of the same size, and in the same order, the filter takes the elements for their own type.
    for (dtype, own) in [(">i4", ">i4"), (">f4", ">i4")] {
        check(dtype, &[&delta(own)], "delta bytes:big", "delta bytes:big");
    }
    check("|u1", &[&delta("|u1")], "delta bytes", "delta bytes");
    check("<M8[s]", &[&delta("<i8")], "delta bytes:little", "delta bytes:little");
    let view = r#"bytes:little shuffle view "int32"(bytes:little = delta bytes:little)"#;
    check("<i4", &[shuffle, &delta("<i4")], view, "bytes:little shuffle");
    let view = r#"bytes:big view "int32"(bytes:little = delta bytes:little) shuffle"#;
    check(">i4", &[&delta("<i4"), shuffle], view, "bytes:little");
    check("<i2", &[&delta("<i4")], r#"bytes:little view "int32"(bytes:little = delta bytes:little)"#, "bytes:little");
    check("|V4", &[&delta(">i4")], r#"bytes view "int32"(bytes:big = delta bytes:big)"#, "bytes");
    let turned = r#"{"id":"astype","encode_dtype":">i2","decode_dtype":"<i4"}"#;
    check("<i4", &[turned, &delta(">i2")], "astype delta bytes:big", "astype delta bytes:big");
    let view = r#"astype bytes:big view "int16"(bytes:little = delta bytes:little)"#;
    check("<i4", &[turned, &delta("<i2")], view, "bytes:little");
    let packed = r#"{"id":"packbits"}"#;
    check("|b1", &[packed, &delta("|u1")], "packbits delta bytes", "packbits delta bytes");
    check("|u1", &[packed], r#"bytes view "bool"(bytes = packbits bytes)"#, "bytes");
    // The type of the elements says how numbers are rounded.
    let text = r#"{"zarr_format":2,"shape":[4],"chunks":[2],"dtype":"<f4","fill_value":0,"order":"C","compressor":null,"filters":[{"id":"shuffle"},{"id":"bitround","keepbits":3}]}"#;
    let error = Store::with(&[(".zarray", text)]).probe("/", None).unwrap_err();
    assert_eq!((error.kind(), error.pointer()), (ErrorKind::UnknownExtension, "/filters/1"));
}

/// The draft says one byte order for an array, and filters say theirs: views are the same there, or refused where a filter takes
/// the bytes of the elements themselves in the other order.
#[test]
fn views_of_big_endian_elements_in_the_draft_of_2022() {
    let delta = |own: &str| format!(r#"{{"id":"delta","dtype":"{own}"}}"#);
    let astype = |to: &str| format!(r#"{{"id":"astype","encode_dtype":"{to}","decode_dtype":">i4"}}"#);
    let shuffle = r#"{"id":"shuffle","elementsize":4}"#;
    let list = |node: &Node| node.as_array().unwrap().codecs.iter().map(shown).collect::<Vec<_>>().join(" ");
    let check = |dtype: &str, filters: &[&str], chain: &str, expected: Option<&str>| {
        let text = format!(
            r#"{{"zarr_format":2,"shape":[4],"chunks":[2],"dtype":"{dtype}","fill_value":null,"order":"C","compressor":null,"filters":[{}]}}"#,
            filters.join(",")
        );
        let node = Store::with(&[(".zarray", &text)]).found("/").node;
        assert_eq!(list(&node), chain, "{dtype} {filters:?}");
        match (for_dialect_from(&node, Dialect::V2, Dialect::V3Draft2022), expected) {
            (Ok((there, _)), Some(expected)) => {
                assert_eq!(list(&there), expected, "{dtype} {filters:?}");
                let (back, _) = for_dialect_from(&there, Dialect::V3Draft2022, Dialect::V2).unwrap();
                assert_eq!(list(&back), expected, "{dtype} {filters:?}");
            }
            (Err(error), None) => assert_eq!(error.kind(), ErrorKind::NotExpressible),
            (found, _) => panic!("{dtype} {filters:?}: {found:?}"),
        }
    };
    for (dtype, own) in [("big", "little"), ("big", "big"), ("little", "big")] {
        let letter = |order: &str| if order == "big" { ">i4" } else { "<i4" };
        let chain = format!(r#"bytes:{dtype} shuffle view "int32"(bytes:{own} = delta bytes:{own})"#);
        check(letter(dtype), &[shuffle, &delta(letter(own))], &chain, Some(&chain));
    }
    let chain = r#"bytes:big view "int32"(bytes:big = delta bytes:big)"#;
    check(">i2", &[&delta(">i4")], chain, Some(chain));
    let chain = r#"bytes view "int32"(bytes:big = delta bytes:big)"#;
    check("|V4", &[&delta(">i4")], chain, Some(chain));
    let chain = "astype delta bytes:little";
    check(">i4", &[&astype("<i2"), &delta("<i2")], chain, Some(chain));
    // Of elements that have one order in the draft there is no view: they are encoded again.
    let chain = r#"bytes:little view "int32"(bytes:big = delta bytes:big)"#;
    check("<i4", &[&delta(">i4")], chain, Some("delta bytes:big"));
    check(">i4", &[&delta("<i4")], r#"bytes:big view "int32"(bytes:little = delta bytes:little)"#, None);
    let chain = r#"astype bytes:big view "int16"(bytes:little = delta bytes:little)"#;
    check(">i4", &[&astype(">i2"), &delta("<i2")], chain, None);
    check(">M8[s]", &[r#"{"id":"pcodec","level":8}"#], r#"bytes:big view "int64"(bytes:little = pcodec)"#, None);
}

/// zarr-python 3.1.6 and 3.4.2 read these alike, except `quantize` in front of big-endian bytes, which is as 3.4.2
/// reads it.
#[test]
fn filters_name_types_in_the_orders_that_zarr_python_reads() {
    let check = |dtype: &str, filters: &str, expected: &[&str]| {
        let text = format!(
            r#"{{"zarr_format":2,"shape":[4],"chunks":[2],"dtype":"{dtype}","fill_value":0,"order":"C","compressor":null,"filters":[{filters}]}}"#
        );
        let node = Store::with(&[(".zarray", &text)]).found("/").node;
        let (v3, _) = for_dialect_from(&node, Dialect::V2, Dialect::V3).unwrap();
        let codecs = &v3.as_array().unwrap().codecs;
        let shown: Vec<_> = codecs.iter().map(|codec| codec.configuration.to_string()).collect();
        assert_eq!(shown, expected, "{dtype} {filters}");
        // The chunks are the same as in version 2 both ways.
        let (back, _) = for_dialect_from(&v3, Dialect::V3, Dialect::V2).unwrap();
        let plain = |node: &Node| -> Vec<_> {
            node.as_array().unwrap().codecs.iter().map(zarr_meta::without_filter_orders).collect()
        };
        assert_eq!(plain(&node), plain(&v3), "{dtype} {filters}");
        assert_eq!(plain(&node), plain(&back), "{dtype} {filters}");
    };
    let [little, big] = ["little", "big"].map(|order| format!(r#"{{"endian":"{order}"}}"#));
    check("<i4", r#"{"id":"delta","dtype":"<i4"}"#, &[r#"{"dtype":"<i4"}"#, &little]);
    check(">i4", r#"{"id":"delta","dtype":">i4"}"#, &[r#"{"dtype":"<i4","astype":">i4"}"#, &big]);
    check(">M8[s]", r#"{"id":"delta","dtype":">i8"}"#, &[r#"{"dtype":"<i8","astype":">i8"}"#, &big]);
    check(">f4", r#"{"id":"quantize","digits":2,"dtype":">f4"}"#, &[r#"{"digits":2,"dtype":"<f4"}"#, &big]);
    check(
        ">f4",
        r#"{"id":"fixedscaleoffset","offset":0,"scale":2,"dtype":">f4","astype":"|u1"}"#,
        &[r#"{"offset":0,"scale":2,"dtype":"<f4","astype":"|u1"}"#, "{}"],
    );
    check(
        ">i4",
        r#"{"id":"astype","encode_dtype":">i8","decode_dtype":">i4"},{"id":"delta","dtype":">i8","astype":">i2"}"#,
        &[r#"{"encode_dtype":"<i8","decode_dtype":"<i4"}"#, r#"{"dtype":"<i8","astype":">i2"}"#, &big],
    );
}

#[test]
fn filters_of_version_3_stay_as_they_are_spelled_in_it() {
    let text = r#"{"zarr_format":3,"node_type":"array","shape":[4],"data_type":"int32","fill_value":0,"attributes":{},
        "chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2]}},
        "chunk_key_encoding":{"name":"default","configuration":{"separator":"/"}},
        "codecs":[{"name":"numcodecs.delta","configuration":{"dtype":">i4"}},
                  {"name":"bytes","configuration":{"endian":"little"}}]}"#;
    let node = Store::with(&[("zarr.json", text)]).found("/").node;
    assert_eq!(for_dialect_from(&node, Dialect::V3, Dialect::V3).unwrap().0, node);
    // Version 2 takes the order from `bytes`.
    let (v2, _) = for_dialect_from(&node, Dialect::V3, Dialect::V2).unwrap();
    let zarray = stored(&v2, Dialect::V2, ".zarray");
    assert_eq!(zarray.get("dtype"), Some(&json!("<i4")));
    assert_eq!(zarray.get("filters"), Some(&json!([{"id": "delta", "dtype": "<i4"}])));
}

#[test]
fn raw_bytes_in_structs_have_the_name_that_zarr_python_reads() {
    let text = r#"{"zarr_format":2,"shape":[],"chunks":[],"dtype":[["a","<i2"],["b","|V2"],["c",[["d","|V1"]]]],"fill_value":"AQACAwQ=","order":"C"}"#;
    let node = Store::with(&[(".zarray", text)]).found("/").node;
    let document = stored(&node, Dialect::V3, "zarr.json");
    let raw = |size: u64| json!({"name": "raw_bytes", "configuration": {"length_bytes": size}});
    let inner = json!({"name": "struct", "configuration": {"fields": [{"name": "d", "data_type": (raw(1))}]}});
    let fields = json!([{"name": "a", "data_type": "int16"}, {"name": "b", "data_type": (raw(2))}, {"name": "c", "data_type": inner}]);
    assert_eq!(document.get("data_type").unwrap().get("configuration").unwrap().get("fields"), Some(&fields));
    assert_eq!(document.get("fill_value"), Some(&json!({"a": 1, "b": "AgM=", "c": {"d": "BA=="}})));
    let (back, _) = for_dialect(&for_dialect(&node, Dialect::V3).unwrap().0, Dialect::V2).unwrap();
    assert_eq!(back, node);
}

#[test]
fn the_name_of_raw_bytes_is_carried() {
    let source = r#"{"zarr_format":3,"node_type":"array","shape":[2],"data_type":"r24","fill_value":[0,0,0],
        "chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2]}},
        "chunk_key_encoding":{"name":"default"},"codecs":["bytes"]}"#;
    let source = Store::with(&[("zarr.json", source)]).found("/").node;
    let data_type = |node: &Node| node.as_array().unwrap().data_type.name.clone();
    assert_eq!(data_type(&source), "r24");
    // An array that comes from elsewhere takes the name that zarr-python reads.
    let (v2, _) = for_dialect(&source, Dialect::V2).unwrap();
    let (back, notes) = for_dialect(&v2, Dialect::V3).unwrap();
    assert_eq!((data_type(&back).as_str(), notes), ("raw_bytes", Vec::new()));
    let (v2, _) = for_dialect_carrying(&source, Dialect::V3, Dialect::V2).unwrap();
    let (back, notes) = for_dialect(&v2, Dialect::V3).unwrap();
    assert_eq!((data_type(&back).as_str(), notes), ("r24", Vec::new()));
    assert_eq!(back.as_array().unwrap().fill_value, source.as_array().unwrap().fill_value);
}
