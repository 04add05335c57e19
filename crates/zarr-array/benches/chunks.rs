//! Benchmark of many small chunks: an array of 32 MiB is read and written whole, and its values are got and set one after another in the
//! store. Prints GB/s with one thread and with all threads, the best of several runs in turn, and the ratio.
//!
//! `cargo bench -p zarr-array --bench chunks [PART OF A NAME]`

#[path = "measured/arrays.rs"]
mod arrays;

use arrays::LITTLE;
use std::num::NonZeroUsize;
use zarr_array::{Options, ViewMut};
use zarr_store::{ByteRange, StoreExt};

const SHAPE: [u64; 2] = [4096, 4096];
const SIZE: usize = 32 << 20;
const ZSTD: &str = r#"{"name":"zstd","configuration":{"level":1,"checksum":false}}"#;

fn main() {
    for (name, chunks, codecs) in [
        ("2 KiB", [32, 32], LITTLE.to_owned()),
        ("8 KiB", [64, 64], LITTLE.to_owned()),
        ("128 KiB", [256, 256], LITTLE.to_owned()),
        ("8 KiB, zstd", [64, 64], format!("{LITTLE},{ZSTD}")),
    ] {
        arrays::each(&format!("chunks of {name}"), &SHAPE, &chunks, &codecs, |name, array, keys| {
            let mut out = vec![1; SIZE];
            let elements = array.read::<u16>(..).expect("reads");
            let store = array.store();
            let print = |name: &str, seconds: [f64; 2]| {
                let [ours, theirs] = seconds.map(|seconds| SIZE as f64 / seconds / 1e9);
                println!("{name:46} {ours:6.2} GB/s, values alone {theirs:6.2} GB/s, {:5.2}x", ours / theirs);
            };
            for threads in [NonZeroUsize::new(1), None] {
                let array = array.with(Options::default().threads(threads)).expect("an array");
                let name = format!("{name}, {}", threads.map_or("all threads", |_| "one thread"));
                let ours = || {
                    let view = ViewMut::new(&mut out, 2, &SHAPE.map(|len| len as usize)).expect("fits");
                    array.read_into(.., view).expect("reads");
                };
                let theirs = || {
                    for key in keys {
                        assert!(store.get_ranges(key, &[ByteRange::Full]).expect("reads").is_some());
                    }
                };
                print(&format!("{name}, read"), zarr_bench_protocol::best(1, ours, theirs));
                let values: Vec<_> =
                    keys.iter().map(|key| store.get_all(key).expect("reads").expect("there")).collect();
                let ours = || array.write(.., &elements).expect("writes");
                let theirs = || {
                    for (key, value) in keys.iter().zip(&values) {
                        store.set_all(key, value).expect("sets");
                    }
                };
                print(&format!("{name}, write"), zarr_bench_protocol::best(1, ours, theirs));
            }
        });
    }
}
