//! Benchmark of the shard loop (`zarr-array/src/read/inner_chunks.rs`). Compares a read of all inner chunks of a shard with their codec
//! alone, which decodes the same bytes again and again into one buffer (a copy if they are uncompressed), and a read of one element of a
//! shard with gets of the same bytes from the same store. One thread, the best of several runs in turn, and the ratio.
//!
//! `cargo bench -p zarr-array [PART OF A NAME]`

#[path = "measured/arrays.rs"]
mod arrays;

use arrays::LITTLE;
use std::hint::black_box;
use zarr_array::{Array, Options, ViewMut};
use zarr_codec::testing;
use zarr_grid::{ChunkGrid, ChunkOverlap, Region};
use zarr_store::{ByteRange, Key, StoreExt};

/// Shape of the array: one shard of 32 MiB.
const SHAPE: [u64; 3] = [64, 512, 512];
const SIZE: usize = 32 << 20;
const BLOSC: &str = r#"{"name":"blosc","configuration":{"cname":"blosclz","clevel":9,"shuffle":"bitshuffle","typesize":2,"blocksize":0}}"#;
const ZSTD: &str = r#"{"name":"zstd","configuration":{"level":3,"checksum":false}}"#;

fn shard(inner: [u64; 3], codecs: &str) -> String {
    format!(
        r#"{{"name":"sharding_indexed","configuration":{{"chunk_shape":{inner:?},"codecs":[{codecs}],
            "index_codecs":[{LITTLE},{{"name":"crc32c"}}]}}}}"#
    )
}

/// Measures a read of all inner chunks of the shard.
fn all(name: &str, array: &Array, inner: [u64; 3], codecs: &str) {
    let chain = testing::pipeline(&format!("[{codecs}]"), &testing::element("uint16"), &arrays::registry().codecs);
    let chain = chain.expect("codecs");
    let dims = inner.map(|len| len as usize);
    let (mut out, mut one) = (vec![1; SIZE], vec![1; dims.iter().product::<usize>() * 2]);
    let elements = array.read_data(..).expect("reads");
    let elements = elements.view();
    let encode = |overlap: ChunkOverlap| {
        let mut encoded = Vec::new();
        chain.encode(&elements.window(&overlap.output()), &mut encoded).expect("encodes");
        encoded
    };
    let grid = ChunkGrid::regular(&SHAPE, &inner).expect("a grid");
    let encoded: Vec<Vec<u8>> = grid.intersect(&Region::whole(&SHAPE)).iter().map(encode).collect();
    let ours = || {
        let view = ViewMut::new(&mut out, 2, &SHAPE.map(|len| len as usize)).expect("fits");
        array.read_into(.., view).expect("reads");
    };
    let theirs = || {
        for bytes in &encoded {
            let mut view = ViewMut::new(&mut one, 2, &dims).expect("fits");
            chain.decode(bytes, &inner, &Region::whole(&inner), &mut view).expect("decodes");
        }
        black_box(&mut one);
    };
    let [ours, theirs] = zarr_bench_protocol::best(1, ours, theirs).map(|seconds| SIZE as f64 / seconds / 1e9);
    println!("{name:44} {ours:6.2} GB/s, codec alone {theirs:6.2} GB/s, {:5.2}x", ours / theirs);
}

/// Measures a read of one element of the shard, which reads the index of the shard first.
fn element(name: &str, array: &Array, key: &Key, count: u64) {
    let index = count * 16 + 4;
    // On the caller's thread.
    let array = array.with(Options::default()).expect("an array");
    let ours = || assert_eq!(array.read::<u16>("5, 17, 33").expect("reads").len(), 1);
    let theirs = || {
        let store = array.store();
        assert!(store.get_ranges(key, &[ByteRange::Suffix(index)]).expect("reads").is_some());
        assert!(store.get_ranges(key, &[ByteRange::Range(0..2)]).expect("reads").is_some());
    };
    let [ours, theirs] = zarr_bench_protocol::best(200, ours, theirs).map(|seconds| seconds * 1e6);
    println!("{name:44} {ours:7.2} us, the bytes alone {theirs:7.2} us, {:5.2}x", ours / theirs);
}

fn main() {
    for (name, inner, codecs) in [
        ("1 KiB, uncompressed", [8, 8, 8], LITTLE.to_owned()),
        ("64 KiB, uncompressed", [32, 32, 32], LITTLE.to_owned()),
        ("1 KiB, zstd", [8, 8, 8], format!("{LITTLE},{ZSTD}")),
        ("64 KiB, zstd", [32, 32, 32], format!("{LITTLE},{ZSTD}")),
        ("64 KiB, blosc", [32, 32, 32], format!("{LITTLE},{BLOSC}")),
    ] {
        let codec = shard(inner, &codecs);
        arrays::each(&format!("shard, {name}"), &SHAPE, &SHAPE, &codec, |name, array, _| {
            all(name, array, inner, &codecs);
        });
    }
    for (count, inner) in [(64, [64, 64, 64]), (4096, [16, 16, 16]), (32768, [8, 8, 8])] {
        let name = format!("element of a shard of {count} inner chunks");
        arrays::each(&name, &SHAPE, &SHAPE, &shard(inner, LITTLE), |name, array, keys| {
            keys.iter().for_each(|key| element(name, array, key, count));
        });
    }
}
