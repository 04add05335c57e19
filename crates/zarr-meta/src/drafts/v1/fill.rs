//! Fill values of version 1: any scalar of JSON. Strings are the bytes themselves; base64 came with version 2.

use crate::dialect::{fill, packed};
use crate::error::{Error, ErrorKind, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zarr_dtype::{ByteOrder, Class, NumpyType};
use zarr_json::Value;
use zarr_json::pointer::At;

/// Returns the fill value in the notation of the model; `None` for null.
pub(in crate::drafts) fn to_model(at: &At<'_>, dtype: &NumpyType, endian: &ByteOrder) -> Result<Option<Value>> {
    let is_scalar = !matches!(at.value(), Value::Array(_) | Value::Object(_));
    if !is_scalar {
        return Err(at.invalid("a number, a string, true, false or null").into());
    }
    match (dtype, at.value()) {
        (NumpyType::Bytes(size), Value::String(text)) => {
            bytes(at, text, *size)?;
            Ok(Some(Value::from(STANDARD.encode(text))))
        }
        (NumpyType::Raw(size), Value::String(text)) => {
            let mut bytes = bytes(at, text, *size)?;
            // Larger elements do not belong in metadata.
            let size = usize::try_from(*size).ok().filter(|&size| size <= 1 << 20);
            bytes.resize(size.ok_or_else(|| at.invalid("null or a small element"))?, 0);
            let packed = Value::from(STANDARD.encode(bytes));
            fill::to_model(&At::new(&packed, &at.pointer()), dtype, endian, "")
        }
        (NumpyType::Struct(_), Value::String(_)) => {
            Err(at.invalid("0 or null, all that version 1 has for structs").into())
        }
        _ => fill::to_model(at, dtype, endian, ""),
    }
}

/// Returns the deviation in the spelling of the value at `at`, which was read as `read`, as JSON pointer and description. Only numbers and
/// times can deviate: strings are taken literally, and structs can only be 0.
pub(in crate::drafts) fn deviation(at: &At<'_>, dtype: &NumpyType, read: Option<&Value>) -> Option<(String, String)> {
    let is_spelled = match dtype {
        // A complex number is said by its real part alone.
        NumpyType::Number(number) => number.class() != Some(Class::Complex),
        dtype => matches!(dtype, NumpyType::Time { .. }),
    };
    fill::deviation(at, dtype, read, false).filter(|_| is_spelled)
}

fn bytes(at: &At<'_>, text: &str, size: u64) -> Result<Vec<u8>> {
    match u64::try_from(text.len()).is_ok_and(|len| len <= size) {
        true => Ok(text.as_bytes().to_vec()),
        false => Err(at.invalid(format!("a string of at most {size} bytes")).into()),
    }
}

/// Returns the fill value in the notation of version 1: the inverse of [`to_model`].
pub(in crate::drafts) fn from_model(value: Option<&Value>, dtype: &NumpyType, endian: &ByteOrder) -> Result<Value> {
    let Some(value) = value else { return Ok(Value::Null) };
    let no = || {
        let expected = "a number, a string, true or false, all that version 1 has";
        Error::new(ErrorKind::NotExpressible, "/fill_value", value.excerpt(), expected)
    };
    match dtype {
        NumpyType::Bytes(_) => {
            let bytes = value.as_str().and_then(|text| STANDARD.decode(text).ok()).ok_or_else(no)?;
            String::from_utf8(bytes).map(Value::from).map_err(|_| no())
        }
        NumpyType::Raw(_) => {
            let bytes = match value {
                Value::String(text) => STANDARD.decode(text).ok(),
                _ => packed::byte_list(value),
            };
            let text = String::from_utf8(bytes.ok_or_else(no)?).map_err(|_| no())?;
            let text = text.trim_end_matches('\0');
            Ok(if text.is_empty() { Value::from(0) } else { Value::from(text) })
        }
        NumpyType::Struct(_) => {
            let element = match value {
                Value::String(text) => STANDARD.decode(text).ok(),
                _ => packed::pack(dtype, endian, value),
            };
            let element = element.ok_or_else(no)?;
            if element.iter().all(|&byte| byte == 0) { Ok(Value::from(0)) } else { Err(no()) }
        }
        NumpyType::Number(_) => match fill::from_model(Some(value), dtype, endian, "").map_err(|_| no())? {
            // A complex number is said by its real part alone.
            Value::Array(parts) => match parts.as_slice() {
                [real, Value::Number(imaginary)] if imaginary.as_str() == "0.0" => Ok(real.clone()),
                _ => Err(no()),
            },
            plain => Ok(plain),
        },
        _ => Ok(value.clone()),
    }
}
