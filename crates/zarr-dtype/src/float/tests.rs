//! Values and rounding of all formats.

use super::*;
use crate::SmallFloat;
use ::half::{bf16, f16};
use proptest::prelude::*;
use zarr_json::{Number, Value};

fn small_formats() -> impl Iterator<Item = Format> {
    SmallFloat::ALL.into_iter().map(SmallFloat::format)
}

#[test]
fn values_equal_other_implementations() {
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
    let check = |float: SmallFloat, bits: u8, value: f64| assert_eq!(float.to_f64(bits), value, "{float:?} {bits:#x}");
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
fn between_powers_of_two_the_mean_goes_to_the_greater() {
    // As `np.array([1.5, 3.0, 5.75]).astype(ml_dtypes.float8_e8m0fnu)`.
    for (value, bits) in [(1.5, 0x80), (3.0, 0x81), (2.99, 0x80), (5.75, 0x81)] {
        assert_eq!(SmallFloat::Float8E8M0Fnu.format().nearest(value), Some(bits), "{value}");
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
        #[expect(clippy::cast_possible_truncation, reason = "the test compares rounding")]
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

const ROUNDINGS: [Rounding; 5] = [
    Rounding::NearestEven,
    Rounding::NearestAway,
    Rounding::TowardsZero,
    Rounding::TowardsPositive,
    Rounding::TowardsNegative,
];

fn formats() -> Vec<Format> {
    small_formats().chain([F16, BF16]).collect()
}

/// Returns the bits of all numbers, positive and negative, with their values.
fn numbers(format: Format) -> Vec<(u64, f64)> {
    let all = 0..2 * format.sign();
    all.map(|bits| (bits, format.value(bits))).filter(|(_, value)| value.is_finite()).collect()
}

#[test]
fn numbers_are_rounded_to_themselves() {
    for format in formats() {
        for (bits, value) in numbers(format) {
            let bits = if format.special == Special::PowersOfTwo { bits & ones(format.exponent) } else { bits };
            for rounding in ROUNDINGS {
                assert_eq!(format.round(value, rounding), Ok(bits), "{format:?} {value}");
            }
        }
        for negative in [false, true] {
            if let Some(nan) = format.nan(negative) {
                assert!(format.value(nan).is_nan(), "{format:?}");
            }
            if let Some(infinity) = format.infinity(negative) {
                assert_eq!(format.value(infinity), if negative { f64::NEG_INFINITY } else { f64::INFINITY });
            }
        }
    }
}

#[test]
fn wide_formats_equal_the_processor() {
    for value in [0.0, -0.0, 1.0, -1.5, f64::MAX, f64::MIN_POSITIVE, 5e-324, 1e-310, std::f64::consts::PI, -1e-45] {
        for rounding in ROUNDINGS {
            assert_eq!(F64.round(value, rounding), Ok(value.to_bits()));
        }
        let narrow = value as f32;
        let due = if narrow.is_finite() { Ok(u64::from(narrow.to_bits())) } else { Err(OutOfRange) };
        assert_eq!(F32.round(value, Rounding::NearestEven), due);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Rounding returns one of the two numbers next to a value.
    #[test]
    fn rounding_chooses_a_neighbour(
        which: prop::sample::Index,
        position: prop::sample::Index,
        part in prop::sample::select(vec![0.25, 0.5, 0.75, 0.4999999, 0.5000001]),
        rounding in prop::sample::select(ROUNDINGS.to_vec()),
    ) {
        let formats = formats();
        let format = *which.get(&formats);
        let mut sorted = numbers(format);
        sorted.sort_by(|a, b| a.1.total_cmp(&b.1));
        sorted.dedup_by(|a, b| a.1 == b.1);
        let at = position.index(sorted.len() - 1);
        let [(_, low), (_, high)] = sorted[at..at + 2] else { unreachable!() };
        let value = low + (high - low) * part;
        prop_assume!(low < value && value < high);
        let (inner, outer) = if value < 0.0 { (high, low) } else { (low, high) };
        let middle = low / 2.0 + high / 2.0;
        let even = |value: f64| {
            // The bits of powers of two are their exponent; the mantissa is always that of an odd number.
            let bits = format.round(value, Rounding::TowardsZero).unwrap();
            if format.special == Special::PowersOfTwo { value == high } else { bits & 1 == 0 }
        };
        let due = match rounding {
            Rounding::TowardsZero => inner,
            Rounding::TowardsPositive => high,
            Rounding::TowardsNegative => low,
            _ if value < middle => low,
            _ if value > middle => high,
            Rounding::NearestAway => outer,
            Rounding::NearestEven if even(low) => low,
            Rounding::NearestEven => high,
        };
        let found = format.round(value, rounding).map(|bits| format.value(bits));
        prop_assert_eq!(found, Ok(due), "{:?} {} between {} and {}", format, value, low, high);
    }

    #[test]
    fn integers_are_rounded_exactly(value: u64, negative: bool) {
        for (format, due) in [(F32, f64::from(value as f32)), (F64, value as f64)] {
            let due = if negative { -due } else { due };
            let found = format.round_exact(negative, value, 0, Rounding::NearestEven);
            prop_assert_eq!(found.map(|bits| format.value(bits)), Ok(due));
            let down = format.round_exact(negative, value, 0, Rounding::TowardsZero).unwrap();
            prop_assert!(format.value(down).abs() as u128 <= u128::from(value));
        }
    }

    #[test]
    fn floats_of_32_bits_are_rounded_as_the_processor_does(bits: u64) {
        let value = f64::from_bits(bits);
        prop_assume!(!value.is_nan());
        let narrow = value as f32;
        match F32.round(value, Rounding::NearestEven) {
            Ok(bits) => prop_assert_eq!(bits, u64::from(narrow.to_bits())),
            Err(OutOfRange) => prop_assert!(narrow.is_infinite() && value.is_finite()),
        }
    }
}

#[test]
fn float16_is_rounded_as_numpy_does() {
    for bits in 0..=u16::MAX {
        assert_eq!(Half::from_f32(Half(bits).to_f32()), Half(bits));
        assert_eq!(Half::from_f64(Half(bits).to_f64()), Half(bits));
        let known = f16::from_bits(bits);
        if !known.is_nan() {
            assert_eq!(Half(bits).to_f32().to_bits(), known.to_f32().to_bits(), "{bits:#x}");
            assert_eq!(Half(bits).to_f64().to_bits(), F16.value(bits.into()).to_bits(), "{bits:#x}");
        }
    }
    assert_eq!(Half::from_f64(65519.99), Half(0x7bff));
    assert_eq!(Half::from_f64(65520.0), Half(0x7c00));
    // All exponents and signs, with fractions around the fractions of float16 and between two of them.
    for high in 0..=u16::MAX {
        for low in [0, 1, 0x0fff, 0x1000, 0x1001, 0x1fff, 0x2fff, 0x3000, 0x3001, 0x7fff, 0xffff] {
            let value = f32::from_bits(u32::from(high) << 16 | low);
            if !value.is_nan() {
                let known = f16::from_f32(value).to_bits();
                assert_eq!(Half::from_f32(value).0, known, "{value:e}");
                assert_eq!(F16.nearest(value.into()), Some(known.into()), "{value:e}");
            }
        }
    }
}
