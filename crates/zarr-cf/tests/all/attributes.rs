//! Attributes that mark missing data and pack numbers, as xarray 2026.9 writes and reads them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use proptest::prelude::*;
use zarr_cf::encoding::{Encoding, FillPlace, TimeEncoding};
use zarr_cf::fill::{Fill, from_attribute, from_plain, parse, to_attribute, to_plain};
use zarr_cf::packed::Factor;
use zarr_dtype::{DataType, FillValue};
use zarr_json::{Map, NamedConfig, Number, Value, json};

fn data_type(name: &str) -> DataType {
    DataType::from_config(&NamedConfig::new(name)).unwrap()
}

fn parsed(text: &str) -> Value {
    Value::from_json(text).unwrap()
}

fn take(data_type: &DataType, place: FillPlace<'_>, attributes: Value) -> Result<(Encoding, Map), String> {
    let mut attributes = attributes.as_object().cloned().unwrap();
    let encoding = Encoding::take(data_type, place, &mut attributes).map_err(|error| error.to_string())?;
    Ok((encoding, attributes))
}

/// Expected attributes are those that xarray wrote for `_FillValue` in version 3.
#[test]
fn fill_values_have_the_form_of_their_type() {
    let cases = [
        ("float32", json!("NaN"), json!("AAAAAAAA+H8="), Fill::Float(f64::NAN)),
        ("float16", json!(3), json!("AAAAAAAACEA="), Fill::Float(3.0)),
        ("float64", json!(-999), json!("AAAAAAA4j8A="), Fill::Float(-999.0)),
        ("float32", json!(0.1), json!("AAAAoJmZuT8="), Fill::Float(f64::from(0.1_f32))),
        ("float64", json!("Infinity"), json!("AAAAAAAA8H8="), Fill::Float(f64::INFINITY)),
        ("complex64", json!([3, 0]), json!(["AAAAAAAACEA=", "AAAAAAAAAAA="]), Fill::Complex(3.0, 0.0)),
        ("int16", json!(-32768), json!(-32768), Fill::Integer(-32768)),
        ("uint64", json!(u64::MAX), json!(u64::MAX), Fill::Integer(u64::MAX.into())),
        ("bool", json!(false), json!(false), Fill::Integer(0)),
        ("string", json!("none"), json!("none"), Fill::Bytes(b"none".to_vec())),
    ];
    for (name, given, attribute, expected) in cases {
        let data_type = data_type(name);
        let element = parse("_FillValue", &data_type, &given).unwrap();
        assert_eq!(to_attribute(&data_type, &element), attribute, "{name} {given}");
        let found = from_attribute(&data_type, &attribute).unwrap();
        assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{name} {attribute}");
        assert_eq!(found.to_element(&data_type).as_ref(), Some(&element), "{name} {attribute}");
        assert_eq!(parse("_FillValue", &data_type, &to_plain(&data_type, &element)).as_ref(), Ok(&element), "{name}");
        assert_eq!(found.is_nan(), given == json!("NaN"));
    }
}

#[test]
fn other_forms_are_errors_that_name_the_attribute() {
    let refused = |name: &str, value: Value| from_attribute(&data_type(name), &value).unwrap_err().to_string();
    let base64 = "expected the base64 of a little-endian float of 64 bits";
    assert_eq!(refused("float32", json!(-999.0)), format!("_FillValue: found -999.0, {base64}"));
    assert_eq!(refused("float64", json!("AAAA")), format!("_FillValue: found \"AAAA\", {base64}"));
    let parts = "_FillValue: found [\"AAAAAAAACEA=\"], expected a list of two base64 strings";
    assert_eq!(refused("complex128", json!(["AAAAAAAACEA="])), parts);
    assert_eq!(refused("int32", json!("1")), "_FillValue: found \"1\", expected a number");
    assert_eq!(refused("int32", Value::Number(Number::NAN)), "_FillValue: found NaN, expected a number");
    let given = |name: &str, value: Value| parse("missing_value", &data_type(name), &value).unwrap_err().to_string();
    assert_eq!(given("int8", json!(300)), "missing_value: found 300, expected a value of int8");
    let plain = |value: Value| from_plain("missing_value", &data_type("int8"), &value).unwrap_err().to_string();
    assert_eq!(plain(json!("none")), "missing_value: found \"none\", expected a number, or a list of numbers");
}

#[test]
fn lists_mark_several_values() {
    let fills = |value: Value| from_plain("missing_value", &data_type("float32"), &value).unwrap();
    assert_eq!(
        fills(parsed(r#"[1, "NaN", -2.5, null, "-Infinity"]"#)),
        [Fill::Integer(1), Fill::Float(-2.5), Fill::Float(f64::NEG_INFINITY)]
    );
}

#[test]
fn the_place_decides_what_the_attribute_means() {
    let float = data_type("float32");
    let element = parse("_FillValue", &float, &json!(7)).unwrap();
    let attributes = || json!({"_FillValue": "AAAAAAAACEA=", "long_name": "x"});
    let (in_v3, left) = take(&float, FillPlace::Attribute, attributes()).unwrap();
    assert_eq!((in_v3.fills, in_v3.marks_nan), (vec![Fill::Float(3.0)], true));
    assert_eq!(left.keys().collect::<Vec<_>>(), ["long_name"]);
    // The fill value counts, not the attribute beside it.
    let (in_v2, _) = take(&float, FillPlace::FillValue(Some(&element)), attributes()).unwrap();
    assert_eq!((in_v2.fills, in_v2.fill), (vec![Fill::Float(7.0)], Some(element)));
    assert!(in_v2.taken.get("_FillValue").unwrap().semantically_eq(&json!(7)));
    let plain = take(&float, FillPlace::FillValue(None), attributes()).unwrap_err();
    assert_eq!(plain, "_FillValue: found \"AAAAAAAACEA=\", expected a number, or a list of numbers");
    // NaN marks by itself.
    let nan = FillValue::parse(&float, &json!("NaN")).unwrap();
    let (by_nan, _) = take(&float, FillPlace::FillValue(Some(&nan)), json!({})).unwrap();
    assert_eq!((by_nan.fills, by_nan.marks_nan), (Vec::new(), true));
}

#[test]
fn attributes_of_numbers_and_times_are_taken() {
    let attributes = parsed(
        r#"{"scale_factor": [2], "add_offset": 0.5, "_Unsigned": "true", "_FillValue": -1, "missing_value": 9,
        "units": "days since 2000-01-01", "calendar": "noleap", "dtype": "bool", "comment": "kept"}"#,
    );
    let (encoding, left) = take(&data_type("int8"), FillPlace::Attribute, attributes).unwrap();
    assert_eq!((encoding.scale, encoding.offset), (Some(Factor::Integer(2)), Some(Factor::Float(0.5))));
    // As unsigned: -1 is 255, and `missing_value` is read so already.
    assert_eq!(encoding.fills, [Fill::Integer(255), Fill::Integer(9)]);
    let times = TimeEncoding::Since("days since 2000-01-01".to_owned(), Some("noleap".to_owned()));
    assert_eq!((encoding.times, encoding.is_bool, encoding.unsigned), (times, true, Some(true)));
    assert_eq!(left.keys().collect::<Vec<_>>(), ["comment"]);
    let refused = take(&data_type("int8"), FillPlace::Attribute, json!({"scale_factor": "2"})).unwrap_err();
    assert_eq!(refused, "scale_factor: found \"2\", expected a number");
}

proptest! {
    /// Conversion to an attribute and back preserves every float and every integer of any type, also if the attribute is read as the
    /// integer type of the other signedness.
    #[test]
    fn marks_come_back(bits in any::<u64>(), integer in any::<i64>()) {
        let (float, value) = (data_type("float64"), f64::from_bits(bits));
        let element = FillValue::from_bytes(&float, &value.to_ne_bytes()).unwrap();
        let back = from_attribute(&float, &to_attribute(&float, &element)).unwrap();
        match back {
            Fill::Float(back) => prop_assert!(back.to_bits() == bits || (back.is_nan() && value.is_nan())),
            other => prop_assert!(false, "{other:?}"),
        }
        for name in ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"] {
            let data_type = data_type(name);
            let bytes = integer.to_ne_bytes();
            let size = data_type.item_size();
            let bytes = if cfg!(target_endian = "big") { &bytes[8 - size..] } else { &bytes[..size] };
            let element = FillValue::from_bytes(&data_type, bytes).unwrap();
            let fill = Fill::of_element(&data_type, &element).unwrap();
            prop_assert_eq!(&from_attribute(&data_type, &to_attribute(&data_type, &element)).unwrap(), &fill);
            prop_assert_eq!(fill.to_element(&data_type), Some(element));
        }
    }
}
