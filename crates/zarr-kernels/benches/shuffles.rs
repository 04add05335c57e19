//! Byte and bit shuffle of blocks (`src/shuffle.rs`), each instruction set beside a plain loop: GB/s of one thread, the best of
//! several runs in turn, and the ratio.
//!
//! `cargo bench -p zarr-kernels [PART OF A NAME]`; against c-blosc: `cargo bench -p zarr-codec-blosc shuffle`

use std::hint::black_box;
use zarr_bench_protocol::compare;
use zarr_kernels::Isa;

const SIZE: usize = 64 << 10;

fn bytes_plain(item: usize, from: &[u8], to: &mut [u8]) {
    let len = from.len() / item;
    for (index, element) in from.chunks_exact(item).enumerate() {
        for (byte, &value) in element.iter().enumerate() {
            to[byte * len + index] = value;
        }
    }
}

fn bytes_back(item: usize, from: &[u8], to: &mut [u8]) {
    let len = from.len() / item;
    for (index, element) in to.chunks_exact_mut(item).enumerate() {
        for (byte, value) in element.iter_mut().enumerate() {
            *value = from[byte * len + index];
        }
    }
}

fn bits_plain(item: usize, from: &[u8], to: &mut [u8]) {
    let row = from.len() / item / 8;
    to.fill(0);
    for (index, element) in from.chunks_exact(item).enumerate() {
        for bit in 0..8 * item {
            to[bit * row + index / 8] |= (element[bit / 8] >> (bit % 8) & 1) << (index % 8);
        }
    }
}

fn bits_back(item: usize, from: &[u8], to: &mut [u8]) {
    let row = from.len() / item / 8;
    to.fill(0);
    for (index, element) in to.chunks_exact_mut(item).enumerate() {
        for bit in 0..8 * item {
            element[bit / 8] |= (from[bit * row + index / 8] >> (index % 8) & 1) << (bit % 8);
        }
    }
}

fn main() {
    let from: Vec<u8> = (0..SIZE as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let (mut to, mut plain) = (vec![0; SIZE], vec![0; SIZE]);
    for isa in Isa::available() {
        type Shuffle = fn(Isa, usize, &[u8], &mut [u8]);
        type Plain = fn(usize, &[u8], &mut [u8]);
        let all: [(&str, Shuffle, Plain); 4] = [
            ("shuffle", Isa::shuffle_bytes, bytes_plain),
            ("unshuffle", Isa::unshuffle_bytes, bytes_back),
            ("bit shuffle", Isa::shuffle_bits, bits_plain),
            ("bit unshuffle", Isa::unshuffle_bits, bits_back),
        ];
        for (name, shuffle, model) in all {
            for item in [2, 4, 8] {
                compare(
                    &format!("{name}, {item} bytes, {}", isa.name()),
                    SIZE,
                    || shuffle(isa, item, black_box(&from), &mut to),
                    || model(item, black_box(&from), &mut plain),
                );
                shuffle(isa, item, &from, &mut to);
                model(item, &from, &mut plain);
                assert!(to == plain);
            }
        }
    }
}
