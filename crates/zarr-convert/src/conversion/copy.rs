//! Copying chunks as they are stored.

use super::{Conversion, PlannedNode, target};
use std::collections::{BTreeSet, HashMap};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use zarr_array::Array;
use zarr_grid::{ChunkIndex, Region};
use zarr_hierarchy::chunk_keys::ChunkKeys;
use zarr_hierarchy::{Error, Result};
use zarr_meta::StoredNode;
use zarr_store::{ByteRange, Bytes, Key, Store, StoreExt};

/// The encoded chunks of so many shapes are kept. A regular grid of few dimensions has no more.
const DISTINCT: usize = 16;
/// The sizes of so many chunks are looked at before all are copied.
const SAMPLES: usize = 16;
/// So many threads wait for requests that take long.
const WAITING: usize = 64;

/// Copies all chunks of a node. Needs neither its codecs nor its data type, unless chunks that are not stored would read as another
/// value in the target: these are written.
pub(super) fn copy(
    conversion: &Conversion,
    planned: &PlannedNode,
    written: &StoredNode,
    destination: &Arc<dyn Store>,
    advance: &(dyn Fn(u128) -> Result<()> + Sync),
) -> Result<()> {
    let source = &conversion.source;
    let locate = |error: Error| {
        error.at(|location| {
            (location.store, location.path) = (Some(source.to_string()), Some(planned.source.path.to_string()));
        })
    };
    let from = ChunkKeys::new(&planned.source).map_err(locate)?;
    let to = ChunkKeys::new(written).map_err(locate)?;
    let chunks = from.stored(&**source).map_err(locate)?;
    let elements = |chunk: &[u64]| from.grid().chunk_region(chunk).len_checked().unwrap_or(0);
    let all = zarr_grid::total_size(from.grid().shape(), 1).max(1);
    let share = |chunk: &[u64]| (planned.size as f64 * (elements(chunk) as f64 / all as f64)) as u128;
    let one = |(key, chunk): &(Key, ChunkIndex)| {
        let located = |error: Error| {
            locate(error.at(|location| (location.chunk, location.key) = (Some(chunk.clone()), Some(key.to_string()))))
        };
        // A key that is gone since it was listed is a missing chunk.
        if let Some(value) = value_within(&**source, key, conversion.options.memory).map_err(located)? {
            destination.set_all(&to.key(chunk)?, &value).map_err(|error| located(error.into()))?;
        }
        advance(share(chunk))
    };
    let mut done: u128 = chunks.iter().map(|(_, chunk)| share(chunk)).sum();
    in_parallel(threads(conversion, &chunks, &**source, &**destination)?, &chunks, &one)?;
    if !target::missing_may_stay(&planned.source, written) {
        let stored = chunks.into_iter().map(|(_, chunk)| chunk).collect();
        let one = |chunk: &ChunkIndex| advance(share(chunk)).map(|()| share(chunk));
        done += write_missing(conversion, planned, written, destination, &stored, &one)?;
    }
    advance(planned.size.saturating_sub(done))
}

/// Writes the chunks that are not stored, with the fill value of the source, and calls `advance` for each. Returns the sum of its
/// results.
fn write_missing(
    conversion: &Conversion,
    planned: &PlannedNode,
    written: &StoredNode,
    destination: &Arc<dyn Store>,
    stored: &BTreeSet<ChunkIndex>,
    advance: &dyn Fn(&ChunkIndex) -> Result<u128>,
) -> Result<u128> {
    let keys = ChunkKeys::new(written)?;
    let grid = keys.grid();
    let whole = Region::whole(grid.shape());
    if grid.intersect(&whole).iter().all(|overlap| stored.contains(&overlap.index)) {
        // Chunks may be copied without their codecs, which only missing ones need.
        return Ok(0);
    }
    let open = |store: &Arc<dyn Store>, found: &StoredNode| {
        Array::from_found(store, found.clone(), &conversion.registry, conversion.options.options.clone())
    };
    let (source, sink) = (open(&conversion.source, &planned.source)?, open(destination, written)?);
    // Chunks that hold as many elements along each axis are encoded to the same bytes.
    let mut encoded: HashMap<Vec<u64>, Vec<u8>> = HashMap::new();
    let (item_size, memory) = (sink.data_type().item_size() as u64, conversion.options.memory);
    let mut done = 0;
    for overlap in grid.intersect(&whole).iter() {
        let chunk = overlap.index;
        if stored.contains(&chunk) {
            continue;
        }
        let region = grid.chunk_region(&chunk);
        let (shape, key) = (region.shape().to_vec(), keys.key(&chunk)?);
        let located = |error: Error| {
            error.at_path(&planned.path).at(|location| {
                (location.chunk, location.key) = (Some(chunk.clone()), Some(key.to_string()));
            })
        };
        if let Some(bytes) = encoded.get(&shape) {
            destination.set_all(&key, bytes).map_err(|error| located(error.into()))?;
            done += advance(&chunk)?;
            continue;
        }
        let size = zarr_grid::total_size(&shape, item_size);
        if size > memory.into() {
            let message = format!("the chunk has {size} bytes, more than the {memory} of memory allowed");
            return Err(located(Error::argument(message).with_hint("allow more memory")));
        }
        sink.write(&region, source.read_data(&region)?.view())?;
        if encoded.len() < DISTINCT
            && let Some(bytes) = destination.get_all(&key).map_err(|error| located(error.into()))?
        {
            encoded.insert(shape, bytes.to_vec());
        }
        done += advance(&chunk)?;
    }
    Ok(done)
}

/// A value that may be held in memory, by one request.
fn value_within(store: &dyn Store, key: &Key, memory: u64) -> Result<Option<Bytes>> {
    let Some(fetched) = store.get_ranges(key, &[ByteRange::First(memory.saturating_add(1))])? else { return Ok(None) };
    let found = fetched.size.unwrap_or(0).max(fetched.part(0).len() as u64);
    if found > memory {
        let error = Error::argument(format!("the chunk has {found} bytes, more than the {memory} of memory allowed"));
        return Err(error.with_hint("allow more memory"));
    }
    Ok(Some(fetched.into_bytes()))
}

/// As many threads as asked for, as long as each can hold a chunk. Where requests take long, threads only wait for them, and there are
/// many.
fn threads(
    conversion: &Conversion,
    chunks: &[(Key, ChunkIndex)],
    source: &dyn Store,
    destination: &dyn Store,
) -> Result<usize> {
    let options = &conversion.options.options;
    let is_remote = source.as_async().is_some() || destination.as_async().is_some();
    let wanted = if is_remote {
        options.requests_in_flight.map_or(WAITING, NonZeroUsize::get)
    } else {
        let wanted = options.threads.or_else(|| std::thread::available_parallelism().ok());
        wanted.map_or(1, NonZeroUsize::get)
    };
    // Some chunks stand for all: sizes differ, but not by orders of magnitude.
    let step = (chunks.len() / SAMPLES).max(1);
    let samples: Vec<&Key> = chunks.iter().step_by(step).map(|(key, _)| key).collect();
    let largest = AtomicU64::new(1);
    let one = |key: &&Key| {
        if let Some(size) = source.size(key).ok().flatten() {
            largest.fetch_max(size, Ordering::Relaxed);
        }
        Ok(())
    };
    in_parallel(if is_remote { samples.len() } else { 1 }, &samples, &one)?;
    let room = conversion.options.memory / largest.into_inner().saturating_mul(2).max(1);
    Ok(wanted.min(usize::try_from(room).unwrap_or(usize::MAX)).min(chunks.len()).max(1))
}

/// Calls `one` for each item on several threads; after the first error no further items are begun. Copying waits for
/// stores and computes nothing, so that it stays off the threads that decode.
fn in_parallel<T: Sync>(threads: usize, items: &[T], one: &(dyn Fn(&T) -> Result<()> + Sync)) -> Result<()> {
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let work = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            if failed.load(Ordering::Relaxed) {
                break;
            }
            if let Err(error) = one(item) {
                failed.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut done = work();
        for other in others {
            let result = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            done = done.and(result);
        }
        done
    })
}
