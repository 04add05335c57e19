use core::fmt;
use std::sync::Arc;

use crate::shape::Shape;

/// Number of bits in a word.
const BITS: usize = 64;
/// Number of words in a block; set bits are counted before each block.
const BLOCK: usize = 8;

/// Elements of an array that a mask selects, in C order.
#[derive(Clone, PartialEq, Eq)]
pub struct MaskSelection {
    shape: Shape,
    count: u64,
    /// One bit for each element in C order, beginning with the lowest bit of the first word. Bits after the last element are 0.
    words: Arc<[u64]>,
    /// Number of bits set before each block.
    before: Arc<[u64]>,
}

impl MaskSelection {
    /// Creates a selection from `mask`, which must have as many entries as an array of `shape`.
    pub(crate) fn new(shape: &[u64], mask: &[bool]) -> Self {
        let words: Arc<[u64]> = mask.chunks(BITS).map(word).collect();
        let mut count = 0;
        let counted = words.chunks(BLOCK).map(|block| {
            let set: u64 = block.iter().map(|word| u64::from(word.count_ones())).sum();
            count += set;
            count - set
        });
        let before = counted.collect();
        Self { shape: shape.into(), count, words, before }
    }

    /// Returns the number of selected elements.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Returns whether no element is selected.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the shape of the array.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Returns the number of selected elements among the first `end` elements.
    pub(crate) fn count_before(&self, end: usize) -> u64 {
        let (word, bits) = (end / BITS, end % BITS);
        let block = word / BLOCK;
        let whole = self.words.get(block * BLOCK..word).unwrap_or_default();
        let part = self.words.get(word).map_or(0, |word| word & ((1 << bits) - 1));
        let before = self.before.get(block).copied().unwrap_or(self.count);
        before + whole.iter().map(|word| u64::from(word.count_ones())).sum::<u64>() + u64::from(part.count_ones())
    }

    /// Calls `each` with the position of each selected element in `start..end`, until it returns false. Returns whether it never returned
    /// false.
    pub(crate) fn each(&self, start: usize, end: usize, mut each: impl FnMut(usize) -> bool) -> bool {
        let mut at = start;
        while at < end {
            let (word, low) = (at / BITS, at % BITS);
            let next = (word + 1) * BITS;
            let mut bits = self.words.get(word).map_or(0, |word| word >> low << low);
            if next > end {
                bits &= (1 << (end % BITS)) - 1;
            }
            while bits != 0 {
                if !each(word * BITS + bits.trailing_zeros() as usize) {
                    return false;
                }
                bits &= bits - 1;
            }
            at = next;
        }
        true
    }
}

impl fmt::Debug for MaskSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MaskSelection").field("shape", &self.shape).field("count", &self.count).finish_non_exhaustive()
    }
}

/// Packs up to 64 entries into the bits of a word.
fn word(entries: &[bool]) -> u64 {
    // The lowest bit of each of eight bytes, brought together in the highest byte.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let (eights, rest) = entries.as_chunks::<8>();
    let mut word = 0;
    for (number, eight) in eights.iter().enumerate() {
        let bytes = u64::from_le_bytes(eight.map(u8::from));
        word |= (bytes.wrapping_mul(GATHER) >> 56) << (8 * number);
    }
    let first = 8 * eights.len();
    rest.iter().enumerate().fold(word, |word, (number, &on)| word | u64::from(on) << (first + number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bits_are_found_and_counted(
            mask in proptest::collection::vec(any::<bool>(), 0..1500),
            ends in (0_usize..1500, 0_usize..1500),
        ) {
            let found = MaskSelection::new(&[mask.len() as u64], &mask);
            let (start, end) = (ends.0.min(ends.1).min(mask.len()), ends.0.max(ends.1).min(mask.len()));
            let expected: Vec<usize> = (start..end).filter(|&at| mask[at]).collect();
            let mut positions = Vec::new();
            let is_done = found.each(start, end, |at| { positions.push(at); true });
            prop_assert!(is_done);
            prop_assert_eq!(&positions, &expected);
            prop_assert_eq!(found.count_before(end) - found.count_before(start), expected.len() as u64);
            prop_assert_eq!(found.len(), mask.iter().filter(|on| **on).count() as u64);
            if let Some(&first) = expected.first() {
                let is_done = found.each(start, end, |at| { assert_eq!(at, first); false });
                prop_assert!(!is_done);
            }
        }
    }
}
