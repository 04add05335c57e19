//! `numcodecs.fixedscaleoffset`: floats as scaled integers.

use crate::convert::{change, in_blocks};
use crate::dtype::{Dtype, add_type, with_bits, with_float, with_integer};
use crate::filter::{self, Transform, unsupported};
use crate::number::{Arithmetic, Float};
use std::sync::Arc;
use zarr_codec::{ArrayToArray, BuildContext, CodecEntry, CodecValue, Config, Error};
use zarr_dtype::{DataType, Scalar};
use zarr_json::{Map, Value};

/// Codec `numcodecs.fixedscaleoffset`: (x - `offset`) * `scale`, rounded to the nearest integer and stored as `astype`.
///
/// It computes as numpy 2: in `dtype` if that is a float type or offset and scale are integers, else in float64. Decoding computes x /
/// `scale` + `offset`, in `astype` if that is a float type, else in float64. Numbers that do not fit are changed without an error.
pub const FIXED_SCALE_OFFSET: CodecEntry = CodecEntry::array_to_array("numcodecs.fixedscaleoffset", |context| {
    FixedScaleOffset::from_config(context)?.bind(context)
})
.id("fixedscaleoffset")
.only_read(&["fixedscaleoffset"])
.arguments(&[("offset", None), ("scale", None), ("astype", None)])
.example(r#"{"offset": 0, "scale": 2, "astype": "<i2"}"#)
.complete_with(|codec, data_type| add_type(codec, "dtype", data_type));

const NAME: &str = "numcodecs.fixedscaleoffset";

/// Codec `numcodecs.fixedscaleoffset`: (x - offset) * scale, rounded.
#[derive(Clone, Debug, PartialEq)]
pub struct FixedScaleOffset {
    offset: Factor,
    scale: Factor,
    dtype: Option<Dtype>,
    astype: Option<Dtype>,
}

impl FixedScaleOffset {
    /// Creates the codec with an offset and a scale. Whether they are integers or floats matters for the computation.
    ///
    /// # Errors
    /// [`Error::Argument`] if `offset` or `scale` is no number.
    pub fn new(offset: impl Into<Value>, scale: impl Into<Value>) -> Result<Self, Error> {
        let factor = |name: &str, value: Value| {
            let what = || format!("expected a number, found {}", value.excerpt());
            Factor::from_value(&value).ok_or_else(|| FIXED_SCALE_OFFSET.argument(name, &what()))
        };
        let (offset, scale) = (factor("offset", offset.into())?, factor("scale", scale.into())?);
        Ok(Self { offset, scale, dtype: None, astype: None })
    }

    /// Sets the type of stored elements.
    ///
    /// # Errors
    /// [`Error::Argument`] for a type that is no number type.
    pub fn astype(self, data_type: &DataType) -> Result<Self, Error> {
        Ok(Self { astype: Some(Dtype::given(&FIXED_SCALE_OFFSET, "astype", data_type)?), ..self })
    }

    /// Returns the codec for the data type of an array.
    fn bind(self, context: &BuildContext<'_>) -> Result<Arc<dyn ArrayToArray>, Error> {
        let dtype = Dtype::decoded(NAME, context, "dtype", self.dtype)?;
        let astype = self.astype.unwrap_or_else(|| dtype.clone());
        for dtype in [&dtype, &astype] {
            if dtype.is_bool() || dtype.is_complex() || dtype.is_time() {
                return Err(unsupported(NAME, &dtype.data_type));
            }
        }
        let encoded = astype.data_type.clone();
        filter::build(NAME, context, encoded, Scaled { offset: self.offset, scale: self.scale, dtype, astype })
    }
}

impl CodecValue for FixedScaleOffset {
    const ENTRY: CodecEntry = FIXED_SCALE_OFFSET;

    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
        let config = context.config;
        let offset = Factor::from_config(config, "offset")?;
        let scale = Factor::from_config(config, "scale")?;
        let dtype = Dtype::member(NAME, config, "dtype")?;
        Ok(Self { offset, scale, dtype, astype: Dtype::member(NAME, config, "astype")? })
    }

    fn to_config(&self) -> Map {
        let value = |dtype: &Option<Dtype>| dtype.as_ref().map(Dtype::to_value);
        Map::from_some([
            ("offset", Some(self.offset.to_value())),
            ("scale", Some(self.scale.to_value())),
            ("dtype", value(&self.dtype)),
            ("astype", value(&self.astype)),
        ])
    }
}

/// Number of the configuration, whose type in Python depends on its spelling.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Factor {
    Integer(i128),
    Float(f64),
}

impl Factor {
    fn from_config(config: &Config<'_>, name: &'static str) -> Result<Self, Error> {
        let value = config.required(name)?;
        Self::from_value(value).ok_or_else(|| config.unexpected(name, "a number", value))
    }

    fn from_value(value: &Value) -> Option<Self> {
        let number = value.as_number()?;
        Some(number.as_i128().map_or_else(|| Self::Float(number.as_f64()), Self::Integer))
    }

    fn to_value(self) -> Value {
        match self {
            Self::Integer(value) => value.into(),
            Self::Float(value) => value.into(),
        }
    }

    fn to_f64(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    /// Returns the bits of the integer if the type `scalar` has it; `None` for floats and integers out of range.
    fn bits(self, scalar: Scalar) -> Option<u64> {
        let Self::Integer(value) = self else { return None };
        let fits = with_integer!(scalar, T => T::try_from(value).is_ok(), else false);
        fits.then_some(value as u64)
    }
}

#[derive(Debug)]
struct Scaled {
    offset: Factor,
    scale: Factor,
    dtype: Dtype,
    astype: Dtype,
}

impl Transform for Scaled {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<(), String> {
        let (from, to) = (self.dtype.scalar, self.astype.scalar);
        let (offset, scale) = (self.offset.to_f64(), self.scale.to_f64());
        if self.dtype.is_float() {
            in_blocks(from, to, decoded, encoded, &mut [(from, &mut |block| scale_floats(from, block, offset, scale))]);
            return Ok(());
        }
        match (self.offset, self.scale, self.offset.bits(from)) {
            (Factor::Integer(wide_offset), Factor::Integer(wide_scale), bits) => {
                let (computed, offset, scale) = match (bits, self.scale.bits(from)) {
                    (Some(offset), Some(scale)) => (from, offset, scale),
                    // numpy 2 refuses numbers that the type has not; numpy 1 took a wider one, of which 64 bits stay.
                    _ => (Scalar::I64, wide_offset as u64, wide_scale as u64),
                };
                let mut multiply = |block: &mut [u8]| scale_integers(computed, block, offset, scale);
                in_blocks(from, to, decoded, encoded, &mut [(computed, &mut multiply)]);
            }
            (_, Factor::Float(_), Some(offset)) => {
                let mut subtract = |block: &mut [u8]| scale_integers(from, block, offset, 1);
                let mut multiply = |block: &mut [u8]| scale_floats(Scalar::F64, block, 0.0, scale);
                in_blocks(from, to, decoded, encoded, &mut [(from, &mut subtract), (Scalar::F64, &mut multiply)]);
            }
            _ => {
                let mut multiply = |block: &mut [u8]| scale_floats(Scalar::F64, block, offset, scale);
                in_blocks(from, to, decoded, encoded, &mut [(Scalar::F64, &mut multiply)]);
            }
        }
        Ok(())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<(), String> {
        let (offset, scale) = (self.offset.to_f64(), self.scale.to_f64());
        let computed = if self.astype.is_float() { self.astype.scalar } else { Scalar::F64 };
        let mut divide = |block: &mut [u8]| {
            with_float!(computed, T => {
                let (offset, scale) = (<T as Float>::from_f64(offset), <T as Float>::from_f64(scale));
                change::<T>(block, |value| value.over(scale).plus(offset));
            }, else {});
        };
        in_blocks(self.astype.scalar, self.dtype.scalar, encoded, decoded, &mut [(computed, &mut divide)]);
        Ok(())
    }
}

/// Replaces floats by (x - `offset`) * `scale`, rounded to the nearest integer.
fn scale_floats(scalar: Scalar, numbers: &mut [u8], offset: f64, scale: f64) {
    with_float!(scalar, T => {
        let (offset, scale) = (<T as Float>::from_f64(offset), <T as Float>::from_f64(scale));
        change::<T>(numbers, |value| value.minus(offset).times(scale).rint());
    }, else {});
}

/// Replaces integers by (x - `offset`) * `scale`, wrapped to their number of bits.
fn scale_integers(scalar: Scalar, numbers: &mut [u8], offset: u64, scale: u64) {
    with_bits!(scalar, T => {
        change::<T>(numbers, |value| value.wrapping_sub(offset as T).wrapping_mul(scale as T));
    });
}
