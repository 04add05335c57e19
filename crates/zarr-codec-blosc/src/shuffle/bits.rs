//! Bit shuffle: byte shuffle of elements, then of bits within 8 bytes, then of the bytes that these make.

use super::Tile;
use super::bytes::{join, split};
use super::interleave::{TILE, transpose_bits};

/// Elements of a tile, a multiple of 8.
fn step(size: usize) -> usize {
    TILE / size / 8 * 8
}

pub(super) fn shuffle(size: usize, from: &[u8], to: &mut [u8]) {
    let row = from.len() / size / 8;
    let (mut tile, mut planes) = (Tile::new(), [0; TILE]);
    for (number, from) in from.chunks(step(size) * size).enumerate() {
        let (planes, len) = (&mut planes[..from.len()], from.len() / size);
        split(size, from, planes, len, &mut tile);
        transpose_bits(planes);
        for (byte, plane) in planes.chunks_exact(len).enumerate() {
            split(8, plane, &mut to[byte * 8 * row + number * step(size) / 8..], row, &mut tile);
        }
    }
}

pub(super) fn unshuffle(size: usize, from: &[u8], to: &mut [u8]) {
    let row = from.len() / size / 8;
    let (mut tile, mut planes) = (Tile::new(), [0; TILE]);
    for (number, to) in to.chunks_mut(step(size) * size).enumerate() {
        let (planes, len) = (&mut planes[..to.len()], to.len() / size);
        for (byte, plane) in planes.chunks_exact_mut(len).enumerate() {
            join(8, &from[byte * 8 * row + number * step(size) / 8..], row, plane, &mut tile);
        }
        transpose_bits(planes);
        join(size, planes, len, to, &mut tile);
    }
}
