//! Sketch of keys in bounded memory, from which quantiles are known within a bound.

/// Maximum number of keys of a level. When it is reached, every second key goes to the next level, with twice the weight.
const LEVEL: usize = 16 << 10;
/// Approximate number of samples to which a run of keys is reduced.
const SAMPLES: usize = 2048;

/// Samples of sorted keys. A sample of level `n` stands for `2^n` keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples {
    levels: Vec<Vec<u64>>,
    /// Maximum difference between the rank of a key among the samples and its rank among all keys.
    error: u64,
}

impl Samples {
    /// Samples sorted keys. The keys are divided into blocks whose lengths are powers of two, and each block is represented by its middle
    /// key.
    pub(crate) fn of_sorted(keys: &[u64]) -> Self {
        let mut samples = Self::default();
        let mut rest = keys;
        let mut level = (keys.len() / SAMPLES).max(1).ilog2();
        // A key that lies in a block counts all of it or nothing: half a block too many or too few. It lies in one block alone.
        samples.error = (1_u64 << level) / 2;
        while !rest.is_empty() {
            let block = 1_usize << level;
            let (blocks, after) = rest.split_at(rest.len() / block * block);
            let middles = blocks.chunks_exact(block).filter_map(|keys| keys.get(block / 2)).copied();
            samples.level(level as usize).extend(middles);
            (rest, level) = (after, level.saturating_sub(1));
        }
        samples
    }

    fn level(&mut self, level: usize) -> &mut Vec<u64> {
        if self.levels.len() <= level {
            self.levels.resize_with(level + 1, Vec::new);
        }
        &mut self.levels[level]
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.error = self.error.saturating_add(other.error);
        for (level, keys) in other.levels.iter().enumerate() {
            self.level(level).extend_from_slice(keys);
        }
        let mut level = 0;
        while level < self.levels.len() {
            if self.levels[level].len() >= LEVEL {
                self.compact(level);
            }
            level += 1;
        }
    }

    /// Moves every second key of a level to the next level, and drops the others.
    fn compact(&mut self, level: usize) {
        let mut keys = std::mem::take(&mut self.levels[level]);
        // Stable: it finds the runs that are sorted already.
        keys.sort();
        // A key that lies between the two of a pair counts both or none instead of one.
        self.error = self.error.saturating_add(1 << level.min(63));
        let odd = if keys.len() % 2 == 1 { keys.pop() } else { None };
        // The first and the second of a pair in turn, so that their errors have both signs.
        let second = usize::from(self.error >> level.min(63) & 1 == 1);
        let kept = keys.chunks_exact(2).filter_map(|pair| pair.get(second)).copied();
        self.level(level + 1).extend(kept);
        keys.clear();
        keys.extend(odd);
        self.levels[level] = keys;
    }

    /// Returns the samples with their weights, sorted by key, and the maximum error of ranks.
    pub(crate) fn finish(self) -> (Vec<(u64, u128)>, u64) {
        let of_level = |(level, keys): (usize, Vec<u64>)| keys.into_iter().map(move |key| (key, 1_u128 << level));
        let mut all: Vec<(u64, u128)> = self.levels.into_iter().enumerate().flat_map(of_level).collect();
        all.sort_unstable();
        (all, self.error)
    }
}

/// Sorts keys that differ only in their lower `bits` bits, digit by digit. A digit that is the same in all keys costs no pass.
pub(crate) fn sort(keys: &mut Vec<u64>, bits: u32) {
    const DIGIT: u32 = 11;
    const FEW: usize = 4096;
    if keys.len() < FEW {
        keys.sort_unstable();
        return;
    }
    let mut other = vec![0; keys.len()];
    for shift in (0..bits).step_by(DIGIT as usize) {
        let digit = |key: u64| (key >> shift) as usize & ((1 << DIGIT) - 1);
        let mut places = [0_usize; 1 << DIGIT];
        keys.iter().for_each(|&key| places[digit(key)] += 1);
        if keys.first().is_some_and(|&first| places[digit(first)] == keys.len()) {
            continue;
        }
        let mut next = 0;
        for place in &mut places {
            (*place, next) = (next, next + *place);
        }
        for &key in &*keys {
            let place = &mut places[digit(key)];
            other[*place] = key;
            *place += 1;
        }
        std::mem::swap(keys, &mut other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Checks the rank of each key among the samples against its rank among all keys, and returns the maximum error.
    fn check(mut all: Vec<u64>, samples: Samples) -> u64 {
        all.sort_unstable();
        let (samples, bound) = samples.finish();
        let total: u128 = samples.iter().map(|(_, weight)| weight).sum();
        assert_eq!(total, all.len() as u128);
        let mut greatest = 0;
        let (mut at, mut below) = (0, 0_u128);
        for &key in &all {
            while let Some((_, weight)) = samples.get(at).filter(|(sample, _)| *sample <= key) {
                below += weight;
                at += 1;
            }
            let rank = all.partition_point(|&other| other <= key) as u128;
            greatest = greatest.max(u64::try_from(below.abs_diff(rank)).unwrap());
        }
        assert!(greatest <= bound, "{greatest} > {bound}");
        greatest
    }

    #[test]
    fn a_million_keys_stay_within_a_thousandth() {
        // A generator of Knuth: keys in no order, and then in order.
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 20
        };
        let mut all: Vec<u64> = (0..1_000_000).map(|_| random()).collect();
        for part in [100_000, 777, 1 << 17] {
            let mut samples = Samples::default();
            for part in all.chunks(part) {
                let mut part = part.to_vec();
                sort(&mut part, 64);
                samples.merge(&Samples::of_sorted(&part));
            }
            assert!(samples.error < 1_000, "{}", samples.error);
            assert!(samples.levels.iter().all(|level| level.len() < LEVEL + SAMPLES));
            check(all.clone(), samples);
            all.sort_unstable();
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn ranks_are_within_the_bound(
            parts in prop::collection::vec((prop::collection::vec(any::<u16>(), 0..400), 1_u64..60), 0..12),
        ) {
            let mut all = Vec::new();
            let mut samples = Samples::default();
            for (keys, times) in parts {
                let mut keys: Vec<u64> =
                    keys.iter().flat_map(|&key| (0..times).map(move |time| u64::from(key) * 50 + time)).collect();
                sort(&mut keys, 64);
                prop_assert!(keys.is_sorted());
                samples.merge(&Samples::of_sorted(&keys));
                all.extend(keys);
            }
            check(all, samples);
        }
    }
}
