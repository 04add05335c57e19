//! Parsing of one element from JSON.

mod list;
mod structure;

use crate::data_type::DataType;
use crate::element_bytes::check_bytes;
use crate::float::{self, Format};
use crate::layout::{Scalar, to_usize};
use crate::time::NOT_A_TIME;
use crate::{ByteOrder, Error, Extension, Layout};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zarr_json::Value;

/// Strictness of the spelling of fill values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spelling {
    /// The spellings that Zarr v3 specifies; for floats also `+Infinity` and all bits in binary (`0b...`).
    #[default]
    Strict,
    /// Additional spellings of older formats and their writers: integers as `5.0`, bools as 0 and 1, a number for a complex number, 0 for
    /// an empty string and for bytes that are all 0, bytes as a string that is not base64, points in time as ISO 8601 strings, and `0x...`
    /// or `0b...` for `r8`, `r16`.., read as a number that is stored little-endian.
    Lenient,
    /// Additional spellings for users: points in time as ISO 8601 strings, durations as a number with a unit, and raw bytes as a list.
    Readable,
}

/// Returns the bytes of the element that `value` describes: in memory form, or the content of an element of variable length.
pub(crate) fn element(data_type: &DataType, value: &Value, spelling: Spelling) -> Result<Vec<u8>, Error> {
    let lenient = spelling == Spelling::Lenient;
    match data_type {
        DataType::SmallComplex(part) => complex(value, &part.format(), lenient),
        DataType::ComplexFloat16 => complex(value, &float::F16, lenient),
        DataType::ComplexBFloat16 => complex(value, &float::BF16, lenient),
        DataType::Complex64 => complex(value, &float::F32, lenient),
        DataType::Complex128 => complex(value, &float::F64, lenient),
        DataType::SmallFloat(small) => float(value, &small.format()),
        DataType::TimeDelta64(unit) if spelling == Spelling::Readable => readable(
            value,
            |text| unit.parse_delta(text),
            &format!("a duration such as \"5 {0}\", or a count of {0}", unit.unit),
        ),
        DataType::DateTime64(unit) if spelling != Spelling::Strict && value.as_str().is_some() => readable(
            value,
            |text| unit.parse_date(text),
            &format!("a date that the unit {} can say, or a count of it", unit.unit),
        ),
        DataType::DateTime64(_) | DataType::TimeDelta64(_) => time(value, lenient),
        DataType::RawBits(size) => raw_bits(value, to_usize(*size), lenient),
        DataType::FixedBytes { len } => fixed_bytes(value, to_usize(*len), lenient),
        DataType::RawBytes { len } if spelling == Spelling::Readable => raw_bits(value, to_usize(*len), false),
        DataType::RawBytes { len } => raw_bytes(value, to_usize(*len), lenient),
        DataType::FixedUtf32 { len } => fixed_text(value, to_usize(*len), lenient),
        DataType::String => text(value, lenient),
        DataType::Bytes { .. } => variable_bytes(value, lenient),
        DataType::VlenArray(item) => list::element(item, value, spelling),
        DataType::Object => Ok(if value.is_null() { Vec::new() } else { value.to_string().into_bytes() }),
        DataType::Struct(fields) => structure::element(fields, value, spelling),
        DataType::Extension(extension) => extended(extension, value),
        _ => match data_type.layout() {
            Layout::Fixed { scalar, .. } => number(value, scalar, lenient),
            _ => Err(Error::invalid(value, "a data type with values")),
        },
    }
}

/// Returns the bytes that the definition of an extension type gives for `value`, after checking that they are an element of its storage.
fn extended(extension: &Extension, value: &Value) -> Result<Vec<u8>, Error> {
    let bytes = extension.meaning().parse(value)?;
    check_bytes(extension.storage(), &bytes)
        .map_err(|error| Error::invalid(value, format!("an element of {}: {error}", extension.storage())))?;
    Ok(bytes)
}

fn number(value: &Value, scalar: Scalar, lenient: bool) -> Result<Vec<u8>, Error> {
    if let Some((least, greatest)) = scalar.range() {
        let number = integer(value, least, greatest, lenient)?;
        let mut bytes: Vec<u8> = number.to_le_bytes().into_iter().take(scalar.size()).collect();
        if ByteOrder::NATIVE == ByteOrder::Big {
            bytes.reverse();
        }
        return Ok(bytes);
    }
    match scalar {
        Scalar::F16 => float(value, &float::F16),
        Scalar::BF16 => float(value, &float::BF16),
        Scalar::F32 => float(value, &float::F32),
        Scalar::F64 => float(value, &float::F64),
        _ => match value {
            Value::Bool(value) => Ok(vec![u8::from(*value)]),
            Value::Number(number) if lenient && number.as_f64() == 0.0 => Ok(vec![0]),
            Value::Number(number) if lenient && number.as_f64() == 1.0 => Ok(vec![1]),
            _ => Err(Error::invalid(value, "true or false")),
        },
    }
}

fn integer(value: &Value, least: i128, greatest: i128, lenient: bool) -> Result<i128, Error> {
    let in_range = |number: &i128| (least..=greatest).contains(number);
    whole(value, lenient)
        .filter(in_range)
        .ok_or_else(|| Error::invalid(value, format!("an integer from {least} to {greatest}")))
}

/// Returns the integer value; if `lenient`, also for a number with an exponent or a fraction of zero.
fn whole(value: &Value, lenient: bool) -> Option<i128> {
    let number = value.as_number()?;
    if number.is_integer() || !lenient {
        return number.as_i128();
    }
    // Numbers below 2^53 are all exact as f64, and numbers above have no fraction; their text in full is an integer.
    let float = number.as_f64();
    if float.fract() == 0.0 && float.abs() < 1e30 { format!("{float:.0}").parse().ok() } else { None }
}

fn float(value: &Value, format: &Format) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::with_capacity(format.size);
    push_float(value, format, &mut bytes)?;
    Ok(bytes)
}

fn push_float(value: &Value, format: &Format, into: &mut Vec<u8>) -> Result<(), Error> {
    let bits = match value {
        Value::Number(number) => format.parse_number(number),
        Value::String(text) => format.parse_text(text),
        _ => None,
    };
    let expected = || {
        let digits = 2 * format.size;
        format!(r#"a number in range, "NaN", "Infinity", "-Infinity" or "0x" with {digits} hexadecimal digits"#)
    };
    format.store(bits.ok_or_else(|| Error::invalid(value, expected()))?, into);
    Ok(())
}

fn complex(value: &Value, format: &Format, lenient: bool) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::with_capacity(2 * format.size);
    match value {
        Value::Array(parts) if parts.len() == 2 => {
            for (part, pointer) in parts.iter().zip(["/0", "/1"]) {
                push_float(part, format, &mut bytes).map_err(|error| error.within(pointer))?;
            }
        }
        Value::Number(_) | Value::String(_) if lenient => {
            push_float(value, format, &mut bytes)?;
            format.store(0, &mut bytes);
        }
        _ => return Err(Error::invalid(value, "an array of real and imaginary part")),
    }
    Ok(bytes)
}

/// Parses a time that may be a string, by `parse`.
fn readable(value: &Value, parse: impl Fn(&str) -> Option<i64>, expected: &str) -> Result<Vec<u8>, Error> {
    match value.as_str() {
        Some(text) => {
            let count = parse(text).ok_or_else(|| Error::invalid(value, expected))?;
            Ok(count.to_ne_bytes().to_vec())
        }
        None => time(value, false),
    }
}

fn time(value: &Value, lenient: bool) -> Result<Vec<u8>, Error> {
    let count = match value.as_str() {
        Some("NaT") => Some(NOT_A_TIME),
        _ => whole(value, lenient).and_then(|count| i64::try_from(count).ok()),
    };
    let expected = || format!(r#"an integer from {} to {} or "NaT""#, i64::MIN, i64::MAX);
    count.map(|count| count.to_ne_bytes().to_vec()).ok_or_else(|| Error::invalid(value, expected()))
}

fn raw_bits(value: &Value, size: usize, lenient: bool) -> Result<Vec<u8>, Error> {
    let expected = || Error::invalid(value, format!("an array of {size} bytes, or a base64 string of as many"));
    let bytes = match value {
        Value::Array(items) => Some(byte_list(items)?),
        Value::String(text) if lenient && (text.starts_with("0x") || text.starts_with("0b")) => {
            number_bytes(text, size).or_else(|| base64_bytes(text))
        }
        Value::String(text) => base64_bytes(text),
        _ if lenient && is_zero(value) => Some(vec![0; size]),
        _ => None,
    };
    bytes.filter(|bytes| bytes.len() == size).ok_or_else(expected)
}

/// Returns the little-endian bytes of the number that `text` spells as `0x` or `0b` with all its digits.
fn number_bytes(text: &str, size: usize) -> Option<Vec<u8>> {
    let (digits, radix, each) = match text.strip_prefix("0x") {
        Some(digits) => (digits, 16, 2),
        None => (text.strip_prefix("0b")?, 2, 8),
    };
    let digits = digits.as_bytes();
    if Some(digits.len()) != size.checked_mul(each) || !digits.iter().all(|&digit| char::from(digit).is_digit(radix)) {
        return None;
    }
    let byte = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok();
    digits.rchunks(each).map(byte).collect()
}

fn fixed_bytes(value: &Value, size: usize, lenient: bool) -> Result<Vec<u8>, Error> {
    let bytes = match value {
        // Some writers encode the text, others do not; text that is base64 and fits is taken as such.
        Value::String(text) if lenient => {
            base64_bytes(text).filter(|bytes| bytes.len() <= size).or_else(|| Some(text.clone().into_bytes()))
        }
        Value::String(text) => base64_bytes(text),
        _ if lenient && is_zero(value) => Some(Vec::new()),
        _ => None,
    };
    let mut bytes = bytes
        .filter(|bytes| bytes.len() <= size)
        .ok_or_else(|| Error::invalid(value, format!("a base64 string of at most {size} bytes")))?;
    bytes.resize(size, 0);
    Ok(bytes)
}

fn raw_bytes(value: &Value, size: usize, lenient: bool) -> Result<Vec<u8>, Error> {
    let bytes = match value {
        Value::String(text) => base64_bytes(text),
        _ if lenient && is_zero(value) => Some(vec![0; size]),
        _ => None,
    };
    bytes
        .filter(|bytes| bytes.len() == size)
        .ok_or_else(|| Error::invalid(value, format!("a base64 string of {size} bytes")))
}

fn fixed_text(value: &Value, len: usize, lenient: bool) -> Result<Vec<u8>, Error> {
    let text = match value {
        Value::String(text) => Some(text.as_str()),
        _ if lenient && is_zero(value) => Some(""),
        _ => None,
    };
    let text = text
        .filter(|text| text.chars().count() <= len)
        .ok_or_else(|| Error::invalid(value, format!("a string of at most {len} code points")))?;
    Ok(utf32(text, len))
}

/// Returns the code points of `text`, padded with NULs to `len`, in memory form.
pub(crate) fn utf32(text: &str, len: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = text.chars().flat_map(|c| u32::from(c).to_ne_bytes()).collect();
    bytes.resize(len.saturating_mul(4), 0);
    bytes
}

fn text(value: &Value, lenient: bool) -> Result<Vec<u8>, Error> {
    match value {
        Value::String(text) => Ok(text.clone().into_bytes()),
        _ if lenient && is_zero(value) => Ok(Vec::new()),
        _ => Err(Error::invalid(value, "a string")),
    }
}

fn variable_bytes(value: &Value, lenient: bool) -> Result<Vec<u8>, Error> {
    let bytes = match value {
        Value::Array(items) => Some(byte_list(items)?),
        Value::String(text) => base64_bytes(text),
        _ if lenient && is_zero(value) => Some(Vec::new()),
        _ => None,
    };
    bytes.ok_or_else(|| Error::invalid(value, "an array of bytes or a base64 string"))
}

fn byte_list(items: &[Value]) -> Result<Vec<u8>, Error> {
    let byte = |(at, item): (usize, &Value)| {
        let byte = item.as_u64().and_then(|byte| u8::try_from(byte).ok());
        byte.ok_or_else(|| Error::invalid(item, "a byte: an integer from 0 to 255").within(&format!("/{at}")))
    };
    items.iter().enumerate().map(byte).collect()
}

fn base64_bytes(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

fn is_zero(value: &Value) -> bool {
    value.as_f64() == Some(0.0)
}
