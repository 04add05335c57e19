//! `numcodecs.quantize`: floats to a number of decimal digits.

use crate::convert::{change, convert, in_blocks};
use crate::dtype::{Dtype, add_type, with_float};
use crate::filter::{self, Transform, unsupported};
use crate::number::Float;
use std::sync::Arc;
use zarr_codec::{ArrayToArray, BuildContext, CodecEntry, Error};

/// Codec `numcodecs.quantize`: floats rounded to multiples of the largest power of two that keeps `digits` decimal digits
/// behind the point.
///
/// Computed in `dtype` and stored as `astype`, which is all that decoding takes back.
pub const QUANTIZE: CodecEntry = CodecEntry::array_to_array("numcodecs.quantize", build)
    .id("quantize")
    .only_read(&["quantize"])
    .arguments(&[("digits", None), ("astype", None)])
    .example(r#"{"digits": 1}"#)
    .complete_with(|codec, data_type| add_type(codec, "dtype", data_type));

const NAME: &str = "numcodecs.quantize";

/// Beyond, powers of ten are no float64.
const MAX_DIGITS: i64 = 308;

fn build(context: &BuildContext<'_>) -> Result<Arc<dyn ArrayToArray>, Error> {
    let found = context.config.integer("digits", -MAX_DIGITS..=MAX_DIGITS);
    let found = context.config.required("digits").and(found);
    let digits = context.config.or_unknown("digits", found);
    let dtype = Dtype::decoded(NAME, context, "dtype")?;
    let astype = Dtype::member(NAME, context.config, "astype")?.unwrap_or_else(|| dtype.clone());
    for dtype in [&dtype, &astype] {
        if !dtype.is_float() {
            return Err(unsupported(NAME, &dtype.data_type));
        }
    }
    // The least power of two that is not below 10^digits. The product is near an integer only for 0 digits.
    let scale = digits.map(|digits| (digits as f64 * std::f64::consts::LOG2_10).ceil().exp2());
    filter::build(NAME, context, astype.data_type.clone(), Quantize { scale, dtype, astype })
}

#[derive(Debug)]
struct Quantize {
    /// `None`: values stay, since it is not known how they are to be rounded.
    scale: Option<f64>,
    dtype: Dtype,
    astype: Dtype,
}

impl Transform for Quantize {
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
