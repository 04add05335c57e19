use zarr_dtype::*;
use zarr_json::pointer::At;
use zarr_json::{NamedConfig, Value, json};

#[test]
fn there_and_back() {
    for value in [
        json!("<f8"),
        json!("|b1"),
        json!(">U3"),
        json!("|S4"),
        json!("|V3"),
        json!("<M8[25s]"),
        json!("bfloat16"),
        json!([["a", "<i4"], ["b", ">f8", [2, 3]], ["c", [["x", "|u1"], ["y", ">u2"]]]]),
        json!([["a", ">i4"], ["b", "|S3"]]),
    ] {
        let (numpy, _) = NumpyType::parse(&At::root(&value)).unwrap();
        assert_eq!(NumpyType::from_config(&numpy.to_config()), Some(numpy));
    }
}

#[test]
fn names_of_version_3() {
    let data_type = |value: Value| NumpyType::parse(&At::root(&value)).unwrap().0.to_config().short_value().to_string();
    assert_eq!(data_type(json!("|V3")), r#"{"name":"raw_bytes","configuration":{"length_bytes":3}}"#);
    assert_eq!(data_type(json!("<U3")), r#"{"name":"fixed_length_utf32","configuration":{"length_bytes":12}}"#);
    let fields = r#"{"name":"struct","configuration":{"fields":[{"name":"a","data_type":"int32"}]}}"#;
    assert_eq!(data_type(json!([["a", "<i4"]])), fields);
    let old = json!({"name": "structured", "configuration": {"fields": [["a", "int32"]]}});
    let old = NumpyType::from_config(&NamedConfig::from_value(&old).unwrap()).unwrap();
    assert_eq!(old, NumpyType::parse(&At::root(&json!([["a", "<i4"]]))).unwrap().0);
    assert_eq!(NumpyType::from_config(&NamedConfig::new("r7")), None);
    assert_eq!(NumpyType::from_config(&NamedConfig::new("complex_bfloat16")), None);
}
