//! How memory is shared out among the threads that decode and the regions that are read.

use std::num::NonZeroUsize;
use zarr_array::{Array, Options};
use zarr_convert::slabs::Slabs;
use zarr_grid::ChunkGrid;
use zarr_hierarchy::{Error, Result};

/// The most memory set aside for everything that is not elements.
const OVERHEAD: u64 = 16 << 20;
/// Where no decoding is saved by larger slabs, they grow only so far, so that elements are still in the cache when they are looked at.
const CACHED: u64 = 2 << 20;
/// The same where requests take long: several chunks should be on their way at once.
const REMOTE: u64 = 32 << 20;

/// What may be used of the memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    /// Threads that decode, and regions that are read at the same time if they are small.
    pub(crate) threads: usize,
    /// Bytes for elements of all regions together.
    pub(crate) bytes: u64,
    comfort: u64,
}

impl Share {
    /// For arrays that are read at the same time, with the bytes that each of their elements takes.
    pub(crate) fn new(arrays: &[(&Array, u64)], options: &Options, memory: u64) -> Self {
        let memory = memory - OVERHEAD.min(memory / 4);
        let wanted = options.threads.or_else(|| std::thread::available_parallelism().ok()).map_or(1, usize::from);
        // A thread holds a chunk encoded, and decoded where it reaches beyond the array or is read in part.
        let chunk = |(array, item): &(&Array, u64)| {
            zarr_grid::element_count(&array.part_shape()).and_then(|count| count.checked_mul(*item)).unwrap_or(u64::MAX)
        };
        let for_thread = arrays.iter().map(chunk).max().unwrap_or(0).saturating_mul(2).max(1);
        let threads = usize::try_from(memory / 2 / for_thread).unwrap_or(usize::MAX).clamp(1, wanted);
        let bytes = memory.saturating_sub(for_thread.saturating_mul(threads as u64));
        let is_remote = arrays.iter().any(|(array, _)| array.store().as_async().is_some());
        Self { threads, bytes, comfort: if is_remote { REMOTE } else { CACHED } }
    }

    /// The options with so many threads.
    pub(crate) fn options(&self, options: &Options) -> Options {
        let wanted = options.threads.or_else(|| std::thread::available_parallelism().ok()).map_or(1, usize::from);
        match self.threads < wanted {
            true => options.clone().threads(NonZeroUsize::new(self.threads)),
            false => options.clone(),
        }
    }

    /// Slabs of which each thread reads one at a time, small enough for the caches where that costs no decoding.
    pub(crate) fn for_each_thread(&self, grid: &ChunkGrid, parts: &[u64], item: u64) -> Option<Slabs> {
        Slabs::plan_up_to(grid, parts, item, self.bytes / self.threads as u64, self.comfort)
    }

    /// Slabs of which one is read at a time, by all threads.
    pub(crate) fn for_all_threads(&self, grid: &ChunkGrid, parts: &[u64], item: u64) -> Option<Slabs> {
        Slabs::plan(grid, parts, item, self.bytes)
    }
}

/// Whether no part is decoded twice.
pub(crate) fn is_once(slabs: &Slabs, parts: &[u64]) -> bool {
    slabs.decoding(parts) <= 1.0 + 1e-9
}

/// The error of an array whose parts do not fit into memory.
pub(crate) fn too_large(array: &Array, memory: u64) -> Error {
    let shape = array.part_shape();
    let message = format!("chunks {:?} need more than the {memory} bytes of memory allowed", shape.as_slice());
    at(array, Error::argument(message).with_hint("allow more memory"))
}

/// The error with the place of an array.
pub(crate) fn at(array: &Array, error: Error) -> Error {
    error.at(|location| {
        (location.store, location.path) = (Some(array.store().to_string()), Some(array.path().to_string()));
    })
}

/// Checks that the system can count so many.
pub(crate) fn count(count: u128) -> Result<usize> {
    usize::try_from(count).map_err(|_| Error::internal("more parts than memory has bytes"))
}
