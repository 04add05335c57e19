//! Arithmetic with the rounding of C's `long double` on x86-64 and of Python's integers.

use std::cmp::Ordering;

/// Whether a product one microsecond beside a whole second is rounded to the second, as cftime does for units of seconds and longer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Snap {
    /// Rounds a product between a second and one microsecond beside it to the second.
    ToSeconds,
    /// Rounds to microseconds, and never to the second.
    Never,
}

/// Returns `value * factor` in microseconds, as cftime computes it with 64 bits of mantissa; `None` if the integer exceeds 64 bits, and for
/// NaN and infinities.
pub(super) fn microseconds(value: f64, factor: i64, snap: Snap) -> Option<i64> {
    if !value.is_finite() {
        return None;
    }
    // Whole numbers, which most are, need no rounding.
    if value.abs() < 9e15 && value.trunc() == value {
        return (value as i64).checked_mul(factor);
    }
    let (mantissa, exponent) = decode(value.abs());
    let product = u128::from(mantissa) * u128::from(factor.unsigned_abs());
    let (product, exponent) = round_to_64_bits(product, exponent);
    let (whole, rest) = split(product, exponent)?;
    let above = u128::from(rest != Rest::None);
    let nearest = whole
        + match rest {
            Rest::None | Rest::Below => 0,
            Rest::Half => whole & 1,
            Rest::Above => 1,
        };
    if whole + above >= 1 << 63 {
        return None;
    }
    let negative = value < 0.0;
    let signed = |magnitude: u128| {
        let magnitude = i128::try_from(magnitude).ok()?;
        i64::try_from(if negative { -magnitude } else { magnitude }).ok().filter(|found| *found != i64::MIN)
    };
    let found = signed(nearest)?;
    let (floor, ceil) = if negative { (whole + above, whole) } else { (whole, whole + above) };
    match found.rem_euclid(1_000_000) {
        1 if snap == Snap::ToSeconds => signed(floor),
        999_999 if snap == Snap::ToSeconds => signed(ceil),
        _ => Some(found),
    }
}

/// Returns the mantissa and the exponent of 2 of a positive, finite number.
fn decode(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let exponent = (bits >> 52) as i32;
    let fraction = bits & ((1 << 52) - 1);
    if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) }
}

/// Rounds a product to 64 bits; a tie goes to even.
fn round_to_64_bits(product: u128, exponent: i32) -> (u128, i32) {
    let bits = 128 - product.leading_zeros();
    let Some(shift) = bits.checked_sub(64).filter(|shift| *shift > 0) else {
        return (product, exponent);
    };
    let (kept, cut) = (product >> shift, product & ((1 << shift) - 1));
    let up = match cut.cmp(&(1 << (shift - 1))) {
        Ordering::Less => 0,
        Ordering::Equal => kept & 1,
        Ordering::Greater => 1,
    };
    (kept + up, exponent + shift as i32)
}

/// Fraction of a number, compared with one half.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    None,
    Below,
    Half,
    Above,
}

/// Returns the whole part of `number * 2^exponent`, and the comparison of the fraction with one half; `None` far beyond 64 bits.
fn split(number: u128, exponent: i32) -> Option<(u128, Rest)> {
    if exponent >= 0 {
        let fits = number == 0 || exponent as u32 <= number.leading_zeros().saturating_sub(63);
        return fits.then(|| (number << exponent.min(127), Rest::None));
    }
    let shift = exponent.unsigned_abs();
    if shift >= 128 {
        return Some((0, if number == 0 { Rest::None } else { Rest::Below }));
    }
    let (whole, cut) = (number >> shift, number & ((1 << shift) - 1));
    let rest = match cut.cmp(&(1 << (shift - 1))) {
        _ if cut == 0 => Rest::None,
        Ordering::Less => Rest::Below,
        Ordering::Equal => Rest::Half,
        Ordering::Greater => Rest::Above,
    };
    Some((whole, rest))
}

/// Returns `number / divisor`, rounded once, as Python divides integers. `divisor` must be positive.
pub(super) fn quotient(number: i128, divisor: i64) -> f64 {
    let magnitude = number.unsigned_abs();
    if magnitude == 0 {
        return 0.0;
    }
    let divisor = u128::from(divisor.unsigned_abs());
    // As many more bits as there is room for make the quotient longer than a mantissa, as divisors are shorter than 64
    // bits; a last bit stands for the remainder.
    let shift = magnitude.leading_zeros();
    let scaled = magnitude << shift;
    let sticky = u128::from(!scaled.is_multiple_of(divisor));
    let quotient = ((scaled / divisor) | sticky) as f64 / f64::powi(2.0, shift as i32);
    if number < 0 { -quotient } else { quotient }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_rounded_once_to_64_bits_and_once_to_integers() {
        assert_eq!(microseconds(0.1, 86_400_000_000, Snap::Never), Some(8_640_000_000));
        assert_eq!(microseconds(2.5, 1, Snap::Never), Some(2), "half to even");
        assert_eq!(microseconds(-3.5, 1, Snap::Never), Some(-4), "half to even");
        assert_eq!(microseconds(1.25e-6, 1_000_000, Snap::ToSeconds), Some(1));
        assert_eq!(microseconds(0.75e-6, 1_000_000, Snap::ToSeconds), Some(0), "down to the second");
        assert_eq!(microseconds(-0.75e-6, 1_000_000, Snap::ToSeconds), Some(0), "up to the second");
        assert_eq!(microseconds(f64::MIN_POSITIVE, 86_400_000_000, Snap::Never), Some(0));
        assert_eq!(microseconds(f64::from_bits(1), 1, Snap::Never), Some(0));
    }

    #[test]
    fn products_beyond_64_bits_are_refused() {
        for value in [f64::NAN, f64::INFINITY, 1e300, 9.3e18, 9_223_372_036_854_775_808.0, -9_223_372_036_854_775_808.0]
        {
            assert_eq!(microseconds(value, 1, Snap::Never), None, "{value}");
        }
        assert_eq!(microseconds(-9_223_372_036_854_774_784.0, 1, Snap::Never), Some(-9_223_372_036_854_774_784));
        assert_eq!(microseconds(106_751_991.5, 86_400_000_000, Snap::Never), None);
    }

    #[test]
    fn quotients_are_rounded_once() {
        assert_eq!(quotient(1, 3), 1.0 / 3.0);
        assert_eq!(quotient(-7, 2), -3.5);
        // Rounding the number to 53 bits first would give 1.
        assert_eq!(quotient((1 << 53) + 1, 1 << 53), 1.0);
        assert_eq!(quotient((1 << 54) + 3, 1 << 52), 4.000_000_000_000_001);
        assert_eq!(quotient(0, 86_400_000_000), 0.0);
    }
}
