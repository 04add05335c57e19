//! Floating point formats of up to 64 bits: values of bit patterns, and exact rounding.

mod half;
#[cfg(test)]
mod tests;
mod text;

pub use half::Half;

/// Direction of rounding for a number between two representable numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Rounds to the nearest number; a tie goes to the even number.
    NearestEven,
    /// Rounds to the nearest number; a tie goes to the number further from zero.
    NearestAway,
    /// Rounds to the number nearer to zero.
    TowardsZero,
    /// Rounds to the greater number.
    TowardsPositive,
    /// Rounds to the lesser number.
    TowardsNegative,
}

impl Rounding {
    /// Returns `value` rounded to an integer.
    #[inline(always)]
    pub fn integer(self, value: f64) -> f64 {
        match self {
            Self::NearestEven => value.round_ties_even(),
            Self::NearestAway => value.round(),
            Self::TowardsZero => value.trunc(),
            Self::TowardsPositive => value.ceil(),
            Self::TowardsNegative => value.floor(),
        }
    }

    /// Returns `significand` / 2^`shift`, rounded; `negative` is the sign of the number of which it is the magnitude.
    #[inline]
    fn shifted(self, negative: bool, significand: u64, shift: u32) -> u64 {
        // All beyond is less than half of the last bit.
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

/// Binary floating point format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Size of one number in bytes.
    pub(crate) size: usize,
    pub(crate) exponent: u32,
    pub(crate) mantissa: u32,
    pub(crate) bias: i32,
    pub(crate) special: Special,
}

/// Bit patterns of a format that are not finite numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    /// The highest exponent is infinity and NaN.
    Ieee,
    /// All bits except the sign being 1 is NaN; there is no infinity.
    AllOnes,
    /// The bit pattern of negative zero is NaN; there is no infinity.
    NegativeZero,
    /// All bit patterns are numbers.
    None,
    /// Only an exponent: no sign, no zero, and all bits being 1 is NaN.
    PowersOfTwo,
}

const fn ieee(size: usize, exponent: u32, mantissa: u32) -> Format {
    Format { size, exponent, mantissa, bias: (1 << (exponent - 1)) - 1, special: Special::Ieee }
}

/// Format binary16 of IEEE 754.
pub const F16: Format = ieee(2, 5, 10);
/// The upper half of a binary32.
pub const BF16: Format = ieee(2, 8, 7);
/// Format binary32 of IEEE 754.
pub const F32: Format = ieee(4, 8, 23);
/// Format binary64 of IEEE 754.
pub const F64: Format = ieee(8, 11, 52);

/// Error for a number outside of the range of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfRange;

impl Format {
    /// Returns the bits of `value`, which is not NaN, rounded to the format.
    ///
    /// # Errors
    /// [`OutOfRange`] for a number whose rounded value would exceed the largest number, and for an infinity if the format has none.
    #[inline]
    pub fn round(&self, value: f64, rounding: Rounding) -> Result<u64, OutOfRange> {
        let negative = value.is_sign_negative();
        if value.is_infinite() {
            return self.infinity(negative).ok_or(OutOfRange);
        }
        let bits = value.to_bits();
        let (field, fraction) = (bits >> 52 & ones(11), bits & ones(52));
        let (significand, exponent) = if field == 0 { (fraction, 1) } else { (fraction | 1 << 52, field) };
        // The exponent of the last bit: up to 971.
        self.round_exact(negative, significand, exponent as i32 - 1075, rounding)
    }

    /// Returns the bits of `significand` * 2^`exponent` with the given sign, rounded to the format.
    ///
    /// # Errors
    /// The same errors as [`round`](Self::round).
    #[inline]
    pub fn round_exact(
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
        // Below the least exponent of numbers with a leading one, the last bit keeps its weight.
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

    /// Returns the exact value of a bit pattern; bits beyond the format are ignored.
    #[inline]
    pub fn value(&self, bits: u64) -> f64 {
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

    /// Returns the bits of the infinity with the given sign; `None` if the format has no infinities.
    pub fn infinity(&self, negative: bool) -> Option<u64> {
        let sign = if negative { self.sign() } else { 0 };
        (self.special == Special::Ieee).then(|| sign | (self.largest() + 1))
    }

    /// Returns the bits for numbers outside of the range on the side of `value`: infinity, or else the last number.
    pub fn end(&self, value: f64) -> u64 {
        let negative = value < 0.0;
        match self.special {
            // Zero and negative numbers lie beyond the smallest power.
            Special::PowersOfTwo if value < 1.0 => 0,
            Special::Ieee => self.infinity(negative).unwrap_or_default(),
            _ => self.largest() | if negative { self.sign() } else { 0 },
        }
    }

    /// Returns the bits of a quiet NaN with the given sign and no payload, or of the only NaN of the format; `None` if the format has no
    /// NaN.
    pub fn nan(&self, negative: bool) -> Option<u64> {
        let sign = if negative { self.sign() } else { 0 };
        match self.special {
            Special::Ieee => Some(sign | ones(self.exponent + 1) << (self.mantissa - 1)),
            Special::AllOnes => Some(sign | ones(self.exponent + self.mantissa)),
            Special::NegativeZero => Some(self.sign()),
            Special::PowersOfTwo => Some(self.largest() + 1),
            Special::None => None,
        }
    }

    /// Returns the number of stored mantissa bits.
    pub fn mantissa(&self) -> u32 {
        self.mantissa
    }

    /// Returns the bits of the largest number.
    fn largest(&self) -> u64 {
        match self.special {
            Special::Ieee => (ones(self.exponent) << self.mantissa) - 1,
            Special::AllOnes | Special::PowersOfTwo => ones(self.exponent + self.mantissa) - 1,
            Special::NegativeZero | Special::None => ones(self.exponent + self.mantissa),
        }
    }

    /// Returns the bit pattern nearest to `value`; a tie goes to the even one (for powers of two to the greater). Beyond the largest number
    /// the result is infinity, or else NaN. `None` if the format has neither.
    pub(crate) fn nearest(&self, value: f64) -> Option<u64> {
        if value.is_nan() {
            return self.nan(false);
        }
        if self.special == Special::PowersOfTwo {
            return self.nearest_power(value);
        }
        match self.round(value, Rounding::NearestEven) {
            Ok(bits) => Some(bits),
            Err(OutOfRange) if value.is_infinite() => None,
            Err(OutOfRange) => self.infinity(value < 0.0).or_else(|| self.nan(false)),
        }
    }

    fn nearest_power(&self, value: f64) -> Option<u64> {
        if value <= 0.0 || value.is_infinite() {
            return None;
        }
        // Between two powers the mean decides, and goes to the greater as in ml_dtypes; 2^-127 stands for all below it.
        let (field, fraction) = ((value.to_bits() >> 52) as i32, value.to_bits() & ones(52));
        let exponent = field - 1023 + i32::from(fraction >= 1 << 51) + self.bias;
        u64::try_from(exponent.max(0)).ok().filter(|&bits| bits < 0xff)
    }

    fn sign(&self) -> u64 {
        1 << (self.exponent + self.mantissa)
    }

    /// Returns a mask of the bits of a number.
    fn mask(&self) -> u64 {
        let sign = if self.special == Special::PowersOfTwo { 0 } else { self.sign() };
        ones(self.exponent + self.mantissa) | sign
    }
}

/// Returns a number whose lowest `count` bits, up to 63, are 1.
const fn ones(count: u32) -> u64 {
    (1 << count) - 1
}
