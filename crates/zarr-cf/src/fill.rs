//! Values that mark missing data, in each form of `_FillValue` and `missing_value`.
//!
//! In Zarr v2, and in other dialects that have null, the fill value of an array marks missing data. If it is null, the attribute
//! `_FillValue` does, as a plain value. In Zarr v3 only the attribute marks missing data, in a form that depends on the data type
//! (`FillValueCoder` in `xarray/backends/zarr.py` of xarray 2026.9):
//!
//! | data type | `_FillValue` in version 3 | |
//! |---|---|---|
//! | floats | base64 of the 8 bytes of a little-endian float64: `"AAAAAAAA+H8="` is NaN | [`from_attribute`], [`to_attribute`] |
//! | complex | a list of two such base64 strings | |
//! | integers, bools | plain JSON numbers and bools | |
//! | strings | plain JSON strings, which xarray does not decode | |
//! | bytes | base64, which xarray writes and cannot decode | |
//! | any, in `missing_value` and in version 2 | a number, a string, `"NaN"`, or a list of them | [`from_plain`] |
//! | any, as programs give it | a single value: a number, a string or `"NaN"` | [`parse`], [`to_plain`] |
//!
//! ```
//! use zarr_cf::fill::{Fill, from_attribute, parse, to_attribute};
//! use zarr_dtype::DataType;
//! use zarr_json::json;
//!
//! let stored = json!("AAAAAAA4j8A=");
//! assert_eq!(from_attribute(&DataType::Float32, &stored)?, Fill::Float(-999.0));
//! assert_eq!(to_attribute(&DataType::Float32, &parse("_FillValue", &DataType::Float32, &json!(-999))?), stored);
//! # Ok::<(), zarr_cf::AttributeError>(())
//! ```

use crate::AttributeError;
use crate::textual::{content, is_textual};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zarr_dtype::{Class, DataType, FillValue, Scalar, Spelling};
use zarr_json::{Number, Value};

/// Attribute with the value that marks missing data.
pub const FILL_VALUE: &str = "_FillValue";

/// Attribute with further values that mark missing data, as plain values.
pub const MISSING_VALUE: &str = "missing_value";

/// Value that marks missing data.
#[derive(Clone, Debug, PartialEq)]
pub enum Fill {
    /// Integer, or bool as 0 or 1.
    Integer(i128),
    /// Float, which may be NaN.
    Float(f64),
    /// Complex number: real and imaginary part.
    Complex(f64, f64),
    /// Byte string, or the UTF-8 bytes of a string.
    Bytes(Vec<u8>),
}

impl Fill {
    /// Returns whether the value, or a part of it, is NaN. Such elements are always missing.
    #[must_use]
    pub fn is_nan(&self) -> bool {
        match self {
            Self::Float(value) => value.is_nan(),
            Self::Complex(re, im) => re.is_nan() || im.is_nan(),
            Self::Integer(_) | Self::Bytes(_) => false,
        }
    }

    /// Returns the value in the form in which programs give it, see [`parse`].
    #[must_use]
    pub fn to_value(&self) -> Value {
        match self {
            Self::Integer(value) => Value::from(*value),
            Self::Float(value) => Value::from(*value),
            Self::Complex(re, im) => Value::from(vec![*re, *im]),
            Self::Bytes(bytes) => Value::from(String::from_utf8_lossy(bytes).into_owned()),
        }
    }

    /// Returns whether an element (a string, byte string or bool) equals the value.
    #[must_use]
    pub fn is(&self, data_type: &DataType, element: &[u8]) -> bool {
        match self {
            Self::Bytes(bytes) => is_textual(data_type) && **bytes == *content(data_type, element),
            Self::Integer(value) => *data_type == DataType::Bool && element.iter().all(|&it| i128::from(it) == *value),
            Self::Float(_) | Self::Complex(..) => false,
        }
    }

    /// Returns the element that equals the value; `None` if the type has no such element.
    #[must_use]
    pub fn to_element(&self, data_type: &DataType) -> Option<FillValue> {
        match self {
            Self::Bytes(content) if !is_text(data_type) => of_bytes(data_type, content).ok(),
            mark => parse(FILL_VALUE, data_type, &mark.to_value()).ok(),
        }
    }

    /// Returns the value of an element; `None` for elements of structs, lists and JSON.
    #[must_use]
    pub fn of_element(data_type: &DataType, element: &FillValue) -> Option<Self> {
        let bytes = element.bytes();
        if let Some((re, im)) = parts(data_type, bytes) {
            return Some(Self::Complex(re, im));
        }
        if *data_type == DataType::Bool {
            return bytes.first().map(|&value| Self::Integer(value.into()));
        }
        if let Some(integer) = data_type.layout().scalar().and_then(|scalar| scalar.integer(bytes)) {
            return Some(Self::Integer(integer));
        }
        if let Some(value) = data_type.to_f64(bytes) {
            return Some(Self::Float(value));
        }
        is_textual(data_type).then(|| Self::Bytes(content(data_type, bytes).into_owned()))
    }

    /// Returns the value after its bits are read as the integer type `read` instead of `stored`, which has the other signedness.
    #[must_use]
    pub fn reread(&self, stored: Scalar, read: Scalar) -> Self {
        let (&Self::Integer(value), Some((least, _)), Some((new_least, greatest))) =
            (self, stored.range(), read.range())
        else {
            return self.clone();
        };
        let span = greatest - new_least + 1;
        Self::Integer(match (least < 0, new_least < 0) {
            (true, false) if value < 0 => value + span,
            (false, true) if value > greatest => value - span,
            _ => value,
        })
    }
}

/// Returns the values of an attribute that marks missing data by plain numbers, strings or lists of them. NaN and null are skipped, since
/// they mark nothing that is not missing anyway.
///
/// # Errors
/// Fails if `value` has another form; the error names `attribute`.
pub fn from_plain(attribute: &str, data_type: &DataType, value: &Value) -> Result<Vec<Fill>, AttributeError> {
    let values = match value {
        Value::Array(list) => list.as_slice(),
        value => std::slice::from_ref(value),
    };
    let mut fills = Vec::new();
    for value in values {
        match value {
            Value::Number(number) => fills.extend(of_number(number)),
            Value::String(_) if is_textual(data_type) => {
                fills.push(Fill::Bytes(value.as_str().unwrap_or_default().as_bytes().to_vec()));
            }
            Value::String(_) => match value.as_str() {
                Some("NaN") => {}
                Some("Infinity") => fills.push(Fill::Float(f64::INFINITY)),
                Some("-Infinity") => fills.push(Fill::Float(f64::NEG_INFINITY)),
                _ => return Err(AttributeError::new(attribute, value, "a number, or a list of numbers")),
            },
            Value::Bool(value) => fills.push(Fill::Integer(i128::from(*value))),
            Value::Null => {}
            value => return Err(AttributeError::new(attribute, value, "a number, a string, or a list of them")),
        }
    }
    Ok(fills)
}

fn of_number(number: &Number) -> Option<Fill> {
    match number.as_i128() {
        Some(integer) => Some(Fill::Integer(integer)),
        None => Some(Fill::Float(number.as_f64())).filter(|fill| !fill.is_nan()),
    }
}

/// Returns the value of `_FillValue` in the form of Zarr v3.
///
/// # Errors
/// Fails if the form of the attribute does not fit the data type.
pub fn from_attribute(data_type: &DataType, value: &Value) -> Result<Fill, AttributeError> {
    let unfit = |value: &Value, expected: &str| AttributeError::new(FILL_VALUE, value, expected);
    let float = |value: &Value| {
        let bytes = value.as_str().and_then(|text| STANDARD.decode(text).ok());
        let bytes: Option<[u8; 8]> = bytes.and_then(|bytes| bytes.try_into().ok());
        bytes.map(f64::from_le_bytes).ok_or_else(|| unfit(value, "the base64 of a little-endian float of 64 bits"))
    };
    Ok(match (data_type.class(), value) {
        (Some(Class::Float), value) => Fill::Float(float(value)?),
        (Some(Class::Complex), value) => match value.as_array() {
            Some([re, im]) => Fill::Complex(float(re)?, float(im)?),
            _ => return Err(unfit(value, "a list of two base64 strings")),
        },
        (Some(Class::Bool), Value::Bool(value)) => Fill::Integer(i128::from(*value)),
        (Some(Class::Bool), Value::Number(number)) => Fill::Integer(i128::from(number.as_f64() != 0.0)),
        (Some(Class::Bool), value) => return Err(unfit(value, "a bool")),
        (Some(Class::Signed | Class::Unsigned), Value::Number(number)) if number.is_json() => {
            // As Python makes an integer of it.
            Fill::Integer(number.as_i128().unwrap_or(number.as_f64() as i128))
        }
        (Some(Class::Signed | Class::Unsigned), value) => return Err(unfit(value, "a number")),
        (_, value) if *data_type == DataType::String => match value.as_str() {
            Some(text) => Fill::Bytes(text.as_bytes().to_vec()),
            None => return Err(unfit(value, "a string")),
        },
        (_, value) if is_textual(data_type) => match value.as_str().map(|text| STANDARD.decode(text)) {
            Some(Ok(bytes)) => Fill::Bytes(bytes),
            _ => return Err(unfit(value, "the base64 of bytes")),
        },
        (_, value) => return Err(unfit(value, "no fill value for this data type")),
    })
}

/// Returns the attribute `_FillValue` of Zarr v3 for an element, the inverse of [`from_attribute`].
#[must_use]
pub fn to_attribute(data_type: &DataType, element: &FillValue) -> Value {
    let float = |value: f64| {
        // numpy has one NaN that it makes by itself.
        let value = if value.is_nan() { f64::NAN } else { value };
        Value::from(STANDARD.encode(value.to_le_bytes()))
    };
    let bytes = element.bytes();
    match data_type.class() {
        Some(Class::Float) => float(data_type.to_f64(bytes).unwrap_or(f64::NAN)),
        Some(Class::Complex) => {
            let parts = parts(data_type, bytes).unwrap_or((f64::NAN, f64::NAN));
            Value::from(vec![float(parts.0), float(parts.1)])
        }
        _ if is_textual(data_type) && !is_text(data_type) => Value::from(STANDARD.encode(content(data_type, bytes))),
        _ => element.to_json(data_type),
    }
}

/// Returns real and imaginary part of an element; `None` if it is no complex number.
#[must_use]
pub fn parts(data_type: &DataType, element: &[u8]) -> Option<(f64, f64)> {
    let part = match data_type {
        DataType::SmallComplex(small) => DataType::SmallFloat(*small),
        DataType::ComplexFloat16 => DataType::Float16,
        DataType::ComplexBFloat16 => DataType::BFloat16,
        DataType::Complex64 => DataType::Float32,
        DataType::Complex128 => DataType::Float64,
        _ => return None,
    };
    let (re, im) = element.split_at_checked(element.len() / 2)?;
    part.to_f64(re).zip(part.to_f64(im))
}

/// Returns the element for a value given by a program: a number, `"NaN"`, a string, `[re, im]`, or a bool.
///
/// # Errors
/// Fails if elements of the type have no such value; the error names `attribute`.
pub fn parse(attribute: &str, data_type: &DataType, value: &Value) -> Result<FillValue, AttributeError> {
    let integral = value.as_number().filter(|number| number.as_i128().is_none()).map(Number::as_f64);
    let whole = integral.filter(|value| value.fract() == 0.0 && value.abs() < 1e30).map(|value| value as i128);
    let is_integer = matches!(data_type.class(), Some(Class::Signed | Class::Unsigned));
    let flag = value.as_number().and_then(Number::as_i128).filter(|_| *data_type == DataType::Bool);
    let element = match (whole, value) {
        _ if matches!(flag, Some(0 | 1)) => {
            FillValue::parse_as(data_type, &Value::from(flag == Some(1)), Spelling::Readable)
        }
        (Some(whole), _) if is_integer => FillValue::parse_as(data_type, &Value::from(whole), Spelling::Readable),
        (_, Value::String(_)) if is_textual(data_type) && !is_text(data_type) => {
            of_bytes(data_type, value.as_str().unwrap_or_default().as_bytes())
        }
        (_, value) => FillValue::parse_as(data_type, value, Spelling::Readable),
    };
    element.map_err(|_| AttributeError::new(attribute, value, format!("a value of {data_type}")))
}

/// Returns the element of a byte type with this content.
fn of_bytes(data_type: &DataType, content: &[u8]) -> Result<FillValue, zarr_dtype::Error> {
    let mut element = content.to_vec();
    if let DataType::FixedBytes { len } = data_type {
        element.resize(element.len().max(usize::try_from(*len).unwrap_or(usize::MAX).min(1 << 20)), 0);
    }
    FillValue::from_bytes(data_type, &element)
}

/// Returns NaN as an element; `None` if elements are neither floats nor complex numbers.
#[must_use]
pub fn nan(data_type: &DataType) -> Option<FillValue> {
    let nan = match data_type.class() {
        Some(Class::Float) => Value::from("NaN"),
        Some(Class::Complex) => Value::from(vec!["NaN", "NaN"]),
        _ => return None,
    };
    FillValue::parse(data_type, &nan).ok()
}

/// Returns an element in the form in which programs give it, see [`parse`].
#[must_use]
pub fn to_plain(data_type: &DataType, element: &FillValue) -> Value {
    let bytes = element.bytes();
    if is_textual(data_type) && !is_text(data_type) {
        return Value::from(String::from_utf8_lossy(&content(data_type, bytes)).into_owned());
    }
    match (parts(data_type, bytes), data_type.to_f64(bytes)) {
        (Some((re, im)), _) if re.is_nan() && im.is_nan() => Value::from(vec!["NaN", "NaN"]),
        (None, Some(float)) if float.is_nan() => Value::from("NaN"),
        _ => element.to_json(data_type),
    }
}

fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::String | DataType::FixedUtf32 { .. })
}
