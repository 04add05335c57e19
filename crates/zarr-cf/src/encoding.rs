//! Attributes of a variable that describe the encoding of its values as elements.
//!
//! Attributes are interpreted as by `xarray.decode_cf`: `_FillValue`, `missing_value`, `scale_factor`, `add_offset`, `_Unsigned`, `units`
//! with `calendar`, `dtype` and `_Encoding` are the encoding, all other attributes are the user's.
//!
//! ```
//! use zarr_cf::encoding::{Encoding, FillPlace};
//! use zarr_cf::packed::Factor;
//! use zarr_dtype::DataType;
//! use zarr_json::Value;
//!
//! let attributes = r#"{"_FillValue": -1, "_Unsigned": "true", "scale_factor": 0.5, "long_name": "height"}"#;
//! let mut attributes = Value::from_json(attributes)?.as_object().cloned().unwrap_or_default();
//! let encoding = Encoding::take(&DataType::Int16, FillPlace::Attribute, &mut attributes)?;
//! assert_eq!(encoding.scale, Some(Factor::Float(0.5)));
//! assert_eq!(attributes.keys().collect::<Vec<_>>(), ["long_name"]);
//!
//! let unpacker = encoding.unpacker(&DataType::Int16)?.expect("numbers");
//! let stored: Vec<u8> = [-2_i16, -1].iter().flat_map(|number| number.to_ne_bytes()).collect();
//! let mut values = [0; 16];
//! unpacker.unpack(&stored, &mut values);
//! assert_eq!(values[..8], 32_767_f64.to_ne_bytes());
//! assert!(f64::from_ne_bytes(values[8..].try_into()?).is_nan());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod numbers;

pub use numbers::{number, unpacked};

use crate::AttributeError;
use crate::fill::{self, FILL_VALUE, Fill, MISSING_VALUE};
use crate::packed::{Factor, Mark, Packed};
use crate::time::DeltaUnits;
use zarr_dtype::{DataType, FillValue, Scalar};
use zarr_json::{Map, Value};

/// Place of the value that marks missing data in the metadata of an array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FillPlace<'a> {
    /// Zarr v3: the attribute `_FillValue`, in its encoded form.
    Attribute,
    /// Zarr v2: the fill value of the array, or, if it is null, the attribute `_FillValue` as a plain value.
    FillValue(Option<&'a FillValue>),
}

/// Meaning of numbers as times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TimeEncoding {
    /// Numbers are not times.
    #[default]
    None,
    /// Numbers are points in time: the units, and the calendar if there is one.
    Since(String, Option<String>),
    /// Numbers are durations: the units, and the numpy type that the attribute `dtype` names.
    Span(String, String),
    /// Numbers have a unit of time, but stay numbers; missing integers become NaT, as in xarray.
    Count,
}

/// Encoding of values as elements. By default elements are the values themselves.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Encoding {
    /// Values, besides NaN, that mark missing data.
    pub fills: Vec<Fill>,
    /// Whether there are attributes that mark missing data, even if only by NaN.
    pub marks_nan: bool,
    /// Factor by which stored numbers are multiplied: the attribute `scale_factor`; `None` if it is missing.
    pub scale: Option<Factor>,
    /// Number that is added to scaled numbers: the attribute `add_offset`; `None` if it is missing.
    pub offset: Option<Factor>,
    /// Signedness of integers if it differs from the stored type: unsigned (true) or signed (false).
    pub unsigned: Option<bool>,
    /// Meaning of numbers as times.
    pub times: TimeEncoding,
    /// Whether stored integers are bools.
    pub is_bool: bool,
    /// Name of the encoding of strings that are stored as bytes.
    pub strings: Option<String>,
    /// Element for `_FillValue`; `None` if there is no such attribute.
    pub fill: Option<FillValue>,
    /// Attributes of the encoding. `_FillValue` has the form in which programs give it, and is also present if the fill value of the array
    /// takes its place.
    pub taken: Map,
}

impl Encoding {
    /// Removes the attributes of the encoding of elements of `data_type` from `attributes`, and returns the encoding. The user's attributes
    /// remain.
    ///
    /// # Errors
    /// Fails for an attribute with an invalid value.
    pub fn take(data_type: &DataType, place: FillPlace<'_>, attributes: &mut Map) -> Result<Self, AttributeError> {
        let mut taken = Map::new();
        let mut take = |name: &str, attributes: &mut Map| {
            let value = attributes.remove(name)?;
            taken.insert(name, value.clone());
            Some(value)
        };
        let is_time_type = matches!(data_type, DataType::DateTime64(_) | DataType::TimeDelta64(_));
        if is_time_type {
            // numpy's own times are decoded already, and keep all attributes.
            return Ok(Self::default());
        }
        let strings = take("_Encoding", attributes).map(|value| text("_Encoding", &value)).transpose()?;
        let own_fill = take(FILL_VALUE, attributes);
        let mut fills = match (place, &own_fill) {
            (FillPlace::FillValue(Some(element)), _) => Fill::of_element(data_type, element).into_iter().collect(),
            (FillPlace::FillValue(None), Some(value)) => fill::from_plain(FILL_VALUE, data_type, value)?,
            (FillPlace::Attribute, Some(value)) => vec![fill::from_attribute(data_type, value)?],
            (_, None) => Vec::new(),
        };
        fills.retain(|fill| !fill.is_nan());
        let scale = take("scale_factor", attributes).map(|value| factor("scale_factor", &value)).transpose()?;
        let offset = take("add_offset", attributes).map(|value| factor("add_offset", &value)).transpose()?;
        let unsigned = take("_Unsigned", attributes).and_then(|value| unsigned(&value));
        let missing = take(MISSING_VALUE, attributes).map(|value| fill::from_plain(MISSING_VALUE, data_type, &value));
        let missing: Vec<Fill> = missing.transpose()?.unwrap_or_default();
        // `missing_value` is a value as it is read, `_FillValue` as it is stored.
        let others = missing.into_iter().filter(|fill| !fills.contains(fill)).collect::<Vec<_>>();
        let is_marked = matches!(place, FillPlace::FillValue(Some(_)));
        let is_fill = is_marked || own_fill.is_some();
        let element = || fills.first().map_or_else(|| fill::nan(data_type), |fill| fill.to_element(data_type));
        let mut fill = is_fill.then(element).flatten();
        if let (Some(stored), Some(unsigned)) = (data_type.layout().scalar(), unsigned) {
            let read = with_sign(stored, unsigned);
            let as_stored = fills.first().map(|fill| fill.reread(read, stored));
            fill = fill.or_else(|| as_stored?.to_element(data_type));
            fills = fills.iter().map(|fill| fill.reread(stored, read)).collect();
        }
        fills.extend(others);
        let times = match attributes.get("units").and_then(Value::as_str).map(str::to_owned) {
            Some(units) if units.contains("since") => {
                take("units", attributes);
                let calendar = take("calendar", attributes).map(|value| text("calendar", &value)).transpose()?;
                TimeEncoding::Since(units, calendar)
            }
            Some(units) if DeltaUnits::is_units(&units) => {
                match attributes.get("dtype").and_then(Value::as_str).filter(|name| name.starts_with("timedelta64")) {
                    Some(dtype) => {
                        let dtype = dtype.to_owned();
                        take("units", attributes);
                        take("dtype", attributes);
                        TimeEncoding::Span(units, dtype)
                    }
                    None => TimeEncoding::Count,
                }
            }
            _ => TimeEncoding::None,
        };
        let is_bool = attributes.get("dtype").and_then(Value::as_str) == Some("bool");
        if is_bool {
            take("dtype", attributes);
        }
        let marks_nan = taken.contains_key(FILL_VALUE) || taken.contains_key(MISSING_VALUE) || is_marked;
        if let Some(fill) = fill.as_ref().filter(|_| is_marked || place == FillPlace::Attribute) {
            taken.insert(FILL_VALUE, fill::to_plain(data_type, fill));
        }
        Ok(Self { fills, marks_nan, scale, offset, unsigned, times, is_bool, strings, fill, taken })
    }

    /// Returns the packing of numbers.
    #[must_use]
    pub fn packed(&self) -> Packed {
        let mark = |fill: &Fill| match *fill {
            Fill::Integer(value) => Some(Mark::Integer(value)),
            Fill::Float(value) => Some(Mark::Float(value)),
            Fill::Complex(re, im) => Some(Mark::Complex(re, im)),
            Fill::Bytes(_) => None,
        };
        Packed {
            marks: self.fills.iter().filter_map(mark).collect(),
            marks_nan: self.marks_nan,
            scale: self.scale,
            offset: self.offset,
            is_count: self.times != TimeEncoding::None,
        }
    }
}

/// Returns whether `_Unsigned` says that integers are unsigned; `None` unless it is the string "true" or "false", as in xarray.
fn unsigned(value: &Value) -> Option<bool> {
    match value.as_str() {
        Some("true") => Some(true),
        Some("false") => Some(false),
        _ => None,
    }
}

/// Returns the number in the attribute `scale_factor` or `add_offset`: a number, or a list of one number as in netCDF.
///
/// # Errors
/// Fails if `value` is no number; the error names `attribute`.
pub fn factor(attribute: &str, value: &Value) -> Result<Factor, AttributeError> {
    let number = match value {
        Value::Array(list) if list.len() == 1 => list.first().and_then(Value::as_number),
        _ => value.as_number(),
    };
    let number = number.ok_or_else(|| AttributeError::new(attribute, value, "a number"))?;
    Ok(match number.as_i128().map(i64::try_from) {
        Some(Ok(integer)) => Factor::Integer(integer),
        _ => Factor::Float(number.as_f64()),
    })
}

/// Returns the string in an attribute.
///
/// # Errors
/// Fails if `value` is no string; the error names `attribute`.
pub fn text(attribute: &str, value: &Value) -> Result<String, AttributeError> {
    value.as_str().map(str::to_owned).ok_or_else(|| AttributeError::new(attribute, value, "a string"))
}

/// Returns the integer type of the same size that is unsigned (or signed, if not `unsigned`).
fn with_sign(scalar: Scalar, unsigned: bool) -> Scalar {
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
