use super::*;
use proptest::prelude::*;

const ROUNDINGS: [Rounding; 5] = [
    Rounding::NearestEven,
    Rounding::NearestAway,
    Rounding::TowardsZero,
    Rounding::TowardsPositive,
    Rounding::TowardsNegative,
];

fn formats() -> Vec<Format> {
    SmallFloat::ALL.iter().filter_map(|&float| small(float)).chain([F16, BF16]).collect()
}

/// All bits that are numbers, of positive and negative ones, and what they are worth.
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
fn wide_formats_are_those_of_the_processor() {
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

    /// Rounding is a choice between the two numbers around a value.
    #[test]
    fn rounding_chooses_a_neighbour(
        which: prop::sample::Index,
        place: prop::sample::Index,
        part in prop::sample::select(vec![0.25, 0.5, 0.75, 0.4999999, 0.5000001]),
        rounding in prop::sample::select(ROUNDINGS.to_vec()),
    ) {
        let formats = formats();
        let format = *which.get(&formats);
        let mut sorted = numbers(format);
        sorted.sort_by(|a, b| a.1.total_cmp(&b.1));
        sorted.dedup_by(|a, b| a.1 == b.1);
        let at = place.index(sorted.len() - 1);
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
