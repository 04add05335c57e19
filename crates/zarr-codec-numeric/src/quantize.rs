//! `numcodecs.quantize`: rounding of floats to a number of decimal digits.

use crate::convert::{change, convert, in_blocks};
use crate::dtype::{Dtype, add_type, with_float};
use crate::filter::{self, Transform, unsupported};
use crate::number::Float;
use std::sync::Arc;
use zarr_codec::{ArrayToArray, BuildContext, CodecEntry, CodecValue, Error};
use zarr_dtype::DataType;
use zarr_json::Map;

/// Codec `numcodecs.quantize`: floats are rounded to multiples of the largest power of two that preserves `digits` decimals.
///
/// It computes in `dtype` and stores as `astype`. Decoding only converts the type back.
pub const QUANTIZE: CodecEntry =
    CodecEntry::array_to_array("numcodecs.quantize", |context| Quantize::from_config(context)?.bind(context))
        .id("quantize")
        .only_read(&["quantize"])
        .arguments(&[("digits", None), ("astype", None)])
        .example(r#"{"digits": 1}"#)
        .complete_with(|codec, data_type| add_type(codec, "dtype", data_type));

const NAME: &str = "numcodecs.quantize";

/// Maximum number of digits, above which powers of ten exceed float64.
const MAX_DIGITS: i64 = 308;

/// Codec `numcodecs.quantize`: rounding of floats to a number of decimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantize {
    /// Number of decimals; `None` if it is invalid, which makes the codec change no values.
    digits: Option<i64>,
    dtype: Option<Dtype>,
    astype: Option<Dtype>,
}

impl Quantize {
    /// Creates the codec that keeps `digits` decimals; a negative number means digits before the decimal point.
    ///
    /// # Errors
    /// [`Error::Argument`] for more than 308 digits on either side.
    pub fn digits(digits: i64) -> Result<Self, Error> {
        let digits = QUANTIZE.in_range("digits", digits, -MAX_DIGITS..=MAX_DIGITS)?;
        Ok(Self { digits: Some(digits), dtype: None, astype: None })
    }

    /// Sets the float type of stored elements.
    ///
    /// # Errors
    /// [`Error::Argument`] for a type that is no float type.
    pub fn astype(self, data_type: &DataType) -> Result<Self, Error> {
        let unfit = || QUANTIZE.argument("astype", &format!("expected a type of floats, found {data_type}"));
        let dtype = Dtype::of(data_type).filter(Dtype::is_float).ok_or_else(unfit)?;
        Ok(Self { astype: Some(dtype), ..self })
    }

    /// Returns the codec for the data type of an array.
    fn bind(self, context: &BuildContext<'_>) -> Result<Arc<dyn ArrayToArray>, Error> {
        let dtype = Dtype::decoded(NAME, context, "dtype", self.dtype)?;
        let astype = self.astype.unwrap_or_else(|| dtype.clone());
        for dtype in [&dtype, &astype] {
            if !dtype.is_float() {
                return Err(unsupported(NAME, &dtype.data_type));
            }
        }
        // The least power of two that is not below 10^digits. The product is near an integer only for 0 digits.
        let scale = self.digits.map(|digits| (digits as f64 * std::f64::consts::LOG2_10).ceil().exp2());
        filter::build(NAME, context, astype.data_type.clone(), Rounded { scale, dtype, astype })
    }
}

impl CodecValue for Quantize {
    const ENTRY: CodecEntry = QUANTIZE;

    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
        let config = context.config;
        let found = config.integer("digits", -MAX_DIGITS..=MAX_DIGITS);
        let found = config.required("digits").and(found);
        let digits = config.or_unknown("digits", found);
        let dtype = Dtype::member(NAME, config, "dtype")?;
        Ok(Self { digits, dtype, astype: Dtype::member(NAME, config, "astype")? })
    }

    fn to_config(&self) -> Map {
        let value = |dtype: &Option<Dtype>| dtype.as_ref().map(Dtype::to_value);
        Map::from_some([
            ("digits", self.digits.map(Into::into)),
            ("dtype", value(&self.dtype)),
            ("astype", value(&self.astype)),
        ])
    }
}

#[derive(Debug)]
struct Rounded {
    /// Factor before rounding; `None` if values are not changed since the number of digits is unknown.
    scale: Option<f64>,
    dtype: Dtype,
    astype: Dtype,
}

impl Transform for Rounded {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<(), String> {
        let computed = self.dtype.scalar;
        let Some(scale) = self.scale else {
            convert(&self.dtype, &self.astype, decoded, encoded);
            return Ok(());
        };
        let mut round = |block: &mut [u8]| {
            with_float!(computed, T => {
                let scale = <T as Float>::from_f64(scale);
                change::<T>(block, |value| scale.times(value).rint().over(scale));
            }, else {});
        };
        in_blocks(computed, self.astype.scalar, decoded, encoded, &mut [(computed, &mut round)]);
        Ok(())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<(), String> {
        convert(&self.astype, &self.dtype, encoded, decoded);
        Ok(())
    }
}
