//! The CF attributes of a variable: how its values are encoded in its elements.
//!
//! Attributes are taken as `xarray.decode_cf` takes them: `_FillValue`, `missing_value`, `scale_factor`, `add_offset`,
//! `_Unsigned`, `units` with `calendar`, `dtype` and `_Encoding` are the encoding, all others are the user's. Up to Zarr v2 the fill value
//! of the array is `_FillValue`; in Zarr v3 `_FillValue` is an attribute, whose floats are the base64 of a little-endian `f64`.

use crate::{Error, ErrorKind, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::borrow::Cow;
use zarr_array::Array;
use zarr_cf::time::DeltaUnits;
use zarr_dtype::{Class, DataType, FillValue, Scalar};
use zarr_json::{Map, Number, Value};

/// The attribute that says which value marks missing data.
pub(crate) const FILL_VALUE: &str = "_FillValue";

/// A value that marks missing data.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fill {
    /// An integer.
    Integer(i128),
    /// A float, which is not NaN.
    Float(f64),
    /// A complex number, of which no part is NaN.
    Complex(f64, f64),
    /// The bytes of a string, a byte string, or a bool.
    Bytes(Vec<u8>),
}

/// A number that values are scaled by or moved by. Its kind decides the type of the result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Factor {
    Integer(i64),
    Float(f64),
}

impl Factor {
    pub(crate) fn to_f64(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

/// The meaning of numbers as times.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Times {
    /// Numbers are no times.
    None,
    /// Points in time: the units, and the calendar if there is one.
    Since(String, Option<String>),
    /// Time spans in these units, of the numpy type that the attribute `dtype` names.
    Span(String, String),
    /// Numbers in a unit of time, which stay numbers; but integers that are missing become NaT, as in xarray.
    Count,
}

/// How values are encoded.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Encoding {
    /// The values that mark missing data.
    pub(crate) fills: Vec<Fill>,
    /// Whether there are attributes that mark missing data, be it by NaN alone.
    pub(crate) marks_nan: bool,
    pub(crate) scale: Option<Factor>,
    pub(crate) offset: Option<Factor>,
    /// Whether integers are of the other signedness: unsigned (true) or signed (false).
    pub(crate) unsigned: Option<bool>,
    pub(crate) times: Times,
    /// Whether integers are bools.
    pub(crate) is_bool: bool,
    /// The name of the encoding of strings that are stored as bytes.
    pub(crate) strings: Option<String>,
    /// The attributes taken.
    pub(crate) taken: Map,
}

impl Encoding {
    /// The encoding of an array with these attributes; the attributes left are the user's.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidMetadata`] for an attribute that is none of its kind, with its name.
    pub(crate) fn take(array: &Array, attributes: &mut Map) -> Result<Self> {
        let mut taken = Map::new();
        let mut take = |name: &str, attributes: &mut Map| {
            let value = attributes.remove(name)?;
            taken.insert(name, value.clone());
            Some(value)
        };
        let data_type = array.data_type();
        let is_time_type = matches!(data_type, DataType::DateTime64(_) | DataType::TimeDelta64(_));
        if is_time_type {
            // numpy's own times are decoded already, and keep all attributes.
            return Ok(Self::none());
        }
        let strings = take("_Encoding", attributes).map(|value| text("_Encoding", &value)).transpose()?;
        let mut fills = Vec::new();
        let own_fill = take(FILL_VALUE, attributes);
        // Up to version 2 the fill value of the array does.
        let is_marked = !zarr_meta::Dialect::is_v3(array.dialect()) && array.metadata().fill_value.is_some();
        if zarr_meta::Dialect::is_v3(array.dialect()) {
            if let Some(value) = &own_fill {
                fills.extend(stored_fill(data_type, value)?);
            }
        } else if array.metadata().fill_value.is_some() {
            fills.extend(element_fill(data_type, array.fill_value())?);
        } else if let Some(value) = &own_fill {
            fills.extend(numbers(FILL_VALUE, data_type, value)?);
        }
        let scale = take("scale_factor", attributes).map(|value| factor("scale_factor", &value)).transpose()?;
        let offset = take("add_offset", attributes).map(|value| factor("add_offset", &value)).transpose()?;
        let unsigned = take("_Unsigned", attributes).and_then(|value| unsigned(&value));
        let missing = take("missing_value", attributes).map(|value| numbers("missing_value", data_type, &value));
        let missing: Vec<Fill> = missing.transpose()?.unwrap_or_default();
        // `missing_value` is a value as it is read, `_FillValue` as it is stored.
        let others = missing.into_iter().filter(|fill| !fills.contains(fill)).collect::<Vec<_>>();
        if let (Some(stored), Some(unsigned)) = (data_type.layout().scalar(), unsigned) {
            let read = with_sign(stored, unsigned);
            fills = fills.iter().map(|fill| reread(fill, stored, read)).collect();
        }
        fills.extend(others);
        let times = match attributes.get("units").and_then(Value::as_str).map(str::to_owned) {
            Some(units) if units.contains("since") => {
                take("units", attributes);
                let calendar = take("calendar", attributes).map(|value| text("calendar", &value)).transpose()?;
                Times::Since(units, calendar)
            }
            Some(units) if DeltaUnits::is_units(&units) => {
                match attributes.get("dtype").and_then(Value::as_str).filter(|name| name.starts_with("timedelta64")) {
                    Some(dtype) => {
                        let dtype = dtype.to_owned();
                        take("units", attributes);
                        take("dtype", attributes);
                        Times::Span(units, dtype)
                    }
                    None => Times::Count,
                }
            }
            _ => Times::None,
        };
        let is_bool = attributes.get("dtype").and_then(Value::as_str) == Some("bool");
        if is_bool {
            take("dtype", attributes);
        }
        let marks_nan = taken.contains_key(FILL_VALUE) || taken.contains_key("missing_value") || is_marked;
        Ok(Self { fills, marks_nan, scale, offset, unsigned, times, is_bool, strings, taken })
    }

    /// No encoding: elements are the values.
    pub(crate) fn none() -> Self {
        Self {
            fills: Vec::new(),
            marks_nan: false,
            scale: None,
            offset: None,
            unsigned: None,
            times: Times::None,
            is_bool: false,
            strings: None,
            taken: Map::new(),
        }
    }

    /// The encoding of numbers as the configuration of a codec, which [`from_map`](Self::from_map) reads. Floats are their bits.
    pub(crate) fn to_map(&self) -> Map {
        let bits = |value: f64| Value::from(value.to_bits());
        let fills = self.fills.iter().filter_map(|fill| match *fill {
            Fill::Integer(value) => Some(Value::from(value)),
            Fill::Float(value) => Some(Value::from(vec![bits(value)])),
            Fill::Complex(re, im) => Some(Value::from(vec![bits(re), bits(im)])),
            Fill::Bytes(_) => None,
        });
        let factor = |factor: Option<Factor>| match factor {
            None => Value::Null,
            Some(Factor::Integer(value)) => Value::from(value),
            Some(Factor::Float(value)) => Value::from(vec![bits(value)]),
        };
        let texts = match &self.times {
            Times::None => vec![Value::from("none")],
            Times::Count => vec![Value::from("count")],
            Times::Since(units, calendar) => {
                let calendar = calendar.as_deref().map_or(Value::Null, Value::from);
                vec![Value::from("since"), Value::from(units.as_str()), calendar]
            }
            Times::Span(units, dtype) => {
                vec![Value::from("span"), Value::from(units.as_str()), Value::from(dtype.as_str())]
            }
        };
        let mut map = Map::new();
        map.insert("fills", fills.collect::<Vec<_>>());
        map.insert("marks_nan", self.marks_nan);
        map.insert("scale", factor(self.scale));
        map.insert("offset", factor(self.offset));
        map.insert("unsigned", self.unsigned.map_or(Value::Null, Value::from));
        map.insert("times", texts);
        map.insert("is_bool", self.is_bool);
        map
    }

    /// The encoding in a map of [`to_map`](Self::to_map).
    pub(crate) fn from_map(map: &Map) -> Option<Self> {
        let bits = |value: &Value| value.as_u64().map(f64::from_bits);
        let fill = |value: &Value| match value.as_array() {
            None => value.as_number()?.as_i128().map(Fill::Integer),
            Some([value]) => bits(value).map(Fill::Float),
            Some([re, im]) => Some(Fill::Complex(bits(re)?, bits(im)?)),
            Some(_) => None,
        };
        let factor = |name: &str| match map.get(name)? {
            Value::Null => Some(None),
            Value::Array(list) => list.first().and_then(bits).map(|value| Some(Factor::Float(value))),
            value => value.as_i64().map(|value| Some(Factor::Integer(value))),
        };
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let times = match map.get("times")?.as_array()? {
            [Value::String(kind)] if kind == "none" => Times::None,
            [Value::String(kind)] if kind == "count" => Times::Count,
            [Value::String(kind), units, calendar] if kind == "since" => Times::Since(text(units)?, text(calendar)),
            [Value::String(kind), units, dtype] if kind == "span" => Times::Span(text(units)?, text(dtype)?),
            _ => return None,
        };
        Some(Self {
            fills: map.get("fills")?.as_array()?.iter().map(fill).collect::<Option<_>>()?,
            marks_nan: map.get("marks_nan")?.as_bool()?,
            scale: factor("scale")?,
            offset: factor("offset")?,
            unsigned: map.get("unsigned")?.as_bool(),
            times,
            is_bool: map.get("is_bool")?.as_bool()?,
            strings: None,
            taken: Map::new(),
        })
    }
}

/// An error that names an attribute.
pub(crate) fn invalid(attribute: &str, found: &str, expected: &str) -> Error {
    let pointer = format!("/attributes/{}", attribute.replace('~', "~0").replace('/', "~1"));
    Error::new(ErrorKind::InvalidMetadata, format!("attribute {attribute}: found {found}, expected {expected}"))
        .at(|location| location.pointer = Some(pointer))
}

fn text(attribute: &str, value: &Value) -> Result<String> {
    value.as_str().map(str::to_owned).ok_or_else(|| invalid(attribute, &value.excerpt(), "a string"))
}

/// The signedness that `_Unsigned` says. Other texts say nothing, as in xarray.
fn unsigned(value: &Value) -> Option<bool> {
    match value.as_str() {
        Some("true") => Some(true),
        Some("false") => Some(false),
        _ => None,
    }
}

/// A number, or a list of one: attributes of netCDF are lists.
fn factor(attribute: &str, value: &Value) -> Result<Factor> {
    let number = match value {
        Value::Array(list) if list.len() == 1 => list.first().and_then(Value::as_number),
        _ => value.as_number(),
    };
    let number = number.ok_or_else(|| invalid(attribute, &value.excerpt(), "a number"))?;
    Ok(match number.as_i128().map(i64::try_from) {
        Some(Ok(integer)) => Factor::Integer(integer),
        _ => Factor::Float(number.as_f64()),
    })
}

/// The values of an attribute that marks missing data by numbers, strings or lists of them, spelled as JSON. NaN marks nothing that
/// is not missing anyway.
fn numbers(attribute: &str, data_type: &DataType, value: &Value) -> Result<Vec<Fill>> {
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
fn stored_fill(data_type: &DataType, value: &Value) -> Result<Vec<Fill>> {
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

/// The fill value of an array of version 2.
fn element_fill(data_type: &DataType, fill: &FillValue) -> Result<Vec<Fill>> {
    let bytes = fill.bytes();
    if data_type.class() == Some(Class::Complex) {
        let half = bytes.len() / 2;
        let part = |bytes: Option<&[u8]>| match bytes {
            Some(bytes) if bytes.len() == 4 => bytes.try_into().ok().map(|bytes| f64::from(f32::from_ne_bytes(bytes))),
            Some(bytes) => bytes.try_into().ok().map(f64::from_ne_bytes),
            None => None,
        };
        let parts = part(bytes.get(..half)).zip(part(bytes.get(half..)));
        return Ok(parts
            .filter(|(re, im)| !re.is_nan() && !im.is_nan())
            .map(|(re, im)| Fill::Complex(re, im))
            .into_iter()
            .collect());
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

/// Whether elements are strings or bytes.
pub(crate) fn is_textual(data_type: &DataType) -> bool {
    use DataType as D;
    matches!(
        data_type,
        D::String | D::Bytes { .. } | D::FixedBytes { .. } | D::FixedUtf32 { .. } | D::RawBytes { .. } | D::RawBits(_)
    )
}

/// The content of an element of strings or bytes, by which two are equal: without the NULs behind it, strings in UTF-8.
pub(crate) fn content<'e>(data_type: &DataType, element: &'e [u8]) -> Cow<'e, [u8]> {
    let trimmed = |element: &'e [u8]| {
        let len = element.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        element.get(..len).unwrap_or_default()
    };
    match data_type {
        DataType::FixedUtf32 { .. } => {
            let points = element.as_chunks::<4>().0.iter().map(|&point| u32::from_ne_bytes(point));
            let text: String =
                points.map(|point| char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
            Cow::Owned(text.trim_end_matches('\0').as_bytes().to_vec())
        }
        DataType::FixedBytes { .. } => Cow::Borrowed(trimmed(element)),
        _ => Cow::Borrowed(element),
    }
}

/// The type of the same size with the other signedness, if it is to have it.
pub(crate) fn with_sign(scalar: Scalar, unsigned: bool) -> Scalar {
    match (scalar, unsigned) {
        (Scalar::I8, true) => Scalar::U8,
        (Scalar::I16, true) => Scalar::U16,
        (Scalar::I32, true) => Scalar::U32,
        (Scalar::I64, true) => Scalar::U64,
        (Scalar::U8, false) => Scalar::I8,
        (Scalar::U16, false) => Scalar::I16,
        (Scalar::U32, false) => Scalar::I32,
        (Scalar::U64, false) => Scalar::I64,
        _ => scalar,
    }
}

/// A fill value that is given in the stored type, in the type of the other signedness.
fn reread(fill: &Fill, stored: Scalar, read: Scalar) -> Fill {
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
