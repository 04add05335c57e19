//! `numcodecs.fixedscaleoffset`: floats as scaled integers.

use crate::convert::{CastSource, CastTarget};
use crate::dtype::{Dtype, add_type, with_float, with_integer};
use crate::filter::{self, Transform, unsupported};
use crate::number::{Arithmetic, Float, Integer, map};
use std::sync::Arc;
use zarr_codec::{ArrayToArray, BuildContext, CodecEntry, Config, Error};

/// Codec `numcodecs.fixedscaleoffset`: (x - `offset`) * `scale`, rounded to the nearest integer and stored as `astype`.
///
/// Computed as numpy 2 does: in `dtype` if that is a float or the numbers are integers, else in float64. Decoded is
/// x / `scale` + `offset`, computed in `astype` if that is a float, else in float64. Numbers that do not fit are
/// changed.
pub const FIXED_SCALE_OFFSET: CodecEntry = CodecEntry::array_to_array("numcodecs.fixedscaleoffset", build)
    .id("fixedscaleoffset")
    .only_read(&["fixedscaleoffset"])
    .arguments(&[("offset", None), ("scale", None), ("astype", None)])
    .example(r#"{"offset": 0, "scale": 2, "astype": "<i2"}"#)
    .complete_with(|codec, data_type| add_type(codec, "dtype", data_type));

const NAME: &str = "numcodecs.fixedscaleoffset";

fn build(context: &BuildContext<'_>) -> Result<Arc<dyn ArrayToArray>, Error> {
    let offset = Factor::from_config(context.config, "offset")?;
    let scale = Factor::from_config(context.config, "scale")?;
    let dtype = Dtype::decoded(NAME, context, "dtype")?;
    let astype = Dtype::member(NAME, context.config, "astype")?.unwrap_or_else(|| dtype.clone());
    for dtype in [&dtype, &astype] {
        if dtype.is_bool() || dtype.is_complex() || dtype.is_time() {
            return Err(unsupported(NAME, &dtype.data_type));
        }
    }
    let encoded = astype.data_type.clone();
    filter::build(NAME, context, encoded, FixedScaleOffset { offset, scale, dtype, astype })
}

/// A number of the configuration, whose type in Python depends on its spelling.
#[derive(Clone, Copy, Debug)]
enum Factor {
    Integer(i128),
    Float(f64),
}

impl Factor {
    fn from_config(config: &Config<'_>, name: &'static str) -> Result<Self, Error> {
        let value = config.required(name)?;
        let number = value.as_number().ok_or_else(|| config.unexpected(name, "a number", value))?;
        Ok(number.as_i128().map_or_else(|| Self::Float(number.as_f64()), Self::Integer))
    }

    fn to_f64(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    /// The integer, if it is one of type `T`.
    fn integer<T: Integer>(self) -> Option<T> {
        if let Self::Integer(value) = self { T::try_from_i128(value) } else { None }
    }
}

#[derive(Debug)]
struct FixedScaleOffset {
    offset: Factor,
    scale: Factor,
    dtype: Dtype,
    astype: Dtype,
}

impl Transform for FixedScaleOffset {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<(), String> {
        with_real!(self.astype.scalar, B => {
            with_float!(self.dtype.scalar, A => {
                let (offset, scale) = self.factors::<A>();
                map::<A, B>(decoded, encoded, |value| value.minus(offset).times(scale).rint().convert());
            }, else with_integer!(self.dtype.scalar, A => self.encode_integers::<A, B>(decoded, encoded), else {}));
        });
        Ok(())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<(), String> {
        with_real!(self.dtype.scalar, A => {
            with_float!(self.astype.scalar, B => {
                let (offset, scale) = self.factors::<B>();
                map::<B, A>(encoded, decoded, |value| value.over(scale).plus(offset).convert());
            }, else with_integer!(self.astype.scalar, B => {
                let (offset, scale) = self.factors::<f64>();
                map::<B, A>(encoded, decoded, |value| (value.to_f64() / scale + offset).convert());
            }, else {}));
        });
        Ok(())
    }
}

/// Runs `$body` with `$t` as the Rust type of an integer or float.
macro_rules! with_real {
    ($scalar:expr, $t:ident => $body:expr) => {
        with_float!($scalar, $t => $body, else with_integer!($scalar, $t => $body, else {}))
    };
}
use with_real;

impl FixedScaleOffset {
    /// Offset and scale in the type that is computed in.
    fn factors<T: Float>(&self) -> (T, T) {
        (T::from_f64(self.offset.to_f64()), T::from_f64(self.scale.to_f64()))
    }

    fn encode_integers<A: Integer + CastSource, B: CastTarget>(&self, decoded: &[u8], encoded: &mut [u8]) {
        let (offset, scale) = self.factors::<f64>();
        match (self.offset, self.scale) {
            (Factor::Integer(wide_offset), Factor::Integer(wide_scale)) => {
                match (self.offset.integer::<A>(), self.scale.integer::<A>()) {
                    (Some(offset), Some(scale)) => {
                        map::<A, B>(decoded, encoded, |value| Integer::times(value.minus(offset), scale).convert());
                    }
                    // numpy 2 refuses numbers that the type has not; numpy 1 took a wider one.
                    _ => map::<A, B>(decoded, encoded, |value| {
                        let wide = value.to_i128().wrapping_sub(wide_offset).wrapping_mul(wide_scale);
                        (wide as i64).convert()
                    }),
                }
            }
            (Factor::Integer(_), Factor::Float(_)) => match self.offset.integer::<A>() {
                Some(offset) => {
                    map::<A, B>(decoded, encoded, |value| (value.minus(offset).to_f64() * scale).rint().convert());
                }
                None => map::<A, B>(decoded, encoded, |value| ((value.to_f64() - offset) * scale).rint().convert()),
            },
            (Factor::Float(_), _) => {
                map::<A, B>(decoded, encoded, |value| ((value.to_f64() - offset) * scale).rint().convert());
            }
        }
    }
}
