//! The CF attributes of a variable: how its values are encoded in its elements.
//!
//! Attributes are taken as `xarray.decode_cf` takes them: `_FillValue`, `missing_value`, `scale_factor`, `add_offset`,
//! `_Unsigned`, `units` with `calendar`, `dtype` and `_Encoding` are the encoding, all others are the user's. In Zarr v2 the fill value
//! of the array is `_FillValue`; in Zarr v3 `_FillValue` is an attribute, whose floats are the base64 of a little-endian `f64`. Which of
//! them a dialect has says [`Dialect::fill_value_marks_missing`].

use crate::Result;
use crate::attribute::{FILL_VALUE, invalid, text};
pub(crate) use crate::fills::Fill;
use crate::fills::{as_given, element, element_fill, numbers, reread, stored_fill};
use zarr_array::Array;
pub(crate) use zarr_cf::packed::Factor;
use zarr_cf::packed::{Mark, Packed};
use zarr_cf::time::DeltaUnits;
use zarr_dtype::{DataType, FillValue, Scalar};
use zarr_json::{Map, Value};
use zarr_meta::Dialect;

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
    /// The element that `_FillValue` is.
    pub(crate) fill: Option<FillValue>,
    /// The attributes taken, with `_FillValue` as programs give it, also where the fill value of the array is it.
    pub(crate) taken: Map,
}

impl Encoding {
    /// The encoding of an array with these attributes; the attributes left are the user's.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidMetadata`] for an attribute that is none of its kind, with its name.
    pub(crate) fn take(array: &Array, attributes: &mut Map) -> Result<Self> {
        let fill = array.metadata().fill_value.is_some().then(|| array.fill_value());
        Self::of(array.data_type(), array.dialect(), fill, attributes)
    }

    /// As [`take`](Self::take), of elements of `data_type` in an array of `dialect` whose document has this fill value.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn of(
        data_type: &DataType,
        dialect: Dialect,
        fill: Option<&FillValue>,
        attributes: &mut Map,
    ) -> Result<Self> {
        let mut taken = Map::new();
        let mut take = |name: &str, attributes: &mut Map| {
            let value = attributes.remove(name)?;
            taken.insert(name, value.clone());
            Some(value)
        };
        let is_time_type = matches!(data_type, DataType::DateTime64(_) | DataType::TimeDelta64(_));
        if is_time_type {
            // numpy's own times are decoded already, and keep all attributes.
            return Ok(Self::none());
        }
        let strings = take("_Encoding", attributes).map(|value| text("_Encoding", &value)).transpose()?;
        let mut fills = Vec::new();
        let own_fill = take(FILL_VALUE, attributes);
        let by_fill_value = dialect.fill_value_marks_missing();
        let is_marked = by_fill_value && fill.is_some();
        match (by_fill_value, fill, &own_fill) {
            (true, Some(fill), _) => fills.extend(element_fill(data_type, fill)?),
            (true, None, Some(value)) => fills.extend(numbers(FILL_VALUE, data_type, value)?),
            (false, _, Some(value)) => fills.extend(stored_fill(data_type, value)?),
            (_, _, None) => {}
        }
        let scale = take("scale_factor", attributes).map(|value| factor("scale_factor", &value)).transpose()?;
        let offset = take("add_offset", attributes).map(|value| factor("add_offset", &value)).transpose()?;
        let unsigned = take("_Unsigned", attributes).and_then(|value| unsigned(&value));
        let missing = take("missing_value", attributes).map(|value| numbers("missing_value", data_type, &value));
        let missing: Vec<Fill> = missing.transpose()?.unwrap_or_default();
        // `missing_value` is a value as it is read, `_FillValue` as it is stored.
        let others = missing.into_iter().filter(|fill| !fills.contains(fill)).collect::<Vec<_>>();
        let is_fill = is_marked || own_fill.is_some();
        let mut fill = is_fill.then(|| element(data_type, fills.first())).flatten();
        if let (Some(stored), Some(unsigned)) = (data_type.layout().scalar(), unsigned) {
            let read = with_sign(stored, unsigned);
            let as_stored = fills.first().map(|fill| reread(fill, read, stored));
            fill = fill.or_else(|| element(data_type, Some(&as_stored?)));
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
        if let Some(fill) = fill.as_ref().filter(|_| is_marked || !by_fill_value) {
            taken.insert(FILL_VALUE, as_given(data_type, fill));
        }
        Ok(Self { fills, marks_nan, scale, offset, unsigned, times, is_bool, strings, fill, taken })
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
            fill: None,
            taken: Map::new(),
        }
    }

    /// How numbers are packed.
    pub(crate) fn packed(&self) -> Packed {
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
            is_count: self.times != Times::None,
        }
    }
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
pub(crate) fn factor(attribute: &str, value: &Value) -> Result<Factor> {
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
