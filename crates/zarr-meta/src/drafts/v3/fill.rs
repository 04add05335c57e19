//! Fill values of the drafts: the usual JSON values, and bit patterns as `0x..` and `0b..`.

use super::data_type::Accept;
use crate::dialect::{fill, packed};
use crate::error::{Error, ErrorKind, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zarr_dtype::{ByteOrder, Class, DataType, NumpyType};
use zarr_json::Value;
use zarr_json::pointer::At;

/// Returns the fill value at `at` in the notation of the model; `None` for null. `data_type` is the name of the type in the model. Raw
/// bytes may be base64 only if `accept` is [`Accept::TypeStrings`].
///
/// # Errors
/// Fails with [`ErrorKind::InvalidMetadata`] if the value does not fit the type.
pub(crate) fn to_model(
    at: &At<'_>,
    dtype: &NumpyType,
    endian: &ByteOrder,
    data_type: &str,
    accept: Accept,
) -> Result<Option<Value>> {
    match (dtype, at.value()) {
        (NumpyType::Number(number), Value::String(_)) if number.class() == Some(Class::Float) => {
            float(at, number).map(Some)
        }
        (NumpyType::Number(number), Value::Array(_)) if number.class() == Some(Class::Complex) => {
            match at.items()?.as_slice() {
                [re, im] => {
                    let part = packed::part(number);
                    Ok(Some(Value::Array(vec![float(re, part)?, float(im, part)?])))
                }
                _ => Err(at.invalid("two numbers, the real and the imaginary part").into()),
            }
        }
        // As a float is said, in the two's complement.
        (NumpyType::Number(number), Value::String(text))
            if matches!(number.class(), Some(Class::Signed | Class::Unsigned)) && bits(text).is_some() =>
        {
            let mut bytes = bytes_of(text, size(number)).ok_or_else(|| wrong_digits(at, size(number)))?;
            bytes.reverse();
            Ok(Some(packed::unpack(dtype, &ByteOrder::Little, &bytes).ok_or_else(|| at.invalid("an integer"))?))
        }
        // As raw bytes of that size: the number is stored little-endian, so that its lower half is the real part.
        (NumpyType::Number(number), Value::String(text))
            if number.class() == Some(Class::Complex) && bits(text).is_some() =>
        {
            let mut bytes = bytes_of(text, size(number)).ok_or_else(|| wrong_digits(at, size(number)))?;
            bytes.reverse();
            Ok(Some(packed::unpack(dtype, &ByteOrder::Little, &bytes).ok_or_else(|| at.invalid("a complex number"))?))
        }
        (NumpyType::Raw(size), Value::String(text)) if accept == Accept::Names || bytes_of(text, *size).is_some() => {
            // The text is a number, stored in the default order of bytes.
            let mut bytes = bytes_of(text, *size).ok_or_else(|| wrong_digits(at, *size))?;
            bytes.reverse();
            Ok(Some(Value::from(STANDARD.encode(bytes))))
        }
        // The text forbids null; where any JSON is a value, null is one.
        (NumpyType::Object, Value::Null) if accept == Accept::Names && data_type == "v2_object" => {
            Ok(Some(Value::Null))
        }
        (NumpyType::Raw(size), Value::Array(_)) => match packed::byte_list(at.value()) {
            Some(bytes) if u64::try_from(bytes.len()).ok() == Some(*size) => {
                Ok(Some(Value::from(STANDARD.encode(bytes))))
            }
            _ => Err(at.invalid(format!("{size} bytes")).into()),
        },
        (NumpyType::Struct(_), Value::Object(_)) => match packed::pack(dtype, endian, at.value()) {
            Some(_) => Ok(Some(at.value().clone())),
            None => Err(at.invalid("an element of the data type").into()),
        },
        _ => fill::to_model(at, dtype, endian, data_type),
    }
}

fn float(at: &At<'_>, number: &DataType) -> Result<Value> {
    let Some(text) = at.value().as_str().filter(|text| bits(text).is_some()) else {
        let dtype = NumpyType::Number(number.clone());
        return Ok(fill::to_model(at, &dtype, &dtype.all_in(&ByteOrder::Little), "")?.unwrap_or_default());
    };
    let bytes = bytes_of(text, size(number)).ok_or_else(|| wrong_digits(at, size(number)))?;
    Ok(if text.starts_with("0x") { Value::from(text) } else { Value::from(hex(&bytes)) })
}

/// Returns the size of a number in bytes.
fn size(number: &DataType) -> u64 {
    u64::try_from(number.item_size()).unwrap_or(u64::MAX)
}

fn wrong_digits(at: &At<'_>, size: u64) -> Error {
    let (hex, binary) = (u128::from(size) * 2, u128::from(size) * 8);
    at.invalid(format!("{hex} hexadecimal digits behind 0x, or {binary} binary ones behind 0b")).into()
}

/// Returns the digits and their base if the string is a bit pattern.
fn bits(text: &str) -> Option<(&str, u32)> {
    let hex = text.strip_prefix("0x").map(|digits| (digits, 16));
    let bits = hex.or_else(|| text.strip_prefix("0b").map(|digits| (digits, 2)));
    bits.filter(|(digits, base)| digits.chars().all(|digit| digit.is_digit(*base)))
}

/// Returns the bytes of a bit pattern, most significant first; `None` if it does not have exactly `size` bytes.
fn bytes_of(text: &str, size: u64) -> Option<Vec<u8>> {
    let (digits, base) = bits(text)?;
    let per_byte = if base == 16 { 2 } else { 8 };
    if u64::try_from(digits.len()).ok()? != size.checked_mul(per_byte)? {
        return None;
    }
    let byte = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, base).ok();
    digits.as_bytes().chunks_exact(if base == 16 { 2 } else { 8 }).map(byte).collect()
}

fn hex(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("0x{digits}")
}

/// Returns the fill value in the form of the core draft of 2022: with `"+Infinity"`, bit patterns, and raw bytes as a number.
///
/// # Errors
/// Fails with [`ErrorKind::NotExpressible`] if the value does not fit the type.
pub(crate) fn from_model(value: &Value, dtype: &NumpyType) -> Result<Value> {
    let NumpyType::Raw(size) = dtype else {
        return match packed::byte_list(value).filter(|_| *dtype == NumpyType::Object) {
            // Bytes of variable length are a text, as in version 2.
            Some(bytes) if !bytes.is_empty() => Ok(Value::from(STANDARD.encode(bytes))),
            _ => Ok(with_sign(value, dtype)),
        };
    };
    let decoded = value.as_str().and_then(|text| STANDARD.decode(text).ok()).or_else(|| packed::byte_list(value));
    match decoded {
        Some(mut bytes) if u64::try_from(bytes.len()).ok() == Some(*size) => {
            bytes.reverse();
            Ok(Value::from(hex(&bytes)))
        }
        _ => {
            let expected = format!("{size} bytes");
            Err(Error::new(ErrorKind::NotExpressible, "/fill_value", value.excerpt(), expected))
        }
    }
}

/// Returns the value with positive infinity spelled `"+Infinity"`, as in the drafts.
pub(crate) fn with_sign(value: &Value, dtype: &NumpyType) -> Value {
    match (dtype, value) {
        (NumpyType::Number(_), Value::String(text)) if text == "Infinity" => Value::from("+Infinity"),
        (NumpyType::Number(_), Value::Array(parts)) => {
            Value::Array(parts.iter().map(|part| with_sign(part, dtype)).collect())
        }
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::typestr;
    use zarr_json::json;

    fn read(dtype: Value, value: &Value) -> Result<Option<Value>> {
        let (dtype, endian) = typestr::parse(&At::root(&dtype))?;
        to_model(&At::root(value), &dtype, &endian, "", Accept::Names)
    }

    // clause: d2022-125, d2022-126, d2022-131, d2022-132, d2022-134
    #[test]
    fn every_spelling_is_read() {
        for (dtype, stored, model, written) in [
            ("<f8", json!("+Infinity"), json!("Infinity"), json!("+Infinity")),
            ("<f8", json!("Infinity"), json!("Infinity"), json!("+Infinity")),
            ("<f4", json!("-Infinity"), json!("-Infinity"), json!("-Infinity")),
            ("<f4", json!("0x7fc00001"), json!("0x7fc00001"), json!("0x7fc00001")),
            ("<f2", json!("0b0011111000000000"), json!("0x3e00"), json!("0x3e00")),
            ("<f8", json!(7), json!(7), json!(7)),
            ("|b1", json!(true), json!(true), json!(true)),
            ("<i4", json!("0x00000001"), json!(1), json!(1)),
            ("|i1", json!("0b11111111"), json!(-1), json!(-1)),
            (">u8", json!("0xffffffffffffffff"), json!(18446744073709551615_u64), json!(18446744073709551615_u64)),
            ("<u8", json!(18446744073709551615_u64), json!(18446744073709551615_u64), json!(18446744073709551615_u64)),
            ("<c8", json!([1.5, "+Infinity"]), json!([1.5, "Infinity"]), json!([1.5, "+Infinity"])),
            ("<c8", json!(["0x7fc00001", "NaN"]), json!(["0x7fc00001", "NaN"]), json!(["0x7fc00001", "NaN"])),
            ("|V2", json!("0x1234"), json!("NBI="), json!("0x1234")),
            ("|V2", json!("0b0001001000110100"), json!("NBI="), json!("0x1234")),
            ("|V2", json!([1, 2]), json!("AQI="), json!("0x0201")),
            ("<M8[s]", json!("NaT"), json!("NaT"), json!("NaT")),
            ("|S3", json!("YWI="), json!("YWI="), json!("YWI=")),
            ("<U3", json!("0x1"), json!("0x1"), json!("0x1")),
        ] {
            let found = read(json!(dtype), &stored).unwrap().unwrap();
            assert_eq!(found, model, "{dtype} {stored}");
            let (dtype, _) = typestr::parse(&At::root(&json!(dtype))).unwrap();
            assert_eq!(from_model(&found, &dtype).unwrap(), written);
        }
        assert_eq!(read(json!("<i4"), &json!(null)).unwrap(), None);
        // Base64 of three bytes, and hexadecimal.
        let raw = NumpyType::Raw(3);
        for (text, bytes) in [("0x12", json!("0x12")), ("0x123456", json!("VjQS"))] {
            let found = to_model(&At::root(&json!(text)), &raw, &ByteOrder::Irrelevant, "", Accept::TypeStrings);
            assert_eq!(found.unwrap(), Some(bytes));
        }
        let fields = json!([["a", "<i4"], ["b", "|u1"]]);
        let element = json!({"a": (-1), "b": 2});
        assert_eq!(read(fields.clone(), &element).unwrap(), Some(element.clone()));
        assert_eq!(read(fields, &json!("/////wI=")).unwrap(), Some(element));
    }

    // clause: d2022-133
    #[test]
    fn wrong_ones_are_refused() {
        for (dtype, value) in [
            ("<f8", json!("0x3ff")),
            ("<f4", json!("0b01")),
            ("<f4", json!("0x+fc00001")),
            ("|V2", json!("0x123")),
            ("|V2", json!("0x012345")),
            ("|V2", json!("AQI=")),
            ("|V3", json!("0x12")),
            ("|V2", json!([1])),
            ("|V2", json!([1, 256])),
            ("<i4", json!(2147483648_u64)),
            ("<i4", json!("0x0001")),
            ("|b1", json!("0x01")),
            ("<c8", json!(["0x7f", 0])),
            ("<c8", json!([0])),
            ("<f8", json!([0, 1])),
        ] {
            let error = read(json!(dtype), &value).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidMetadata, "{dtype} {value}");
        }
    }
}
