//! Scan of the numbers of a part in one pass.

use crate::distribution::{Mode, PartKeys};
use crate::keyed_number::KeyedNumber;
use crate::moments::Moments;

/// Number of values that are processed together: they stay in the nearest CPU cache.
const BLOCK: usize = 512;

/// Memory for a block of values, which many short scans share.
#[derive(Debug)]
pub(crate) struct Scratch<T> {
    keys: [u64; BLOCK],
    floats: [f64; BLOCK],
    without_nan: Vec<T>,
}

impl<T> Default for Scratch<T> {
    fn default() -> Self {
        Self { keys: [0; BLOCK], floats: [0.0; BLOCK], without_nan: Vec::new() }
    }
}

/// Statistics of the numbers of a part.
#[derive(Debug)]
pub(crate) struct NumberStatistics {
    /// Moments of the numbers that are not NaN.
    pub(crate) moments: Moments,
    pub(crate) nan: u128,
    pub(crate) infinite: u128,
    /// Number of elements that equal the fill value.
    pub(crate) fill: u128,
    /// Key of the least number, and the position of the first such number in the part; `None` without numbers.
    pub(crate) least: Option<(u64, u64)>,
    pub(crate) greatest: Option<(u64, u64)>,
    /// Keys of the least and the greatest finite number; `None` without finite numbers.
    pub(crate) finite: Option<[u64; 2]>,
    pub(crate) keys: PartKeys,
}

/// Scans numbers. `fill` is the fill value, whose occurrences are counted.
pub(crate) fn scan<T: KeyedNumber>(values: &[T], fill: Option<T>, mode: Mode) -> NumberStatistics {
    scan_in(&mut Scratch::default(), values, fill, mode)
}

/// Scans numbers as [`scan`] does, in the memory `scratch`.
pub(crate) fn scan_in<T: KeyedNumber>(
    scratch: &mut Scratch<T>,
    values: &[T],
    fill: Option<T>,
    mode: Mode,
) -> NumberStatistics {
    let Scratch { keys, floats, without_nan } = scratch;
    let mut scanned = NumberStatistics {
        moments: Moments::default(),
        nan: 0,
        infinite: 0,
        fill: 0,
        least: None,
        greatest: None,
        finite: None,
        keys: PartKeys::new(mode, T::WIDTH),
    };
    let fill_key = fill.filter(|fill| !fill.is_nan()).map(KeyedNumber::key);
    for (number, block) in values.chunks(BLOCK).enumerate() {
        let nan = block.iter().filter(|value| value.is_nan()).count();
        let mut numbers = block;
        if nan > 0 {
            without_nan.clear();
            without_nan.extend(block.iter().copied().filter(|value| !value.is_nan()));
            numbers = without_nan;
            scanned.nan += nan as u128;
        }
        let first = (number * BLOCK) as u64;
        let (keys, floats) = (&mut keys[..numbers.len()], &mut floats[..numbers.len()]);
        scanned.block(numbers, keys, floats, fill_key, |key| {
            let at = block.iter().position(|value| !value.is_nan() && value.key() == key);
            first + at.unwrap_or(0) as u64
        });
    }
    if fill.is_some_and(KeyedNumber::is_nan) {
        scanned.fill = scanned.nan;
    }
    scanned.keys.end();
    scanned
}

impl NumberStatistics {
    /// Adds a block of numbers without NaN. `keys` and `floats` are memory of the same length. `find` returns the position of the first
    /// number with a key.
    fn block<T: KeyedNumber>(
        &mut self,
        numbers: &[T],
        keys: &mut [u64],
        floats: &mut [f64],
        fill: Option<u64>,
        find: impl Fn(u64) -> u64,
    ) {
        if numbers.is_empty() {
            return;
        }
        keys.iter_mut().zip(numbers).for_each(|(key, number)| *key = number.key());
        let least = keys.iter().fold(u64::MAX, |least, &key| least.min(key));
        let greatest = keys.iter().fold(0, |greatest, &key| greatest.max(key));
        if self.least.is_none_or(|(key, _)| least < key) {
            self.least = Some((least, find(least)));
        }
        if self.greatest.is_none_or(|(key, _)| greatest > key) {
            self.greatest = Some((greatest, find(greatest)));
        }
        if let Some(fill) = fill.filter(|fill| (least..=greatest).contains(fill)) {
            self.fill += keys.iter().filter(|key| **key == fill).count() as u128;
        }
        let mut infinite = 0;
        if T::IS_INTEGER {
            // The keys of integers are as far apart as they are.
            floats.iter_mut().zip(&*keys).for_each(|(float, key)| *float = (key - least) as f64);
            self.moments.merge(&Moments::of_integers(floats, sum(numbers)));
        } else {
            floats.iter_mut().zip(numbers).for_each(|(float, number)| *float = number.float());
            self.moments.merge(&Moments::block(floats));
            infinite = floats.iter().filter(|float| float.is_infinite()).count() as u128;
            self.infinite += infinite;
        }
        let finite = match infinite {
            0 => Some([least, greatest]),
            _ => {
                let finite = keys.iter().zip(&*floats).filter(|(_, float)| float.is_finite());
                finite.map(|(key, _)| [*key, *key]).reduce(wider)
            }
        };
        self.finite = self.finite.into_iter().chain(finite).reduce(wider);
        self.keys.add(keys);
    }
}

/// Returns the keys of the least and the greatest of the numbers of two ranges.
pub(crate) fn wider([least, greatest]: [u64; 2], other: [u64; 2]) -> [u64; 2] {
    [least.min(other[0]), greatest.max(other[1])]
}

/// Exact sum of a block of integers.
fn sum<T: KeyedNumber>(numbers: &[T]) -> i128 {
    // A block of integers of 32 bits has a sum of 64.
    match T::WIDTH <= 32 {
        true => i128::from(numbers.iter().map(|number| number.integer() as i64).sum::<i64>()),
        false => numbers.iter().map(|number| number.integer()).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check<T: KeyedNumber>(values: &[T], fill: T) {
        let scanned = scan(values, Some(fill), Mode::Keys);
        let numbers: Vec<(u64, f64)> =
            (0..).zip(values).filter(|(_, value)| !value.is_nan()).map(|(at, value)| (at, value.float())).collect();
        assert_eq!(scanned.nan, (values.len() - numbers.len()) as u128);
        assert_eq!(scanned.moments.count, numbers.len() as u128);
        let same = |value: &&T| value.is_nan() && fill.is_nan() || value.float() == fill.float();
        assert_eq!(scanned.fill, values.iter().filter(same).count() as u128);
        let by = |a: &&(u64, f64), b: &&(u64, f64)| a.1.total_cmp(&b.1);
        // The first of several that are equal.
        assert_eq!(scanned.least.map(|(_, at)| at), numbers.iter().min_by(by).map(|(at, _)| *at));
        assert_eq!(scanned.greatest.map(|(_, at)| at), numbers.iter().rev().max_by(by).map(|(at, _)| *at));
    }

    proptest! {
        #[test]
        fn a_scan_sees_what_a_loop_sees(
            floats in prop::collection::vec(prop_oneof![Just(f32::NAN), -9.0_f32..9.0, Just(3.0)], 0..1500),
            integers in prop::collection::vec(-5_i64..5, 0..1500),
        ) {
            check(&floats, 3.0);
            check(&floats, f32::NAN);
            check(&integers, 2);
            let sum: i128 = integers.iter().map(|&value| i128::from(value)).sum();
            prop_assert_eq!(scan(&integers, None, Mode::Nothing).moments.integers.unwrap_or(0), sum);
        }
    }

    #[test]
    fn sums_of_large_integers_are_exact() {
        let values = [u64::MAX; 1000];
        let scanned = scan(&values, None, Mode::Nothing);
        assert_eq!(scanned.moments.integers, Some(1000 * i128::from(u64::MAX)));
        assert_eq!((scanned.moments.mean(), scanned.moments.variance()), (u64::MAX as f64, 0.0));
    }

    #[test]
    fn the_deviation_of_large_integers_is_that_of_small_ones() {
        let values: Vec<i64> = (0..1000).map(|at| (1 << 62) + at).collect();
        let variance = scan(&values, None, Mode::Nothing).moments.variance();
        assert!((variance.sqrt() - 288.674_990_257_209_84).abs() < 1e-9, "{}", variance.sqrt());
        let pair = scan(&[(1_i64 << 62) + 1, (1 << 62) + 3], None, Mode::Nothing).moments;
        assert_eq!((pair.variance(), pair.nearest_mean()), (1.0, Some((1 << 62) + 2)));
    }
}
