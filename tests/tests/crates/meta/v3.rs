//! Documents of version 3, settled and not.

use super::store::{Store, changed};
use zarr_json::{NamedConfig, Value, json};
use zarr_meta::{Dialect, ErrorKind, StoredNode, documents, for_dialect_from};

fn document(changes: &str) -> String {
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [4, 6], "data_type": "int32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 3]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]
    });
    changed(&document.to_string(), changes)
}

fn found(changes: &str) -> StoredNode {
    Store::with(&[("a/zarr.json", &document(changes))]).found("/a")
}

#[test]
fn short_names_and_objects_mean_the_same() {
    let short = found(
        r#"{"codecs": ["bytes", {"name": "crc32c"}], "chunk_key_encoding": "v2", "data_type": {"name": "int32"}}"#,
    );
    assert_eq!(short.dialect, Dialect::V3);
    let array = short.node.as_array().unwrap();
    assert_eq!(array.data_type.short_value(), json!("int32"));
    assert_eq!(array.chunk_key_encoding.short_value(), json!("v2"));
    assert_eq!(array.codecs.len(), 2);
    assert!(short.warnings.is_empty());
}

#[test]
fn members_that_may_be_ignored_are_kept() {
    let found = found(
        r#"{"note": {"must_understand": false, "text": "x"}, "consolidated_metadata": null, "dimension_names": null,
            "storage_transformers": [{"name": "mirror", "must_understand": false}],
            "codecs": [{"name": "hint", "must_understand": false}, {"name": "bytes"}]}"#,
    );
    let array = found.node.as_array().unwrap();
    assert_eq!(array.extra.keys().collect::<Vec<_>>(), ["note"]);
    assert_eq!(array.storage_transformers.len(), 1);
    assert!(!array.codecs[0].must_understand);
    assert_eq!(array.dimension_names, None);
}

/// Documents that zarr-python opens too; the value is clear in each.
#[test]
fn harmless_slips_are_read_with_or_without_a_warning() {
    let slips = found(r#"{"fill_value": 5.0, "attributes": null, "storage_transformers": null}"#);
    assert_eq!(slips.dialect, Dialect::V3);
    assert_eq!(slips.node.as_array().unwrap().fill_value, Some(json!(5)));
    assert!(slips.attributes().unwrap().is_empty());
    assert_eq!(slips.warnings.iter().map(|warning| warning.pointer.as_str()).collect::<Vec<_>>(), ["/fill_value"]);
    // A number that is no integer is found where the data type is known.
    assert_eq!(found(r#"{"fill_value": 1.5}"#).node.as_array().unwrap().fill_value, Some(json!(1.5)));
}

/// As zarrita.js writes it by default, and GDAL 3.12.2 where there is no nodata value.
#[test]
fn null_as_fill_value_is_undefined_but_for_floats() {
    for data_type in ["bool", "uint8", "int64", "complex64", "string", "r16"] {
        let changes = format!(r#"{{"data_type": "{data_type}", "fill_value": null}}"#);
        let found = found(&changes);
        let warning = (found.warnings[0].key.as_str(), found.warnings[0].pointer.as_str());
        assert_eq!((found.dialect, found.warnings.len(), warning), (Dialect::V3, 1, ("a/zarr.json", "/fill_value")));
        assert_eq!(found.node.as_array().unwrap().fill_value, None);
        assert!(!found.may_omit_empty_chunks);
        // It stays where it is, and is not written into new documents.
        let written = documents(Dialect::V3, &found.path, &found.node, Some(&found.documents)).unwrap();
        assert_eq!(written[0].1.as_deref(), found.documents.get("a/zarr.json"));
        let error = documents(Dialect::V3, &found.path, &found.node, None).unwrap_err();
        assert_eq!((error.kind(), error.pointer()), (ErrorKind::NotExpressible, "/fill_value"));
    }
    for data_type in ["float16", "float32", "float64", "bfloat16"] {
        let float = format!(r#"{{"data_type": "{data_type}", "fill_value": null, "dimension_names": ["Y", "X"]}}"#);
        error(&float, ErrorKind::InvalidMetadata, "/fill_value");
        let error = Store::with(&[("a/zarr.json", &document(&float))]).probe("/a", None).unwrap_err();
        assert!(error.to_string().contains("NaN for others"), "{error}");
    }
}

/// As GDAL 3.8 to 3.10 write arrays without compression.
#[test]
fn without_codecs_elements_are_little_endian() {
    let found = found(r#"{"codecs": "absent", "dimension_names": ["Y", "X"]}"#);
    assert_eq!(found.dialect, Dialect::V3);
    let codecs = &found.node.as_array().unwrap().codecs;
    assert_eq!(codecs.len(), 1);
    assert_eq!(codecs[0].to_value().to_string(), r#"{"name":"bytes","configuration":{"endian":"little"}}"#);
    let pointers: Vec<_> = found.warnings.iter().map(|warning| warning.pointer.as_str()).collect();
    assert_eq!(pointers, ["/codecs"]);
    // A document that is written anew has them.
    let mut node = found.node.clone();
    node.attributes_mut().insert("b", 1);
    let written = documents(Dialect::V3, &found.path, &node, Some(&found.documents)).unwrap();
    let text = String::from_utf8(written[0].1.clone().unwrap()).unwrap();
    assert!(text.contains("\"codecs\": [") && text.contains("\"b\": 1"), "{text}");
    error(r#"{"codecs": null}"#, ErrorKind::InvalidMetadata, "/codecs");
}

/// zarrita wrote 0 until September 2023.
#[test]
fn numbers_are_bools_with_a_warning() {
    for (number, truth) in [("0", false), ("1", true), ("1.0", true)] {
        let found = found(&format!(r#"{{"data_type": "bool", "codecs": ["bytes"], "fill_value": {number}}}"#));
        assert_eq!(found.node.as_array().unwrap().fill_value, Some(json!(truth)));
        let pointers: Vec<_> = found.warnings.iter().map(|warning| warning.pointer.as_str()).collect();
        assert_eq!((found.dialect, pointers), (Dialect::V3, vec!["/fill_value"]), "{number}");
    }
    // A number other than 0 and 1 is found where the data type is known.
    let two = found(r#"{"data_type": "bool", "codecs": ["bytes"], "fill_value": 2}"#);
    assert_eq!(two.node.as_array().unwrap().fill_value, Some(json!(2)));
}

#[test]
fn a_document_without_node_type_is_of_2023_unless_it_has_later_members() {
    assert_eq!(found(r#"{"node_type": "absent", "codecs": []}"#).dialect, Dialect::V3Provisional2023);
    for later in [
        r#"{"node_type": "absent"}"#,
        r#"{"node_type": "absent", "codecs": [{"name": "transpose", "configuration": {"order": [1, 0]}}]}"#,
        r#"{"node_type": "absent", "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [1, 1],
            "codecs": [], "index_codecs": []}}]}"#,
    ] {
        error(later, ErrorKind::InvalidMetadata, "/node_type");
    }
    let group =
        r#"{"zarr_format": 3, "consolidated_metadata": {"kind": "inline", "must_understand": false, "metadata": {}}}"#;
    let error = Store::with(&[("zarr.json", group)]).probe("/", None).unwrap_err();
    assert_eq!((error.kind(), error.pointer()), (ErrorKind::InvalidMetadata, "/node_type"));
    assert_eq!(Store::with(&[("zarr.json", r#"{"zarr_format": 3}"#)]).found("/").dialect, Dialect::V3Provisional2023);
}

#[track_caller]
fn error(changes: &str, kind: ErrorKind, pointer: &str) {
    let error = Store::with(&[("a/zarr.json", &document(changes))]).probe("/a", None).unwrap_err();
    assert_eq!((error.kind(), error.key(), error.pointer()), (kind, Some("a/zarr.json"), pointer), "{error}");
}

#[test]
fn wrong_documents_are_refused() {
    for member in ["shape", "data_type", "chunk_grid", "chunk_key_encoding", "fill_value", "codecs", "zarr_format"] {
        error(&format!(r#"{{"{member}": "absent"}}"#), ErrorKind::InvalidMetadata, &format!("/{member}"));
    }
    error(r#"{"zarr_format": 4}"#, ErrorKind::UnsupportedVersion, "/zarr_format");
    error(r#"{"zarr_format": 3.0}"#, ErrorKind::UnsupportedVersion, "/zarr_format");
    error(r#"{"node_type": "dataset"}"#, ErrorKind::InvalidMetadata, "/node_type");
    error(r#"{"shape": [4, 6.0]}"#, ErrorKind::InvalidMetadata, "/shape/1");
    error(r#"{"shape": [9223372036854775808]}"#, ErrorKind::InvalidMetadata, "/shape/0");
    error(r#"{"dimension_names": ["x"]}"#, ErrorKind::InvalidMetadata, "/dimension_names");
    error(r#"{"dimension_names": ["x", 1]}"#, ErrorKind::InvalidMetadata, "/dimension_names/1");
    error(r#"{"codecs": [{"configuration": {}}]}"#, ErrorKind::InvalidMetadata, "/codecs/0/name");
    error(r#"{"codecs": ["gzip", "bytes"]}"#, ErrorKind::InvalidMetadata, "/codecs/1");
    error(r#"{"codecs": ["bytes", "transpose"]}"#, ErrorKind::InvalidMetadata, "/codecs/1");
    error(r#"{"codecs": ["bytes", "vlen-utf8"]}"#, ErrorKind::InvalidMetadata, "/codecs/1");
    error(r#"{"attributes": []}"#, ErrorKind::InvalidMetadata, "/attributes");
    error(r#"{"x": 1}"#, ErrorKind::UnknownMember, "/x");
    error(r#"{"x": {"must_understand": true}}"#, ErrorKind::UnknownMember, "/x");
    error(r#"{"x": {}}"#, ErrorKind::UnknownMember, "/x");
    error(r#"{"data_type": {"name": "int32", "x": 1}}"#, ErrorKind::UnknownMember, "/data_type/x");
    error(r#"{"storage_transformers": ["mirror"]}"#, ErrorKind::UnknownExtension, "/storage_transformers/0");
}

#[test]
fn deviations_are_for_attributes_only() {
    let nan =
        document(r#"{"attributes": {"a": "@", "b": 1}}"#).replace("\"@\"", "NaN").replace("\"b\":1", "\"b\":1,\"b\":2");
    let found = Store::with(&[("zarr.json", &nan)]).found("/");
    assert_eq!(found.node.attributes().get("b"), Some(&json!(2)));
    assert_eq!(found.warnings.len(), 2);
    for text in [
        document(r#"{"fill_value": "@"}"#).replace("\"@\"", "NaN"),
        document("{}").replacen('{', "{\"shape\":[4,6],", 1),
        document("{}").replacen('}', ",}", 1),
    ] {
        let error = Store::with(&[("zarr.json", &text)]).probe("/", None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidJson, "{text}");
        assert!(error.line().is_some());
    }
}

#[test]
fn documents_of_2023() {
    let old = [
        r#"{"codecs": []}"#,
        r#"{"codecs": [{"name": "endian", "configuration": {"endian": "little"}}]}"#,
        r#"{"codecs": [{"name": "transpose", "configuration": {"order": "C"}}, "bytes"]}"#,
        r#"{"codecs": [], "fill_value": null}"#,
        r#"{"data_type": "float32", "fill_value": "+Infinity"}"#,
        r#"{"node_type": "absent", "codecs": []}"#,
        r#"{"zarr_format": "https://purl.org/zarr/spec/v3#array", "node_type": "absent", "extensions": [],
            "chunk_grid": {"type": "regular", "chunk_shape": [2, 3], "separator": "."}, "chunk_key_encoding": "absent",
            "codecs": [{"type": "https://purl.org/zarr/spec/codecs/gzip/1.0", "configuration": {"level": 1}}]}"#,
        r#"{"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 3], "separator": "."}},
            "chunk_key_encoding": "absent"}"#,
    ];
    for changes in old {
        let found = found(changes);
        assert_eq!(found.dialect, Dialect::V3Provisional2023, "{changes}");
        assert!(!found.warnings.is_empty());
        let array = found.node.as_array().unwrap();
        assert!(array.codecs.iter().any(|codec| codec.name == "bytes"), "{changes}");
        assert_eq!(array.chunk_grid.configuration.to_string(), r#"{"chunk_shape":[2,3]}"#);
        let separator = if changes.contains("separator") { "." } else { "/" };
        assert_eq!(array.chunk_key_encoding.configuration.get("separator"), Some(&json!(separator)));
    }
    assert_eq!(found(old[3]).node.as_array().unwrap().fill_value, None);
    assert_eq!(found(old[4]).node.as_array().unwrap().fill_value, Some(json!("Infinity")));
    // A text is a text.
    let text = found(r#"{"data_type": "string", "fill_value": "+Infinity", "codecs": ["vlen-utf8"]}"#);
    assert_eq!(text.dialect, Dialect::V3);
    assert_eq!(text.node.as_array().unwrap().fill_value, Some(json!("+Infinity")));
}

#[test]
fn filters_of_numcodecs_for_big_endian_elements_are_reported() {
    let filter = |dtype: &str| {
        let filter = format!(r#"{{"name": "numcodecs.delta", "configuration": {{"dtype": "{dtype}"}}}}"#);
        found(&format!(r#"{{"codecs": [{filter}, {{"name": "bytes", "configuration": {{"endian": "big"}}}}]}}"#))
    };
    assert!(filter("<i4").warnings.is_empty());
    assert_eq!(filter(">i4").warnings[0].pointer, "/codecs/0/configuration/dtype");
    // The output of the filter is numbers, which `bytes` puts into its own order.
    assert!(filter("<i4\", \"astype\": \">i4").warnings.is_empty());
    let inner = found(
        r#"{"codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [1, 1],
            "codecs": [{"name": "numcodecs.delta", "configuration": {"dtype": ">i4"}},
                {"name": "bytes", "configuration": {"endian": "little"}}],
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}]}"#,
    );
    assert_eq!(inner.warnings[0].pointer, "/codecs/0/configuration/codecs/0/configuration/dtype");
}

#[test]
fn codecs_of_numcodecs_are_written_with_a_configuration() {
    let found = found(r#"{"codecs": ["bytes", {"name": "numcodecs.crc32"}]}"#);
    let written = documents(Dialect::V3, &found.path, &found.node, None).unwrap();
    let document = String::from_utf8(written[0].1.clone().unwrap()).unwrap();
    let document = Value::from_json(&document).unwrap();
    assert_eq!(
        document.get("codecs").unwrap().as_array().unwrap()[1],
        json!({"name": "numcodecs.crc32", "configuration": {}})
    );
}

/// The members of `sharding_indexed`, `optional` and `zarrs.vlen` that are chains of codecs.
#[test]
fn codecs_in_codecs_are_written_and_named_as_others() {
    for (outer, member) in [
        (r#""sharding_indexed", "configuration": {"index_codecs": ["bytes"], "#, "codecs"),
        (r#""sharding_indexed", "configuration": {"#, "index_codecs"),
        (r#""optional", "configuration": {"#, "data_codecs"),
        (r#""optional", "configuration": {"#, "mask_codecs"),
        (r#""zarrs.vlen", "configuration": {"#, "index_codecs"),
        (r#""zarrs.vlen", "configuration": {"#, "data_codecs"),
    ] {
        let of = |list: &str| format!(r#"{{"codecs": [{{"name": {outer}"{member}": {list}}}}}]}}"#);
        let inner = |codecs: &[NamedConfig]| codecs[0].configuration.get(member).unwrap().to_string();
        let written = |found: &StoredNode| {
            let node = for_dialect_from(&found.node, Dialect::V3, Dialect::V3).unwrap().0;
            let documents = documents(Dialect::V3, &found.path, &node, None).unwrap();
            let document = Value::from_json(&String::from_utf8(documents[0].1.clone().unwrap()).unwrap()).unwrap();
            let codecs = document.get("codecs").unwrap().as_array().unwrap().iter();
            inner(&codecs.filter_map(NamedConfig::from_value).collect::<Vec<_>>())
        };
        let bare = found(&of(r#"["bytes", "numcodecs.adler32", {"name": "numcodecs.crc32"}]"#));
        assert_eq!(
            written(&bare),
            r#"["bytes",{"name":"numcodecs.adler32","configuration":{}},{"name":"numcodecs.crc32","configuration":{}}]"#,
            "{outer} {member}"
        );
        let named = found(&of(r#"["bytes", "zlib", {"name": "crc32", "configuration": {"location": "end"}}]"#));
        assert_eq!(
            written(&named),
            r#"["bytes",{"name":"numcodecs.zlib","configuration":{}},{"name":"numcodecs.crc32","configuration":{"location":"end"}}]"#,
            "{outer} {member}"
        );
        let view = found(&of(r#"["bytes", {"name": "array_view"}]"#));
        let error = documents(Dialect::V3, &view.path, &view.node, None).unwrap_err();
        assert_eq!(error.pointer(), format!("/codecs/0/configuration/{member}/1"));
    }
}

#[test]
fn nan_literals_in_copies_of_documents_do_not_break_the_group() {
    // As zarr-python 3.0.0 to 3.0.6 wrote them, while the array's own document has a text.
    let copy = document(r#"{"data_type": "float64", "fill_value": "NaN"}"#).replace("\"NaN\"", "NaN");
    let group = format!(
        r#"{{"zarr_format": 3, "node_type": "group",
            "consolidated_metadata": {{"kind": "inline", "must_understand": false, "metadata": {{"a": {copy}}}}}}}"#
    );
    let found = Store::with(&[("zarr.json", &group)]).found("/");
    assert_eq!(found.warnings[0].pointer, "/consolidated_metadata/metadata/a/fill_value");
    assert!(found.node.as_group().unwrap().consolidated.is_some());
}
