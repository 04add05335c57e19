//! Replacement of `vector` for processors without kernels: plain loops do all the work.

use crate::Isa;

/// Change of the bits of elements of 8 bytes, as in `vector`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bits {
    Keep,
    Transpose,
}

/// Splits no elements, and returns 0; see `vector`.
pub(super) fn split(_isa: Isa, _size: usize, _bits: Bits, _from: &[u8], _to: &mut [u8], _stride: usize) -> usize {
    0
}

/// Joins no elements, and returns 0; see `vector`.
pub(super) fn join(_isa: Isa, _size: usize, _bits: Bits, _from: &[u8], _stride: usize, _to: &mut [u8]) -> usize {
    0
}
