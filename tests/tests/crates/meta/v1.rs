//! Version 1, and the form before it.

use super::store::{Store, changed};
use zarr_json::{Value, json};
use zarr_meta::{ArrayMetadata, Dialect, ErrorKind, NodePath, Probe, ProbeStep, StoredNode, documents};

const META: &str = r#"{"chunks": [10, 10], "compression": "zlib", "compression_opts": 1, "dtype": "<i4", "fill_value": 42,
    "order": "C", "shape": [20, 20], "zarr_format": 1}"#;

fn found(changes: &str) -> StoredNode {
    Store::with(&[("meta", &changed(META, changes)), ("attrs", "{}")]).found("/")
}

fn array(changes: &str) -> ArrayMetadata {
    found(changes).node.as_array().unwrap().clone()
}

fn chain(array: &ArrayMetadata) -> Vec<String> {
    array.codecs.iter().map(|codec| codec.short_value().to_string()).collect()
}

/// The example of the text, section "Examples".
// clause: v1-4, v1-5, v1-7, v1-18, v1-32, v1-34, v1-37, v1-42
#[test]
fn the_session_of_the_text() {
    let mut store = Store::with(&[("meta", META), ("attrs", "{}")]);
    let found = store.found("/");
    assert_eq!((found.dialect, found.chunk_prefix().as_str()), (Dialect::V1, ""));
    let expected = json!({
        "zarr_format": 3, "node_type": "array", "shape": [20, 20], "data_type": "int32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [10, 10]}},
        "chunk_key_encoding": {"name": "v2", "configuration": {"separator": "."}},
        "fill_value": 42,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "numcodecs.zlib", "configuration": {"level": 1}}],
        "attributes": {}
    });
    assert_eq!(found.node.to_value().to_string(), expected.to_string());
    let attributes = json!({"foo": 42, "bar": "apples", "baz": [1, 2, 3, 4]});
    let node = found.with_attributes(attributes.as_object().unwrap().clone());
    store.apply(documents(Dialect::V1, &found.path, &node, Some(&found.documents)).unwrap());
    assert_eq!(store.0["meta"], META.as_bytes());
    assert_eq!(Value::from_json(std::str::from_utf8(&store.0["attrs"]).unwrap()).unwrap(), attributes);
    // A new array of the same kind has the documents that the text shows.
    let written = documents(Dialect::V1, &found.path, &found.node, None).unwrap();
    let text = |index: usize| String::from_utf8(written[index].1.clone().unwrap()).unwrap();
    assert_eq!((written[0].0.as_str(), Value::from_json(&text(0)).unwrap()), ("meta", Value::from_json(META).unwrap()));
    assert_eq!((written[1].0.as_str(), text(1).as_str()), ("attrs", "{}\n"));
}

// clause: v1-10, v1-11
#[test]
fn every_form_of_compression() {
    let zlib = |level: u8| format!(r#"{{"name":"numcodecs.zlib","configuration":{{"level":{level}}}}}"#);
    let blosc = |cname: &str, clevel: u8, shuffle: &str| {
        format!(
            r#"{{"name":"blosc","configuration":{{"cname":"{cname}","clevel":{clevel},"shuffle":"{shuffle}","blocksize":0,"typesize":4}}}}"#
        )
    };
    for (compression, options, codec) in [
        ("\"zlib\"", "6", zlib(6)),
        ("\"zlib\"", "{\"level\": 6}", zlib(6)),
        ("\"gzip\"", "6", zlib(6)),
        ("\"bz2\"", "9", zlib(9).replace("zlib", "bz2")),
        ("\"blosc\"", "null", blosc("lz4", 5, "shuffle")),
        ("\"blosc\"", r#"{"cname": "snappy", "clevel": 1, "shuffle": 2}"#, blosc("snappy", 1, "bitshuffle")),
        ("\"blosc\"", "\"zlib\"", blosc("zlib", 5, "shuffle")),
        ("\"lzma\"", "1", r#"{"name":"numcodecs.lzma","configuration":{"format":1}}"#.to_owned()),
    ] {
        let array = array(&format!(r#"{{"compression": {compression}, "compression_opts": {options}}}"#));
        let bytes = r#"{"name":"bytes","configuration":{"endian":"little"}}"#.to_owned();
        assert_eq!(chain(&array), [bytes, codec], "{compression} {options}");
    }
    for compression in ["\"none\"", "null"] {
        let array = array(&format!(r#"{{"compression": {compression}, "compression_opts": null, "dtype": "|u1"}}"#));
        assert_eq!(chain(&array), ["\"bytes\""]);
    }
}

// clause: v1-9, v1-12, v1-19, v1-29
#[test]
fn fill_values_are_numbers_of_json() {
    for (dtype, stored, model) in [
        ("\"<f8\"", "NaN", json!("NaN")),
        ("\"<f4\"", "-Infinity", json!("-Infinity")),
        ("\"<f4\"", "\"Infinity\"", json!("Infinity")),
        ("\"<c16\"", "0", json!([0, 0.0])),
        ("\"|b1\"", "false", json!(false)),
        ("\"<M8[D]\"", "7", json!(7)),
        ("\"|S3\"", "\"YQ==\"", json!("absent")),
        ("\"|S4\"", "\"YQ==\"", json!("WVE9PQ==")),
        ("\"|S3\"", "\"ab\"", json!("YWI=")),
        ("\"|S3\"", "0", json!("")),
        ("\"<U2\"", "\"é\"", json!("é")),
        ("\"|V3\"", "\"a\"", json!("YQAA")),
        ("\"|V3\"", "0", json!("AAAA")),
        (r#"[["r", "|u1"], ["g", ">i2"]]"#, "0", json!({"r": 0, "g": 0})),
        (r#"[["r", "|u1"], ["g", ">i2"]]"#, "\"abc\"", json!("absent")),
        ("\"<c16\"", "[0, 1]", json!("absent")),
        ("\"<i4\"", "null", json!(null)),
    ] {
        let meta = changed(META, &format!(r#"{{"dtype": {dtype}}}"#)).replace("42", stored);
        let store = Store::with(&[("meta", &meta), ("attrs", "{}")]);
        if model == json!("absent") {
            let error = store.probe("/", None).unwrap_err();
            assert_eq!(
                (error.kind(), error.pointer()),
                (ErrorKind::InvalidMetadata, "/fill_value"),
                "{dtype} {stored}"
            );
            continue;
        }
        let found = store.found("/");
        assert!(found.warnings.is_empty(), "{:?}", found.warnings);
        let fill = found.node.as_array().unwrap().fill_value.clone().unwrap_or_default();
        assert_eq!(fill, model, "{dtype} {stored}");
        let written = documents(Dialect::V1, &found.path, &found.node, None).unwrap();
        let again = Store(written.into_iter().map(|(key, bytes)| (key, bytes.unwrap())).collect()).found("/");
        assert_eq!(again.node, found.node);
        assert!(!std::str::from_utf8(again.documents.get("meta").unwrap()).unwrap().contains(": NaN"));
    }
}

// clause: v1-13
#[test]
fn the_order_f_may_not_be_meant() {
    let f = r#"{"order": "F"}"#;
    let by_text = found(f);
    assert!(chain(by_text.node.as_array().unwrap())[0].contains("transpose"));
    assert!(by_text.warnings[0].to_string().contains("v1_f_order_is_c"), "{:?}", by_text.warnings);
    let store = Store::with(&[("meta", &changed(META, f)), ("attrs", "{}")]);
    let probe = Probe::new(NodePath::root(), None).v1_f_order_is_c(true);
    let ProbeStep::Found(as_written) = store.run(probe).unwrap() else { unreachable!() };
    assert_eq!(chain(as_written.node.as_array().unwrap()).len(), 2);
    assert!(as_written.warnings.is_empty());
    // A rewritten document is correct.
    let mut corrected = Store(store.0.clone());
    corrected.apply(documents(Dialect::V1, &as_written.path, &as_written.node, Some(&as_written.documents)).unwrap());
    assert_eq!(corrected.found("/").node, as_written.node);
    // Blosc obeys, and with one dimension there is no difference.
    let blosc = found(r#"{"order": "F", "compression": "blosc", "compression_opts": null}"#);
    assert!(blosc.warnings.is_empty() && chain(blosc.node.as_array().unwrap())[0].contains("transpose"));
    assert!(found(r#"{"order": "F", "shape": [2], "chunks": [1]}"#).warnings.is_empty());
}

// clause: v1-6, v1-7, v1-8, v1-14
#[test]
fn errors_name_the_wrong_member() {
    for member in ["zarr_format", "shape", "chunks", "dtype", "compression", "compression_opts", "fill_value", "order"]
    {
        let meta = changed(META, &format!(r#"{{"{member}": "absent"}}"#));
        // Without its version its dialect is unknown.
        let error = Store::with(&[("meta", &meta)]).probe("/", Some(Dialect::V1)).unwrap_err();
        let index = (error.kind(), error.key(), error.pointer());
        assert_eq!(index, (ErrorKind::InvalidMetadata, Some("meta"), format!("/{member}").as_str()));
    }
    for (changes, kind, pointer) in [
        (r#"{"chunks": [10]}"#, ErrorKind::InvalidMetadata, "/chunks"),
        (r#"{"chunks": [10, 0]}"#, ErrorKind::InvalidMetadata, "/chunks"),
        (r#"{"shape": [20, -1]}"#, ErrorKind::InvalidMetadata, "/shape/1"),
        (r#"{"order": "A"}"#, ErrorKind::InvalidMetadata, "/order"),
        (r#"{"dtype": "|O"}"#, ErrorKind::UnknownExtension, "/dtype"),
        (r#"{"compression": "zstd"}"#, ErrorKind::UnknownExtension, "/compression"),
        (r#"{"compression": "lzma", "compression_opts": [1]}"#, ErrorKind::InvalidMetadata, "/compression_opts"),
    ] {
        let error = Store::with(&[("meta", &changed(META, changes))]).probe("/", None).unwrap_err();
        assert_eq!((error.kind(), error.pointer()), (kind, pointer), "{changes}");
    }
    // Decoding needs no options but of lzma.
    for changes in [r#"{"compression_opts": [1]}"#, r#"{"compression": "none", "compression_opts": 1}"#] {
        let pointers: Vec<_> = found(changes).warnings.into_iter().map(|warning| warning.pointer).collect();
        assert!(pointers.contains(&"/compression_opts".to_owned()), "{changes}: {pointers:?}");
    }
    // Other members are ignored, and broken attributes keep no one from the data.
    assert_eq!(found(r#"{"comment": 1}"#).node.as_array().unwrap().extra.len(), 1);
    assert!(Store::with(&[("meta", META), ("attrs", "[")]).found("/").attributes_error.is_some());
    assert!(Store::with(&[("meta", META)]).found("/").attributes_error.is_none());
    // There is nothing below it.
    assert!(Store::with(&[("meta", META)]).probe("/a", Some(Dialect::V1)).unwrap().is_none());
    assert_eq!(Dialect::V1.check_path(&NodePath::parse("/a").unwrap()).unwrap_err().kind(), ErrorKind::Path);
}

#[test]
fn nodes_that_the_dialect_cannot_express_are_refused() {
    let node = found("{}").node;
    let refused = |change: &dyn Fn(&mut ArrayMetadata), pointer: &str| {
        let mut array = node.as_array().unwrap().clone();
        change(&mut array);
        let node = zarr_meta::Node::Array(array);
        let error = documents(Dialect::V1, &NodePath::root(), &node, None).unwrap_err();
        assert_eq!((error.kind(), error.pointer()), (ErrorKind::NotExpressible, pointer), "{error}");
    };
    refused(&|array| array.codecs[1].name = "gzip".to_owned(), "/codecs");
    refused(&|array| array.codecs[1].name = "numcodecs.shuffle".to_owned(), "/codecs");
    refused(&|array| array.data_type.name = "string".to_owned(), "/data_type");
    refused(&|array| array.data_type.name = "bfloat16_".to_owned(), "/data_type");
    refused(&|array| array.chunk_key_encoding.name = "default".to_owned(), "/chunk_key_encoding");
    refused(&|array| array.chunk_grid.name = "rectilinear".to_owned(), "/chunk_grid");
    refused(&|array| array.dimension_names = Some(vec![None, None]), "/dimension_names");
    let group = zarr_meta::Node::Group(zarr_meta::GroupMetadata::default());
    let error = documents(Dialect::V1, &NodePath::root(), &group, None).unwrap_err();
    assert_eq!((error.kind(), error.pointer()), (ErrorKind::NotExpressible, "/node_type"));
    let error = documents(Dialect::V1, &NodePath::parse("/a").unwrap(), &node, None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Path);
}

const ZMETA: &str = r#"{"chunks": [10, 10], "clevel": 3, "cname": "lz4", "dtype": "<i4", "fill_value": NaN, "shape": [20, 20], "shuffle": 2}"#;

#[test]
fn before_version_1() {
    let zmeta = ZMETA.replace("NaN", "42");
    let store = Store::with(&[("__zmeta__", &zmeta), ("__zattr__", r#"{"foo": 1}"#)]);
    let found = store.found("/");
    assert_eq!((found.dialect, found.chunk_prefix().as_str()), (Dialect::V0, "__zdata__/"));
    let array = found.node.as_array().unwrap();
    let blosc = r#"{"name":"blosc","configuration":{"cname":"lz4","clevel":3,"shuffle":"bitshuffle","blocksize":0,"typesize":4}}"#;
    assert_eq!(chain(array), [r#"{"name":"bytes","configuration":{"endian":"little"}}"#, blosc]);
    let keys = r#"{"name":"suffix","configuration":{"suffix":".blosc","base_encoding":{"name":"v2","configuration":{"separator":"."}}}}"#;
    assert_eq!(array.chunk_key_encoding.to_value().to_string(), keys);
    assert_eq!(array.attributes.get("foo"), Some(&json!(1)));
    let written = documents(Dialect::V0, &found.path, &found.node, None).unwrap();
    let text = String::from_utf8(written[0].1.clone().unwrap()).unwrap();
    assert_eq!(
        (written[0].0.as_str(), Value::from_json(&text).unwrap()),
        ("__zmeta__", Value::from_json(&zmeta).unwrap())
    );
    let floats = ZMETA.replace("<i4", "<f4");
    let floats = Store::with(&[("__zmeta__", &floats)]).found("/");
    assert_eq!(floats.node.as_array().unwrap().fill_value, Some(json!("NaN")));
    for (text, kind) in [
        ("(dp0\nS'shape'\n", ErrorKind::UnsupportedVersion),
        ("\u{1}", ErrorKind::UnsupportedVersion),
        ("{", ErrorKind::InvalidJson),
        ("{}", ErrorKind::InvalidMetadata),
        (&zmeta.replace("fill_value", "fill"), ErrorKind::InvalidMetadata),
    ] {
        for dialect in [None, Some(Dialect::V0)] {
            let error = Store::with(&[("__zmeta__", text)]).probe("/", dialect).unwrap_err();
            assert_eq!((error.kind(), error.key()), (kind, Some("__zmeta__")), "{text}");
        }
    }
    // Frames say how they are decoded.
    for (odd, pointer) in [
        (zmeta.replace("clevel", "level"), "/clevel"),
        (zmeta.replace("\"shuffle\": 2", "\"shuffle\": 3"), "/shuffle"),
        (zmeta.replace("\"shuffle\": 2", "\"shuffle\": true"), "/shuffle"),
    ] {
        let warnings = Store::with(&[("__zmeta__", &odd)]).found("/").warnings;
        assert!(warnings.iter().any(|warning| warning.pointer == pointer), "{odd}: {warnings:?}");
    }
}
