//! Floating point formats of any width up to 64 bits: bit patterns, numbers and JSON.

use zarr_meta::json::{Number, Value};

/// A binary floating point format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// Bytes of one number.
    pub(crate) size: usize,
    pub(crate) exponent: u32,
    pub(crate) mantissa: u32,
    pub(crate) bias: i32,
    pub(crate) special: Special,
}

/// Which bit patterns are not numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    /// The highest exponent is infinity and NaN.
    Ieee,
    /// All bits 1 but the sign is NaN; no infinity.
    AllOnes,
    /// The negative zero is NaN; no infinity.
    NegativeZero,
    /// None.
    None,
    /// There is only an exponent, and all ones are NaN.
    PowersOfTwo,
}

pub(crate) const F16: Format = Format { size: 2, exponent: 5, mantissa: 10, bias: 15, special: Special::Ieee };
pub(crate) const BF16: Format = Format { size: 2, exponent: 8, mantissa: 7, bias: 127, special: Special::Ieee };
pub(crate) const F32: Format = Format { size: 4, exponent: 8, mantissa: 23, bias: 127, special: Special::Ieee };
pub(crate) const F64: Format = Format { size: 8, exponent: 11, mantissa: 52, bias: 1023, special: Special::Ieee };

impl Format {
    /// The value of a bit pattern; bits beyond the format are ignored.
    pub(crate) fn value(&self, bits: u64) -> f64 {
        if self.special == Special::PowersOfTwo {
            return if bits & 0xff == 0xff { f64::NAN } else { power_of_two(low_i32(bits & 0xff) - self.bias) };
        }
        let field = (bits >> self.mantissa) & ones(self.exponent);
        let fraction = bits & ones(self.mantissa);
        let negative = bits & self.sign() != 0;
        let magnitude = bits & ones(self.exponent + self.mantissa);
        let not_a_number = match self.special {
            Special::Ieee => field == ones(self.exponent) && fraction != 0,
            Special::AllOnes => magnitude == ones(self.exponent + self.mantissa),
            Special::NegativeZero => negative && magnitude == 0,
            Special::None | Special::PowersOfTwo => false,
        };
        if not_a_number {
            return f64::NAN;
        }
        let value = if self.special == Special::Ieee && field == ones(self.exponent) {
            f64::INFINITY
        } else {
            // A number without the leading one has the exponent of the smallest with it.
            let (lead, field) = if field == 0 { (0, 1) } else { (1 << self.mantissa, field) };
            let exponent = low_i32(field) - self.bias - self.mantissa.cast_signed();
            scale(lead | fraction, exponent)
        };
        if negative { -value } else { value }
    }

    /// The bit pattern nearest to `value`, of two the even one; beyond the largest number infinity or else NaN. `None`
    /// where the format has nothing like it.
    pub(crate) fn nearest(&self, value: f64) -> Option<u64> {
        if value.is_nan() {
            return self.nan();
        }
        if self.special == Special::PowersOfTwo {
            return self.nearest_power(value);
        }
        let sign = if value.is_sign_negative() { self.sign() } else { 0 };
        let bits = value.to_bits() & ones(63);
        let (field, fraction) = (bits >> 52, bits & ones(52));
        if field == ones(11) {
            return (self.special == Special::Ieee).then(|| sign | (ones(self.exponent) << self.mantissa));
        }
        let (significand, exponent) =
            if field == 0 { (fraction, -1022) } else { (fraction | 1 << 52, low_i32(field) - 1023) };
        // The value is significand * 2^(exponent - 52), and is rounded to a multiple of the last place there.
        let least = 1 - self.bias;
        let top = exponent.max(least);
        let shift = (top - exponent).unsigned_abs() + 52 - self.mantissa;
        let rounded = round_shift(significand, shift);
        // A rounded value of one more bit than the mantissa is carried into the exponent by the sum.
        let magnitude = (u64::from((top + self.bias - 1).unsigned_abs()) << self.mantissa) + rounded;
        let largest = match self.special {
            Special::Ieee => (ones(self.exponent) << self.mantissa) - 1,
            Special::AllOnes => ones(self.exponent + self.mantissa) - 1,
            _ => ones(self.exponent + self.mantissa),
        };
        if magnitude > largest {
            return match self.special {
                Special::Ieee => Some(sign | (largest + 1)),
                _ => self.nan(),
            };
        }
        Some(if self.special == Special::NegativeZero && magnitude == 0 { 0 } else { sign | magnitude })
    }

    fn nearest_power(&self, value: f64) -> Option<u64> {
        if value <= 0.0 || value.is_infinite() {
            return None;
        }
        // Between two powers the mean decides; 2^-127 stands for all below it.
        let (field, fraction) = (low_i32(value.to_bits() >> 52), value.to_bits() & ones(52));
        let exponent = field - 1023 + i32::from(fraction > 1 << 51) + self.bias;
        u64::try_from(exponent.max(0)).ok().filter(|&bits| bits < 0xff)
    }

    /// The quiet NaN with sign 0 and nothing else in it, or the only one there is.
    pub(crate) fn nan(&self) -> Option<u64> {
        match self.special {
            Special::Ieee => Some((ones(self.exponent + 1)) << (self.mantissa - 1)),
            Special::AllOnes => Some(ones(self.exponent + self.mantissa)),
            Special::NegativeZero => Some(self.sign()),
            Special::PowersOfTwo => Some(0xff),
            Special::None => None,
        }
    }

    /// The bit pattern of a number in JSON.
    pub(crate) fn parse_number(&self, number: &Number) -> Option<u64> {
        if !number.is_json() {
            return self.parse_text(number.as_str());
        }
        // By way of f64 a float32 would be rounded twice.
        let value = if *self == F32 { number.as_str().parse::<f32>().ok()?.into() } else { number.as_f64() };
        self.nearest(value)
    }

    /// The bit pattern of a text: a name, or `0x` and all hexadecimal digits, or `0b` and all binary ones.
    pub(crate) fn parse_text(&self, text: &str) -> Option<u64> {
        match text {
            "NaN" => return self.nan(),
            "Infinity" | "+Infinity" => return self.nearest(f64::INFINITY),
            "-Infinity" => return self.nearest(f64::NEG_INFINITY),
            _ => (),
        }
        let (digits, radix, each) = match (text.strip_prefix("0x"), text.strip_prefix("0b")) {
            (Some(digits), _) => (digits, 16, 4),
            (_, Some(digits)) => (digits, 2, 1),
            _ => return None,
        };
        let all = digits.len() == 8 * self.size / each && digits.bytes().all(|digit| char::from(digit).is_digit(radix));
        let bits = if all { u64::from_str_radix(digits, radix).ok()? } else { return None };
        // Types of four and six bits have no use for the upper ones.
        (bits & !self.mask() == 0).then_some(bits)
    }

    /// The number as JSON, as [`to_text`](Self::to_text) has it, or a name, or the bits for a NaN that has no name.
    pub(crate) fn to_json(self, bits: u64) -> Value {
        let bits = bits & self.mask();
        let value = self.value(bits);
        if value.is_nan() && Some(bits) != self.nan() {
            return Value::String(format!("0x{bits:0width$x}", width = 2 * self.size));
        }
        let text = self.to_text(bits);
        Number::parse(&text).map_or(Value::String(text), Value::Number)
    }

    /// The number as text: shortest that is read as the same (the value itself, where a number is one byte), or `NaN`, `Infinity`,
    /// `-Infinity`.
    pub(crate) fn to_text(self, bits: u64) -> String {
        let bits = bits & self.mask();
        let value = self.value(bits);
        if value.is_nan() {
            return "NaN".to_owned();
        }
        if value.is_infinite() {
            return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
        }
        // Those of one byte are so coarse that the shortest text is far from the value: 300 for 256.
        if self == F64 || self.size == 1 {
            return format!("{value:?}");
        }
        if self == F32 {
            let Ok(bits) = u32::try_from(bits) else { return format!("{value:?}") };
            let text = format!("{:?}", f32::from_bits(bits));
            // Readers that go by way of f64 must find the same, too.
            let same = text.parse::<f64>().is_ok_and(|by_way| self.nearest(by_way) == Some(bits.into()));
            return if same { text } else { format!("{value:?}") };
        }
        (0..17)
            .filter_map(|digits| format!("{value:.digits$e}").parse::<f64>().ok())
            .find(|short| self.nearest(*short) == Some(bits))
            .map_or_else(|| format!("{value:?}"), |short| format!("{short:?}"))
    }

    /// The bit pattern that lies in memory as the first bytes of `item`.
    pub(crate) fn load(&self, item: &[u8]) -> Option<u64> {
        let item = item.get(..self.size)?;
        let mut wide = [0; 8];
        let place = if cfg!(target_endian = "little") { 0..self.size } else { 8 - self.size..8 };
        wide.get_mut(place)?.copy_from_slice(item);
        Some(u64::from_ne_bytes(wide))
    }

    /// Appends a bit pattern as it lies in memory.
    pub(crate) fn store(&self, bits: u64, into: &mut Vec<u8>) {
        let wide = bits.to_ne_bytes();
        let place = if cfg!(target_endian = "little") { 0..self.size } else { 8 - self.size..8 };
        into.extend_from_slice(&wide[place]);
    }

    fn sign(&self) -> u64 {
        match self.special {
            Special::PowersOfTwo => 0,
            _ => 1 << (self.exponent + self.mantissa),
        }
    }

    fn mask(&self) -> u64 {
        ones(self.exponent + self.mantissa) | self.sign()
    }
}

/// A number of `count` ones, up to 63.
const fn ones(count: u32) -> u64 {
    (1 << count) - 1
}

/// The lowest 31 bits: all callers mask or shift to less.
fn low_i32(bits: u64) -> i32 {
    i32::try_from(bits & ones(31)).unwrap_or(i32::MAX)
}

/// 2^exponent for an exponent of a normal number, -1022 to 1023, or of a subnormal one.
fn power_of_two(exponent: i32) -> f64 {
    scale(1, exponent)
}

/// significand * 2^exponent, exact for all numbers of the formats here.
fn scale(significand: u64, exponent: i32) -> f64 {
    if significand == 0 {
        return 0.0;
    }
    let high = significand.ilog2();
    let field = exponent + high.cast_signed() + 1023;
    if field > 0 {
        let fraction = (significand << (52 - high)) & ones(52);
        f64::from_bits((u64::from(field.unsigned_abs()) << 52) | fraction)
    } else {
        // Only float64 itself gets here, and its exponent is then that of the last place: -1074.
        f64::from_bits(significand)
    }
}

/// significand / 2^shift, to the nearest integer, of two the even one.
fn round_shift(significand: u64, shift: u32) -> u64 {
    if shift == 0 {
        return significand;
    }
    if shift > 62 {
        return 0;
    }
    let (whole, rest, half) = (significand >> shift, significand & ones(shift), 1 << (shift - 1));
    whole + u64::from(rest > half || (rest == half && whole & 1 == 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SmallFloat;
    use half::{bf16, f16};
    use proptest::prelude::*;

    fn small_formats() -> impl Iterator<Item = Format> {
        SmallFloat::ALL.into_iter().map(SmallFloat::format)
    }

    #[test]
    fn values_are_those_of_other_implementations() {
        for bits in 0..=u16::MAX {
            let check = |found: f64, expected: f64| assert_eq!(found.to_bits(), expected.to_bits(), "{bits:#x}");
            if !f16::from_bits(bits).is_nan() {
                check(F16.value(bits.into()), f16::from_bits(bits).to_f64());
            }
            if !bf16::from_bits(bits).is_nan() {
                check(BF16.value(bits.into()), bf16::from_bits(bits).to_f64());
            }
        }
        // Largest and special numbers, worked out from the definitions of the formats.
        let check =
            |float: SmallFloat, bits: u8, value: f64| assert_eq!(float.to_f64(bits), value, "{float:?} {bits:#x}");
        check(SmallFloat::Float4E2M1Fn, 0x7, 6.0);
        check(SmallFloat::Float4E2M1Fn, 0xf9, -0.5);
        check(SmallFloat::Float6E2M3Fn, 0x1f, 7.5);
        check(SmallFloat::Float6E3M2Fn, 0x3f, -28.0);
        check(SmallFloat::Float8E3M4, 0x6f, 15.5);
        check(SmallFloat::Float8E3M4, 0x70, f64::INFINITY);
        check(SmallFloat::Float8E4M3, 0x77, 240.0);
        check(SmallFloat::Float8E4M3B11Fnuz, 0x7f, 30.0);
        check(SmallFloat::Float8E4M3Fn, 0x7e, 448.0);
        check(SmallFloat::Float8E4M3Fnuz, 0x7f, 240.0);
        check(SmallFloat::Float8E5M2, 0x7b, 57344.0);
        check(SmallFloat::Float8E5M2, 0xfc, f64::NEG_INFINITY);
        check(SmallFloat::Float8E5M2Fnuz, 0x7f, 57344.0);
        check(SmallFloat::Float8E8M0Fnu, 0x7f, 1.0);
        check(SmallFloat::Float8E8M0Fnu, 0x00, 2.0_f64.powi(-127));
        let nans = [
            (SmallFloat::Float8E4M3Fn, 0x7f),
            (SmallFloat::Float8E4M3Fn, 0xff),
            (SmallFloat::Float8E4M3Fnuz, 0x80),
            (SmallFloat::Float8E5M2, 0x7d),
            (SmallFloat::Float8E8M0Fnu, 0xff),
        ];
        for (float, bits) in nans {
            assert!(float.to_f64(bits).is_nan(), "{float:?} {bits:#x}");
        }
    }

    #[test]
    fn every_pattern_comes_back_from_json() {
        let check = |format: Format, bits: u64| {
            let parsed = match format.to_json(bits) {
                Value::Number(number) => format.parse_number(&number),
                Value::String(text) => format.parse_text(&text),
                _ => None,
            };
            assert_eq!(parsed, Some(bits), "{format:?} {bits:#x}");
        };
        for bits in 0..=u64::from(u16::MAX) {
            check(F16, bits);
            check(BF16, bits);
        }
        for format in small_formats() {
            (0..=format.mask()).for_each(|bits| check(format, bits));
        }
    }

    #[test]
    fn canonical_nans_are_quiet() {
        let check = |format: Format, bits: u64| {
            assert_eq!(format.parse_text("NaN"), Some(bits));
            assert_eq!(format.to_json(bits), Value::from("NaN"));
        };
        check(F16, 0x7e00);
        check(BF16, 0x7fc0);
        check(F32, 0x7fc0_0000);
        check(F64, 0x7ff8_0000_0000_0000);
        check(SmallFloat::Float8E5M2.format(), 0x7e);
        check(SmallFloat::Float8E4M3Fnuz.format(), 0x80);
        assert_eq!(SmallFloat::Float6E3M2Fn.format().parse_text("NaN"), None);
        assert_eq!(SmallFloat::Float6E3M2Fn.format().parse_text("0x40"), None);
    }

    #[test]
    fn numbers_are_short() {
        let check = |format: Format, text: &str| {
            let bits = format.parse_number(&Number::parse(text).unwrap()).unwrap();
            assert_eq!(format.to_text(bits), text);
        };
        for text in ["0.0", "-0.0", "0.1", "65500.0", "6e-8", "1.5", "0.3333"] {
            check(F16, text);
        }
        for text in ["0.1", "1e38", "3.39e38", "-1.5"] {
            check(BF16, text);
        }
        for text in ["256.0", "0.001953125"] {
            check(SmallFloat::Float8E8M0Fnu.format(), text);
        }
        for text in ["0.1", "3.4028235e38", "1e-45", "0.33333334", "16777216.0"] {
            check(F32, text);
        }
        for text in ["0.1", "1.7976931348623157e308", "5e-324", "-0.0", "1e16"] {
            check(F64, text);
        }
    }

    #[test]
    fn beyond_the_range_lies_infinity_or_nan() {
        let check = |format: Format, value: f64, bits: Option<u64>| {
            assert_eq!(format.nearest(value), bits, "{format:?} {value}");
        };
        check(F16, 65519.99, Some(0x7bff));
        check(F16, -65520.0, Some(0xfc00));
        check(F32, f64::MAX, Some(0x7f80_0000));
        check(SmallFloat::Float8E4M3Fn.format(), 464.0, Some(0x7e));
        check(SmallFloat::Float8E4M3Fn.format(), 465.0, Some(0x7f));
        check(SmallFloat::Float8E4M3Fnuz.format(), -0.0, Some(0));
        check(SmallFloat::Float4E2M1Fn.format(), 8.0, None);
        check(SmallFloat::Float4E2M1Fn.format(), f64::INFINITY, None);
        check(SmallFloat::Float8E8M0Fnu.format(), 0.0, None);
        check(SmallFloat::Float8E8M0Fnu.format(), 1e-300, Some(0));
        check(SmallFloat::Float8E8M0Fnu.format(), 1e300, None);
    }

    proptest! {
        #[test]
        fn float32_rounds_as_rust_does(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assume!(!value.is_nan());
            #[expect(clippy::cast_possible_truncation, reason = "rounding is what is compared")]
            let expected = value as f32;
            prop_assert_eq!(F32.nearest(value), Some(expected.to_bits().into()));
            prop_assert_eq!(F64.nearest(value), Some(bits));
            prop_assert_eq!(F64.value(bits).to_bits(), bits);
        }

        #[test]
        fn float32_comes_back_from_json(bits: u32) {
            let value = f32::from_bits(bits);
            if !value.is_nan() {
                prop_assert_eq!(F32.value(bits.into()).to_bits(), f64::from(value).to_bits());
            }
            let parsed = match F32.to_json(bits.into()) {
                Value::Number(number) => F32.parse_number(&number),
                Value::String(text) => F32.parse_text(&text),
                _ => None,
            };
            prop_assert_eq!(parsed, Some(bits.into()));
        }

        #[test]
        fn small_floats_round_to_the_nearest(value in -1.0_f64..1.0, scale in -20_i32..20) {
            let value = value * 2.0_f64.powi(scale);
            for format in small_formats().chain([F16]) {
                if format.special == Special::PowersOfTwo {
                    continue;
                }
                let numbers = (0..=format.mask()).map(|bits| (bits, format.value(bits)));
                let largest = numbers.clone().map(|(_, number)| number).filter(|number| number.is_finite()).fold(0.0, f64::max);
                if value.abs() > largest {
                    continue;
                }
                let distance = |number: f64| (number - value).abs();
                let nearest = numbers.filter(|(_, number)| number.is_finite()).min_by(|a, b| {
                    distance(a.1).total_cmp(&distance(b.1)).then((a.0 & 1).cmp(&(b.0 & 1)))
                });
                let found = format.nearest(value).map(|bits| format.value(bits));
                prop_assert_eq!(found, nearest.map(|(_, number)| number));
            }
        }
    }
}
