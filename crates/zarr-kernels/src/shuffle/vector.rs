//! Splits and joins elements in the vector registers of x86-64.
//!
//! The address of a byte in a block of 16 elements of 2ᵏ bytes consists, seen as bits, of the element (4 bits) followed by the byte (k
//! bits); in a shuffled block, of the byte followed by the element. Interleaving the first half of a block with its second half rotates all
//! addresses by one bit to the left, so that 4 rounds shuffle a block and k rounds reverse it. A register of 32 bytes holds two blocks, one
//! in each of its lanes, since interleaving does not cross lanes: so SSE2 and AVX2 share their loops. AVX-512 can move bytes between any
//! positions, and needs fewer steps.
//!
//! Invariants of the loops: `len` elements of `SIZE` bytes can be read from (written to) `elements`, `len` bytes written to
//! (read from) each of the `SIZE` planes at `planes + stride * byte`, and both do not overlap. The only functions that are
//! safe, [`split`] and [`join`], check them.
#![expect(unsafe_code)]

use crate::isa::{Isa, Set};

/// Change of the bits of elements of 8 bytes while they are split or joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bits {
    /// The bits are unchanged.
    Keep,
    /// Each element of 8 bytes is transposed as a matrix of 8 × 8 bits.
    Transpose,
}

/// Splits elements of `size` bytes: writes byte `j` of element `e` to `to[j * stride + e]`. Returns the number of split elements, from the
/// first: some at the end may be left out, and all are if there is no kernel for this size.
pub(super) fn split(isa: Isa, size: usize, bits: Bits, from: &[u8], to: &mut [u8], stride: usize) -> usize {
    let len = from.len().checked_div(size).unwrap_or(0);
    if len == 0 {
        return 0;
    }
    check(size, bits, len, to.len(), stride);
    let mut done = 0;
    for set in sets(isa) {
        let (from, to) = (from[done * size..].as_ptr(), to[done..].as_mut_ptr());
        // SAFETY: there are `len - done` elements and as many bytes in each plane from here on, by `check`, and a mutable
        // borrow overlaps no other. The processor has the instruction set, as there is an `Isa` of it.
        done += unsafe {
            match set {
                Set::Portable => 0,
                Set::Sse2 => sse2::split(size, bits, len - done, from, to, stride),
                Set::Avx2 => avx2::split(size, bits, len - done, from, to, stride),
                Set::Avx512 => avx512::split(size, bits, len - done, from, to, stride),
            }
        };
    }
    done
}

/// Reverses [`split`].
pub(super) fn join(isa: Isa, size: usize, bits: Bits, from: &[u8], stride: usize, to: &mut [u8]) -> usize {
    let len = to.len().checked_div(size).unwrap_or(0);
    if len == 0 {
        return 0;
    }
    check(size, bits, len, from.len(), stride);
    let mut done = 0;
    for set in sets(isa) {
        let (from, to) = (from[done..].as_ptr(), to[done * size..].as_mut_ptr());
        // SAFETY: as in `split`.
        done += unsafe {
            match set {
                Set::Portable => 0,
                Set::Sse2 => sse2::join(size, bits, len - done, from, stride, to),
                Set::Avx2 => avx2::join(size, bits, len - done, from, stride, to),
                Set::Avx512 => avx512::join(size, bits, len - done, from, stride, to),
            }
        };
    }
    done
}

/// Checks that `size` planes of `len` bytes, at distances of `stride`, lie within `planes` bytes.
fn check(size: usize, bits: Bits, len: usize, planes: usize, stride: usize) {
    let end = stride.checked_mul(size - 1).and_then(|last| last.checked_add(len));
    assert!(end.is_some_and(|end| end <= planes), "{size} planes of {len} bytes, {stride} apart, in {planes} bytes");
    assert!(bits == Bits::Keep || size == 8, "bits of 8 bytes are transposed, not of {size}");
}

/// Returns the instruction set, then the narrower sets for the elements that the set before leaves.
fn sets(isa: Isa) -> impl Iterator<Item = Set> {
    [Set::Avx512, Set::Avx2, Set::Sse2].into_iter().filter(move |set| *set <= isa.0)
}

/// Defines `split` and `join`, which pick the loop for a size. The module must have `split_by` and `join_by`, generic over the size and
/// whether bits are transposed, and `split_other` and `join_other`.
macro_rules! by_size {
    ($feature:literal) => {
        #[target_feature(enable = $feature)]
        pub(super) unsafe fn split(
            size: usize,
            bits: Bits,
            len: usize,
            elements: *const u8,
            planes: *mut u8,
            stride: usize,
        ) -> usize {
            // SAFETY: the caller keeps the module's invariants.
            unsafe {
                match (size, bits) {
                    (2, _) => split_by::<2, false>(len, elements, planes, stride),
                    (4, _) => split_by::<4, false>(len, elements, planes, stride),
                    (8, Bits::Keep) => split_by::<8, false>(len, elements, planes, stride),
                    (8, Bits::Transpose) => split_by::<8, true>(len, elements, planes, stride),
                    (16, _) => split_by::<16, false>(len, elements, planes, stride),
                    _ => split_other(size, len, elements, planes, stride),
                }
            }
        }

        #[target_feature(enable = $feature)]
        pub(super) unsafe fn join(
            size: usize,
            bits: Bits,
            len: usize,
            planes: *const u8,
            stride: usize,
            elements: *mut u8,
        ) -> usize {
            // SAFETY: the caller keeps the module's invariants.
            unsafe {
                match (size, bits) {
                    (2, _) => join_by::<2, false>(len, planes, stride, elements),
                    (4, _) => join_by::<4, false>(len, planes, stride, elements),
                    (8, Bits::Keep) => join_by::<8, false>(len, planes, stride, elements),
                    (8, Bits::Transpose) => join_by::<8, true>(len, planes, stride, elements),
                    (16, _) => join_by::<16, false>(len, planes, stride, elements),
                    _ => join_other(size, len, planes, stride, elements),
                }
            }
        }
    };
}

/// Defines the loops of SSE2 and AVX2. The module must have the register type `V` of `LANES` lanes, `load`, `store`, `load_lanes`,
/// `store_lanes` (lane `l` at `step * l`), `zip` (interleaves two registers, lane by lane) and `transpose` (the bits of each 8 bytes).
macro_rules! loops {
    ($feature:literal) => {
        /// Number of elements of one iteration.
        const STEP: usize = 16 * LANES;

        #[target_feature(enable = $feature)]
        unsafe fn split_by<const SIZE: usize, const BITS: bool>(
            len: usize,
            elements: *const u8,
            planes: *mut u8,
            stride: usize,
        ) -> usize {
            let whole = len / STEP * STEP;
            for at in (0..whole).step_by(STEP) {
                let mut v = [zero(); SIZE];
                // SAFETY: the last lane of the last vector ends with element `at + STEP`, and `at + STEP <= len`.
                unsafe {
                    for (i, v) in v.iter_mut().enumerate() {
                        *v = load_lanes(elements.add(at * SIZE + 16 * i), 16 * SIZE);
                        if BITS {
                            *v = transpose(*v);
                        }
                    }
                    let v = rotate(rotate(rotate(rotate(v))));
                    for (byte, v) in v.into_iter().enumerate() {
                        store(planes.add(byte * stride + at), v);
                    }
                }
            }
            whole
        }

        #[target_feature(enable = $feature)]
        unsafe fn join_by<const SIZE: usize, const BITS: bool>(
            len: usize,
            planes: *const u8,
            stride: usize,
            elements: *mut u8,
        ) -> usize {
            let whole = len / STEP * STEP;
            for at in (0..whole).step_by(STEP) {
                let mut v = [zero(); SIZE];
                // SAFETY: as in `split_by`.
                unsafe {
                    for (byte, v) in v.iter_mut().enumerate() {
                        *v = load(planes.add(byte * stride + at));
                    }
                    // Written out, so that each value has a fixed register.
                    v = rotate(v);
                    if SIZE >= 4 {
                        v = rotate(v);
                    }
                    if SIZE >= 8 {
                        v = rotate(v);
                    }
                    if SIZE >= 16 {
                        v = rotate(v);
                    }
                    for (i, v) in v.into_iter().enumerate() {
                        let v = if BITS { transpose(v) } else { v };
                        store_lanes(elements.add(at * SIZE + 16 * i), 16 * SIZE, v);
                    }
                }
            }
            whole
        }

        /// Rotates the bits of the addresses of all bytes by one, lane by lane.
        #[inline]
        #[target_feature(enable = $feature)]
        fn rotate<const N: usize>(v: [V; N]) -> [V; N] {
            let mut to = v;
            for i in 0..N / 2 {
                (to[2 * i], to[2 * i + 1]) = zip(v[i], v[i + N / 2]);
            }
            to
        }
    };
}

mod avx2;
mod avx512;
mod sse2;
