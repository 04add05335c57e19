//! Conversion of float16 as in numpy: rounding to nearest, and NaNs keep their bits as far as there is room.

use super::{F16, Rounding};

/// Bits of an IEEE 754 binary16 number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Half(pub u16);

const SIGN: u16 = 0x8000;
const INFINITY: u16 = 0x7c00;
const FRACTION: u16 = 0x03ff;

impl Half {
    /// Returns the number as a float32. A NaN keeps its sign and fraction.
    #[inline]
    pub fn to_f32(self) -> f32 {
        let sign = u32::from(self.0 & SIGN) << 16;
        let fraction = u32::from(self.0 & FRACTION);
        let exponent = u32::from(self.0 & INFINITY) >> 10;
        match exponent {
            0 => {
                // 2^-24 is the last bit of subnormal numbers.
                let magnitude = fraction as f32 * f32::from_bits((127 - 24) << 23);
                f32::from_bits(sign | magnitude.to_bits())
            }
            31 => f32::from_bits(sign | 0x7f80_0000 | fraction << 13),
            _ => f32::from_bits(sign | (exponent + 127 - 15) << 23 | fraction << 13),
        }
    }

    /// Returns the number as a float64. A NaN keeps its sign and fraction.
    #[inline]
    pub fn to_f64(self) -> f64 {
        let value = self.to_f32();
        if value.is_nan() {
            let sign = u64::from(self.0 & SIGN) << 48;
            return f64::from_bits(sign | 0x7ff0 << 48 | u64::from(self.0 & FRACTION) << 42);
        }
        value.into()
    }

    /// Returns the nearest float16; a tie goes to the even one. A NaN keeps its sign and the upper bits of its fraction.
    #[inline]
    pub fn from_f32(value: f32) -> Self {
        if value.is_nan() {
            let bits = value.to_bits();
            return Self::nan(bits >> 31 != 0, (bits >> 13) as u16);
        }
        Self::from_f64(value.into())
    }

    /// Returns the nearest float16; a tie goes to the even one. A NaN keeps its sign and the upper bits of its fraction.
    #[inline]
    pub fn from_f64(value: f64) -> Self {
        if value.is_nan() {
            let bits = value.to_bits();
            return Self::nan(bits >> 63 != 0, (bits >> 42) as u16);
        }
        let sign = if value.is_sign_negative() { SIGN } else { 0 };
        Self(F16.round(value, Rounding::NearestEven).map_or(sign | INFINITY, |bits| bits as u16))
    }

    /// Returns a NaN with `fraction`, the upper bits of the fraction of a wider NaN.
    #[inline]
    fn nan(negative: bool, fraction: u16) -> Self {
        let sign = if negative { SIGN } else { 0 };
        Self(sign | INFINITY | (fraction & FRACTION).max(1))
    }
}
