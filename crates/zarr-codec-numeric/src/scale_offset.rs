//! `scale_offset`: a linear function, computed in the type of the elements.

use crate::config::refuse_unread;
use crate::filter::{self, Transform, unsupported};
use crate::number::{map, try_map};
use crate::real::{Range, Real, Value};
use std::sync::Arc;
use zarr_codec::{ArrayToArray, BuildContext, CodecEntry, CodecValue, Error};
use zarr_dtype::float::{Format, Rounding};
use zarr_dtype::{DataType, FillValue, Scalar, Spelling};
use zarr_json::{Map, Value as Json};

/// Codec `scale_offset`: (x - `offset`) * `scale`, computed in the type of the elements.
///
/// `offset` and `scale` have the form of fill values of that type; by default they change nothing. An integer out of the range of the type
/// is an error, and so is one that is not divisible by `scale` when decoding. Floats are rounded after each operation.
pub const SCALE_OFFSET: CodecEntry =
    CodecEntry::array_to_array("scale_offset", |context| ScaleOffset::from_config(context)?.bind(context))
        .arguments(&[("offset", None), ("scale", None)])
        .example(r#"{"offset": 0, "scale": 1}"#);

const NAME: &str = "scale_offset";

/// Codec `scale_offset`: (x - offset) * scale, computed in the type of the elements.
#[derive(Clone, Debug, PartialEq)]
pub struct ScaleOffset {
    offset: Option<Json>,
    scale: Option<Json>,
}

impl ScaleOffset {
    /// Creates the codec with an offset and a scale, which must be numbers of the type of the elements.
    pub fn new(offset: impl Into<Json>, scale: impl Into<Json>) -> Self {
        Self { offset: Some(offset.into()), scale: Some(scale.into()) }
    }

    /// Returns the codec for the data type of an array.
    fn bind(&self, context: &BuildContext<'_>) -> Result<Arc<dyn ArrayToArray>, Error> {
        let data_type = &context.element.data_type;
        let real = Real::of(data_type).ok_or_else(|| unsupported(NAME, data_type))?;
        let offset = factor(context, &real, "offset", self.offset.as_ref(), 0)?;
        let scale = factor(context, &real, "scale", self.scale.as_ref(), 1)?;
        if scale.approximate() == 0.0 {
            return Err(context.config.error("scale", "expected another number than 0".to_owned()));
        }
        refuse_unread(context.config)?;
        filter::build(NAME, context, data_type.clone(), Linear { real, data_type: data_type.clone(), offset, scale })
    }
}

impl CodecValue for ScaleOffset {
    const ENTRY: CodecEntry = SCALE_OFFSET;

    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
        let member = |name: &'static str| context.config.value(name).cloned();
        Ok(Self { offset: member("offset"), scale: member("scale") })
    }

    fn to_config(&self) -> Map {
        Map::from_some([("offset", self.offset.clone()), ("scale", self.scale.clone())])
    }
}

/// Returns a member of the configuration as a number of the elements' type.
fn factor(
    context: &BuildContext<'_>,
    real: &Real,
    name: &str,
    given: Option<&Json>,
    default: i64,
) -> Result<Value, Error> {
    let data_type: &DataType = &context.element.data_type;
    let default = Json::from(default);
    let value = given.unwrap_or(&default);
    let fill = FillValue::parse_as(data_type, value, Spelling::Lenient);
    let fill = fill.map_err(|error| context.config.error(name, error.to_string()))?;
    Ok(real.load(fill.bytes()))
}

#[derive(Debug)]
struct Linear {
    real: Real,
    data_type: DataType,
    offset: Value,
    scale: Value,
}

impl Transform for Linear {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<(), String> {
        match (self.real, self.offset, self.scale) {
            (Real::Integer(range), Value::Integer(offset), Value::Integer(scale)) => {
                // Two numbers of 65 bits at most: nothing overflows.
                self.integers(range, decoded, encoded, |value| Ok((value - offset) * scale))
            }
            (Real::Float { format, size }, offset, scale) => {
                let (offset, scale) = (offset.approximate(), scale.approximate());
                match size {
                    8 => map::<f64, f64>(decoded, encoded, |value| (value - offset) * scale),
                    4 => {
                        let (offset, scale) = (offset as f32, scale as f32);
                        map::<f32, f32>(decoded, encoded, |value| (value - offset) * scale);
                    }
                    _ => return self.floats(format, decoded, encoded, |value| value - offset, |value| value * scale),
                }
                Ok(())
            }
            _ => Err(format!("elements of data type {}", self.data_type)),
        }
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<(), String> {
        match (self.real, self.offset, self.scale) {
            (Real::Integer(range), Value::Integer(offset), Value::Integer(scale)) => {
                self.integers(range, encoded, decoded, |value| match (value.checked_rem(scale), value / scale) {
                    (Some(0), quotient) => Ok(quotient + offset),
                    _ => Err(format!("{value} cannot be divided by the scale {scale}")),
                })
            }
            (Real::Float { format, size }, offset, scale) => {
                let (offset, scale) = (offset.approximate(), scale.approximate());
                match size {
                    8 => map::<f64, f64>(encoded, decoded, |value| value / scale + offset),
                    4 => {
                        let (offset, scale) = (offset as f32, scale as f32);
                        map::<f32, f32>(encoded, decoded, |value| value / scale + offset);
                    }
                    _ => return self.floats(format, encoded, decoded, |value| value / scale, |value| value + offset),
                }
                Ok(())
            }
            _ => Err(format!("elements of data type {}", self.data_type)),
        }
    }
}

impl Linear {
    fn integers(
        &self,
        range: Range,
        from: &[u8],
        to: &mut [u8],
        f: impl Fn(i128) -> Result<i128, String>,
    ) -> Result<(), String> {
        let f = |value: i128| {
            let result = f(value)?;
            if range.contains(result) {
                Ok(result)
            } else {
                Err(format!("{value} becomes {result}, which {} does not have", self.data_type))
            }
        };
        match range.scalar {
            Scalar::I16 => try_map::<i16, i16, _>(from, to, |value| Ok(f(value.into())? as i16)),
            Scalar::I32 => try_map::<i32, i32, _>(from, to, |value| Ok(f(value.into())? as i32)),
            Scalar::I64 => try_map::<i64, i64, _>(from, to, |value| Ok(f(value.into())? as i64)),
            Scalar::U16 => try_map::<u16, u16, _>(from, to, |value| Ok(f(value.into())? as u16)),
            Scalar::U32 => try_map::<u32, u32, _>(from, to, |value| Ok(f(value.into())? as u32)),
            Scalar::U64 => try_map::<u64, u64, _>(from, to, |value| Ok(f(value.into())? as u64)),
            Scalar::U8 | Scalar::U2 | Scalar::U4 => try_map::<u8, u8, _>(from, to, |value| Ok(f(value.into())? as u8)),
            _ => try_map::<i8, i8, _>(from, to, |value| Ok(f(value.into())? as i8)),
        }
    }

    /// Converts floats of fewer than 32 bits by two operations in float64, whose precision suffices for rounding twice to equal rounding
    /// once.
    fn floats(
        &self,
        format: Format,
        from: &[u8],
        to: &mut [u8],
        first: impl Fn(f64) -> f64,
        second: impl Fn(f64) -> f64,
    ) -> Result<(), String> {
        let real = self.real;
        let rounded = |value: f64| {
            if value.is_nan() {
                return format.nan(value.is_sign_negative());
            }
            let end = || format.infinity(value.is_sign_negative());
            format.round(value, Rounding::NearestEven).ok().or_else(end)
        };
        let size = real.size();
        for (from, to) in from.chunks_exact(size).zip(to.chunks_exact_mut(size)) {
            let value = real.load(from).approximate();
            let result = rounded(first(value)).and_then(|bits| rounded(second(format.value(bits))));
            let result =
                result.ok_or_else(|| format!("{value:?} becomes a value that {} does not have", self.data_type))?;
            real.store(result, to);
        }
        Ok(())
    }
}
