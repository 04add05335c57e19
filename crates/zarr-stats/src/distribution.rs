//! Distribution of all values by their keys: exact if there are few values or values of few bits, else from samples.
//!
//! A key is here an unsigned integer that stands for a value, so that keys have the order of their values (`keyed_number.rs`). A part is
//! one of the pieces of an array that are decoded, each by one thread.

use crate::keyed_number::Keys;
use crate::sketch::{Samples, sort};

/// Maximum number of bits of values that are counted in a table.
const COUNTED_BITS: u32 = 16;
/// Number of keys that are sorted and sampled at once.
pub(crate) const RUN: usize = 256 << 10;

/// Form in which the values of the next parts are collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Collects no values.
    Nothing,
    /// Counts each possible value in a table.
    Counts,
    /// Collects all values by their keys.
    Keys,
    /// Collects samples of the values.
    Samples,
}

/// Keys of the values of one part, collected in the form of its mode.
#[derive(Debug)]
pub(crate) struct PartKeys {
    mode: Mode,
    bits: u32,
    keys: Vec<u64>,
    counts: Vec<u64>,
    samples: Samples,
}

impl PartKeys {
    pub(crate) fn new(mode: Mode, bits: u32) -> Self {
        Self { mode, bits, keys: Vec::new(), counts: Vec::new(), samples: Samples::default() }
    }

    pub(crate) fn add(&mut self, keys: &[u64]) {
        match self.mode {
            Mode::Nothing => {}
            Mode::Keys => self.keys.extend_from_slice(keys),
            Mode::Counts => {
                // Few keys are not worth a table.
                if self.counts.is_empty() && self.keys.len() + keys.len() < 1 << self.bits.min(COUNTED_BITS) {
                    self.keys.extend_from_slice(keys);
                    return;
                }
                self.counts.resize(1 << self.bits, 0);
                for &key in self.keys.iter().chain(keys) {
                    self.counts[key as usize] += 1;
                }
                self.keys.clear();
            }
            Mode::Samples => {
                self.keys.extend_from_slice(keys);
                if self.keys.len() >= RUN {
                    self.sample();
                }
            }
        }
    }

    fn sample(&mut self) {
        sort(&mut self.keys, self.bits);
        self.samples.merge(&Samples::of_sorted(&self.keys));
        self.keys.clear();
    }

    /// Returns the keys that are neither counted in the table nor in the samples.
    pub(crate) fn kept(&self) -> &[u64] {
        &self.keys
    }

    /// Ends the part: no more keys are added. In the mode `Samples`, the keys that are not in the samples yet are added to these.
    pub(crate) fn end(&mut self) {
        if self.mode == Mode::Samples && !self.keys.is_empty() {
            self.sample();
        }
        if self.mode == Mode::Samples {
            self.keys = Vec::new();
        }
    }
}

/// Keys of all values, merged from the parts.
#[derive(Debug)]
pub(crate) struct Distribution {
    keys: Keys,
    mode: Mode,
    /// Maximum number of keys in `all`. If there are more, all keys go to `samples`.
    most: usize,
    all: Vec<u64>,
    counts: Vec<u128>,
    samples: Samples,
    /// Keys with the number of times that they were repeated.
    repeated: Vec<(u64, u128)>,
}

impl Distribution {
    /// Makes an empty distribution that stores up to `most` keys one by one.
    pub(crate) fn new(keys: Keys, most: usize) -> Self {
        let mode = if keys.bits <= COUNTED_BITS { Mode::Counts } else { Mode::Keys };
        let counts = if mode == Mode::Counts { vec![0; 1 << keys.bits] } else { Vec::new() };
        Self { keys, mode, most, all: Vec::new(), counts, samples: Samples::default(), repeated: Vec::new() }
    }

    /// Decides in which form the values of the next parts, at most `next`, are collected. Changes to samples if they would be too many.
    pub(crate) fn mode(&mut self, next: u64) -> Mode {
        let room = self.most.saturating_sub(self.all.len());
        if self.mode == Mode::Keys && next > room as u64 {
            for run in self.all.chunks(RUN) {
                let mut run = run.to_vec();
                sort(&mut run, self.keys.bits);
                self.samples.merge(&Samples::of_sorted(&run));
            }
            self.all = Vec::new();
            self.mode = Mode::Samples;
        }
        self.mode
    }

    pub(crate) fn merge(&mut self, part: PartKeys) {
        match part.mode {
            Mode::Nothing => {}
            Mode::Keys => self.all.extend(part.keys),
            Mode::Counts => {
                self.counts.iter_mut().zip(&part.counts).for_each(|(all, &part)| *all += u128::from(part));
                part.keys.iter().for_each(|&key| self.counts[key as usize] += 1);
            }
            Mode::Samples => self.samples.merge(&part.samples),
        }
    }

    pub(crate) fn repeat(&mut self, key: u64, count: u128) {
        match self.mode {
            Mode::Counts => self.counts[key as usize] = self.counts[key as usize].saturating_add(count),
            _ => self.repeated.push((key, count)),
        }
    }

    /// Sorts all values.
    pub(crate) fn finish(mut self) -> Ranks {
        let (mut weighted, error) = match self.mode {
            Mode::Counts => {
                let counts = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
                (counts.map(|(key, &count)| (key as u64, count)).collect(), 0)
            }
            Mode::Samples => self.samples.finish(),
            Mode::Keys | Mode::Nothing => {
                sort(&mut self.all, self.keys.bits);
                (Vec::new(), 0)
            }
        };
        weighted.extend(self.repeated);
        weighted.sort_unstable();
        let mut below = 0_u128;
        for (_, weight) in &mut weighted {
            below = below.saturating_add(*weight);
            *weight = below;
        }
        Ranks { keys: self.keys, sorted: self.all, weighted, error }
    }
}

/// Sorted values, for quantiles and histograms.
#[derive(Debug)]
pub(crate) struct Ranks {
    keys: Keys,
    /// Sorted keys that each stand for one value.
    sorted: Vec<u64>,
    /// Sorted keys that stand for several values, each with the number of values of these keys up to and including the key.
    weighted: Vec<(u64, u128)>,
    /// Maximum error of ranks, in values.
    error: u64,
}

impl Ranks {
    pub(crate) fn len(&self) -> u128 {
        self.weighted.last().map_or(0, |(_, below)| *below).saturating_add(self.sorted.len() as u128)
    }

    /// Maximum error of the rank of a quantile, as a share of all values.
    pub(crate) fn error(&self) -> f64 {
        if self.error == 0 { 0.0 } else { self.error as f64 / self.len() as f64 }
    }

    /// Number of values whose keys satisfy `holds`, a condition that is true up to some key and false after it.
    fn count(&self, holds: impl Fn(u64) -> bool) -> u128 {
        let weighted = self.weighted.partition_point(|(key, _)| holds(*key));
        let below = weighted.checked_sub(1).and_then(|last| self.weighted.get(last)).map_or(0, |(_, below)| *below);
        below.saturating_add(self.sorted.partition_point(|&key| holds(key)) as u128)
    }

    /// Key of the value at `rank`, counted from 0; `None` if there are fewer values.
    fn at(&self, rank: u128) -> Option<u64> {
        // Among the weighted ones, the first key by which there are more values than the rank.
        let reaches = |key: u64| self.count(|other| other <= key) > rank;
        let weighted = self.weighted.get(self.weighted.partition_point(|(key, _)| !reaches(*key)));
        let sorted = match self.weighted.is_empty() {
            true => usize::try_from(rank).ok().and_then(|rank| self.sorted.get(rank)),
            false => self.sorted.get(self.sorted.partition_point(|&key| !reaches(key))),
        };
        match (weighted, sorted) {
            (Some((weighted, _)), Some(sorted)) => Some(*weighted.min(sorted)),
            (weighted, sorted) => weighted.map(|(key, _)| *key).or_else(|| sorted.copied()),
        }
    }

    /// Least and greatest finite value; `None` if there is no finite value.
    pub(crate) fn finite_range(&self) -> Option<(f64, f64)> {
        let float = self.keys.float;
        let below = self.count(|key| float(key) == f64::NEG_INFINITY);
        let finite = self.count(|key| float(key) < f64::INFINITY);
        let last = finite.checked_sub(1).filter(|&last| last >= below)?;
        Some((float(self.at(below)?), float(self.at(last)?)))
    }

    /// Quantile at a share from 0 to 1, by numpy's default: interpolated linearly between the two nearest values. If ranks are not exact,
    /// or the rank is that of a value, the key of one value. `None` without values.
    pub(crate) fn quantile(&self, share: f64) -> Option<QuantileValue> {
        let last = self.len().checked_sub(1)?;
        let rank = share * last as f64;
        let first = (rank.floor() as u128).min(last);
        let between = rank - rank.floor();
        let low = self.at(first)?;
        let high = if between > 0.0 && self.error == 0 { self.at((first + 1).min(last))? } else { low };
        if low == high {
            return Some(QuantileValue::Key(low));
        }
        // As numpy does it, so that both ends are met.
        let is_upper = between >= 0.5;
        let value = |low: f64, high: f64| match is_upper {
            true => high - (high - low) * (1.0 - between),
            false => low + (high - low) * between,
        };
        let float = value((self.keys.float)(low), (self.keys.float)(high));
        // Of integers with more digits than floats have, only the distance is a float.
        let nearest = self.keys.is_integer.then(|| {
            let (low, high) = ((self.keys.integer)(low), (self.keys.integer)(high));
            let apart = high.saturating_sub(low) as f64;
            let found = match is_upper {
                true => high.saturating_sub((apart * (1.0 - between)).round() as i128),
                false => low.saturating_add((apart * between).round() as i128),
            };
            found.clamp(low, high)
        });
        Some(QuantileValue::Between(float, nearest))
    }

    /// Numbers of values in the bins between `edges`. A bin includes its lower edge but not its upper one, except the last bin, which
    /// includes both.
    pub(crate) fn histogram(&self, edges: &[f64]) -> Vec<u128> {
        self.bins(edges, self.keys.float)
    }

    /// Numbers of integers in the bins between `edges`. A bin includes its lower edge but not its upper one, except the last bin, which
    /// includes both.
    pub(crate) fn integer_histogram(&self, edges: &[i128]) -> Vec<u128> {
        self.bins(edges, self.keys.integer)
    }

    fn bins<E: Copy + PartialOrd>(&self, edges: &[E], value: fn(u64) -> E) -> Vec<u128> {
        let last = edges.len().saturating_sub(1);
        let below = edges.iter().enumerate().map(|(number, &edge)| {
            self.count(|key| {
                let value = value(key);
                if number == last { value <= edge } else { value < edge }
            })
        });
        let below: Vec<u128> = below.collect();
        below.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect()
    }
}

/// Value of a quantile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum QuantileValue {
    /// Key of one of the values.
    Key(u64),
    /// Float between two values, and for integers also the nearest integer.
    Between(f64, Option<i128>),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keyed_number::KeyedNumber;
    use proptest::prelude::*;

    fn distribution<T: KeyedNumber>(values: &[T], most: usize, part: usize) -> Ranks {
        let mut all = Distribution::new(Keys::of::<T>(), most);
        for values in values.chunks(part) {
            let mut keys = PartKeys::new(all.mode(values.len() as u64), T::WIDTH);
            keys.add(&values.iter().map(|value| value.key()).collect::<Vec<_>>());
            keys.end();
            all.merge(keys);
        }
        all.finish()
    }

    fn value<T: KeyedNumber>(quantile: QuantileValue) -> f64 {
        match quantile {
            QuantileValue::Key(key) => T::of_key(key).float(),
            QuantileValue::Between(value, _) => value,
        }
    }

    /// Quantile of sorted values, computed by the definition.
    fn plain(sorted: &[f64], share: f64) -> f64 {
        let rank = share * (sorted.len() - 1) as f64;
        let (low, high) = (sorted[rank.floor() as usize], sorted[rank.ceil() as usize]);
        low + (high - low) * rank.fract()
    }

    fn check<T: KeyedNumber>(values: &[T], most: usize, part: usize) {
        let ranks = distribution(values, most, part);
        let mut sorted: Vec<f64> = values.iter().map(|value| value.float()).collect();
        sorted.sort_by(f64::total_cmp);
        assert_eq!(ranks.len(), values.len() as u128);
        let slack = ranks.error() * values.len() as f64;
        for share in [0.0, 0.01, 0.25, 0.5, 0.9, 1.0] {
            let found = value::<T>(ranks.quantile(share).unwrap());
            if slack == 0.0 {
                let expected = plain(&sorted, share);
                assert!((found - expected).abs() <= 1e-12 * expected.abs(), "{share}: {found} {expected}");
            } else {
                let rank = share * (sorted.len() - 1) as f64;
                let low = sorted[(rank - slack - 1.0).max(0.0) as usize];
                let high = sorted[((rank + slack + 1.0) as usize).min(sorted.len() - 1)];
                assert!((low..=high).contains(&found), "{share}: {found} is not in {low}..{high}");
            }
        }
        let edges: Vec<f64> =
            (0..=8).map(|edge| sorted[0] + f64::from(edge) / 8.0 * (sorted[sorted.len() - 1] - sorted[0])).collect();
        let counts = ranks.histogram(&edges);
        for (bin, &count) in counts.iter().enumerate() {
            let inside =
                |value: &&f64| **value >= edges[bin] && (**value < edges[bin + 1] || (bin == 7 && **value <= edges[8]));
            let expected = sorted.iter().filter(inside).count() as f64;
            assert!((count as f64 - expected).abs() <= 2.0 * slack, "{count} {expected} {slack}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn quantiles_are_those_of_sorted_values(
            floats in prop::collection::vec(-1e3_f32..1e3, 1..600),
            bytes in prop::collection::vec(any::<i8>(), 1..600),
            words in prop::collection::vec(any::<u16>(), 1..600),
            part in 1_usize..200,
        ) {
            check(&floats, 10_000, part);
            check(&bytes, 0, part);
            check(&words, 0, part);
        }

        #[test]
        fn samples_are_within_their_bound(seed in any::<u64>(), part in 1_000_usize..40_000) {
            let mut state = seed;
            let values: Vec<f64> = (0..60_000).map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                ((state >> 40) as f64).sqrt()
            }).collect();
            check(&values, 20_000, part);
        }
    }

    #[test]
    fn repeated_values_count_as_often() {
        let mut all = Distribution::new(Keys::of::<f64>(), 10);
        let mut part = PartKeys::new(all.mode(3), 64);
        part.add(&[1.0, 5.0, 9.0].map(KeyedNumber::key));
        all.merge(part);
        all.repeat(5.0.key(), 1 << 100);
        let ranks = all.finish();
        assert_eq!(ranks.quantile(0.5), Some(QuantileValue::Key(5.0.key())));
        assert_eq!(ranks.quantile(0.0), Some(QuantileValue::Key(1.0.key())));
        assert_eq!(ranks.histogram(&[1.0, 5.0, 9.0]), [1, (1 << 100) + 2]);
        assert_eq!(Distribution::new(Keys::of::<f64>(), 10).finish().quantile(0.5), None);
    }
}
