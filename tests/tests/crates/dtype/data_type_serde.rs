use zarr_dtype::*;
use zarr_json::Value;
use zarr_json::{from_value, json, to_value};

#[test]
fn types_and_fill_values_come_back() {
    let fields = json!([{"name": "a", "data_type": "int16"}, {"name": "b", "data_type": "float64"}]);
    let cases = [
        (json!("int64"), json!(-9_007_199_254_740_993_i64)),
        (json!("uint64"), json!(u64::MAX)),
        (json!("complex64"), json!([1.5, "-Infinity"])),
        (json!("string"), json!("x")),
        (json!({"name": "numpy.datetime64", "configuration": {"unit": "ns", "scale_factor": 1}}), json!("NaT")),
        (json!({"name": "struct", "configuration": {"fields": fields}}), json!({"a": 1, "b": "NaN"})),
    ];
    for (data_type, fill_value) in cases {
        let value = json!({"data_type": data_type, "fill_value": fill_value});
        let typed: TypedFillValue = from_value(&value).unwrap_or_else(|error| panic!("{value}: {error}"));
        let again: TypedFillValue = from_value(&to_value(&typed).unwrap()).unwrap();
        assert_eq!(again, typed);
        assert_eq!(to_value(&typed).unwrap().get("data_type"), value.get("data_type"));
    }
}

#[test]
fn errors_name_the_member() {
    for (text, expected) in [
        (r#"{"fill_value":0}"#, "member \"data_type\" is missing"),
        (r#"{"data_type":"int8","fill_value":300}"#, "/fill_value"),
        (r#"{"data_type":"int9","fill_value":3}"#, "int9"),
    ] {
        let error = from_value::<TypedFillValue>(&Value::from_json(text).unwrap()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
