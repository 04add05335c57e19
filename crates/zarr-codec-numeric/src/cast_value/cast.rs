//! Conversion in one direction.

use crate::number::Number;
use crate::real::{Range, Real, Value};
use zarr_dtype::float::{self, Format, Rounding};

/// 2^63; `TWO_127` is 2^127, beyond which all floats are multiples of 2^64, infinity or NaN.
const TWO_63: f64 = 9_223_372_036_854_775_808.0;
const TWO_127: f64 = TWO_63 * TWO_63 * 2.0;

/// Treatment of numbers outside of the range of the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutOfRangeMode {
    /// Takes the last number on that side, or infinity.
    Clamp,
    /// Takes the integer that differs by a multiple of 2^bits of the type.
    Wrap,
}

impl OutOfRangeMode {
    /// Returns the word in metadata.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Clamp => "clamp",
            Self::Wrap => "wrap",
        }
    }
}

/// Number, and the element by which it is replaced.
#[derive(Clone, Debug)]
pub(super) struct Replacement {
    pub(super) key: Value,
    pub(super) item: Box<[u8]>,
}

/// Conversion from one number type to another.
#[derive(Debug)]
pub(super) struct Cast {
    pub(super) from: Real,
    pub(super) to: Real,
    /// Name of the target type.
    pub(super) name: String,
    pub(super) rounding: Rounding,
    pub(super) out_of_range: Option<OutOfRangeMode>,
    /// Replacements of numbers. If two have the same key, the last one counts.
    pub(super) replaced: Vec<Replacement>,
}

impl Cast {
    /// Converts elements. The types are matched once, outside of the loop.
    pub(super) fn run(&self, from: &[u8], to: &mut [u8]) -> Result<(), String> {
        if self.from == self.to && self.replaced.is_empty() {
            to.copy_from_slice(from);
            return Ok(());
        }
        match self.from {
            Real::Float { size: 8, .. } => self.run_from(from, to, 8, |item| Value::Float(f64::load(item))),
            Real::Float { size: 4, .. } => self.run_from(from, to, 4, |item| Value::Float(f32::load(item).into())),
            real => self.run_from(from, to, real.size(), |item| real.load(item)),
        }
    }

    #[inline(always)]
    fn run_from(&self, from: &[u8], to: &mut [u8], size: usize, load: impl Fn(&[u8]) -> Value) -> Result<(), String> {
        let items = from.chunks_exact(size).zip(to.chunks_exact_mut(self.to.size()));
        if self.replaced.is_empty() {
            for (from, to) in items {
                self.cast(load(from), from, to)?;
            }
        } else {
            for (from, to) in items {
                let value = load(from);
                match self.replaced.iter().rev().find(|replaced| replaced.key.same(value)) {
                    Some(replaced) => to.copy_from_slice(&replaced.item),
                    None => self.cast(value, from, to)?,
                }
            }
        }
        Ok(())
    }

    /// Converts one number without a replacement; `from` is its element.
    #[inline(always)]
    fn cast(&self, value: Value, from: &[u8], to: &mut [u8]) -> Result<(), String> {
        match self.to {
            _ if self.from == self.to => to.copy_from_slice(from),
            Real::Integer(range) => self.to.store(self.integer(range, value)? as u64, to),
            Real::Float { format, .. } => self.to.store(self.float(format, value)?, to),
        }
        Ok(())
    }

    #[inline(always)]
    fn integer(&self, range: Range, value: Value) -> Result<i128, String> {
        let (value, rounded) = match value {
            Value::Integer(value) => (Value::Integer(value), value),
            Value::Float(float) => {
                let rounded = self.rounding.integer(float);
                if rounded.abs() < TWO_63 {
                    // The processor has a conversion to 64 bits only.
                    (value, i128::from(rounded as i64))
                } else if rounded.abs() < TWO_127 {
                    (value, rounded as i128)
                } else {
                    return self.beyond(range, float);
                }
            }
        };
        if range.contains(rounded) {
            return Ok(rounded);
        }
        match self.out_of_range {
            None => Err(self.error(value)),
            Some(OutOfRangeMode::Clamp) => Ok(rounded.clamp(range.least, range.most)),
            Some(OutOfRangeMode::Wrap) => Ok(range.wrap(rounded)),
        }
    }

    /// Converts a float far outside of the range of all integers, or NaN.
    #[cold]
    fn beyond(&self, range: Range, value: f64) -> Result<i128, String> {
        match self.out_of_range {
            Some(OutOfRangeMode::Clamp) if value.is_finite() => Ok(if value < 0.0 { range.least } else { range.most }),
            // All such floats are multiples of 2^64, as 0 is.
            Some(OutOfRangeMode::Wrap) if value.is_finite() => Ok(0),
            _ => Err(self.error(Value::Float(value))),
        }
    }

    #[inline(always)]
    fn float(&self, format: Format, value: Value) -> Result<u64, String> {
        if let Value::Float(float) = value
            && float.is_nan()
        {
            return format.nan(float.is_sign_negative()).ok_or_else(|| self.error(value));
        }
        if let Some(bits) = self.plain(format, value) {
            return Ok(bits);
        }
        value.round(format, self.rounding).or_else(|_| match self.out_of_range {
            // A type without infinity has no number for it, as integers.
            Some(OutOfRangeMode::Clamp) if value.approximate().is_finite() => Ok(format.end(value.approximate())),
            _ => Err(self.error(value)),
        })
    }

    /// Returns the bits by a conversion of the processor, if it gives the same result as [`Value::round`]; else `None`.
    #[inline(always)]
    fn plain(&self, format: Format, value: Value) -> Option<u64> {
        let exact = match value {
            Value::Float(value) => value,
            // Up to 2^53 all integers are float64.
            Value::Integer(value) => {
                let value = i64::try_from(value).ok().filter(|value| value.unsigned_abs() <= 1 << 53)?;
                value as f64
            }
        };
        if format == float::F64 {
            return Some(exact.to_bits());
        }
        let nearest = exact as f32;
        let fits = format == float::F32 && self.rounding == Rounding::NearestEven && nearest.is_finite();
        fits.then(|| nearest.to_bits().into())
    }

    #[cold]
    fn error(&self, value: Value) -> String {
        format!("{value} is out of the range of {}", self.name)
    }
}
