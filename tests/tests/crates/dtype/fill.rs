use proptest::prelude::*;
use zarr_dtype::*;
use zarr_json::Value;
use zarr_json::{NamedConfig, json};

const BYTES: DataType = DataType::Bytes { name: BytesName::Bytes };
const DATE: DataType = DataType::DateTime64(TimeUnit::new(Unit::Day));

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn check(data_type: DataType, spelling: Spelling, value: Value, expected: impl AsRef<[u8]>) {
    let fill = FillValue::parse_as(&data_type, &value, spelling)
        .unwrap_or_else(|error| panic!("{data_type} {value}: {error}"));
    assert_eq!(hex(fill.bytes()), hex(expected.as_ref()), "{data_type} {value}");
    let written = fill.to_json(&data_type);
    assert_eq!(FillValue::parse(&data_type, &written), Ok(fill), "{data_type} {written}");
}

#[test]
fn every_permitted_spelling_is_read() {
    let check = |data_type, value, expected: &[u8]| check(data_type, Spelling::Strict, value, expected);
    let number = |text: &str| Value::from_json(text).unwrap();
    check(DataType::Bool, json!(true), &[1]);
    check(DataType::Int8, json!(-128), &[0x80]);
    check(DataType::Int4, json!(-8), &[0xf8]);
    check(DataType::UInt2, json!(3), &[3]);
    check(DataType::UInt64, json!(u64::MAX), &[0xff; 8]);
    check(DataType::Int64, json!(i64::MIN), &i64::MIN.to_ne_bytes());
    for (text, value) in [
        (json!("NaN"), f32::from_bits(0x7fc0_0000)),
        (json!("Infinity"), f32::INFINITY),
        (json!("+Infinity"), f32::INFINITY),
        (json!("-Infinity"), f32::NEG_INFINITY),
        (json!("0x7fC00001"), f32::from_bits(0x7fc0_0001)),
        (number("-0.0"), -0.0),
        (number("-0"), -0.0),
        (number("1e2"), 100.0),
        (number("7"), 7.0),
        (number("0.3333333432674408"), 1.0 / 3.0),
        (number("1e400"), f32::INFINITY),
    ] {
        check(DataType::Float32, text, &value.to_ne_bytes());
    }
    check(DataType::Float64, json!("0x3ff199999999999a"), &1.1_f64.to_ne_bytes());
    check(DataType::Float16, json!("0x3e00"), &0x3e00_u16.to_ne_bytes());
    check(DataType::BFloat16, json!(1.5), &0x3fc0_u16.to_ne_bytes());
    check(
        DataType::Complex64,
        json!([1.5, "-Infinity"]),
        &[1.5_f32.to_ne_bytes(), f32::NEG_INFINITY.to_ne_bytes()].concat(),
    );
    check(
        DataType::Complex128,
        json!(["0x7ff8000000000001", (-2)]),
        &[0x7ff8_0000_0000_0001_u64.to_ne_bytes(), (-2.0_f64).to_ne_bytes()].concat(),
    );
    check(DataType::ComplexBFloat16, json!([1.5, "0x7fc1"]), &[0x3fc0_u16, 0x7fc1].map(u16::to_ne_bytes).concat());
    check(DataType::SmallComplex(SmallFloat::Float6E2M3Fn), json!(["0x2a", 7.5]), &[0x2a, 0x1f]);
    check(DATE, json!("NaT"), &i64::MIN.to_ne_bytes());
    check(DATE, json!(i64::MIN), &i64::MIN.to_ne_bytes());
    check(DATE, json!(-1), &(-1_i64).to_ne_bytes());
    check(DataType::RawBits(2), json!([18, 52]), &[0x12, 0x34]);
    check(DataType::RawBits(3), json!("EjRW"), &[0x12, 0x34, 0x56]);
    check(DataType::RawBytes { len: 3 }, json!("AAAA"), &[0; 3]);
    check(DataType::FixedBytes { len: 4 }, json!(""), &[0; 4]);
    check(DataType::FixedBytes { len: 4 }, json!("YWI="), b"ab\0\0");
    check(DataType::FixedUtf32 { len: 2 }, json!("\u{6771}"), &[0x6771_u32.to_ne_bytes(), [0; 4]].concat());
    check(DataType::String, json!("n/a \u{fc}"), "n/a \u{fc}".as_bytes());
    check(DataType::Object, json!({"a": [1.50]}), br#"{"a":[1.5]}"#);
    check(DataType::Object, json!(null), &[]);
    check(DataType::VlenArray(Box::new(DataType::Int16)), json!([1]), &1_i16.to_ne_bytes());
    check(BYTES, json!([1, 255]), &[1, 255]);
    check(BYTES, json!("AQ=="), &[1]);
    check(BYTES, json!(""), &[]);
}

#[test]
fn older_writers_are_understood() {
    let check = |data_type, value, expected: &[u8]| check(data_type, Spelling::Lenient, value, expected);
    let number = |text: &str| Value::from_json(text).unwrap();
    check(DataType::Bool, json!(1), &[1]);
    check(DataType::Bool, number("0.0"), &[0]);
    check(DataType::Int16, number("5.0"), &5_i16.to_ne_bytes());
    check(DataType::Int16, number("-1e3"), &(-1000_i16).to_ne_bytes());
    check(DataType::UInt64, json!(u64::MAX), &[0xff; 8]);
    check(DataType::UInt64, number("9.223372036854775808e18"), &(1_u64 << 63).to_ne_bytes());
    check(DataType::Complex64, json!(1.5), &[1.5_f32.to_ne_bytes(), [0; 4]].concat());
    check(DataType::FixedBytes { len: 3 }, json!("n/a"), b"n/a");
    check(DataType::FixedBytes { len: 3 }, json!(0), &[0; 3]);
    check(DataType::FixedBytes { len: 4 }, json!("abcd"), &[0x69, 0xb7, 0x1d, 0]);
    check(DataType::RawBytes { len: 2 }, json!(0), &[0; 2]);
    check(DataType::RawBits(2), json!("0x1234"), &[0x34, 0x12]);
    check(DataType::RawBits(1), json!("0b10000001"), &[0x81]);
    check(DataType::RawBits(3), json!("0x12"), &[0xd3, 0x1d, 0x76]);
    check(DataType::FixedUtf32 { len: 1 }, json!(0), &[0; 4]);
    check(DataType::String, json!(0), &[]);
    check(BYTES, json!(0), &[]);
}

#[test]
fn errors_have_a_pointer_and_the_expected_form() {
    let check = |data_type: DataType, value: Value, expected: &str| {
        assert_eq!(FillValue::parse(&data_type, &value).unwrap_err().to_string(), expected);
    };
    let number = |text: &str| Value::from_json(text).unwrap();
    check(DataType::UInt8, json!(256), "found 256, expected an integer from 0 to 255");
    check(DataType::Int8, number("5.0"), "found 5.0, expected an integer from -128 to 127");
    check(DataType::Int8, json!("5"), "found \"5\", expected an integer from -128 to 127");
    check(DataType::Bool, json!(1), "found 1, expected true or false");
    let digits = "expected a number in range, \"NaN\", \"Infinity\", \"-Infinity\" or \"0x\" with 4 hexadecimal digits";
    check(DataType::Float16, json!("0x3e0"), &format!("found \"0x3e0\", {digits}"));
    check(DataType::Float16, json!("0x+3e0"), &format!("found \"0x+3e0\", {digits}"));
    check(DataType::Float16, json!(null), &format!("found null, {digits}"));
    check(DataType::Complex64, json!(1), "found 1, expected an array of real and imaginary part");
    check(DataType::Complex64, json!([1, 2, 3]), "found [1,2,3], expected an array of real and imaginary part");
    let error = FillValue::parse(&DataType::Complex64, &json!([1, "x"])).unwrap_err();
    assert_eq!(error.within("/fill_value").pointer(), "/fill_value/1");
    check(DataType::RawBits(2), json!([1, 256]), "/1: found 256, expected a byte: an integer from 0 to 255");
    check(DataType::RawBits(2), json!([1]), "found [1], expected an array of 2 bytes, or a base64 string of as many");
    check(DataType::FixedUtf32 { len: 2 }, json!("abc"), "found \"abc\", expected a string of at most 2 code points");
    check(DataType::RawBytes { len: 2 }, json!("AA=="), "found \"AA==\", expected a base64 string of 2 bytes");
}

#[test]
fn zero_is_all_of_zeros() {
    let heap = Heap::new();
    for name in ["float64", "bool", "r24", "string", "bytes", "complex64"] {
        let data_type = DataType::from_config(&NamedConfig::new(name)).unwrap();
        let zero = FillValue::zero(&data_type);
        assert!(zero.is_all_of(&vec![0; 3 * data_type.item_size()], Some(&heap)), "{name}");
        assert!(!zero.is_all_of(&vec![1; data_type.item_size()], Some(&heap)), "{name}");
        let part = vec![0; data_type.item_size() * 2 + 1];
        assert_eq!(zero.is_all_of(&part, Some(&heap)), data_type.item_size() == 1, "{name}");
        assert!(zero.is_all_of(&[], None), "{name}");
        assert_eq!(*zero.item_in(&heap), *vec![0; data_type.item_size()]);
    }
}

#[test]
fn bits_are_compared() {
    let fill = FillValue::parse(&DataType::Float32, &json!("NaN")).unwrap();
    let nan = 0x7fc0_0000_u32.to_ne_bytes();
    assert!(fill.is_all_of(&[nan, nan].concat(), None));
    assert!(!fill.is_all_of(&[nan, 0x7fc0_0001_u32.to_ne_bytes()].concat(), None));
    let zero = FillValue::zero(&DataType::Float32);
    assert!(!zero.is_all_of(&(-0.0_f32).to_ne_bytes(), None));

    let heap = Heap::new();
    let text = FillValue::parse(&DataType::String, &json!("ab")).unwrap();
    let other = HeapRef { block: heap.add(b"xab".to_vec()), offset: 1, len: 2 };
    assert!(text.is_all_of(&[&*text.item_in(&heap), &other.to_bytes()].concat(), Some(&heap)));
    assert!(!text.is_all_of(&HeapRef { offset: 0, ..other }.to_bytes(), Some(&heap)));
}

#[test]
fn bytes_become_fill_values_if_they_are_values() {
    assert!(FillValue::from_bytes(&DataType::Bool, &[2]).is_err());
    assert!(FillValue::from_bytes(&DataType::Int16, &[2]).is_err());
    assert!(FillValue::from_bytes(&DataType::String, &[0xff]).is_err());
    assert!(FillValue::from_bytes(&DataType::Object, b"[1").is_err());
    assert!(FillValue::from_bytes(&DataType::VlenArray(Box::new(DataType::Int16)), &[1]).is_err());
    assert_eq!(
        FillValue::from_bytes(&DataType::String, b"a").map(|fill| fill.to_json(&DataType::String)),
        Ok(json!("a"))
    );
}

fn any_bits() -> impl Strategy<Value = DataType> {
    prop::sample::select(vec![
        DataType::Int8,
        DataType::Int16,
        DataType::Int32,
        DataType::Int64,
        DataType::UInt8,
        DataType::UInt16,
        DataType::UInt32,
        DataType::UInt64,
        DataType::Float16,
        DataType::BFloat16,
        DataType::Float32,
        DataType::Float64,
        DataType::Complex64,
        DataType::Complex128,
        DataType::ComplexFloat16,
        DataType::ComplexBFloat16,
        DataType::SmallComplex(SmallFloat::Float8E4M3Fnuz),
        DataType::RawBits(3),
        DataType::RawBytes { len: 5 },
        DataType::FixedBytes { len: 4 },
        DATE,
        DataType::TimeDelta64(TimeUnit::new(Unit::Generic)),
    ])
}

proptest! {
    #[test]
    fn any_bits_come_back_from_json(data_type in any_bits(), bytes: [u8; 16]) {
        let bytes = &bytes[..data_type.item_size()];
        let fill = FillValue::from_bytes(&data_type, bytes).unwrap();
        let written = Value::from_json(&fill.to_json(&data_type).to_string()).unwrap();
        prop_assert_eq!(FillValue::parse(&data_type, &written), Ok(fill.clone()));
        prop_assert_eq!(FillValue::parse_as(&data_type, &written, Spelling::Lenient), Ok(fill));
    }

    #[test]
    fn any_text_comes_back_from_json(text: String, bytes: Vec<u8>) {
        let len = u32::try_from(text.chars().count()).unwrap() + 1;
        for data_type in [DataType::String, DataType::FixedUtf32 { len }] {
            let fill = FillValue::parse(&data_type, &Value::from(text.as_str())).unwrap();
            prop_assert_eq!(FillValue::parse(&data_type, &fill.to_json(&data_type)), Ok(fill));
        }
        let fill = FillValue::from_bytes(&BYTES, &bytes).unwrap();
        prop_assert_eq!(FillValue::parse(&BYTES, &fill.to_json(&BYTES)), Ok(fill));
    }

    #[test]
    fn no_text_breaks_parsing(data_type in any_bits(), text in "(0[xb])?[0-9a-fA-F+=]{0,20}") {
        for spelling in [Spelling::Strict, Spelling::Lenient] {
            if let Ok(fill) = FillValue::parse_as(&data_type, &Value::from(text.as_str()), spelling) {
                prop_assert_eq!(fill.bytes().len(), data_type.item_size());
            }
        }
    }
}
