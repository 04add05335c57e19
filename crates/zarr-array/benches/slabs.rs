//! Benchmark of the slab reader (`zarr-codec-bytes/src/slab.rs`). Compares a read of uncompressed chunks of 4 MiB, piece by piece into the
//! memory of their elements, with gets of the same pieces from the same store, copied one behind the other. GB/s of one thread, the best of
//! several runs in turn, and the ratio.
//!
//! `cargo bench -p zarr-array [PART OF A NAME]`

#[path = "measured/arrays.rs"]
mod arrays;

use arrays::LITTLE;
use std::hint::black_box;
use zarr_array::ViewMut;
use zarr_store::{ByteRange, StoreExt};

/// Shape of the array: 64 MiB, more than the caches of the CPU hold.
const SHAPE: [u64; 3] = [256, 256, 512];
const SIZE: usize = 64 << 20;
const CHUNK: usize = 4 << 20;
/// Size in bytes of a slab, as the slab reader reads files.
const SLAB: usize = 1 << 20;
const BIG: &str = r#"{"name":"bytes","configuration":{"endian":"big"}}"#;
const TURN: &str = r#"{"name":"transpose","configuration":{"order":[2,1,0]}}"#;

fn main() {
    for (name, chunks, codecs) in [
        ("rows of 256 B", [128, 128, 128], LITTLE.to_owned()),
        ("rows of 256 B, big endian", [128, 128, 128], BIG.to_owned()),
        ("turned", [128, 128, 128], format!("{TURN},{LITTLE}")),
        ("contiguous", [16, 256, 512], LITTLE.to_owned()),
        ("contiguous, big endian", [16, 256, 512], BIG.to_owned()),
    ] {
        arrays::each(&format!("slabs, {name}"), &SHAPE, &chunks, &codecs, |name, array, keys| {
            let (mut out, mut plain) = (vec![1; SIZE], vec![1; SIZE]);
            let ours = || {
                let view = ViewMut::new(&mut out, 2, &SHAPE.map(|len| len as usize)).expect("fits");
                array.read_into(.., view).expect("reads");
            };
            let theirs = || {
                for (key, chunk) in keys.iter().zip(plain.chunks_mut(CHUNK)) {
                    for (number, slab) in chunk.chunks_mut(SLAB).enumerate() {
                        let start = (number * SLAB) as u64;
                        let range = ByteRange::Range(start..start + slab.len() as u64);
                        let fetched = array.store().get_ranges(key, &[range]).expect("reads").expect("there");
                        slab.copy_from_slice(fetched.part(0));
                    }
                }
                black_box(&mut plain);
            };
            let [ours, theirs] = zarr_bench_protocol::best(1, ours, theirs).map(|seconds| SIZE as f64 / seconds / 1e9);
            println!("{name:40} {ours:6.2} GB/s, plain copy {theirs:6.2} GB/s, {:5.2}x", ours / theirs);
        });
    }
}
