//! Byte shuffle of whole elements: most elements in registers, the rest tile by tile.

use super::Tile;
use super::interleave::{TILE, deinterleave, interleave};
use super::vector::{self, Bits};
use crate::Isa;

/// Greatest size of elements that are shuffled in passes over a tile. Larger elements that registers do not process are moved byte by byte,
/// since few of them fill a tile.
const MAX_PASSES: usize = 128;

/// Splits elements of `size` bytes: writes byte `j` of element `e` to `to[j * stride + e]`.
pub(super) fn split(isa: Isa, size: usize, from: &[u8], to: &mut [u8], stride: usize, tile: &mut Tile) {
    if size == 1 {
        return to[..from.len()].copy_from_slice(from);
    }
    let done = vector::split(isa, size, Bits::Keep, from, to, stride);
    let step = (TILE / size).max(1);
    for (number, from) in from[done * size..].chunks(step * size).enumerate() {
        split_tile(size, from, &mut to[done + number * step..], stride, tile);
    }
}

/// Reverses [`split`].
pub(super) fn join(isa: Isa, size: usize, from: &[u8], stride: usize, to: &mut [u8], tile: &mut Tile) {
    if size == 1 {
        return to.copy_from_slice(&from[..to.len()]);
    }
    let done = vector::join(isa, size, Bits::Keep, from, stride, to);
    let step = (TILE / size).max(1);
    for (number, to) in to[done * size..].chunks_mut(step * size).enumerate() {
        join_tile(size, &from[done + number * step..], stride, to, tile);
    }
}

/// Does the work of [`split`] in plain loops. `from` has at most the bytes of a tile.
pub(super) fn split_tile(size: usize, from: &[u8], to: &mut [u8], stride: usize, tile: &mut Tile) {
    let len = from.len() / size;
    if !size.is_power_of_two() || size > MAX_PASSES {
        for byte in 0..size {
            for (to, element) in to[byte * stride..][..len].iter_mut().zip(from.chunks_exact(size)) {
                *to = element[byte];
            }
        }
        return;
    }
    let half = size / 2;
    let (mut current, mut next) = (&mut tile.0[..from.len()], &mut tile.1[..from.len()]);
    for pass in 1..size.ilog2() {
        let (even, odd) = next.split_at_mut(from.len() / 2);
        deinterleave(if pass == 1 { from } else { current }, even, odd);
        std::mem::swap(&mut current, &mut next);
    }
    let last = if size == 2 { from } else { current };
    for (byte, pairs) in last.chunks_exact(2 * len).enumerate() {
        let (low, high) = to.split_at_mut((byte + half) * stride);
        deinterleave(pairs, &mut low[byte * stride..][..len], &mut high[..len]);
    }
}

/// Reverses [`split_tile`]. `to` has at most the bytes of a tile.
pub(super) fn join_tile(size: usize, from: &[u8], stride: usize, to: &mut [u8], tile: &mut Tile) {
    let len = to.len() / size;
    if !size.is_power_of_two() || size > MAX_PASSES {
        for byte in 0..size {
            for (from, element) in from[byte * stride..][..len].iter().zip(to.chunks_exact_mut(size)) {
                element[byte] = *from;
            }
        }
        return;
    }
    let half = size / 2;
    let (mut current, mut next) = (&mut tile.0[..to.len()], &mut tile.1[..to.len()]);
    let first = if size == 2 { &mut *to } else { &mut *current };
    for (byte, pairs) in first.chunks_exact_mut(2 * len).enumerate() {
        interleave(&from[byte * stride..][..len], &from[(byte + half) * stride..][..len], pairs);
    }
    for _ in 2..size.ilog2() {
        let (even, odd) = current.split_at(to.len() / 2);
        interleave(even, odd, next);
        std::mem::swap(&mut current, &mut next);
    }
    if size > 2 {
        let (even, odd) = current.split_at(to.len() / 2);
        interleave(even, odd, to);
    }
}
