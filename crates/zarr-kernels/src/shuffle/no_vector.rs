//! Instead of `vector` on processors for which there are no kernels: everything is left to plain loops.

use crate::Isa;

/// As in `vector`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bits {
    Keep,
    Transpose,
}

/// As in `vector`; takes no element.
pub(super) fn split(_isa: Isa, _size: usize, _bits: Bits, _from: &[u8], _to: &mut [u8], _stride: usize) -> usize {
    0
}

/// As in `vector`; makes no element.
pub(super) fn join(_isa: Isa, _size: usize, _bits: Bits, _from: &[u8], _stride: usize, _to: &mut [u8]) -> usize {
    0
}
