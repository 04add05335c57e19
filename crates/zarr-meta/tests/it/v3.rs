//! Documents of version 3, settled and not.

use crate::store::{Store, changed};
use zarr_meta::{Dialect, ErrorKind, Found, json};

fn document(changes: &str) -> String {
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [4, 6], "data_type": "int32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 3]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]
    });
    changed(&document.to_string(), changes)
}

fn found(changes: &str) -> Found {
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

/// What zarr-python opens too; the value is clear in each.
#[test]
fn harmless_slips_are_read_with_or_without_a_warning() {
    let slips = found(r#"{"fill_value": 5.0, "attributes": null, "storage_transformers": null}"#);
    assert_eq!(slips.dialect, Dialect::V3);
    assert_eq!(slips.node.as_array().unwrap().fill_value, Some(json!(5)));
    assert!(slips.attributes().unwrap().is_empty());
    assert_eq!(slips.warnings.iter().map(|warning| warning.pointer.as_str()).collect::<Vec<_>>(), ["/fill_value"]);
    // What is no integer is found out where the data type is known.
    assert_eq!(found(r#"{"fill_value": 1.5}"#).node.as_array().unwrap().fill_value, Some(json!(1.5)));
}

/// As GDAL 3.12.2 writes arrays of integers and complex numbers without a nodata value.
#[test]
fn null_of_gdal_is_undefined() {
    for data_type in ["uint8", "int64", "complex64"] {
        let changes = format!(r#"{{"data_type": "{data_type}", "fill_value": null, "dimension_names": ["Y", "X"]}}"#);
        let found = found(&changes);
        assert_eq!((found.dialect, found.warnings.len()), (Dialect::V3, 1));
        assert_eq!(found.node.as_array().unwrap().fill_value, None);
    }
    let float = r#"{"data_type": "float32", "fill_value": null, "dimension_names": ["Y", "X"]}"#;
    error(float, ErrorKind::InvalidMetadata, "/fill_value");
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
    error(r#"{"shape": [1099511627776, 1099511627776]}"#, ErrorKind::InvalidMetadata, "/shape");
    error(r#"{"fill_value": null}"#, ErrorKind::InvalidMetadata, "/fill_value");
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
fn liberties_are_for_attributes_only() {
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
        r#"{"node_type": "absent"}"#,
        r#"{"zarr_format": "https://purl.org/zarr/spec/v3#array", "node_type": "absent", "extensions": [],
            "chunk_grid": {"type": "regular", "chunk_shape": [2, 3], "separator": "."}, "chunk_key_encoding": "absent",
            "codecs": [{"type": "https://purl.org/zarr/spec/codecs/gzip/1.0", "configuration": {"level": 1}}]}"#,
        r#"{"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 3], "separator": "."}},
            "chunk_key_encoding": "absent"}"#,
    ];
    for changes in old {
        let found = found(changes);
        assert_eq!(found.dialect, Dialect::V3Of2023, "{changes}");
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
