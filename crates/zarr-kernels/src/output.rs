//! Output of decoders that copy literal bytes and repeat bytes that were written before.
//!
//! Short copies of any length cost a call or a loop each. Copies of fixed lengths are one or two instructions: if there is room, more bytes
//! than needed are copied, and the next bytes overwrite the excess.
//!
//! Invariant: `len <= bytes.len()`. All writes are within `bytes`; bytes after `len` are arbitrary.
#![expect(unsafe_code)]

/// Number of bytes after the end of a copy that may be overwritten.
const SLACK: usize = 32;

/// Reason why bytes cannot be written to the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The input has fewer bytes than are copied.
    Input,
    /// The output has no room for the bytes.
    Room,
    /// The repeated bytes would begin before the first byte of the output.
    Distance,
}

/// Buffer that is filled from its beginning.
#[derive(Debug)]
pub struct Output<'a> {
    bytes: &'a mut [u8],
    len: usize,
}

impl<'a> Output<'a> {
    /// Returns an output that fills `bytes`. Bytes after the last written one are arbitrary at the end.
    pub fn new(bytes: &'a mut [u8]) -> Self {
        Self { bytes, len: 0 }
    }

    /// Returns the number of bytes written so far.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether no bytes were written yet.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Copies the first `count` bytes of `from`. Counts of up to 32 are fast if 32 bytes of input are left.
    ///
    /// # Errors
    /// [`Fault::Input`] if `from` is too short, and [`Fault::Room`] if the output is.
    #[inline(always)]
    pub fn literals(&mut self, from: &[u8], count: usize) -> Result<(), Fault> {
        let room = self.bytes.len() - self.len;
        if count <= SLACK && from.len() >= SLACK && room >= SLACK {
            // SAFETY: there are 32 bytes to be read, and as many from `len` on to be written. A mutable borrow overlaps no other.
            unsafe {
                let (from, to) = (from.as_ptr(), self.bytes.as_mut_ptr().add(self.len));
                copy16(from, to);
                if count > 16 {
                    copy16(from.add(16), to.add(16));
                }
            }
            self.len += count;
            return Ok(());
        }
        self.len = literals_exactly(self.bytes, self.len, from, count)?;
        Ok(())
    }

    /// Repeats `count` bytes, beginning `distance` bytes back, as if one by one: if source and target overlap, newly written bytes are
    /// repeated again.
    ///
    /// # Errors
    /// [`Fault::Room`] if the output is too short, and [`Fault::Distance`] if `distance` is 0 or reaches before the output.
    #[inline(always)]
    pub fn repeat(&mut self, distance: usize, count: usize) -> Result<(), Fault> {
        let room = self.bytes.len() - self.len;
        if count > room {
            return Err(Fault::Room);
        }
        if distance == 0 || distance > self.len {
            return Err(Fault::Distance);
        }
        if room - count < SLACK {
            self.len = repeat_exactly(self.bytes, self.len, distance, count);
            return Ok(());
        }
        // SAFETY: `distance` bytes are there in front of `len`, and behind it `count` bytes and `SLACK` more.
        unsafe {
            let to = self.bytes.as_mut_ptr().add(self.len);
            if distance >= 8 {
                repeat_far(to, distance, count);
            } else if distance == 1 {
                repeat_byte(to, count);
            } else {
                repeat_pattern(to, distance, count);
            }
        }
        self.len += count;
        Ok(())
    }
}

/// Does the work of [`Output::literals`] for many bytes or near an end; returns the new length. Takes no reference to the output, so that
/// its fields can stay in registers.
#[inline(never)]
fn literals_exactly(bytes: &mut [u8], len: usize, from: &[u8], count: usize) -> Result<usize, Fault> {
    let from = from.get(..count).ok_or(Fault::Input)?;
    let to = bytes.get_mut(len..).and_then(|to| to.get_mut(..count));
    to.ok_or(Fault::Room)?.copy_from_slice(from);
    Ok(len + count)
}

/// Does the work of [`Output::repeat`] near the end of the output; returns the new length. `distance` and `count` must have been checked.
#[cold]
fn repeat_exactly(bytes: &mut [u8], mut len: usize, distance: usize, count: usize) -> usize {
    let (from, end) = (len - distance, len + count);
    while len < end {
        // The part that repeats doubles with each copy.
        let part = (len - from).min(end - len);
        bytes.copy_within(from..from + part, len);
        len += part;
    }
    len
}

/// # Safety
/// 16 bytes can be read from `from` and written to `to`, and do not overlap.
#[inline(always)]
unsafe fn copy16(from: *const u8, to: *mut u8) {
    // SAFETY: as the caller says.
    unsafe { std::ptr::copy_nonoverlapping(from, to, 16) }
}

/// # Safety
/// 8 bytes can be read from `from` and written to `to`, and do not overlap.
#[inline(always)]
unsafe fn copy8(from: *const u8, to: *mut u8) {
    // SAFETY: as the caller says.
    unsafe { std::ptr::copy_nonoverlapping(from, to, 8) }
}

/// # Safety
/// The conditions of [`repeat_pattern`], except that `distance` is at least 8.
#[inline(always)]
unsafe fn repeat_far(to: *mut u8, distance: usize, count: usize) {
    // SAFETY: 8 bytes do not overlap with bytes at least 8 bytes before, nor 16 with bytes at least 16 bytes before. A
    // turn begins before `count` and writes at most 32 bytes.
    unsafe {
        let from = to.sub(distance);
        copy8(from, to);
        copy8(from.add(8), to.add(8));
        let mut at = 16;
        if distance >= 16 {
            while at < count {
                copy16(from.add(at), to.add(at));
                copy16(from.add(at + 16), to.add(at + 16));
                at += 32;
            }
        } else {
            while at < count {
                copy8(from.add(at), to.add(at));
                copy8(from.add(at + 8), to.add(at + 8));
                at += 16;
            }
        }
    }
}

/// # Safety
/// The conditions of [`repeat_pattern`], except that the distance is 1.
#[inline(always)]
unsafe fn repeat_byte(to: *mut u8, count: usize) {
    // SAFETY: the last 32 bytes are written from before `count` on, or from the first on.
    unsafe {
        let byte = *to.sub(1);
        let mut at = 0;
        loop {
            std::ptr::write_bytes(to.add(at), byte, 32);
            at += 32;
            if at >= count {
                break;
            }
        }
    }
}

/// Fills a register with repetitions of the last `distance` bytes, so that no copy has to wait for the copy before.
///
/// # Safety
/// There are `distance` bytes before `to`, and room for `count + 32` bytes at `to`. `distance` is 2 to 7.
#[inline(always)]
unsafe fn repeat_pattern(to: *mut u8, distance: usize, count: usize) {
    let bits = 8 * distance as u32;
    let mut first = 0;
    // One by one, as bytes just written by several stores cannot be read at once without waiting for these.
    for back in 1..=distance {
        // SAFETY: `distance` bytes are there.
        first = first << 8 | u64::from(unsafe { *to.sub(back) });
    }
    let mask = (1 << bits) - 1;
    // The pattern at 8 bytes further on: turned by 8 modulo `distance`.
    let turn = 8 * (8 % distance as u32);
    let second = (first >> turn | first << (bits - turn)) & mask;
    let times = TIMES[distance % 8];
    let (first, second) = (first.wrapping_mul(times).to_le_bytes(), second.wrapping_mul(times).to_le_bytes());
    // A whole number of patterns in 16 bytes.
    let step = STEPS[distance % 8];
    let mut at = 0;
    loop {
        // SAFETY: a copy of 16 bytes that begins before `count`, or at the first of all.
        unsafe {
            std::ptr::copy_nonoverlapping(first.as_ptr(), to.add(at), 8);
            std::ptr::copy_nonoverlapping(second.as_ptr(), to.add(at + 8), 8);
        }
        at += step;
        if at >= count {
            break;
        }
    }
}

/// For each distance, the sum of 256 to the power of all its multiples below 8: multiplication with it repeats a pattern.
const TIMES: [u64; 8] = [
    0,
    0x0101_0101_0101_0101,
    0x0001_0001_0001_0001,
    0x0001_0000_0100_0001,
    0x0000_0001_0000_0001,
    0x0000_0100_0000_0001,
    0x0001_0000_0000_0001,
    0x0100_0000_0000_0001,
];

/// For each distance, its largest multiple up to 16.
const STEPS: [usize; 8] = [16, 16, 16, 15, 16, 15, 12, 14];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Model of the output, which works byte by byte.
    #[derive(Debug, Default)]
    struct Model(Vec<u8>);

    impl Model {
        fn repeat(&mut self, distance: usize, count: usize, size: usize) -> Result<(), Fault> {
            if count > size - self.0.len() {
                return Err(Fault::Room);
            }
            if distance == 0 || distance > self.0.len() {
                return Err(Fault::Distance);
            }
            for _ in 0..count {
                self.0.push(self.0[self.0.len() - distance]);
            }
            Ok(())
        }

        fn literals(&mut self, from: &[u8], count: usize, size: usize) -> Result<(), Fault> {
            let from = from.get(..count).ok_or(Fault::Input)?;
            if count > size - self.0.len() {
                return Err(Fault::Room);
            }
            self.0.extend(from);
            Ok(())
        }
    }

    #[test]
    fn all_distances_and_counts_equal_the_model() {
        let input: Vec<u8> = (0..100u8).map(|i| i.wrapping_mul(73)).collect();
        for distance in 0..70 {
            for count in 0..70 {
                for size in [60, 64, 60 + count, 60 + count + 16, 60 + count + 31, 60 + count + 32, 400] {
                    let (mut bytes, mut model) = (vec![0xEE; size], Model::default());
                    let mut out = Output::new(&mut bytes);
                    assert_eq!(out.literals(&input, 60), model.literals(&input, 60, size));
                    let what = format!("{count} bytes from {distance} back in {size}");
                    assert_eq!(out.repeat(distance, count), model.repeat(distance, count, size), "{what}");
                    let len = out.len();
                    assert!(bytes[..len] == model.0, "{what}");
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        #[test]
        fn any_copies_equal_the_model(
            size in 0usize..600,
            input in prop::collection::vec(any::<u8>(), 0..80),
            copies in prop::collection::vec((any::<bool>(), 0usize..90, 0usize..90), 0..30),
        ) {
            let (mut bytes, mut model) = (vec![0xEE; size], Model::default());
            let mut out = Output::new(&mut bytes);
            for (literal, count, from) in copies {
                if literal {
                    let input = &input[from.min(input.len())..];
                    prop_assert_eq!(out.literals(input, count), model.literals(input, count, size));
                } else {
                    prop_assert_eq!(out.repeat(from, count), model.repeat(from, count, size));
                }
            }
            let len = out.len();
            prop_assert_eq!(&bytes[..len], &model.0[..]);
        }
    }
}
