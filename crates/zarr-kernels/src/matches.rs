//! Finding repeated bytes, for compressors of the LZ77 family.
//!
//! Invariant: all positions in the table are at most `last`, and 8 bytes of the input can be read at `last`. So a
//! position from the table needs no check where it is used, which is for each byte of the input.
#![expect(unsafe_code)]

/// Number of attempts after which steps grow by a byte, as an exponent of two (`LZ4_skipTrigger`).
const SKIP: u32 = 6;

/// The input of a compressor, and where its bytes were last, by a hash of four bytes, or of five if `LONG`.
#[derive(Debug)]
pub struct Matches<'a, const N: usize, const LONG: bool = false> {
    plain: &'a [u8],
    table: &'a mut [u32; N],
    bits: u32,
    last: usize,
}

impl<'a, const N: usize, const LONG: bool> Matches<'a, N, LONG> {
    /// An input of 8 to 2³² bytes, and a table of which 2^`bits` entries, 1 to all, are used. They are set to
    /// position 0.
    pub fn new(plain: &'a [u8], table: &'a mut [u32; N], bits: u32) -> Option<Self> {
        u32::try_from(plain.len()).ok().filter(|_| (1..32).contains(&bits))?;
        let last = plain.len().checked_sub(8)?;
        table.get_mut(..1 << bits)?.fill(0);
        Some(Self { plain, table, bits, last })
    }

    /// The four bytes at `at`.
    ///
    /// # Panics
    /// If fewer than 8 bytes are left there.
    #[inline(always)]
    pub fn word(&self, at: usize) -> u32 {
        assert!(at <= self.last);
        // SAFETY: it was just checked.
        unsafe { self.read(at) }
    }

    /// Notes that these bytes are at `at`.
    ///
    /// # Panics
    /// If fewer than 8 bytes are left there.
    #[inline(always)]
    pub fn note(&mut self, bytes: u32, at: usize) {
        assert!(at <= self.last);
        self.replace(self.hash(bytes.into()), at);
    }

    /// Notes the bytes at `at`, and returns where bytes of their hash were noted before; 0 stands for nowhere as well.
    ///
    /// # Panics
    /// If fewer than 8 bytes are left there.
    #[inline(always)]
    pub fn exchange(&mut self, at: usize) -> usize {
        assert!(at <= self.last);
        // SAFETY: it was just checked.
        let hash = unsafe { self.hash_at(at) };
        self.replace(hash, at)
    }

    /// The position where bytes with the hash of the bytes at `at` were noted last.
    ///
    /// # Panics
    /// If fewer than 8 bytes are left there.
    #[inline(always)]
    pub fn noted(&self, at: usize) -> usize {
        assert!(at <= self.last);
        // SAFETY: it was just checked.
        self.table[unsafe { self.hash_at(at) } % N] as usize
    }

    /// The first position from `at` on and before `stop` of which the four bytes were noted less than `too_far` bytes before,
    /// and where that was. Notes all that it looks at.
    #[inline(always)]
    pub fn find(&mut self, mut at: usize, stop: usize, too_far: usize) -> Option<(usize, usize)> {
        let stop = stop.min(self.last + 1);
        while at < stop {
            // SAFETY: `at` and all positions noted are at most `last`.
            let (bytes, before, there) = unsafe {
                let before = self.replace(self.hash_at(at), at);
                (self.read(at), before, self.read(before))
            };
            if there == bytes && at.wrapping_sub(before).wrapping_sub(1) < too_far - 1 {
                return Some((at, before));
            }
            at += 1;
        }
        None
    }

    /// As [`find`](Self::find) up to a distance of `far`, by steps that grow the longer nothing is found; the less the larger
    /// `acceleration` is, whose unit is 1. The position after the current one is `stop` at most.
    ///
    /// # Panics
    /// Unless `at <= stop` and 8 bytes are left at `stop`.
    #[inline(always)]
    pub fn find_in_steps(&mut self, at: usize, stop: usize, far: usize, acceleration: usize) -> Option<(usize, usize)> {
        assert!(at <= stop && stop <= self.last);
        let (mut next, mut step, mut attempts) = (at, 1, acceleration << SKIP);
        // SAFETY: `at` is at most `last`.
        let mut next_hash = unsafe { self.hash_at(at) };
        loop {
            let (at, hash) = (next, next_hash);
            next += step;
            step = attempts >> SKIP;
            attempts += 1;
            if next > stop {
                return None;
            }
            let before = self.replace(hash, at);
            // SAFETY: `at` and `next` are at most `stop`, and so at most `last`, as are all positions noted.
            let same = unsafe {
                next_hash = self.hash_at(next);
                self.read(at) == self.read(before)
            };
            if same && at - before <= far {
                return Some((at, before));
            }
        }
    }

    /// How many bytes in front of `at` equal the bytes in front of `before`, down to `start`.
    ///
    /// # Panics
    /// If `at` is beyond the end or less than `before`.
    #[inline(always)]
    pub fn common_back(&self, at: usize, before: usize, start: usize) -> usize {
        assert!(before <= at);
        let pairs = self.plain[start.min(at)..at].iter().rev().zip(self.plain[..before].iter().rev());
        pairs.take_while(|(here, there)| here == there).count()
    }

    /// How many bytes at `at` equal the bytes from `before` on, up to `end`.
    ///
    /// # Panics
    /// Unless `before < at <= end <= plain.len()`.
    #[inline(always)]
    pub fn common(&self, at: usize, before: usize, end: usize) -> usize {
        assert!(before < at && at <= end && end <= self.plain.len());
        let (mut here, mut there) = (at, before);
        while here + 8 <= end {
            // SAFETY: 8 bytes end within the input, and the bytes before them do as well.
            let differ = unsafe { self.read_long(here) ^ self.read_long(there) };
            if differ != 0 {
                return here - at + (differ.trailing_zeros() / 8) as usize;
            }
            (here, there) = (here + 8, there + 8);
        }
        let rest = self.plain[here..end].iter().zip(&self.plain[there..end]);
        here - at + rest.take_while(|(here, there)| here == there).count()
    }

    /// `at` is at most `last`.
    #[inline(always)]
    fn replace(&mut self, hash: usize, at: usize) -> usize {
        // The remainder changes nothing, as the hash has no more bits than the number of entries has.
        std::mem::replace(&mut self.table[hash % N], at as u32) as usize
    }

    /// Fibonacci hashing, as LZ4 does.
    #[inline(always)]
    fn hash(&self, bytes: u64) -> usize {
        if LONG {
            ((bytes << 24).wrapping_mul(889_523_592_379) >> (64 - self.bits)) as usize
        } else {
            ((bytes as u32).wrapping_mul(2_654_435_761) >> (32 - self.bits)) as usize
        }
    }

    /// # Safety
    /// `at` is at most `last`.
    #[inline(always)]
    unsafe fn hash_at(&self, at: usize) -> usize {
        // SAFETY: 8 bytes can be read at `last`.
        self.hash(if LONG { unsafe { self.read_long(at) } } else { unsafe { self.read(at) }.into() })
    }

    /// # Safety
    /// `at` is at most `last`.
    #[inline(always)]
    unsafe fn read(&self, at: usize) -> u32 {
        // SAFETY: 8 bytes can be read there, at any alignment.
        u32::from_le_bytes(unsafe { self.plain.as_ptr().add(at).cast::<[u8; 4]>().read() })
    }

    /// # Safety
    /// 8 bytes can be read at `at`.
    #[inline(always)]
    unsafe fn read_long(&self, at: usize) -> u64 {
        // SAFETY: as the caller says, at any alignment.
        u64::from_le_bytes(unsafe { self.plain.as_ptr().add(at).cast::<[u8; 8]>().read() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn short_inputs_and_tables_are_refused() {
        let mut table = [0; 16];
        assert!(Matches::<_, false>::new(&[0; 7], &mut table, 4).is_none());
        assert!(Matches::<_, false>::new(&[0; 8], &mut table, 5).is_none());
        let mut all = Matches::<_, false>::new(&[0; 8], &mut table, 4).unwrap();
        assert_eq!(all.word(0), 0);
        assert_eq!(all.find(0, 100, 10), None);
    }

    #[test]
    #[should_panic(expected = "at <= self.last")]
    fn places_without_bytes_are_refused() {
        Matches::<_, false>::new(&[0; 16], &mut [0; 16], 4).unwrap().note(0, 9);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn matches_are_repetitions(bytes in prop::collection::vec(0u8..3, 8..400), far in 2usize..300, stop in 0usize..500) {
            let mut table = [0; 64];
            let mut all = Matches::<_, false>::new(&bytes, &mut table, 6).unwrap();
            let mut at = 1;
            while let Some((found, before)) = all.find(at, stop, far) {
                prop_assert!(at <= found && found < stop && before < found && found - before < far);
                prop_assert_eq!(&bytes[found..found + 4], &bytes[before..before + 4]);
                for end in [found, found + 5, bytes.len()] {
                    let due = (found..end).take_while(|&here| bytes[here] == bytes[before + here - found]).count();
                    prop_assert_eq!(all.common(found, before, end), due);
                }
                at = found + 1;
            }
        }
    }
}
