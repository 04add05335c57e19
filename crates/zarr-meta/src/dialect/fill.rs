//! Translation of fill values between version 2 and the model.
//!
//! The model has fill values in the notation of version 3. Version 2 differs in base64 strings for raw bytes and structs, and in the
//! spellings of old software.

use super::packed;
use crate::error::{Error, ErrorKind, Result};
use crate::{ArrayMetadata, Dialect};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zarr_dtype::{ByteOrder, Class, DataType, NumpyType, Scalar, TimeUnit};
use zarr_json::pointer::{At, ValueError};
use zarr_json::{Number as JsonNumber, Value, json};

/// Returns the fill value in the notation of the model; `None` for null. `data_type` is the name of the type in the model, which
/// distinguishes the types of objects.
pub(crate) fn to_model(at: &At<'_>, dtype: &NumpyType, endian: &ByteOrder, data_type: &str) -> Result<Option<Value>> {
    let value = at.value();
    // The default of old software, whatever the type.
    let is_zero = value.as_f64() == Some(0.0);
    Ok(Some(match dtype {
        _ if value.is_null() => return Ok(None),
        NumpyType::Number(number) => self::number(at, number)?,
        NumpyType::Time { is_span, unit } => time(at, *is_span, *unit)?,
        NumpyType::Bytes(_) | NumpyType::Text(_) if is_zero => Value::from(""),
        NumpyType::Bytes(size) => bytes(at, *size)?,
        NumpyType::Text(len) => {
            let text = at.text()?;
            if u64::try_from(text.chars().count()).is_ok_and(|count| count <= *len) {
                Value::from(text)
            } else {
                return Err(at.invalid(format!("a string of at most {len} characters")).into());
            }
        }
        NumpyType::Raw(size) => Value::from(STANDARD.encode(element(at, *size)?)),
        NumpyType::Struct(_) => {
            let size = dtype.size().unwrap_or(u64::MAX);
            packed::unpack(dtype, endian, &element(at, size)?).ok_or_else(|| at.invalid("an element of the dtype"))?
        }
        NumpyType::Object => match data_type {
            "string" | "bytes" if is_zero => Value::from(""),
            "string" => Value::from(at.text()?),
            "bytes" => {
                let text = at.text()?;
                STANDARD.decode(text).map_err(|_| at.invalid("a base64 text"))?;
                Value::from(text)
            }
            "vlen-array" if is_zero => Value::Array(Vec::new()),
            _ => value.clone(),
        },
    }))
}

/// Returns whether all software reads elements of missing chunks as the fill value of `array`, which its document spells as `stored`.
/// zarr-python and numcodecs differ in these cases, from 2.0 on:
///
/// - A null or missing fill value leaves elements undefined: previous contents of memory, or None for objects.
/// - A number as the fill value of strings, bytes or structs, which old software wrote for any data type, is read as its digits, or is an
///   error.
/// - A fill value of objects (in v2 and the drafts) is a JSON value, unchanged: a string even if elements are bytes; and the items of a
///   list are spread over the chunk.
pub(crate) fn is_agreed(stored: Option<&Value>, array: &ArrayMetadata, dialect: Dialect) -> bool {
    let Some(stored) = stored else { return false };
    let name = array.data_type.name.as_str();
    let is_raw = || name.strip_prefix('r').is_some_and(|bits| bits.parse::<u64>().is_ok());
    match name {
        _ if array.fill_value.is_none() => false,
        "string" | "fixed_length_utf32" | "null_terminated_bytes" | "raw_bytes" | "struct" => {
            stored.as_number().is_none()
        }
        _ if is_raw() => stored.as_number().is_none(),
        "bytes" | "variable_length_bytes" | "vlen-array" => dialect.is_v3(),
        "v2_object" => !matches!(stored, Value::Null | Value::Array(_)),
        _ => true,
    }
}

/// Returns the deviation in the spelling of the value at `at`, as pointer and description; `None` if there is none. `read` is the value as
/// it was read. Deviations are: quotes or a list around a number, a fraction of zero for integers, booleans for numbers or numbers for
/// booleans, one number for a complex number, and for strings, bytes and structs a number or a string that is not base64. Objects may have
/// any value. If `is_draft`, bit patterns and `+Infinity` are no deviations.
pub(crate) fn deviation(
    at: &At<'_>,
    dtype: &NumpyType,
    read: Option<&Value>,
    is_draft: bool,
) -> Option<(String, String)> {
    let (value, read) = (at.value(), read?);
    let is_pattern = |text: &str| is_draft && (text.starts_with("0x") || text.starts_with("0b"));
    let is_float = |value: &Value| match value {
        Value::Number(_) => true,
        Value::String(text) => match text.as_str() {
            "NaN" | "Infinity" | "-Infinity" => true,
            "+Infinity" => is_draft,
            text => is_pattern(text),
        },
        _ => false,
    };
    let is_integer = value.as_number().is_some_and(JsonNumber::is_integer);
    let is_usual = match (dtype, value) {
        (NumpyType::Object, _) => true,
        (NumpyType::Bytes(_), _) => value == read,
        (NumpyType::Text(_) | NumpyType::Raw(_) | NumpyType::Struct(_), _) => value.as_number().is_none(),
        (NumpyType::Time { .. }, _) => is_integer || value.as_str() == Some("NaT"),
        (NumpyType::Number(number), _) => match (number.class()?, value) {
            (Class::Bool, _) => value.as_bool().is_some(),
            (Class::Signed | Class::Unsigned, Value::String(text)) => is_pattern(text),
            (Class::Signed | Class::Unsigned, _) => is_integer && value.semantically_eq(read),
            (Class::Float, _) => is_float(value),
            (Class::Complex, Value::Array(parts)) => parts.iter().all(is_float),
            (Class::Complex, _) => value.as_str().is_some_and(is_pattern),
        },
    };
    (!is_usual).then(|| {
        let name = dtype.to_config().short_value();
        let name = name.as_str().map_or_else(|| name.to_string(), str::to_owned);
        (at.pointer(), format!("{} for {name}, read as {}", value.excerpt(), read.excerpt()))
    })
}

/// Returns the value inside of a list of one item, the form in which netCDF-C 4.8.0 wrote fill values of numbers; zarr-python 2 reads it.
fn only_item<'v>(at: &At<'v>) -> Option<At<'v>> {
    let mut items = at.items().ok()?;
    let only = items.pop().filter(|_| items.is_empty())?;
    only.value().as_array().is_none().then_some(only)
}

fn number(at: &At<'_>, number: &DataType) -> Result<Value> {
    // A list is the usual form of complex numbers, and has two.
    if let Some(only) = only_item(at).filter(|_| number.class() != Some(Class::Complex)) {
        return self::number(&only, number);
    }
    if let Some((least, greatest)) = number.layout().scalar().and_then(Scalar::range) {
        return match at.value() {
            Value::Bool(truth) => Ok(Value::from(i128::from(*truth))),
            _ => integer(at, least, greatest),
        };
    }
    match number.class() {
        Some(Class::Bool | Class::Signed | Class::Unsigned) => match at.value() {
            Value::Bool(_) => Ok(at.value().clone()),
            value if value.as_f64() == Some(0.0) => Ok(Value::from(false)),
            value if value.as_f64() == Some(1.0) => Ok(Value::from(true)),
            _ => Err(at.invalid("true or false").into()),
        },
        None | Some(Class::Float) => float(at),
        Some(Class::Complex) => match at.value() {
            Value::Array(_) => match at.items()?.as_slice() {
                [re, im] => Ok(Value::Array(vec![float(re)?, float(im)?])),
                _ => Err(at.invalid("two numbers, the real and the imaginary part").into()),
            },
            _ => Ok(Value::Array(vec![float(at)?, json!(0.0)])),
        },
    }
}

/// Reads the fill value of a time: a count of `unit`, `"NaT"`, or a date as zarr-python 3.0 wrote it.
fn time(at: &At<'_>, is_span: bool, unit: TimeUnit) -> Result<Value> {
    if let Some(only) = only_item(at) {
        return time(&only, is_span, unit);
    }
    match at.value().as_str() {
        Some("NaT") => Ok(at.value().clone()),
        Some(text) if !is_span => match unit.parse_date(text) {
            Some(count) => Ok(Value::from(count)),
            None => Err(at.invalid(format!("a date that the unit {} can say, or a count of it", unit.unit)).into()),
        },
        _ => integer(at, i128::from(i64::MIN), i128::from(i64::MAX)),
    }
}

/// Reads an integer from `least` to `most`, also if spelled `5.0` or `"5"`. For unsigned types a negative number is read by its bits: -1
/// for `uint8` is 255, as in zarr-python 2 with numpy 1 and in Zarr.jl.
fn integer(at: &At<'_>, least: i128, most: i128) -> Result<Value> {
    let expected = || at.invalid(format!("an integer from {least} to {most}"));
    let quoted = quoted(at.value());
    let number = at.value().as_number().or(quoted.as_ref()).ok_or_else(expected)?;
    let value = number.to_i128().ok_or_else(expected)?;
    let in_range = match value {
        value if (least..=most).contains(&value) => value,
        negative if least == 0 && negative < 0 && negative >= -(most / 2) - 1 => negative + most + 1,
        _ => return Err(expected().into()),
    };
    if number.is_integer() && in_range == value {
        return Ok(Value::Number(number.clone()));
    }
    Ok(JsonNumber::parse(&in_range.to_string()).map_or(Value::Null, Value::Number))
}

/// Reads a float, also in quotes, and with Python's words for NaN and infinity.
fn float(at: &At<'_>) -> Result<Value> {
    let value = at.value();
    if let Some(number) = quoted(value) {
        return Ok(Value::Number(number));
    }
    match value {
        Value::Number(_) => Ok(value.clone()),
        Value::Bool(truth) => Ok(Value::from(u8::from(*truth))),
        Value::String(text) => match text.as_str() {
            "NaN" | "Infinity" | "-Infinity" => Ok(value.clone()),
            "nan" => Ok(Value::from("NaN")),
            "+Infinity" | "inf" => Ok(Value::from("Infinity")),
            "-inf" => Ok(Value::from("-Infinity")),
            _ => Err(at.invalid("a number, \"NaN\", \"Infinity\" or \"-Infinity\"").into()),
        },
        _ => Err(at.invalid("a number").into()),
    }
}

/// Returns the number in a string; documents have such strings, and zarr-python reads them as numbers.
fn quoted(value: &Value) -> Option<JsonNumber> {
    JsonNumber::parse(value.as_str()?)
}

/// Reads base64 of at most `size` bytes. A string that is not base64 is taken as the bytes themselves, as zarr-python 2.0 and 2.1 wrote
/// them.
fn bytes(at: &At<'_>, size: u64) -> Result<Value> {
    let text = at.text()?;
    let decoded = STANDARD.decode(text).ok();
    let fits = |bytes: &[u8]| u64::try_from(bytes.len()).is_ok_and(|len| len <= size);
    match decoded {
        Some(decoded) if fits(&decoded) => Ok(Value::from(text)),
        None if fits(text.as_bytes()) => Ok(Value::from(STANDARD.encode(text))),
        _ => Err(at.invalid(format!("base64 of at most {size} bytes")).into()),
    }
}

/// Reads base64 of exactly `size` bytes; the number 0 gives zeros.
fn element(at: &At<'_>, size: u64) -> Result<Vec<u8>, ValueError> {
    let expected = || at.invalid(format!("base64 of {size} bytes"));
    if at.value().as_f64() == Some(0.0) {
        // Never allocate on a number the document has not earned: larger elements do not belong in metadata.
        let size = usize::try_from(size).ok().filter(|&size| size <= 1 << 20).ok_or_else(expected)?;
        return Ok(vec![0; size]);
    }
    let decoded = STANDARD.decode(at.text()?).map_err(|_| expected())?;
    if u64::try_from(decoded.len()).ok() == Some(size) { Ok(decoded) } else { Err(expected()) }
}

/// Returns the fill value in the notation of version 2: the inverse of [`to_model`].
pub(crate) fn from_model(
    value: Option<&Value>,
    dtype: &NumpyType,
    endian: &ByteOrder,
    data_type: &str,
) -> Result<Value> {
    let Some(value) = value else { return Ok(Value::Null) };
    let no =
        || Error::new(ErrorKind::NotExpressible, "/fill_value", value.excerpt(), "a fill value that version 2 has");
    Ok(match dtype {
        NumpyType::Number(number) if matches!(number.class(), Some(Class::Float | Class::Complex)) => {
            if let Value::Array(parts) = value {
                let parts = parts.iter().map(|part| packed::without_hex(part, number)).collect::<Option<Vec<_>>>();
                Value::Array(parts.ok_or_else(no)?)
            } else {
                packed::without_hex(value, number).ok_or_else(no)?
            }
        }
        // Lists of other things than bytes.
        NumpyType::Object if matches!(data_type, "v2_object" | "vlen-array") => value.clone(),
        NumpyType::Raw(_) | NumpyType::Object if value.as_array().is_some_and(|items| !items.is_empty()) => {
            match packed::byte_list(value) {
                Some(bytes) => Value::from(STANDARD.encode(bytes)),
                None if *dtype == NumpyType::Object => value.clone(),
                None => return Err(no()),
            }
        }
        NumpyType::Struct(_) if value.as_object().is_some() => {
            Value::from(STANDARD.encode(packed::pack(dtype, endian, value).ok_or_else(no)?))
        }
        // Packed in the model as well, but always little-endian.
        NumpyType::Struct(_) => {
            let bytes = value.as_str().and_then(|text| STANDARD.decode(text).ok()).ok_or_else(no)?;
            let object = packed::unpack(dtype, &dtype.all_in(&ByteOrder::Little), &bytes).ok_or_else(no)?;
            Value::from(STANDARD.encode(packed::pack(dtype, endian, &object).ok_or_else(no)?))
        }
        _ => value.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::typestr;

    fn read(dtype: Value, fill: Value) -> Result<Option<Value>> {
        let (dtype, endian) = typestr::parse(&At::root(&dtype))?;
        to_model(&At::root(&fill), &dtype, &endian, "")
    }

    #[test]
    fn every_spelling_is_read() {
        for (dtype, fill, model) in [
            ("<i4", json!(5.0), json!(5)),
            ("<u8", json!(18446744073709551615_u64), json!(18446744073709551615_u64)),
            ("<i8", json!(i64::MIN), json!(i64::MIN)),
            ("|b1", json!(0), json!(false)),
            ("|b1", json!(1.0), json!(true)),
            ("<i4", json!("0"), json!(0)),
            ("<i2", json!("-9999"), json!(-9999)),
            ("<i2", json!("5.0"), json!(5)),
            ("<f8", json!(1), json!(1)),
            ("<f4", json!("0"), json!(0)),
            ("<f4", json!("-1.5"), json!(-1.5)),
            ("<f8", json!("nan"), json!("NaN")),
            ("<f8", json!("-inf"), json!("-Infinity")),
            ("<f4", json!("+Infinity"), json!("Infinity")),
            ("<c8", json!(1.5), json!([1.5, 0.0])),
            ("<c8", json!(["NaN", 2]), json!(["NaN", 2])),
            ("<M8[s]", json!("NaT"), json!("NaT")),
            ("<m8[s]", json!(-3), json!(-3)),
            ("|S3", json!("YWI="), json!("YWI=")),
            ("|S3", json!("ab"), json!("YWI=")),
            ("|S3", json!(0), json!("")),
            ("<U2", json!("é!"), json!("é!")),
            ("|V2", json!("AQI="), json!("AQI=")),
            ("|V2", json!(0), json!("AAA=")),
            ("int4", json!(-8), json!(-8)),
            ("<i2", json!([(-32767)]), json!(-32767)),
            ("<f4", json!(["NaN"]), json!("NaN")),
            ("<M8[s]", json!([5]), json!(5)),
            ("<M8[s]", json!(-9.223372036854776e18), json!(i64::MIN)),
            ("<M8[D]", json!("1970-01-03"), json!(2)),
            ("<m8[s]", json!("7"), json!(7)),
            ("|u1", json!(-1), json!(255)),
            ("|u1", json!(-128), json!(128)),
            ("<u8", json!(-1), json!(18446744073709551615_u64)),
            ("<u4", json!("-2.0"), json!(4294967294_u64)),
            ("|u1", json!(true), json!(1)),
            ("<i4", json!(false), json!(0)),
            ("<f8", json!(true), json!(1)),
        ] {
            assert_eq!(read(json!(dtype), fill.clone()).unwrap(), Some(model), "{dtype} {fill}");
        }
        let packed = read(json!([["r", "|u1"], ["b", ">u2"]]), json!("AQMD")).unwrap();
        assert_eq!(packed, Some(json!({"r": 1, "b": 771})));
        assert_eq!(read(json!("<i4"), json!(null)).unwrap(), None);
        let arrays = json!([["a", ">i2", [2, 1]], ["b", "|u1", [0, 2]]]);
        let nested = json!({"a": [[1], [2]], "b": []});
        assert_eq!(read(arrays.clone(), json!("AAEAAg==")).unwrap(), Some(nested.clone()));
        let (dtype, endian) = typestr::parse(&At::root(&arrays)).unwrap();
        for written in [nested, json!("AQACAA==")] {
            assert_eq!(from_model(Some(&written), &dtype, &endian, "struct").unwrap(), json!("AAEAAg=="), "{written}");
        }
    }

    #[test]
    fn lists_are_bytes_or_values() {
        let written = |data_type| {
            from_model(Some(&json!([1, 2])), &NumpyType::Object, &ByteOrder::Irrelevant, data_type).unwrap()
        };
        assert_eq!(written("bytes"), json!("AQI="));
        assert_eq!(written("v2_object"), json!([1, 2]));
        assert_eq!(written("vlen-array"), json!([1, 2]));
    }

    #[test]
    fn wrong_ones_are_refused() {
        for (dtype, fill) in [
            ("|u1", json!(300)),
            ("|u1", json!(-129)),
            ("|i1", json!(-129)),
            ("<u8", json!(-9223372036854775809_i128)),
            ("<i4", json!("abc")),
            ("<i4", json!(1.5)),
            ("<i4", json!([1, 2])),
            ("<i4", json!([])),
            ("<i4", json!([[1]])),
            ("<i4", json!("0x00000001")),
            ("<m8[s]", json!("1970-01-01")),
            ("<M8[D]", json!("yesterday")),
            ("<M8[s]", json!(true)),
            ("<u8", json!(18446744073709551616.0)),
            ("|u1", json!("300")),
            ("<f8", json!("")),
            ("<f8", json!("1 2")),
            ("<c8", json!([1, 2, 3])),
            ("<c8", json!([1])),
            ("|S2", json!("abc!")),
            ("|S2", json!("abcd")),
            ("<U2", json!("abc")),
            ("|V2", json!("AQ==")),
            ("|V9999999999999", json!(0)),
            ("|b1", json!(2)),
            ("int4", json!(8)),
        ] {
            let error = read(json!(dtype), fill.clone()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidMetadata, "{dtype} {fill}");
        }
        assert!(read(json!([["r", "|u1"], ["b", ">u2"]]), json!("AQM=")).is_err());
    }
}
