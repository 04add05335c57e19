//! Registers of 64 bytes, any bytes of which can be moved at once (VBMI), with GFNI.
//!
//! A block is 64 elements: one register for each plane, and the same number of registers of elements. The address of a byte in a block of
//! planes consists, seen as bits, of the byte (k bits) and the element: its upper k bits, which number the pieces of a register, and the
//! others. Exchanging the byte with the upper bits of the element, bit by bit, moves pieces between registers. The rest is a transposition
//! within each register.

use super::Bits;
use std::arch::x86_64::*;

by_size!("avx512f,avx512bw,avx512vbmi,gfni");

/// Number of elements of one iteration, and number of bytes of a register.
const STEP: usize = 64;

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
unsafe fn split_by<const SIZE: usize, const BITS: bool>(
    len: usize,
    elements: *const u8,
    planes: *mut u8,
    stride: usize,
) -> usize {
    let (whole, order) = (len / STEP * STEP, bytes(&Order::<SIZE>::TO_PLANES));
    for at in (0..whole).step_by(STEP) {
        let mut v = [_mm512_setzero_si512(); SIZE];
        // SAFETY: the last register ends with element `at + STEP`, and `at + STEP <= len`. The instructions take any address.
        unsafe {
            for (i, v) in v.iter_mut().enumerate() {
                *v = _mm512_loadu_si512(elements.add(at * SIZE + STEP * i).cast());
                if BITS {
                    *v = transpose(_mm512_shuffle_epi8(*v, bytes(&REVERSED)));
                }
                *v = _mm512_permutexvar_epi8(order, *v);
            }
            for (byte, v) in exchange_all(v).into_iter().enumerate() {
                _mm512_storeu_si512(planes.add(byte * stride + at).cast(), v);
            }
        }
    }
    whole
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
unsafe fn join_by<const SIZE: usize, const BITS: bool>(
    len: usize,
    planes: *const u8,
    stride: usize,
    elements: *mut u8,
) -> usize {
    let order = if BITS { &Order::<SIZE>::TO_REVERSED_ELEMENTS } else { &Order::<SIZE>::TO_ELEMENTS };
    let (whole, order) = (len / STEP * STEP, bytes(order));
    for at in (0..whole).step_by(STEP) {
        let mut v = [_mm512_setzero_si512(); SIZE];
        // SAFETY: as in `split_by`.
        unsafe {
            for (byte, v) in v.iter_mut().enumerate() {
                *v = _mm512_loadu_si512(planes.add(byte * stride + at).cast());
            }
            for (i, v) in exchange_all(v).into_iter().enumerate() {
                let v = _mm512_permutexvar_epi8(order, v);
                let v = if BITS { transpose(v) } else { v };
                _mm512_storeu_si512(elements.add(at * SIZE + STEP * i).cast(), v);
            }
        }
    }
    whole
}

/// Splits no elements: other sizes are left to narrower registers.
fn split_other(_size: usize, _len: usize, _elements: *const u8, _planes: *mut u8, _stride: usize) -> usize {
    0
}

/// Joins no elements: other sizes are left to narrower registers.
fn join_other(_size: usize, _len: usize, _planes: *const u8, _stride: usize, _elements: *mut u8) -> usize {
    0
}

/// Transposes the `N` registers as rows of `N` pieces: exchanges the number of the register with the number of the piece.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn exchange_all<const N: usize>(v: [__m512i; N]) -> [__m512i; N] {
    let mut v = exchange::<N, 1>(v);
    if N >= 4 {
        v = exchange::<N, 2>(v);
    }
    if N >= 8 {
        v = exchange::<N, 4>(v);
    }
    if N >= 16 {
        v = exchange::<N, 8>(v);
    }
    v
}

/// Exchanges the bit with value `BIT` between the number of the register and the number of the piece.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn exchange<const N: usize, const BIT: usize>(v: [__m512i; N]) -> [__m512i; N] {
    let (low, high) = (words(&Pieces::<N, BIT>::LOW), words(&Pieces::<N, BIT>::HIGH));
    let mut to = v;
    for i in 0..N {
        if i & BIT == 0 {
            to[i] = _mm512_permutex2var_epi32(v[i], low, v[i + BIT]);
            to[i + BIT] = _mm512_permutex2var_epi32(v[i], high, v[i + BIT]);
        }
    }
    to
}

/// Source indices of the words of 4 bytes when registers of `N` pieces exchange the bit: words of the first register count from 0, words of
/// the second from 16.
struct Pieces<const N: usize, const BIT: usize>;

impl<const N: usize, const BIT: usize> Pieces<N, BIT> {
    const LOW: [i32; 16] = Self::words(false);
    const HIGH: [i32; 16] = Self::words(true);

    const fn words(high: bool) -> [i32; 16] {
        let mut words = [0; 16];
        let shift = BIT * 16 / N;
        let mut at = 0;
        while at < 16 {
            let second = (at * N / 16) & BIT != 0;
            let from = match (high, second) {
                (false, false) => at,
                (false, true) => 16 + at - shift,
                (true, false) => at + shift,
                (true, true) => 16 + at,
            };
            words[at] = from as i32;
            at += 1;
        }
        words
    }
}

/// Source indices of the bytes of a register when elements of `SIZE` bytes are split or joined in it.
struct Order<const SIZE: usize>;

impl<const SIZE: usize> Order<SIZE> {
    const TO_PLANES: [u8; 64] = Self::bytes(STEP / SIZE, SIZE, false);
    const TO_ELEMENTS: [u8; 64] = Self::bytes(SIZE, STEP / SIZE, false);
    /// Indices that also reverse the bytes of each element, as `transpose` expects.
    const TO_REVERSED_ELEMENTS: [u8; 64] = Self::bytes(SIZE, STEP / SIZE, true);

    /// Returns the indices of a transposition to `rows` rows of `row` bytes, reversed within each row if `reverse`.
    const fn bytes(row: usize, rows: usize, reverse: bool) -> [u8; 64] {
        let mut bytes = [0; 64];
        let mut at = 0;
        while at < 64 {
            let column = if reverse { row - 1 - at % row } else { at % row };
            bytes[at] = (column * rows + at / row) as u8;
            at += 1;
        }
        bytes
    }
}

/// Source indices of the bytes of a register when each 8 of them are reversed.
const REVERSED: [u8; 64] = {
    let mut bytes = [0; 64];
    let mut at = 0;
    while at < 64 {
        bytes[at] = ((at % 16) ^ 7) as u8;
        at += 1;
    }
    bytes
};

/// Transposes each 8 bytes, given from the last to the first, as a matrix of 8 × 8 bits: the result is the product of the unit matrix with
/// them, since the instruction counts rows from the last.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn transpose(reversed: __m512i) -> __m512i {
    let unit = _mm512_set1_epi64(0x8040_2010_0804_0201_u64.cast_signed());
    _mm512_gf2p8affine_epi64_epi8::<0>(unit, reversed)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn bytes(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: there are 64 bytes, and the instruction takes any address.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn words(words: &[i32; 16]) -> __m512i {
    // SAFETY: there are 64 bytes, and the instruction takes any address.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}
