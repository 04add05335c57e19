//! Bit shuffle in three steps: a byte shuffle of elements to planes, a transposition of each 8 bytes of a plane as bits, and a byte shuffle
//! of the result to the 8 rows of bits of each plane.

use super::Tile;
use super::bytes::{join, join_tile, split, split_tile};
use super::interleave::{TILE, transpose_bits};
use super::vector::{self, Bits};
use crate::Isa;

/// Number of elements that the widest registers process at once.
const WIDEST: usize = 512;

/// Returns the number of elements of a tile, a multiple of 8.
fn step(size: usize) -> usize {
    let len = TILE / size;
    if len >= WIDEST { len / WIDEST * WIDEST } else { len / 8 * 8 }
}

pub(super) fn shuffle(isa: Isa, size: usize, from: &[u8], to: &mut [u8]) {
    let row = from.len() / size / 8;
    let (mut tile, mut planes, mut bits) = (Tile::new(), [0; TILE], [0; TILE]);
    if size == 1 {
        return to_rows(isa, from, to, row, &mut bits, &mut tile);
    }
    for (number, from) in from.chunks(step(size) * size).enumerate() {
        let (planes, len) = (&mut planes[..from.len()], from.len() / size);
        split(isa, size, from, planes, len, &mut tile);
        for (byte, plane) in planes.chunks_exact(len).enumerate() {
            let to = &mut to[byte * 8 * row + number * step(size) / 8..];
            to_rows(isa, plane, to, row, &mut bits, &mut tile);
        }
    }
}

pub(super) fn unshuffle(isa: Isa, size: usize, from: &[u8], to: &mut [u8]) {
    let row = from.len() / size / 8;
    let (mut tile, mut planes) = (Tile::new(), [0; TILE]);
    if size == 1 {
        return from_rows(isa, from, row, to, &mut tile);
    }
    for (number, to) in to.chunks_mut(step(size) * size).enumerate() {
        let (planes, len) = (&mut planes[..to.len()], to.len() / size);
        for (byte, plane) in planes.chunks_exact_mut(len).enumerate() {
            from_rows(isa, &from[byte * 8 * row + number * step(size) / 8..], row, plane, &mut tile);
        }
        join(isa, size, planes, len, to, &mut tile);
    }
}

/// Writes bit `k` of byte `e` of the plane to bit `e` of the row at `to[k * row..]`.
fn to_rows(isa: Isa, plane: &[u8], to: &mut [u8], row: usize, bits: &mut [u8; TILE], tile: &mut Tile) {
    let done = vector::split(isa, 8, Bits::Transpose, plane, to, row);
    for (number, plane) in plane[8 * done..].chunks(TILE).enumerate() {
        let bits = &mut bits[..plane.len()];
        bits.copy_from_slice(plane);
        transpose_bits(bits);
        split_tile(8, bits, &mut to[done + number * TILE / 8..], row, tile);
    }
}

/// Reverses [`to_rows`].
fn from_rows(isa: Isa, from: &[u8], row: usize, plane: &mut [u8], tile: &mut Tile) {
    let done = vector::join(isa, 8, Bits::Transpose, from, row, plane);
    for (number, plane) in plane[8 * done..].chunks_mut(TILE).enumerate() {
        join_tile(8, &from[done + number * TILE / 8..], row, plane, tile);
        transpose_bits(plane);
    }
}
