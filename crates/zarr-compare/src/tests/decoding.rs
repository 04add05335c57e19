//! Tests of how often chunks are read, and how much memory that takes.

use super::{memory, registry};
use crate::{ArrayDigest, CompareOptions, Comparison, DigestOptions, Progress, Side};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use zarr_array::{Array, NewArray, NodePath, Options};
use zarr_store::{Counted, Store};

/// Creates an array of ascending numbers in compressed chunks, read through a store that counts requests.
fn ascending(shape: &[u64], chunks: &[u64]) -> (Array, Arc<Counted<Arc<dyn Store>>>) {
    let new = NewArray::new(shape, "uint32").chunks(chunks).codecs("bytes,zstd(1)").unwrap();
    let array = Array::create(&memory(), "/", new, &registry()).unwrap();
    let count = zarr_grid::element_count(shape).unwrap();
    array.write(.., &(0..count as u32).collect::<Vec<_>>()).unwrap();
    let counted = Arc::new(Counted::new(Arc::clone(array.store())));
    let through: Arc<dyn Store> = counted.clone();
    // The requests for chunks are counted, without the look whether the array is still there.
    let array = array.through(&through).with(Options::default().trust_missing(true)).unwrap();
    (array, counted)
}

fn options(memory: u64, threads: usize) -> DigestOptions {
    DigestOptions::default()
        .memory(memory)
        .options(Options::default().trust_missing(true).threads(NonZeroUsize::new(threads)))
}

#[test]
fn each_chunk_is_read_once() {
    let shape = [200, 130, 140];
    let mut hashes = Vec::new();
    for (chunks, memory) in [
        // Chunks that divide boxes, that have some, and whose bounds they seldom meet.
        ([32, 32, 32], 1 << 30),
        ([128, 128, 128], 1 << 30),
        ([50, 50, 50], 1 << 30),
        ([200, 10, 10], 1 << 30),
        // Maps, of which few fit into memory, are cut along the first axis.
        ([1, 130, 140], 2 << 20),
        ([3, 130, 140], 3 << 20),
    ] {
        for threads in [1, 2] {
            let (array, counted) = ascending(&shape, &chunks);
            let before = counted.counts();
            let array = array.with(options(memory, threads).options).unwrap();
            let done = Mutex::new(0);
            let digest = ArrayDigest::of(&array, &options(memory, threads), |event| {
                if let Progress::Done(bytes) = event {
                    *done.lock().unwrap() += bytes;
                }
            });
            hashes.push(digest.unwrap().hash);
            let stored: u64 = array.chunk_grid().grid_shape().iter().product();
            assert_eq!(counted.counts().gets - before.gets, stored, "{chunks:?}");
            assert_eq!(*done.lock().unwrap(), 200 * 130 * 140 * 4, "{chunks:?}");
        }
    }
    assert!(hashes.iter().all(|hash| *hash == hashes[0]));
}

#[test]
fn too_little_memory_is_an_error() {
    let (array, _) = ascending(&[200, 130, 140], &[200, 130, 140]);
    let error = ArrayDigest::of(&array, &options(1 << 20, 1), |_| {}).unwrap_err();
    assert!(error.to_string().contains("chunks [200, 130, 140] need more than"), "{error}");
    let (array, _) = ascending(&[4], &[4]);
    let error = ArrayDigest::of(&array, &options(32, 1), |_| {}).unwrap_err();
    assert!(error.to_string().contains("boxes have hashes"), "{error}");
}

#[test]
fn what_is_not_stored_is_not_read() {
    let new = NewArray::new(&[1 << 17, 1 << 17], "int8").chunks(&[1000, 1000]).codecs("bytes,zstd").unwrap();
    let array = Array::create(&memory(), "/", new, &registry()).unwrap();
    array.write((5, 5), &[1_i8]).unwrap();
    let counted = Arc::new(Counted::new(Arc::clone(array.store())));
    let through: Arc<dyn Store> = counted.clone();
    let array = array.through(&through);
    let start = std::time::Instant::now();
    ArrayDigest::of(&array, &options(1 << 30, 2), |_| {}).unwrap();
    assert!(counted.counts().gets < 60, "{:?}", counted.counts());
    assert!(start.elapsed().as_secs() < 60);
}

#[test]
fn comparisons_read_each_chunk_once() {
    for (first, second) in
        [([32, 32, 32], [64, 64, 64]), ([1, 130, 140], [200, 13, 14]), ([50, 50, 50], [20, 130, 140])]
    {
        let sides = [ascending(&[200, 130, 140], &first), ascending(&[200, 130, 140], &second)];
        let before: Vec<u64> = sides.iter().map(|(_, counted)| counted.counts().gets).collect();
        let side = |(array, _): &(Array, _)| Side::new(array.store(), NodePath::root());
        let trusting = Options::default().trust_missing(true);
        let options = CompareOptions::default().metadata(false).attributes(false).options(trusting);
        let comparison = Comparison::of(&side(&sides[0]), &side(&sides[1]), &registry(), &options, |_| {}).unwrap();
        assert!(comparison.is_equal());
        for ((array, counted), before) in sides.iter().zip(before) {
            let stored: u64 = array.chunk_grid().grid_shape().iter().product();
            // Beside chunks, documents are read.
            let gets = counted.counts().gets - before;
            assert!((stored..stored + 12).contains(&gets), "{first:?} {second:?}: {gets} for {stored}");
        }
    }
}

#[test]
fn a_caller_may_cancel() {
    let (array, _) = ascending(&[200, 130, 140], &[32, 32, 32]);
    let error = ArrayDigest::of(&array, &options(1 << 30, 1), |event| match event {
        Progress::Done(_) => std::ops::ControlFlow::Break(()),
        _ => std::ops::ControlFlow::Continue(()),
    });
    assert_eq!(error.unwrap_err().kind(), zarr_hierarchy::ErrorKind::Cancelled);
}
