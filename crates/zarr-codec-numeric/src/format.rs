//! Floating point formats of up to 64 bits, and exact rounding to them.

use zarr_dtype::SmallFloat;

/// How a number between two that a type has is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// To the nearest, of two the even one.
    NearestEven,
    /// To the nearest, of two the one further from zero.
    NearestAway,
    TowardsZero,
    TowardsPositive,
    TowardsNegative,
}

impl Rounding {
    /// The integer that `value` is rounded to.
    #[inline(always)]
    pub(crate) fn integer(self, value: f64) -> f64 {
        match self {
            Self::NearestEven => value.round_ties_even(),
            Self::NearestAway => value.round(),
            Self::TowardsZero => value.trunc(),
            Self::TowardsPositive => value.ceil(),
            Self::TowardsNegative => value.floor(),
        }
    }

    /// `significand` / 2^`shift`, rounded as the magnitude of a number of that sign.
    fn shifted(self, negative: bool, significand: u64, shift: u32) -> u64 {
        // All beyond is less than half of the last place.
        let shift = shift.min(66);
        let significand = u128::from(significand);
        let whole = significand >> shift;
        let rest = significand - (whole << shift);
        let twice = (rest << 1).cmp(&(1 << shift));
        let up = rest > 0
            && match self {
                Self::NearestEven => twice.is_gt() || (twice.is_eq() && whole & 1 == 1),
                Self::NearestAway => twice.is_ge(),
                Self::TowardsZero => false,
                Self::TowardsPositive => !negative,
                Self::TowardsNegative => negative,
            };
        // A u64 shifted right by at least one has room for a carry; shifts by nothing have no rest.
        whole as u64 + u64::from(up)
    }
}

/// A binary floating point format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    exponent: u32,
    mantissa: u32,
    bias: i32,
    special: Special,
}

/// Which bit patterns are not numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Special {
    /// The highest exponent is infinity and NaN.
    Ieee,
    /// All bits 1 but the sign is NaN; no infinity.
    AllOnes,
    /// The negative zero is NaN; no infinity.
    NegativeZero,
    /// None.
    None,
    /// There is only an exponent, and all ones are NaN: no sign, no zero.
    PowersOfTwo,
}

const fn format(exponent: u32, mantissa: u32, bias: i32, special: Special) -> Format {
    Format { exponent, mantissa, bias, special }
}

pub(crate) const F16: Format = format(5, 10, 15, Special::Ieee);
pub(crate) const BF16: Format = format(8, 7, 127, Special::Ieee);
pub(crate) const F32: Format = format(8, 23, 127, Special::Ieee);
pub(crate) const F64: Format = format(11, 52, 1023, Special::Ieee);

/// The formats of one byte, as ml_dtypes defines them.
pub(crate) fn small(float: SmallFloat) -> Option<Format> {
    Some(match float {
        SmallFloat::Float4E2M1Fn => format(2, 1, 1, Special::None),
        SmallFloat::Float6E2M3Fn => format(2, 3, 1, Special::None),
        SmallFloat::Float6E3M2Fn => format(3, 2, 3, Special::None),
        SmallFloat::Float8E3M4 => format(3, 4, 3, Special::Ieee),
        SmallFloat::Float8E4M3 => format(4, 3, 7, Special::Ieee),
        SmallFloat::Float8E4M3B11Fnuz => format(4, 3, 11, Special::NegativeZero),
        SmallFloat::Float8E4M3Fn => format(4, 3, 7, Special::AllOnes),
        SmallFloat::Float8E4M3Fnuz => format(4, 3, 8, Special::NegativeZero),
        SmallFloat::Float8E5M2 => format(5, 2, 15, Special::Ieee),
        SmallFloat::Float8E5M2Fnuz => format(5, 2, 16, Special::NegativeZero),
        SmallFloat::Float8E8M0Fnu => format(8, 0, 127, Special::PowersOfTwo),
        _ => return None,
    })
}

/// A number is beyond the largest, or the smallest, that a format has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutOfRange;

impl Format {
    /// The bits of `value`, which is not NaN, rounded.
    ///
    /// Beyond the range is what would be so if the exponent had no end; an infinity is, where the format has none.
    pub(crate) fn round(&self, value: f64, rounding: Rounding) -> Result<u64, OutOfRange> {
        let negative = value.is_sign_negative();
        if value.is_infinite() {
            return self.infinity(negative).ok_or(OutOfRange);
        }
        let bits = value.to_bits();
        let (field, fraction) = (bits >> 52 & ones(11), bits & ones(52));
        let (significand, exponent) = if field == 0 { (fraction, 1) } else { (fraction | 1 << 52, field) };
        // The exponent of the last place: up to 971.
        self.round_exact(negative, significand, exponent as i32 - 1075, rounding)
    }

    /// The bits of `significand` * 2^`exponent` with a sign, rounded.
    pub(crate) fn round_exact(
        &self,
        negative: bool,
        significand: u64,
        exponent: i32,
        rounding: Rounding,
    ) -> Result<u64, OutOfRange> {
        let sign = if negative && self.special != Special::PowersOfTwo { self.sign() } else { 0 };
        let Some(high) = significand.checked_ilog2() else {
            return match self.special {
                Special::PowersOfTwo => Err(OutOfRange),
                Special::NegativeZero => Ok(0),
                _ => Ok(sign),
            };
        };
        let top = high as i32 + exponent;
        if self.special == Special::PowersOfTwo && (negative || top < -self.bias) {
            return Err(OutOfRange);
        }
        // Below the least exponent of numbers with a leading one, the last place stays where it is.
        let least = if self.special == Special::PowersOfTwo { -self.bias } else { 1 - self.bias };
        let top = top.max(least);
        let shift = top - self.mantissa as i32 - exponent;
        let rounded = match u32::try_from(shift) {
            Ok(shift) => rounding.shifted(negative, significand, shift),
            // To the left the result has no more bits than the mantissa.
            Err(_) => significand << shift.unsigned_abs(),
        };
        // A carry out of the mantissa, and the leading one itself, count in the exponent by the sum.
        let magnitude = (u64::from((top - least).unsigned_abs()) << self.mantissa) + rounded;
        let magnitude = if self.special == Special::PowersOfTwo { magnitude - 1 } else { magnitude };
        if magnitude > self.largest() {
            return Err(OutOfRange);
        }
        Ok(if self.special == Special::NegativeZero && magnitude == 0 { 0 } else { sign | magnitude })
    }

    /// The value of a bit pattern, exactly; bits beyond the format are ignored.
    pub(crate) fn value(&self, bits: u64) -> f64 {
        if *self == F64 {
            return f64::from_bits(bits);
        }
        if *self == F32 {
            return f32::from_bits(bits as u32).into();
        }
        let negative = self.special != Special::PowersOfTwo && bits & self.sign() != 0;
        let magnitude = bits & ones(self.exponent + self.mantissa);
        let not_a_number = match self.special {
            Special::Ieee => magnitude > self.largest() + 1,
            Special::AllOnes | Special::PowersOfTwo => magnitude > self.largest(),
            Special::NegativeZero => negative && magnitude == 0,
            Special::None => false,
        };
        let value = if not_a_number {
            f64::NAN
        } else if self.special == Special::Ieee && magnitude > self.largest() {
            f64::INFINITY
        } else {
            let field = (magnitude >> self.mantissa) as i32;
            let fraction = magnitude & ones(self.mantissa);
            let (significand, field) = match (field, self.special) {
                (_, Special::PowersOfTwo) => (1, field),
                (0, _) => (fraction, 1),
                _ => (fraction | 1 << self.mantissa, field),
            };
            // All formats here but float64 have exponents that are normal in it.
            let power = field - self.bias - self.mantissa as i32 + 1023;
            significand as f64 * f64::from_bits(u64::from(power.unsigned_abs()) << 52)
        };
        if negative { -value } else { value }
    }

    /// The infinity of that sign, if there are infinities.
    pub(crate) fn infinity(&self, negative: bool) -> Option<u64> {
        let sign = if negative { self.sign() } else { 0 };
        (self.special == Special::Ieee).then(|| sign | (self.largest() + 1))
    }

    /// What stands for all numbers beyond the range on the side where `value` lies: infinity, or else the last number.
    pub(crate) fn end(&self, value: f64) -> u64 {
        let negative = value < 0.0;
        match self.special {
            // Zero and negative numbers lie beyond the smallest power.
            Special::PowersOfTwo if value < 1.0 => 0,
            Special::Ieee => self.infinity(negative).unwrap_or_default(),
            _ => self.largest() | if negative { self.sign() } else { 0 },
        }
    }

    /// A quiet NaN of that sign with nothing else in it, or the only one there is; `None` if there is none.
    pub(crate) fn nan(&self, negative: bool) -> Option<u64> {
        let sign = if negative { self.sign() } else { 0 };
        match self.special {
            Special::Ieee => Some(sign | ones(self.exponent + 1) << (self.mantissa - 1)),
            Special::AllOnes => Some(sign | ones(self.exponent + self.mantissa)),
            Special::NegativeZero => Some(self.sign()),
            Special::PowersOfTwo => Some(self.largest() + 1),
            Special::None => None,
        }
    }

    /// Bits of the mantissa that are stored.
    pub(crate) fn mantissa(&self) -> u32 {
        self.mantissa
    }

    /// The bits of the largest number.
    fn largest(&self) -> u64 {
        match self.special {
            Special::Ieee => (ones(self.exponent) << self.mantissa) - 1,
            Special::AllOnes | Special::PowersOfTwo => ones(self.exponent + self.mantissa) - 1,
            Special::NegativeZero | Special::None => ones(self.exponent + self.mantissa),
        }
    }

    fn sign(&self) -> u64 {
        1 << (self.exponent + self.mantissa)
    }
}

/// A number of `count` ones, up to 63.
const fn ones(count: u32) -> u64 {
    (1 << count) - 1
}

#[cfg(test)]
mod tests;
