//! Search for repeated bytes, for compressors of the LZ77 family.
//!
//! Invariant: all positions in the table are at most `last`, and 8 bytes of the input can be read at `last`. Positions from the table
//! therefore need no check when they are used, which happens for each byte of the input.
#![expect(unsafe_code)]

/// Number of attempts, as an exponent of two, after which steps become one byte longer (`LZ4_skipTrigger`).
const SKIP: u32 = 6;

/// Input of a compressor with a table of the last positions of its bytes, by a hash of four bytes, or of five if `LONG`.
#[derive(Debug)]
pub struct Matches<'a, const N: usize, const LONG: bool = false> {
    plain: &'a [u8],
    table: &'a mut [u32; N],
    bits: u32,
    last: usize,
}

impl<'a, const N: usize, const LONG: bool> Matches<'a, N, LONG> {
    /// Returns a search in `plain`, an input of 8 to 2³² bytes. The first 2^`bits` entries of `table` are used and set to position 0; at
    /// least 1 and at most all. `None` if the input or `bits` is out of range.
    pub fn new(plain: &'a [u8], table: &'a mut [u32; N], bits: u32) -> Option<Self> {
        u32::try_from(plain.len()).ok().filter(|_| (1..32).contains(&bits))?;
        let last = plain.len().checked_sub(8)?;
        table.get_mut(..1 << bits)?.fill(0);
        Some(Self { plain, table, bits, last })
    }

    /// Returns the four bytes at `at`.
    ///
    /// # Panics
    /// If fewer than 8 bytes of the input are left at `at`.
    #[inline(always)]
    pub fn word(&self, at: usize) -> u32 {
        assert!(at <= self.last);
        // SAFETY: it was just checked.
        unsafe { self.read(at) }
    }

    /// Adds position `at`, where the four bytes are `bytes`, to the table.
    ///
    /// # Panics
    /// If fewer than 8 bytes of the input are left at `at`.
    #[inline(always)]
    pub fn note(&mut self, bytes: u32, at: usize) {
        assert!(at <= self.last);
        self.replace(self.hash(bytes.into()), at);
    }

    /// Adds position `at` to the table, and returns the previous position with the same hash; 0 if there is none.
    ///
    /// # Panics
    /// If fewer than 8 bytes of the input are left at `at`.
    #[inline(always)]
    pub fn exchange(&mut self, at: usize) -> usize {
        assert!(at <= self.last);
        // SAFETY: it was just checked.
        let hash = unsafe { self.hash_at(at) };
        self.replace(hash, at)
    }

    /// Returns the last position in the table with the hash of the bytes at `at`.
    ///
    /// # Panics
    /// If fewer than 8 bytes of the input are left at `at`.
    #[inline(always)]
    pub fn noted(&self, at: usize) -> usize {
        assert!(at <= self.last);
        // SAFETY: it was just checked.
        self.table[unsafe { self.hash_at(at) } % N] as usize
    }

    /// Finds the first position in `at..stop` with the same four bytes as an earlier position less than `too_far` bytes before. Returns
    /// both positions. Adds each visited position to the table.
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

    /// Finds a match like [`find`](Self::find), at a distance of at most `far`, in steps that become longer while nothing is found. Steps
    /// grow faster with a larger `acceleration`, whose least value is 1. Stops when the next position would be beyond `stop`.
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

    /// Returns the number of equal bytes before `at` and before `before`, counted backwards. Positions before `start` are not compared with
    /// those before `before`.
    ///
    /// # Panics
    /// If `at` is beyond the end or less than `before`.
    #[inline(always)]
    pub fn common_back(&self, at: usize, before: usize, start: usize) -> usize {
        assert!(before <= at);
        let pairs = self.plain[start.min(at)..at].iter().rev().zip(self.plain[..before].iter().rev());
        pairs.take_while(|(here, there)| here == there).count()
    }

    /// Returns the number of equal bytes from `at` and from `before` onwards; the bytes from `at` end at `end`.
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

    /// Replaces the position in the entry of `hash` by `at`, which is at most `last`, and returns the old position.
    #[inline(always)]
    fn replace(&mut self, hash: usize, at: usize) -> usize {
        // The remainder changes nothing, as the hash has no more bits than the number of entries has.
        std::mem::replace(&mut self.table[hash % N], at as u32) as usize
    }

    /// Returns a hash of the first four or five bytes, by Fibonacci hashing as in LZ4.
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
