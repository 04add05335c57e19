//! The search of compressors for repeated bytes (`src/matches.rs`), beside a plain search with the same table: GB/s of
//! one thread, the best of several runs in turn, and the ratio.
//!
//! `cargo bench -p zarr-kernels [PART OF A NAME]`

use std::hint::black_box;
use zarr_bench_protocol::compare;
use zarr_kernels::Matches;

const SIZE: usize = 64 << 10;
const BITS: u32 = 12;
const PLACES: usize = 1 << BITS;
const FAR: usize = 8191;

/// How many bytes lie in runs that were there before.
fn ours(bytes: &[u8], table: &mut [u32; PLACES]) -> usize {
    let mut all = Matches::<_, false>::new(bytes, table, BITS).expect("a table");
    let (mut at, mut sum) = (1, 0);
    while let Some((found, before)) = all.find(at, bytes.len(), FAR) {
        let len = all.common(found, before, bytes.len());
        sum += len;
        at = found + len;
    }
    sum
}

fn plain(bytes: &[u8], table: &mut [u32; PLACES]) -> usize {
    table.fill(0);
    let word = |at: usize| bytes[at..at + 4].try_into().map_or(0, u32::from_le_bytes);
    let (mut at, mut sum) = (1, 0);
    while at + 8 <= bytes.len() {
        // As LZ4 and blosclz hash.
        let hash = (word(at).wrapping_mul(2_654_435_761) >> (32 - BITS)) as usize;
        let before = std::mem::replace(&mut table[hash], at as u32) as usize;
        if word(before) == word(at) && at - before < FAR {
            let len = bytes[at..].iter().zip(&bytes[before..]).take_while(|(here, there)| here == there).count();
            sum += len;
            at += len;
        } else {
            at += 1;
        }
    }
    sum
}

fn main() {
    let noise = |i: usize| ((i as u32).wrapping_mul(2_654_435_761) >> 13) as u8;
    for (name, bytes) in [
        ("short runs", (0..SIZE).map(|i| noise(i / 24 % 40) ^ noise(i % 24)).collect::<Vec<u8>>()),
        ("long runs", (0..SIZE).map(|i| noise(i % 1000)).collect()),
        ("noise", (0..SIZE).map(noise).collect()),
    ] {
        let (mut table, mut other) = ([0; PLACES], [0; PLACES]);
        compare(
            &format!("matches, {name}"),
            SIZE,
            || {
                black_box(ours(black_box(&bytes), &mut table));
            },
            || {
                black_box(plain(black_box(&bytes), &mut other));
            },
        );
        assert_eq!(ours(&bytes, &mut table), plain(&bytes, &mut other));
    }
}
