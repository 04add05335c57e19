//! Copies of rows of bytes, optionally past the caches, and with the bytes of numbers reversed.
//!
//! A store to memory outside the cache first reads the cache line that it changes partly. Stores of whole lines past the cache do not: a
//! copy to an output much larger than the cache causes half the traffic, and leaves the cache unchanged.
//!
//! Invariant of all loops: `rows.len` bytes can be read at each `from + i * rows.from_step` and written at each `to + i * rows.to_step`,
//! and the written bytes overlap nothing else. Callers of [`Isa::copy_rows`] guarantee this.
#![expect(unsafe_code)]

use crate::isa::Isa;
#[cfg(target_arch = "x86_64")]
use crate::isa::Set;

/// Number of bytes of a cache line.
const LINE: usize = 64;
/// Distance in bytes by which rows are prefetched before they are copied.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 2048;
/// Least number of bytes of a row that is written past the caches although it does not begin at a cache line.
const WORTH: usize = 256;

/// Shape of rows of bytes at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Number of rows.
    pub count: usize,
    /// Number of bytes of each row.
    pub len: usize,
    /// Number of bytes between the beginnings of rows in the target.
    pub to_step: isize,
    /// Number of bytes between the beginnings of rows in the source.
    pub from_step: isize,
}

impl Isa {
    /// Copies rows, and reverses the bytes of each number of `width` bytes; a `width` of 1 reverses nothing. If `stream`, whole cache lines
    /// are written past the caches; other threads see them only after [`finish_streams`](Self::finish_streams).
    ///
    /// # Panics
    /// If `width` is not 1, 2, 4 or 8, or does not divide the length of rows.
    ///
    /// # Safety
    /// Each row can be read, beginning at `from`, and written, beginning at `to`; written rows overlap no other rows.
    pub unsafe fn copy_rows(self, to: *mut u8, from: *const u8, rows: Rows, width: usize, stream: bool) {
        assert!(
            matches!(width, 1 | 2 | 4 | 8) && rows.len.is_multiple_of(width),
            "numbers of {width} bytes in {rows:?}"
        );
        let whole_lines = |start: usize, step: isize| (start | step.unsigned_abs() | rows.len).is_multiple_of(LINE);
        let aligned = to.align_offset(width.next_power_of_two()) == 0 || width == 1;
        let steps = rows.to_step.unsigned_abs().is_multiple_of(width);
        let worth = whole_lines(to.addr(), rows.to_step) || rows.len >= WORTH;
        let stream = stream && aligned && steps && worth;
        // Plain loops know no stores past the caches.
        #[cfg(not(target_arch = "x86_64"))]
        let _ = stream;
        // SAFETY: as the caller says; the processor has the instruction set, as there is an `Isa` of it.
        unsafe {
            match self.0 {
                #[cfg(target_arch = "x86_64")]
                Set::Avx512 => wide::with_avx512(to, from, rows, width, stream),
                #[cfg(target_arch = "x86_64")]
                Set::Avx2 => wide::with_avx2(to, from, rows, width, stream),
                _ => portable(to, from, rows, width),
            }
        }
    }

    /// Makes streamed rows visible to other threads, like other stores. Must be called before the memory is passed on.
    pub fn finish_streams(self) {
        #[cfg(target_arch = "x86_64")]
        if self.0 >= Set::Avx2 {
            // SAFETY: every processor of x86-64 has the instruction, which touches no memory of the program.
            unsafe {
                std::arch::x86_64::_mm_sfence();
            }
        }
    }
}

/// # Safety
/// The invariant of the module.
unsafe fn portable(to: *mut u8, from: *const u8, rows: Rows, width: usize) {
    for row in 0..rows.count as isize {
        // SAFETY: row `row` of both, by the invariant.
        unsafe {
            let (to, from) = (to.offset(row * rows.to_step), from.offset(row * rows.from_step));
            match width {
                2 => reversed::<2>(to, from, rows.len),
                4 => reversed::<4>(to, from, rows.len),
                8 => reversed::<8>(to, from, rows.len),
                _ => std::ptr::copy_nonoverlapping(from, to, rows.len),
            }
        }
    }
}

/// # Safety
/// `len` bytes, a multiple of `WIDTH`, can be read at `from` and written at `to`, and do not overlap.
#[inline(always)]
unsafe fn reversed<const WIDTH: usize>(to: *mut u8, from: *const u8, len: usize) {
    if WIDTH == 1 {
        // SAFETY: as the caller says.
        return unsafe { std::ptr::copy_nonoverlapping(from, to, len) };
    }
    for at in (0..len).step_by(WIDTH) {
        // SAFETY: as the caller says; `[u8; WIDTH]` has no alignment.
        unsafe {
            let mut number = from.add(at).cast::<[u8; WIDTH]>().read();
            number.reverse();
            to.add(at).cast::<[u8; WIDTH]>().write(number);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{AHEAD, LINE, Rows, reversed};
    use std::arch::x86_64::*;

    /// Returns, for each of 16 positions, the index of its byte after numbers of `WIDTH` bytes are reversed.
    const fn order<const WIDTH: usize>() -> [i8; 16] {
        let mut order = [0; 16];
        let mut at = 0;
        while at < 16 {
            order[at] = (at / WIDTH * WIDTH + WIDTH - 1 - at % WIDTH) as i8;
            at += 1;
        }
        order
    }

    /// Returns the number of rows by which a row is prefetched before it is copied; 0 is no prefetch. The processor does not prefetch rows
    /// that are far apart by itself. It loads enough rows of one cache line at once, and each long row is a stream that it recognizes.
    fn ahead(rows: Rows) -> isize {
        let apart = rows.from_step.unsigned_abs() > rows.len;
        if apart && (2 * LINE..=AHEAD).contains(&rows.len) { (AHEAD / rows.len) as isize } else { 0 }
    }

    macro_rules! kernel {
        ($name:ident, $pick:ident, $rows:ident, $lines:ident, $features:literal, $register:ty, $zero:ident, $load:ident, $store:ident,
         $stream:ident, $shuffle:ident, $repeat:ident) => {
            /// # Safety
            /// The invariant of the module; the processor has the instruction set.
            pub(super) unsafe fn $name(to: *mut u8, from: *const u8, rows: Rows, width: usize, stream: bool) {
                // SAFETY: as the caller says.
                unsafe {
                    match (width, stream) {
                        (2, false) => $pick::<2, false>(to, from, rows),
                        (2, true) => $pick::<2, true>(to, from, rows),
                        (4, false) => $pick::<4, false>(to, from, rows),
                        (4, true) => $pick::<4, true>(to, from, rows),
                        (8, false) => $pick::<8, false>(to, from, rows),
                        (8, true) => $pick::<8, true>(to, from, rows),
                        (_, false) => $pick::<1, false>(to, from, rows),
                        (_, true) => $pick::<1, true>(to, from, rows),
                    }
                }
            }

            /// Picks a loop for the length of rows: rows of chunks are often one, two or four cache lines, and a loop that knows the length
            /// takes a fifth less time. These loops are separate from the one for any length, which would otherwise take more instructions
            /// for short rows.
            ///
            /// # Safety
            /// The invariant of the module; the processor has the instruction set. If streamed, rows begin with a number.
            unsafe fn $pick<const WIDTH: usize, const STREAM: bool>(to: *mut u8, from: *const u8, rows: Rows) {
                let whole = rows.len.is_multiple_of(LINE)
                    && (!STREAM || (to.addr() | rows.to_step.unsigned_abs()).is_multiple_of(LINE));
                // SAFETY: as the caller says; whole lines if streamed.
                unsafe {
                    match rows.len / LINE {
                        1 if whole => $lines::<WIDTH, STREAM, 1>(to, from, rows),
                        2 if whole => $lines::<WIDTH, STREAM, 2>(to, from, rows),
                        4 if whole => $lines::<WIDTH, STREAM, 4>(to, from, rows),
                        _ => $rows::<WIDTH, STREAM>(to, from, rows),
                    }
                }
            }

            /// # Safety
            /// The invariant of the module; the processor has the instruction set. If streamed, rows begin with a number.
            #[target_feature(enable = $features)]
            unsafe fn $rows<const WIDTH: usize, const STREAM: bool>(to: *mut u8, from: *const u8, rows: Rows) {
                const SIZE: usize = size_of::<$register>();
                // SAFETY: an array of 16 bytes is read.
                let order = unsafe { $repeat(_mm_loadu_si128(order::<WIDTH>().as_ptr().cast())) };
                let ahead = if STREAM { 0 } else { ahead(rows) };
                for row in 0..rows.count as isize {
                    // SAFETY: row `row` of both, by the invariant. All accesses below are at `at..at + SIZE` with `at + LINE`
                    // at most the length, or in the part of the row that `reversed` takes.
                    unsafe {
                        let (to, from) = (to.offset(row * rows.to_step), from.offset(row * rows.from_step));
                        if ahead > 0 && row + ahead < rows.count as isize {
                            let later = from.wrapping_offset(ahead * rows.from_step);
                            for at in (0..rows.len).step_by(LINE) {
                                _mm_prefetch::<_MM_HINT_T0>(later.wrapping_add(at).cast());
                            }
                        }
                        let mut at = 0;
                        if STREAM {
                            // Whole numbers: lines are longer than numbers, and both begin at multiples of their size.
                            at = to.align_offset(LINE).min(rows.len);
                            // Rows of whole lines have nothing before them, and even a copy of nothing is a call.
                            if at > 0 {
                                reversed::<WIDTH>(to, from, at);
                            }
                        }
                        while at + LINE <= rows.len {
                            for part in (at..at + LINE).step_by(SIZE) {
                                let mut bytes = $load(from.add(part).cast());
                                if WIDTH > 1 {
                                    bytes = $shuffle(bytes, order);
                                }
                                if STREAM {
                                    $stream(to.add(part).cast(), bytes)
                                } else {
                                    $store(to.add(part).cast(), bytes)
                                }
                            }
                            at += LINE;
                        }
                        if at < rows.len {
                            reversed::<WIDTH>(to.add(at), from.add(at), rows.len - at);
                        }
                    }
                }
            }

            /// # Safety
            /// The invariant of the module; the processor has the instruction set. Rows are of `LINES` lines, at most four, and
            /// written to whole ones if streamed.
            #[target_feature(enable = $features)]
            unsafe fn $lines<const WIDTH: usize, const STREAM: bool, const LINES: usize>(
                to: *mut u8,
                from: *const u8,
                rows: Rows,
            ) {
                const SIZE: usize = size_of::<$register>();
                // SAFETY: an array of 16 bytes is read.
                let order = unsafe { $repeat(_mm_loadu_si128(order::<WIDTH>().as_ptr().cast())) };
                let ahead = if STREAM { 0 } else { ahead(rows) };
                for row in 0..rows.count as isize {
                    // SAFETY: row `row` of both, by the invariant, each of `LINES * LINE` bytes.
                    unsafe {
                        let (to, from) = (to.offset(row * rows.to_step), from.offset(row * rows.from_step));
                        if ahead > 0 && row + ahead < rows.count as isize {
                            let later = from.wrapping_offset(ahead * rows.from_step);
                            for line in 0..LINES {
                                _mm_prefetch::<_MM_HINT_T0>(later.wrapping_add(line * LINE).cast());
                            }
                        }
                        // All loads come before the stores, which they need not wait for then.
                        let mut parts = [$zero(); 4 * LINE / SIZE];
                        for (part, bytes) in parts.iter_mut().enumerate().take(LINES * LINE / SIZE) {
                            *bytes = $load(from.add(part * SIZE).cast());
                            if WIDTH > 1 {
                                *bytes = $shuffle(*bytes, order);
                            }
                        }
                        for (part, &bytes) in parts.iter().enumerate().take(LINES * LINE / SIZE) {
                            let to = to.add(part * SIZE).cast();
                            if STREAM { $stream(to, bytes) } else { $store(to, bytes) }
                        }
                    }
                }
            }
        };
    }

    kernel!(
        with_avx512,
        pick_avx512,
        rows_avx512,
        lines_avx512,
        "avx512f,avx512bw",
        __m512i,
        _mm512_setzero_si512,
        _mm512_loadu_si512,
        _mm512_storeu_si512,
        _mm512_stream_si512,
        _mm512_shuffle_epi8,
        _mm512_broadcast_i32x4
    );
    kernel!(
        with_avx2,
        pick_avx2,
        rows_avx2,
        lines_avx2,
        "avx2",
        __m256i,
        _mm256_setzero_si256,
        _mm256_loadu_si256,
        _mm256_storeu_si256,
        _mm256_stream_si256,
        _mm256_shuffle_epi8,
        _mm256_broadcastsi128_si256
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns a number of bytes below `end`: half of the time any number, else a number of whole cache lines.
    fn any_or_lines(end: usize) -> impl Strategy<Value = usize> {
        prop_oneof![0..end, (0..end.div_ceil(LINE)).prop_map(|lines| lines * LINE)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn all_equal_a_plain_loop(
            count in 0usize..12,
            len in any_or_lines(600),
            width in prop::sample::select(vec![1usize, 2, 4, 8]),
            gaps in (any_or_lines(70), any_or_lines(70)),
            starts in (any_or_lines(70), 0usize..70),
            backwards in any::<bool>(),
            stream in any::<bool>(),
        ) {
            let len = len / width * width;
            let size = |start: usize, gap: usize| start + count * (len + gap);
            let source: Vec<u8> = (0..size(starts.1, gaps.1)).map(|i| (i * 7 + i / 250) as u8).collect();
            let row = |i: usize| {
                let mut row = source[starts.1 + i * (len + gaps.1)..][..len].to_vec();
                row.chunks_mut(width).for_each(<[u8]>::reverse);
                row
            };
            let mut expected = vec![0xEE; size(starts.0, gaps.0)];
            for i in 0..count {
                let position = if backwards { count - 1 - i } else { i };
                expected[starts.0 + position * (len + gaps.0)..][..len].copy_from_slice(&row(i));
            }
            for isa in Isa::available() {
                // `starts` counts from a line.
                let mut memory = vec![0xEE; size(starts.0, gaps.0) + LINE];
                let line = memory.as_ptr().align_offset(LINE);
                let target = &mut memory[line..][..expected.len()];
                let step = (len + gaps.0) as isize;
                let last = if backwards { count.saturating_sub(1) * (len + gaps.0) } else { 0 };
                let to_step = if backwards { -step } else { step };
                let rows = Rows { count, len, to_step, from_step: (len + gaps.1) as isize };
                // SAFETY: rows of `len` bytes lie `len + gap` apart in both, from `starts` on, in buffers made for `count`.
                unsafe {
                    let (to, from) = (target.as_mut_ptr().add(starts.0 + last), source.as_ptr().add(starts.1));
                    isa.copy_rows(to, from, rows, width, stream);
                }
                isa.finish_streams();
                prop_assert_eq!(&*target, &expected, "{:?}", isa);
            }
        }
    }
}
