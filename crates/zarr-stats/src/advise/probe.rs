//! Measurement of the storage of an array.

use super::storage::{Storage, threads};
use std::time::Instant;
use zarr_array::{Array, Error, ErrorKind, Result};
use zarr_grid::{ChunkIndex, Region};
use zarr_scan::in_parallel;
use zarr_store::{ByteRange, StoreExt, StoreKind};

/// Number of requests whose median is the latency, after a first one that may open a connection.
const REQUESTS: usize = 7;
/// Number of bytes of each of them, or all if the value has fewer.
const FIRST: u64 = 4096;
/// Maximum number of stored bytes that are read for the bandwidth.
const BYTES: u64 = 32 << 20;
/// Maximum number of chunks that are read for the bandwidth.
const CHUNKS: usize = 256;

impl Storage {
    /// Measures the storage of an array: the latency by requests for the first bytes of a stored chunk, and the bandwidth by reads of stored
    /// chunks of 32 MiB at most, as many at the same time as a read gets. Caches between the store and this process make both look better than they are.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if no chunk is stored; [`ErrorKind::Limit`] if all chunks are larger than 32 MiB; the errors of the listing and of the reads.
    pub fn probe(array: &Array) -> Result<Self> {
        let stored = array.stored_chunk_sizes()?;
        let nothing =
            || Error::argument("no chunk of the array is stored, so that there is nothing to measure the store by");
        let mut seconds = Vec::with_capacity(REQUESTS);
        for number in 0..=REQUESTS {
            // Each of another value where there are enough: a second request for one value may be faster than those of reads.
            let (chunk, _) = stored.get(number * stored.len() / (REQUESTS + 1)).ok_or_else(nothing)?;
            let region = array.chunk_grid().chunk_region(chunk).overlap(&Region::whole(array.shape()));
            let plan = array.plan(&region.ok_or_else(nothing)?)?;
            let key = plan.requests.into_iter().next().ok_or_else(nothing)?.key;
            let begun = Instant::now();
            array.store().get_ranges(&key, &[ByteRange::First(FIRST)])?;
            seconds.push(begun.elapsed().as_secs_f64());
        }
        seconds.remove(0);
        seconds.sort_by(f64::total_cmp);
        let latency = seconds.get(seconds.len() / 2).copied().unwrap_or_default();
        let step = stored.len().div_ceil(CHUNKS).max(1);
        let mut wanted = Vec::new();
        let mut bytes = 0_u64;
        for (chunk, size) in stored.iter().step_by(step) {
            if bytes.saturating_add(*size) > BYTES {
                continue;
            }
            bytes = bytes.saturating_add(*size);
            wanted.push(chunk.clone());
        }
        if wanted.is_empty() {
            let message =
                format!("all stored chunks have more than {BYTES} bytes, which are not read to measure the store by");
            return Err(Error::new(ErrorKind::Limit, message));
        }
        let access = array.store().access_profile();
        let read = |chunk: ChunkIndex| array.read_chunk_bytes(&chunk).map(drop);
        // As many requests at the same time as a read makes, so that no thread has to wait for more than one latency.
        let at_once = if access.kind == StoreKind::Remote { wanted.len().min(CHUNKS) } else { threads() };
        if access.kind == StoreKind::Remote {
            // Connections are opened before, as those of the latency.
            in_parallel(at_once, wanted.iter().cloned(), &read)?;
        }
        let count = wanted.len() as f64;
        let begun = Instant::now();
        in_parallel(at_once, wanted.into_iter(), &read)?;
        let elapsed = begun.elapsed().as_secs_f64();
        let waited = latency * (count / at_once as f64).ceil();
        let bandwidth = bytes as f64 / (elapsed - waited).max(elapsed / 10.0).max(1e-6);
        Ok(Self { concurrency: access.concurrency, access, ..Self::new("measured", latency, bandwidth) })
    }
}
