//! Measurement of the storage of an array.

use super::storage::{Storage, threads};
use std::time::Instant;
use zarr_array::{Array, Error, Result};
use zarr_grid::Region;
use zarr_store::{ByteRange, StoreExt};

/// Number of requests whose median is the latency, after a first one that may open a connection.
const REQUESTS: usize = 7;
/// Maximum number of stored bytes that are read for the bandwidth.
const BYTES: u64 = 32 << 20;
/// Maximum number of chunks that are read for the bandwidth.
const CHUNKS: usize = 256;

impl Storage {
    /// Measures the storage of an array: the latency by requests for single bytes of a stored chunk, and the bandwidth by reads of stored
    /// chunks of 32 MiB at most, on all threads. Caches between the store and this process make both look better than they are.
    ///
    /// # Errors
    /// [`zarr_array::ErrorKind::Argument`] if no chunk is stored; the errors of the listing and of the reads.
    pub fn probe(array: &Array) -> Result<Self> {
        let stored = array.stored_chunk_sizes()?;
        let nothing =
            || Error::argument("no chunk of the array is stored, so that there is nothing to measure the store by");
        let (middle, _) = stored.get(stored.len() / 2).ok_or_else(nothing)?;
        let region =
            array.chunk_grid().chunk_region(middle).overlap(&Region::whole(array.shape())).ok_or_else(nothing)?;
        let key = array.plan(&region)?.requests.into_iter().next().ok_or_else(nothing)?.key;
        let mut seconds = Vec::with_capacity(REQUESTS);
        for _ in 0..=REQUESTS {
            let begun = Instant::now();
            array.store().get_ranges(&key, &[ByteRange::First(1)])?;
            seconds.push(begun.elapsed().as_secs_f64());
        }
        seconds.remove(0);
        seconds.sort_by(f64::total_cmp);
        let latency = seconds.get(seconds.len() / 2).copied().unwrap_or_default();
        let step = stored.len().div_ceil(CHUNKS).max(1);
        let mut wanted = Vec::new();
        let mut bytes = 0_u64;
        for (chunk, size) in stored.iter().step_by(step) {
            if !wanted.is_empty() && bytes.saturating_add(*size) > BYTES {
                break;
            }
            bytes = bytes.saturating_add(*size);
            wanted.push(chunk.clone());
        }
        let count = wanted.len() as f64;
        let begun = Instant::now();
        let read = array.map_parallel(wanted, |chunk| array.read_chunk_bytes(&chunk).map(drop))?;
        read.into_iter().collect::<Result<Vec<()>>>()?;
        let elapsed = begun.elapsed().as_secs_f64();
        // Each thread waited for the latency of its requests.
        let waited = latency * count / (threads() as f64).min(count.max(1.0));
        let bandwidth = bytes as f64 / (elapsed - waited).max(elapsed / 10.0).max(1e-6);
        let access = array.store().access_profile();
        Ok(Self { concurrency: access.concurrency, access, ..Self::new("measured", latency, bandwidth) })
    }
}
