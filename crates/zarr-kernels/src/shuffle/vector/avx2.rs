//! Registers of 32 bytes.

use super::Bits;
use std::arch::x86_64::*;

type V = __m256i;
const LANES: usize = 2;

by_size!("avx2");
loops!("avx2");

#[inline]
#[target_feature(enable = "avx2")]
fn zero() -> V {
    _mm256_setzero_si256()
}

#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load(from: *const u8) -> V {
    // SAFETY: the caller may read 32 bytes; the instruction takes any address.
    unsafe { _mm256_loadu_si256(from.cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load_lanes(from: *const u8, step: usize) -> V {
    // SAFETY: the caller may read 16 bytes here and `step` further on.
    unsafe { _mm256_loadu2_m128i(from.add(step).cast(), from.cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
unsafe fn store(to: *mut u8, v: V) {
    // SAFETY: the caller may write 32 bytes; the instruction takes any address.
    unsafe { _mm256_storeu_si256(to.cast(), v) }
}

#[inline]
#[target_feature(enable = "avx2")]
unsafe fn store_lanes(to: *mut u8, step: usize, v: V) {
    // SAFETY: the caller may write 16 bytes here and `step` further on.
    unsafe { _mm256_storeu2_m128i(to.add(step).cast(), to.cast(), v) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn zip(even: V, odd: V) -> (V, V) {
    (_mm256_unpacklo_epi8(even, odd), _mm256_unpackhi_epi8(even, odd))
}

/// Transposes each 8 bytes as a matrix of 8 × 8 bits ("Hacker's Delight", section 7-3).
#[inline]
#[target_feature(enable = "avx2")]
fn transpose(v: V) -> V {
    let mask = _mm256_set1_epi64x(0x00aa_00aa_00aa_00aa);
    let swap = _mm256_and_si256(_mm256_xor_si256(v, _mm256_srli_epi64::<7>(v)), mask);
    let v = _mm256_xor_si256(v, _mm256_xor_si256(swap, _mm256_slli_epi64::<7>(swap)));
    let mask = _mm256_set1_epi64x(0x0000_cccc_0000_cccc);
    let swap = _mm256_and_si256(_mm256_xor_si256(v, _mm256_srli_epi64::<14>(v)), mask);
    let v = _mm256_xor_si256(v, _mm256_xor_si256(swap, _mm256_slli_epi64::<14>(swap)));
    let mask = _mm256_set1_epi64x(0x0000_0000_f0f0_f0f0);
    let swap = _mm256_and_si256(_mm256_xor_si256(v, _mm256_srli_epi64::<28>(v)), mask);
    _mm256_xor_si256(v, _mm256_xor_si256(swap, _mm256_slli_epi64::<28>(swap)))
}

/// Splits no elements: other sizes are left to narrower registers.
fn split_other(_size: usize, _len: usize, _elements: *const u8, _planes: *mut u8, _stride: usize) -> usize {
    0
}

/// Joins no elements: other sizes are left to narrower registers.
fn join_other(_size: usize, _len: usize, _planes: *const u8, _stride: usize, _elements: *mut u8) -> usize {
    0
}
