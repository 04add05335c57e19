//! Moments (sums, means and standard deviations) that are merged from parts.

/// Number with twice the digits of a float: the sum of two floats, of which `low` has what rounding took from `high`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Double {
    high: f64,
    low: f64,
}

impl Double {
    /// Sum of two floats without rounding (Knuth).
    fn of_sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let part = high - a;
        Self::finite(high, (a - (high - part)) + (b - part))
    }

    /// Product of two floats without rounding.
    fn of_product(a: f64, b: f64) -> Self {
        let high = a * b;
        Self::finite(high, a.mul_add(b, -high))
    }

    fn of_integer(value: i128) -> Self {
        let high = value as f64;
        // Of 128 bits, the second float has all that are left but the last 22, where all are in use.
        Self { high, low: value.saturating_sub(high as i128) as f64 }
    }

    /// Makes a number of two floats. `low` becomes 0 if it is not finite; then `high` is infinite, and nothing is lost.
    fn finite(high: f64, low: f64) -> Self {
        Self { high, low: if low.is_finite() { low } else { 0.0 } }
    }

    fn plus(self, other: Self) -> Self {
        let sum = Self::of_sum(self.high, other.high);
        Self::of_sum(sum.high, sum.low + (self.low + other.low))
    }

    fn minus(self, other: Self) -> Self {
        self.plus(Self { high: -other.high, low: -other.low })
    }

    fn times(self, other: Self) -> Self {
        let product = Self::of_product(self.high, other.high);
        let rest = self.high * other.low + self.low * other.high;
        Self::of_sum(product.high, Self::finite(0.0, product.low + rest).low)
    }

    fn over(self, divisor: Self) -> Self {
        let first = self.high / divisor.high;
        let rest = self.minus(divisor.times(Self { high: first, low: 0.0 }));
        Self::of_sum(first, Self::finite(0.0, rest.high / divisor.high).low)
    }

    pub(crate) fn value(self) -> f64 {
        self.high + self.low
    }
}

/// Moments of values: their number, their sum, and the sum of the squares of their distances from their mean.
///
/// Parts are merged by the formula of Chan, Golub and LeVeque (1979), with numbers of twice the digits of a float. So the relative errors
/// of the mean of values of one sign, and of the standard deviation, are a few roundings of 2^-53, for any number of parts and any distance
/// of the values from zero.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moments {
    pub(crate) count: u128,
    /// Sum of the values, floats or integers, with twice the digits of a float.
    sum: Double,
    /// Exact sum of the values if they are integers; `None` for floats, and if the sum overflows 128 bits.
    pub(crate) integers: Option<i128>,
    squares: Double,
}

impl Moments {
    /// Returns the moments of the same values, each repeated `times` times.
    pub(crate) fn times(&self, times: u128) -> Self {
        let whole = i128::try_from(times).unwrap_or(i128::MAX);
        let factor = Double::of_integer(whole);
        Self {
            count: self.count.saturating_mul(times),
            sum: self.sum.times(factor),
            integers: self.integers.and_then(|sum| sum.checked_mul(whole)),
            squares: self.squares.times(factor),
        }
    }

    /// Computes the moments of a block of floats, none of which is NaN.
    pub(crate) fn block(values: &[f64]) -> Self {
        let mut moments = Self { count: values.len() as u128, ..Self::default() };
        if values.is_empty() {
            return moments;
        }
        let count = values.len() as f64;
        let sum = sum(values);
        let mean = sum.value() / count;
        let squares = pairwise(values, &|value| (value - mean) * (value - mean));
        // The mean is rounded: how far the sum of the distances from it is from 0.
        let rest = sum.minus(Double::of_product(mean, count)).value();
        let excess = if rest.is_finite() { rest * rest / count } else { 0.0 };
        (moments.sum, moments.squares) = (sum, Double::of_sum(squares, -excess));
        moments
    }

    /// Computes the moments of a block of integers from their exact sum and their distances from one of them. The integers themselves may
    /// have more digits than floats have, which must not be lost before the mean is subtracted.
    pub(crate) fn of_integers(distances: &[f64], sum: i128) -> Self {
        Self { sum: Double::of_integer(sum), integers: Some(sum), ..Self::block(distances) }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = *other;
            return;
        }
        let (a, b) = (self.count as f64, other.count as f64);
        let apart = other.exact_mean().minus(self.exact_mean()).value();
        let between = Double::of_product(apart * apart, a * (b / (a + b)));
        self.squares = self.squares.plus(other.squares).plus(between);
        self.sum = self.sum.plus(other.sum);
        self.integers = self.integers.zip(other.integers).and_then(|(a, b)| a.checked_add(b));
        self.count = self.count.saturating_add(other.count);
    }

    fn exact_mean(&self) -> Double {
        let sum = self.integers.map_or(self.sum, Double::of_integer);
        sum.over(Double::of_integer(i128::try_from(self.count).unwrap_or(i128::MAX)))
    }

    /// Returns the sum; for integers the float nearest to the exact sum.
    pub(crate) fn sum(&self) -> f64 {
        self.integers.map_or(self.sum.value(), |sum| sum as f64)
    }

    /// Returns the mean; NaN without values.
    pub(crate) fn mean(&self) -> f64 {
        self.exact_mean().value()
    }

    /// Returns the integer nearest to the mean; `None` without values, or if the mean is not finite.
    pub(crate) fn nearest_mean(&self) -> Option<i128> {
        let mean = self.exact_mean();
        let whole = mean.high.floor();
        let rest = ((mean.high - whole) + mean.low).round();
        (self.count > 0 && rest.is_finite()).then_some((whole as i128).saturating_add(rest as i128))
    }

    /// Returns the mean of the squares of the distances from the mean; NaN without values.
    pub(crate) fn variance(&self) -> f64 {
        // Rounding may lead below zero by an ulp.
        let variance = self.squares.value() / self.count as f64;
        if variance < 0.0 { 0.0 } else { variance }
    }
}

/// Number of independent sums that run in parallel, so that additions need not wait for each other.
const LANES: usize = 8;

/// Sum of values, with what rounding lost.
fn sum(values: &[f64]) -> Double {
    let mut lanes = [(0.0_f64, 0.0_f64); LANES];
    let (rows, rest) = values.as_chunks::<LANES>();
    for row in rows {
        for ((high, low), &value) in lanes.iter_mut().zip(row) {
            let next = *high + value;
            let part = next - *high;
            *low += (*high - (next - part)) + (value - part);
            *high = next;
        }
    }
    let lanes = lanes.into_iter().map(|(high, low)| Double::finite(high, low));
    let rest = rest.iter().map(|&value| Double { high: value, low: 0.0 });
    lanes.chain(rest).fold(Double::default(), Double::plus)
}

/// Sum of `each(value)` over all values, as the sum of the sums of both halves, which is more exact and faster than adding in order.
fn pairwise(values: &[f64], each: &impl Fn(f64) -> f64) -> f64 {
    const LEAST: usize = 128;
    if values.len() > LEAST {
        let (first, second) = values.split_at(values.len() / 2 / LANES * LANES);
        return pairwise(first, each) + pairwise(second, each);
    }
    let mut lanes = [0.0; LANES];
    let (rows, rest) = values.as_chunks::<LANES>();
    for row in rows {
        lanes.iter_mut().zip(row).for_each(|(lane, &value)| *lane += each(value));
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    let whole = ((a + b) + (c + d)) + ((e + f) + (g + h));
    rest.iter().fold(whole, |sum, &value| sum + each(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of_parts(values: &[f64], part: usize) -> Moments {
        let mut moments = Moments::default();
        values.chunks(part).for_each(|part| moments.merge(&Moments::block(part)));
        moments
    }

    #[test]
    fn a_large_offset_costs_no_digits() {
        // The variance of 0, 1, 2 is 2/3, wherever they lie.
        for offset in [0.0, 1e9, -1e14] {
            let values: Vec<f64> = (0..30_000).map(|index| offset + f64::from(index % 3)).collect();
            for part in [1, 7, 512] {
                let moments = of_parts(&values, part);
                assert_eq!(moments.mean(), offset + 1.0);
                assert!((moments.variance() - 2.0 / 3.0).abs() < 1e-15, "{}", moments.variance());
            }
        }
    }

    #[test]
    fn sums_of_many_parts_are_as_exact_as_one_rounding() {
        let mut sum = Moments::default();
        (0..1_000_000).for_each(|_| sum.merge(&Moments::block(&[0.1])));
        assert_eq!((sum.sum(), sum.mean()), (1e5, 0.1));
        assert_eq!(Moments::block(&[0.1]).times(1_000_000).sum(), 1e5);
        assert_eq!(Moments::of_integers(&[0.0], 3).times(1 << 70).sum(), 3.0 * f64::powi(2.0, 70));
    }

    #[test]
    fn infinite_values_are_those_of_numpy() {
        for values in [[1.0, f64::INFINITY, 2.0], [f64::INFINITY; 3]] {
            for part in [1, 2, 3] {
                let moments = of_parts(&values, part);
                assert!(
                    moments.mean() == f64::INFINITY && moments.variance().is_nan(),
                    "{values:?} {part}: {moments:?}"
                );
            }
        }
        let both = of_parts(&[f64::INFINITY, f64::NEG_INFINITY], 1);
        assert!(both.mean().is_nan() && both.sum().is_nan());
        // A sum that is too large for a float.
        assert_eq!(of_parts(&[1e308; 3], 2).mean(), f64::INFINITY);
    }

    #[test]
    fn integers_beyond_the_digits_of_floats_keep_their_mean() {
        let last = i128::from(i64::MAX);
        for part in [1, 2, 4] {
            let mut moments = Moments::default();
            for part in [0.0, 2.0, 4.0, 6.0].chunks(part) {
                let below: f64 = part.iter().sum();
                let distances: Vec<f64> = part.iter().map(|below| -below).collect();
                moments.merge(&Moments::of_integers(&distances, last * part.len() as i128 - below as i128));
            }
            assert_eq!((moments.integers, moments.variance()), (Some(last * 4 - 12), 5.0), "{part}");
            assert_eq!((moments.nearest_mean(), moments.sum()), (Some(last - 3), last as f64 * 4.0));
        }
        assert_eq!(Moments::of_integers(&[0.0, 1.0], -5).nearest_mean(), Some(-2));
        assert_eq!(Moments::default().nearest_mean(), None);
    }

    proptest! {
        #[test]
        fn parts_make_the_whole(values in prop::collection::vec(-1e3_f64..1e3, 1..700), part in 1_usize..300) {
            let (parts, whole) = (of_parts(&values, part), Moments::block(&values));
            let scale = values.iter().map(|value| value.abs()).sum::<f64>() / values.len() as f64;
            prop_assert!((parts.mean() - whole.mean()).abs() <= 1e-14 * scale);
            prop_assert!((parts.variance() - whole.variance()).abs() <= 1e-13 * (whole.variance() + 1e-9));
        }
    }
}
