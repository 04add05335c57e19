//! Counts of strings and bytes, and the most common ones.

use std::collections::HashMap;

/// Maximum number of different strings that are counted, if there is enough memory.
const COUNTED: u64 = 1 << 16;
/// Divisor of the memory in bytes for the total length of the counted strings. `SHARE_OF_COUNT` is the divisor for their number.
const SHARE_OF_BYTES: u64 = 16;
const SHARE_OF_COUNT: u64 = 4096;

/// Counts of occurrences of strings. If there are too many different strings, the rarest are dropped: `missed` is the maximum number of
/// occurrences that a count may lack (Misra and Gries 1982; merged as by Agarwal et al., "Mergeable summaries", 2012).
#[derive(Clone, Debug)]
pub(crate) struct Words {
    counts: HashMap<Vec<u8>, u128>,
    bytes: usize,
    missed: u128,
    /// Maximum number of strings that remain after the rarest are dropped; `most_bytes` is the maximum of their total length. They are
    /// dropped when there are more than twice as many.
    most: usize,
    most_bytes: usize,
}

impl Words {
    /// Makes counts without strings, for `memory` bytes of memory.
    pub(crate) fn new(memory: u64) -> Self {
        let size = |size: u64| usize::try_from(size.max(1)).unwrap_or(usize::MAX / 4);
        Self {
            counts: HashMap::new(),
            bytes: 0,
            missed: 0,
            most: size((memory / SHARE_OF_COUNT).min(COUNTED)),
            most_bytes: size((memory / SHARE_OF_BYTES).min(u64::MAX >> 8)),
        }
    }

    pub(crate) fn add(&mut self, text: &[u8], count: u128) {
        if count == 0 {
            return;
        }
        match self.counts.get_mut(text) {
            Some(known) => *known = known.saturating_add(count),
            None => {
                self.bytes += text.len();
                self.counts.insert(text.to_vec(), count);
                if self.counts.len() > 2 * self.most || (self.bytes > 2 * self.most_bytes && self.counts.len() > 1) {
                    self.drop_rarest();
                }
            }
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.missed = self.missed.saturating_add(other.missed);
        for (text, count) in other.counts {
            self.add(&text, count);
        }
    }

    /// Drops the rarest strings, and lowers all counts by the count of the most common dropped string.
    fn drop_rarest(&mut self) {
        let mut by_count: Vec<(u128, usize)> = self.counts.iter().map(|(text, count)| (*count, text.len())).collect();
        by_count.sort_unstable_by(|a, b| b.cmp(a));
        let mut bytes = 0;
        let fits = |(number, (_, len)): &(usize, &(u128, usize))| {
            bytes += len;
            *number < self.most && bytes <= self.most_bytes
        };
        let kept = by_count.iter().enumerate().take_while(fits).count();
        let Some(&(dropped, _)) = by_count.get(kept) else { return };
        self.counts.retain(|_, count| {
            *count = count.saturating_sub(dropped);
            *count > 0
        });
        self.counts.shrink_to(2 * self.most);
        self.bytes = self.counts.keys().map(Vec::len).sum();
        self.missed = self.missed.saturating_add(dropped);
    }

    /// Number of different strings; `None` if some strings were dropped.
    pub(crate) fn distinct(&self) -> Option<usize> {
        (self.missed == 0).then_some(self.counts.len())
    }

    /// Returns at most `most` of the most common strings, each with the minimum number of its occurrences; equally common strings are
    /// sorted. Returns also the maximum number of further occurrences of each string.
    pub(crate) fn most_common(&self, most: usize) -> (Vec<(Vec<u8>, u128)>, u128) {
        let mut all: Vec<(&Vec<u8>, &u128)> = self.counts.iter().collect();
        all.sort_unstable_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
        (all.into_iter().take(most).map(|(text, count)| (text.clone(), *count)).collect(), self.missed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMORY: u64 = 256 << 20;

    #[test]
    fn few_texts_are_counted_exactly() {
        let (mut a, mut b) = (Words::new(MEMORY), Words::new(MEMORY));
        ["x", "y", "x"].iter().for_each(|text| a.add(text.as_bytes(), 1));
        b.add(b"y", 5);
        a.merge(b);
        assert_eq!(a.distinct(), Some(2));
        assert_eq!(a.most_common(1), (vec![(b"y".to_vec(), 6)], 0));
    }

    #[test]
    fn a_common_text_is_found_among_many_rare_ones() {
        let mut words = Words::new(MEMORY);
        for number in 0..400_000_u32 {
            words.add(&number.to_ne_bytes(), 1);
            if number % 4 == 0 {
                words.add(b"common", 1);
            }
        }
        assert!(words.counts.len() as u64 <= 2 * COUNTED && words.distinct().is_none());
        let (common, missed) = words.most_common(1);
        assert_eq!(common[0].0, b"common");
        assert!(common[0].1 <= 100_000 && common[0].1 + missed >= 100_000, "{common:?} {missed}");
        // At most the occurrences by the texts that are kept.
        assert!(missed <= 500_000 / u128::from(COUNTED), "{missed}");
    }

    #[test]
    fn long_texts_take_bounded_memory() {
        let mut words = Words::new(MEMORY);
        (0..100_u8).for_each(|number| words.add(&vec![number; 1 << 20], 1 + u128::from(number)));
        assert!(words.bytes <= (32 << 20) + (1 << 20), "{}", words.bytes);
        // Less memory keeps fewer, and says so.
        let mut few = Words::new(1 << 20);
        (0..10_000_u32).for_each(|number| few.add(&number.to_ne_bytes(), 1));
        assert!(few.counts.len() <= 512 && few.distinct().is_none());
        assert_eq!(words.most_common(1).0[0].0[0], 99);
    }
}
