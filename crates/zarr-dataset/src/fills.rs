//! Values that mark missing data, and the attributes that have them.

use crate::attribute::{FILL_VALUE, invalid, text};
use crate::textual::{content, is_textual};
use crate::{Error, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zarr_dtype::{Class, DataType, FillValue, Scalar, Spelling};
use zarr_json::{Number, Value};

/// A value that marks missing data.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fill {
    /// An integer, or a bool.
    Integer(i128),
    /// A float, which is not NaN.
    Float(f64),
    /// A complex number, of which no part is NaN.
    Complex(f64, f64),
    /// The bytes of a string, or a byte string.
    Bytes(Vec<u8>),
}

impl Fill {
    /// The value as programs give it, see [`given`].
    pub(crate) fn to_value(&self) -> Value {
        let float = |value: f64| match value {
            f64::INFINITY => Value::from("Infinity"),
            f64::NEG_INFINITY => Value::from("-Infinity"),
            value => Value::from(value),
        };
        match self {
            Self::Integer(value) => Value::from(*value),
            Self::Float(value) => float(*value),
            Self::Complex(re, im) => Value::from(vec![float(*re), float(*im)]),
            Self::Bytes(bytes) => Value::from(String::from_utf8_lossy(bytes).into_owned()),
        }
    }

    /// Whether an element, a string, a byte string or a bool, is the value.
    pub(crate) fn is(&self, data_type: &DataType, element: &[u8]) -> bool {
        match self {
            Self::Bytes(bytes) => is_textual(data_type) && **bytes == *content(data_type, element),
            Self::Integer(value) => *data_type == DataType::Bool && element.iter().all(|&it| i128::from(it) == *value),
            Self::Float(_) | Self::Complex(..) => false,
        }
    }
}

/// The values of an attribute that marks missing data by numbers, strings or lists of them, spelled as JSON. NaN marks nothing that
/// is not missing anyway.
pub(crate) fn numbers(attribute: &str, data_type: &DataType, value: &Value) -> Result<Vec<Fill>> {
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
                _ => return Err(invalid(attribute, &value.excerpt(), "a number, or a list of numbers")),
            },
            Value::Bool(value) => fills.push(Fill::Integer(i128::from(*value))),
            Value::Null => {}
            value => return Err(invalid(attribute, &value.excerpt(), "a number, a string, or a list of them")),
        }
    }
    Ok(fills)
}

fn of_number(number: &Number) -> Option<Fill> {
    match number.as_i128() {
        Some(integer) => Some(Fill::Integer(integer)),
        None => Some(number.as_f64()).filter(|value| !value.is_nan()).map(Fill::Float),
    }
}

/// `_FillValue` as Zarr v3 has it (`FillValueCoder` of xarray).
pub(crate) fn stored_fill(data_type: &DataType, value: &Value) -> Result<Vec<Fill>> {
    let float = |value: &Value| {
        let bytes = value.as_str().and_then(|text| STANDARD.decode(text).ok());
        let bytes: Option<[u8; 8]> = bytes.and_then(|bytes| bytes.try_into().ok());
        let expected = "the base64 of a little-endian float of 64 bits";
        bytes.map(f64::from_le_bytes).ok_or_else(|| invalid(FILL_VALUE, &value.excerpt(), expected))
    };
    let unfit = |expected: &str| Err(invalid(FILL_VALUE, &value.excerpt(), expected));
    Ok(match data_type.class() {
        Some(Class::Float) => Vec::from_iter(Some(float(value)?).filter(|value| !value.is_nan()).map(Fill::Float)),
        Some(Class::Complex) => {
            let Some([re, im]) = value.as_array() else { return unfit("a list of two base64 strings") };
            let (re, im) = (float(re)?, float(im)?);
            if re.is_nan() || im.is_nan() { Vec::new() } else { vec![Fill::Complex(re, im)] }
        }
        Some(Class::Bool) => match value {
            Value::Bool(value) => vec![Fill::Integer(i128::from(*value))],
            Value::Number(number) => vec![Fill::Integer(i128::from(number.as_f64() != 0.0))],
            _ => return unfit("a bool"),
        },
        Some(Class::Signed | Class::Unsigned) => match value.as_number() {
            Some(number) => vec![Fill::Integer(number.as_i128().unwrap_or(number.as_f64() as i128))],
            None => return unfit("a number"),
        },
        _ if matches!(data_type, DataType::String) => vec![Fill::Bytes(text(FILL_VALUE, value)?.into_bytes())],
        _ if is_textual(data_type) => match value.as_str().map(|text| STANDARD.decode(text)) {
            Some(Ok(bytes)) => vec![Fill::Bytes(bytes)],
            _ => return unfit("the base64 of bytes"),
        },
        _ => return unfit("no fill value for this data type"),
    })
}

/// The parts of an element; `None` if it is no complex number.
pub(crate) fn parts(data_type: &DataType, element: &[u8]) -> Option<(f64, f64)> {
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

/// The mark that the fill value of an array is, where fill values mark missing data. Elements of structs, lists and JSON are never
/// missing.
pub(crate) fn element_fill(data_type: &DataType, fill: &FillValue) -> Result<Vec<Fill>> {
    let bytes = fill.bytes();
    if let Some((re, im)) = parts(data_type, bytes) {
        return Ok(if re.is_nan() || im.is_nan() { Vec::new() } else { vec![Fill::Complex(re, im)] });
    }
    if *data_type == DataType::Bool {
        return Ok(bytes.first().map(|&value| Fill::Integer(value.into())).into_iter().collect());
    }
    if let Some(integer) = data_type.layout().scalar().and_then(|scalar| scalar.integer(bytes)) {
        return Ok(vec![Fill::Integer(integer)]);
    }
    if let Some(value) = data_type.to_f64(bytes) {
        return Ok(if value.is_nan() { Vec::new() } else { vec![Fill::Float(value)] });
    }
    if is_textual(data_type) {
        return Ok(vec![Fill::Bytes(content(data_type, bytes).into_owned())]);
    }
    Ok(Vec::new())
}

/// A fill value that is given in the stored type, in the type of the other signedness.
pub(crate) fn reread(fill: &Fill, stored: Scalar, read: Scalar) -> Fill {
    let (&Fill::Integer(value), Some((least, _)), Some((new_least, greatest))) = (fill, stored.range(), read.range())
    else {
        return fill.clone();
    };
    let span = greatest - new_least + 1;
    Fill::Integer(match (least < 0, new_least < 0) {
        (true, false) if value < 0 => value + span,
        (false, true) if value > greatest => value - span,
        _ => value,
    })
}

/// The element that a value given by a program is: a number, `"NaN"`, a string, `[re, im]`, a bool.
///
/// # Errors
/// If elements of the type are no such values; `attribute` is named.
pub(crate) fn given(attribute: &str, data_type: &DataType, value: &Value) -> Result<FillValue> {
    let integral = value.as_number().filter(|number| number.as_i128().is_none()).map(Number::as_f64);
    let whole = integral.filter(|value| value.fract() == 0.0 && value.abs() < 1e30).map(|value| value as i128);
    let is_integer = matches!(data_type.class(), Some(Class::Signed | Class::Unsigned));
    let flag = value.as_number().and_then(Number::as_i128).filter(|_| *data_type == DataType::Bool);
    let value = match (whole, value) {
        _ if matches!(flag, Some(0 | 1)) => &Value::from(flag == Some(1)),
        (Some(whole), _) if is_integer => &Value::from(whole),
        (_, Value::String(_)) if is_textual(data_type) && !is_text(data_type) => {
            return of_bytes(data_type, value.as_str().unwrap_or_default().as_bytes());
        }
        (_, value) => value,
    };
    FillValue::parse_as(data_type, value, Spelling::Readable).map_err(|_| {
        Error::argument(format!("{attribute}: found {}, expected a value of {data_type}", value.excerpt()))
    })
}

/// The element of bytes that has this content.
fn of_bytes(data_type: &DataType, content: &[u8]) -> Result<FillValue> {
    let mut element = content.to_vec();
    if let DataType::FixedBytes { len } = data_type {
        element.resize(element.len().max(usize::try_from(*len).unwrap_or(usize::MAX).min(1 << 20)), 0);
    }
    FillValue::from_bytes(data_type, &element).map_err(Error::from)
}

/// The element that a mark is, or NaN without one; `None` if elements are no such values.
pub(crate) fn element(data_type: &DataType, mark: Option<&Fill>) -> Option<FillValue> {
    match (mark, data_type.class()) {
        (Some(Fill::Bytes(content)), _) if !is_text(data_type) => of_bytes(data_type, content).ok(),
        (Some(mark), _) => given(FILL_VALUE, data_type, &mark.to_value()).ok(),
        (None, Some(Class::Float)) => FillValue::parse(data_type, &Value::from("NaN")).ok(),
        (None, Some(Class::Complex)) => FillValue::parse(data_type, &Value::from(vec!["NaN", "NaN"])).ok(),
        (None, _) => None,
    }
}

/// An element as programs give it, see [`given`].
pub(crate) fn as_given(data_type: &DataType, fill: &FillValue) -> Value {
    let bytes = fill.bytes();
    if is_textual(data_type) && !is_text(data_type) {
        return Value::from(String::from_utf8_lossy(&content(data_type, bytes)).into_owned());
    }
    match (parts(data_type, bytes), data_type.to_f64(bytes)) {
        (Some((re, im)), _) if re.is_nan() && im.is_nan() => Value::from(vec!["NaN", "NaN"]),
        (None, Some(float)) if float.is_nan() => Value::from("NaN"),
        _ => fill.to_json(data_type),
    }
}

fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::String | DataType::FixedUtf32 { .. })
}

/// The attribute `_FillValue` of Zarr v3 for an element, the inverse of [`stored_fill`].
pub(crate) fn to_attribute(data_type: &DataType, fill: &FillValue) -> Value {
    let float = |value: f64| Value::from(STANDARD.encode(value.to_le_bytes()));
    let bytes = fill.bytes();
    match data_type.class() {
        Some(Class::Float) => float(data_type.to_f64(bytes).unwrap_or(f64::NAN)),
        Some(Class::Complex) => {
            let parts = parts(data_type, bytes).unwrap_or((f64::NAN, f64::NAN));
            Value::from(vec![float(parts.0), float(parts.1)])
        }
        _ if is_textual(data_type) && !is_text(data_type) => Value::from(STANDARD.encode(content(data_type, bytes))),
        _ => fill.to_json(data_type),
    }
}

/// The error for a missing value that nothing marks.
pub(crate) fn unmarked(index: usize, stored: &DataType) -> Error {
    Error::argument(format!("value {index} is missing, and {stored} has no value for missing data"))
        .with_hint(format!("{FILL_VALUE} marks missing data"))
}
