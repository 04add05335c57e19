//! Registers of 16 bytes, which process elements of any size.

use super::Bits;
use std::arch::x86_64::*;

type V = __m128i;
const LANES: usize = 1;

by_size!("sse2");
loops!("sse2");

#[inline]
#[target_feature(enable = "sse2")]
fn zero() -> V {
    _mm_setzero_si128()
}

#[inline]
#[target_feature(enable = "sse2")]
unsafe fn load(from: *const u8) -> V {
    // SAFETY: the caller may read 16 bytes; the instruction takes any address.
    unsafe { _mm_loadu_si128(from.cast()) }
}

#[inline]
#[target_feature(enable = "sse2")]
unsafe fn load_lanes(from: *const u8, _step: usize) -> V {
    // SAFETY: the caller may read its one lane.
    unsafe { load(from) }
}

#[inline]
#[target_feature(enable = "sse2")]
unsafe fn store(to: *mut u8, v: V) {
    // SAFETY: the caller may write 16 bytes; the instruction takes any address.
    unsafe { _mm_storeu_si128(to.cast(), v) }
}

#[inline]
#[target_feature(enable = "sse2")]
unsafe fn store_lanes(to: *mut u8, _step: usize, v: V) {
    // SAFETY: the caller may write its one lane.
    unsafe { store(to, v) }
}

#[inline]
#[target_feature(enable = "sse2")]
fn zip(even: V, odd: V) -> (V, V) {
    (_mm_unpacklo_epi8(even, odd), _mm_unpackhi_epi8(even, odd))
}

/// Transposes each 8 bytes as a matrix of 8 × 8 bits ("Hacker's Delight", section 7-3).
#[inline]
#[target_feature(enable = "sse2")]
fn transpose(v: V) -> V {
    let swap = _mm_and_si128(_mm_xor_si128(v, _mm_srli_epi64::<7>(v)), _mm_set1_epi64x(0x00aa_00aa_00aa_00aa));
    let v = _mm_xor_si128(v, _mm_xor_si128(swap, _mm_slli_epi64::<7>(swap)));
    let swap = _mm_and_si128(_mm_xor_si128(v, _mm_srli_epi64::<14>(v)), _mm_set1_epi64x(0x0000_cccc_0000_cccc));
    let v = _mm_xor_si128(v, _mm_xor_si128(swap, _mm_slli_epi64::<14>(swap)));
    let swap = _mm_and_si128(_mm_xor_si128(v, _mm_srli_epi64::<28>(v)), _mm_set1_epi64x(0x0000_0000_f0f0_f0f0));
    _mm_xor_si128(v, _mm_xor_si128(swap, _mm_slli_epi64::<28>(swap)))
}

/// Splits elements of any size, 16 elements at once, in windows of 16 bytes of each element. The last window may overlap the window before.
#[target_feature(enable = "sse2")]
unsafe fn split_other(size: usize, len: usize, elements: *const u8, planes: *mut u8, stride: usize) -> usize {
    let whole = whole(size, len);
    for at in (0..whole).step_by(16) {
        for window in windows(size) {
            let mut v = [zero(); 16];
            // SAFETY: `whole` leaves out elements of which a window would end behind the last element.
            unsafe {
                for (i, v) in v.iter_mut().enumerate() {
                    *v = load(elements.add((at + i) * size + window));
                }
                let v = rotate(rotate(rotate(rotate(v))));
                for (byte, v) in v.into_iter().enumerate() {
                    if byte < size {
                        store(planes.add((window + byte) * stride + at), v);
                    }
                }
            }
        }
    }
    whole
}

/// Reverses [`split_other`]. Writes bytes after an element of less than 16 bytes; the next element overwrites them, and the caller
/// overwrites those after the last element.
#[target_feature(enable = "sse2")]
unsafe fn join_other(size: usize, len: usize, planes: *const u8, stride: usize, elements: *mut u8) -> usize {
    let whole = whole(size, len);
    for at in (0..whole).step_by(16) {
        for window in windows(size) {
            let mut v = [zero(); 16];
            // SAFETY: as in `split_other`.
            unsafe {
                for (byte, v) in v.iter_mut().enumerate() {
                    // Where there are fewer than 16 planes, any bytes do for bytes that are overwritten.
                    *v = load(planes.add((window + byte.min(size - 1)) * stride + at));
                }
                let v = rotate(rotate(rotate(rotate(v))));
                for (i, v) in v.into_iter().enumerate() {
                    store(elements.add((at + i) * size + window), v);
                }
            }
        }
    }
    whole
}

/// Returns the number of elements, a multiple of 16, whose windows of 16 bytes end within the `len` elements.
fn whole(size: usize, len: usize) -> usize {
    let reach = if size == 1 { 0 } else { (len * size).saturating_sub(16_usize.saturating_sub(size)) / size };
    reach / 16 * 16
}

/// Returns the offset of each window in an element.
fn windows(size: usize) -> impl Iterator<Item = usize> {
    (0..size.div_ceil(16)).map(move |number| (16 * number).min(size.saturating_sub(16)))
}
