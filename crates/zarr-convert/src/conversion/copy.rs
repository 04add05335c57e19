//! Copying of chunks as they are stored.

use super::skipped::{SkippedChunk, is_of_chunk};
use super::work::Work;
use super::{Conversion, PlannedNode, target};
use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use zarr_array::{Array, Options};
use zarr_grid::{ChunkIndex, Region};
use zarr_hierarchy::chunk_keys::ChunkKeys;
use zarr_hierarchy::{Error, Result};
use zarr_meta::StoredNode;
use zarr_scan::{in_parallel, lock, processors};
use zarr_store::{ByteRange, Bytes, Copied, Key, Store, StoreExt};

/// Greatest number of chunk shapes for which an encoded chunk of fill values is cached. A regular grid of few dimensions has at most this
/// many.
const DISTINCT: usize = 16;
/// Number of chunks whose sizes are sampled before all chunks are copied.
const SAMPLES: usize = 16;
/// Default number of threads for remote stores, where threads mostly wait for requests.
const WAITING: usize = 64;

/// Copies all chunks of a node. Needs neither its codecs nor its data type, unless missing chunks would read as other values in the target:
/// such chunks are written.
pub(super) fn copy(
    conversion: &Conversion,
    planned: &PlannedNode,
    source: &Arc<dyn Store>,
    written: &StoredNode,
    destination: &Arc<dyn Store>,
    work: &Work<'_>,
) -> Result<()> {
    let locate = |error: Error| {
        error.at(|location| {
            (location.store, location.path) = (Some(source.to_string()), Some(planned.source.path.to_string()));
        })
    };
    let from = ChunkKeys::new(&planned.source).map_err(locate)?;
    let to = ChunkKeys::new(written).map_err(locate)?;
    let counts = to.grid().grid_shape();
    work.begin(written, &vec![1; counts.len()], &counts)?;
    let first_of_region = planned.first_chunk();
    let in_source = |chunk: &[u64]| -> ChunkIndex {
        let first = first_of_region.iter().flatten().copied().chain(std::iter::repeat(0));
        chunk.iter().zip(first).map(|(index, first)| index + first).collect()
    };
    let chunks = stored_chunks(planned, &from, &**source).map_err(locate)?;
    let elements = |chunk: &[u64]| to.grid().chunk_region(chunk).len_checked().unwrap_or(0);
    let all = zarr_grid::total_size(to.grid().shape(), 1).max(1);
    let share = |chunk: &[u64]| (planned.size as f64 * (elements(chunk) as f64 / all as f64)) as u128;
    let missing = Mutex::new(MissingChunks {
        conversion,
        planned,
        source,
        written,
        destination,
        arrays: None,
        encoded: HashMap::new(),
    });
    let writes_missing = !target::missing_may_stay(&planned.source, written);
    let done = Mutex::new(0_u128);
    let is_left = |(_, chunk): &&(Key, ChunkIndex)| {
        work.has(chunk, &chunk.iter().map(|&index| index..index + 1).collect::<Vec<_>>())
    };
    // Whether the service copies chunks shows with the first one, which is copied then.
    let first = match chunks.iter().find(is_left) {
        Some((key, chunk)) => {
            work.confirm()?;
            copy_within(&**source, key, &**destination, &to.key(chunk)?)
                .map_err(|error| {
                    let at = (Some(in_source(chunk)), Some(key.to_string()));
                    locate(error.at(|location| (location.chunk, location.key) = at))
                })?
                .then(|| chunk.clone())
        }
        None => None,
    };
    let by_store = first.is_some();
    // Chunks that it does not copy are in memory one at a time, since their sizes are not known.
    let room = Mutex::new(());
    let one = |(chunk, key): (ChunkIndex, Option<Key>)| {
        let located = |error: Error| {
            let key = key.as_ref().map(ToString::to_string);
            locate(error.at(|location| (location.chunk, location.key) = (Some(in_source(&chunk)), key)))
        };
        work.confirm()?;
        let copied = match &key {
            Some(_) if first.as_ref() == Some(&chunk) => true,
            Some(key) if by_store => copy_within(&**source, key, &**destination, &to.key(&chunk)?).map_err(located)?,
            _ => false,
        };
        let _room = (by_store && !copied).then(|| lock(&room));
        let value = match &key {
            None => None,
            Some(_) if copied => None,
            Some(key) => match value_within(&**source, key, conversion.options.memory).map_err(located) {
                Err(error) if work.keeps_going() && is_of_chunk(&error) => {
                    work.skip(&SkippedChunk::new(&planned.source.path, &in_source(&chunk), &error))?;
                    None
                }
                value => value?,
            },
        };
        match value {
            Some(value) => {
                destination.set_all(&to.key(&chunk)?, &value).map_err(|error| located(error.into()))?;
            }
            None if copied => {}
            // A key that is gone since it was listed is a missing chunk, too.
            None if writes_missing => lock(&missing).write(&chunk)?,
            None => {}
        }
        work.end_unit(&chunk, 1)?;
        let share = share(&chunk);
        *lock(&done) += share;
        work.advance(share)
    };
    let threads = threads(conversion, &chunks, &**source, &**destination, by_store)?;
    let is_left = |chunk: &ChunkIndex| {
        let is_left = work.has(chunk, &chunk.iter().map(|&index| index..index + 1).collect::<Vec<_>>());
        if !is_left {
            let share = share(chunk);
            *lock(&done) += share;
            work.pass(share);
        }
        is_left
    };
    let mut stored = chunks.into_iter().peekable();
    let overlaps = to.grid().intersect(&Region::whole(to.grid().shape()));
    let every = (0..overlaps.len()).map(|chunk| overlaps.get(chunk).index);
    let chunks: Box<dyn Iterator<Item = (ChunkIndex, Option<Key>)> + Send + '_> = match writes_missing {
        true => Box::new(every.map(move |chunk| {
            let key = stored.next_if(|(_, next)| *next == chunk).map(|(key, _)| key);
            (chunk, key)
        })),
        false => Box::new(stored.map(|(key, chunk)| (chunk, Some(key)))),
    };
    let chunks = chunks.filter(|(chunk, _)| is_left(chunk)).inspect(|(chunk, _)| work.begin_unit(chunk));
    in_parallel(threads, chunks, &one)?;
    let done = *lock(&done);
    work.advance(planned.size.saturating_sub(done))
}

/// Returns the stored chunks of the node, or of its region: keys in the source, with chunk indices in the target, sorted.
fn stored_chunks(planned: &PlannedNode, keys: &ChunkKeys, source: &dyn Store) -> Result<Vec<(Key, ChunkIndex)>> {
    let (Some(region), Some(first)) = (&planned.region, planned.first_chunk()) else { return keys.stored(source) };
    let moved =
        |chunk: ChunkIndex| chunk.iter().zip(&first).map(|(index, first)| index.saturating_sub(*first)).collect();
    let stored = keys.stored_within(source, region)?;
    Ok(stored.into_iter().map(|(key, chunk)| (key, moved(chunk))).collect())
}

/// Writer for missing chunks of the source, which are written with the fill value of the source.
struct MissingChunks<'c> {
    conversion: &'c Conversion,
    planned: &'c PlannedNode,
    source: &'c Arc<dyn Store>,
    written: &'c StoredNode,
    destination: &'c Arc<dyn Store>,
    /// Arrays of source and target, opened at the first missing chunk: only missing chunks need the codecs.
    arrays: Option<(Array, Array)>,
    /// Encoded chunks by chunk shape: chunks of equal shape are encoded to the same bytes.
    encoded: HashMap<Vec<u64>, Vec<u8>>,
}

impl MissingChunks<'_> {
    fn write(&mut self, chunk: &ChunkIndex) -> Result<()> {
        let Self { conversion, planned, source: store, written, destination, arrays, encoded } = self;
        let keys = ChunkKeys::new(written)?;
        let region = keys.grid().chunk_region(chunk);
        let (shape, key) = (region.shape().to_vec(), keys.key(chunk)?);
        let located = |error: Error| {
            error.at_path(&planned.path).at(|location| {
                (location.chunk, location.key) = (Some(chunk.clone()), Some(key.to_string()));
            })
        };
        if let Some(bytes) = encoded.get(&shape) {
            destination.set_all(&key, bytes).map_err(|error| located(error.into()))?;
            return Ok(());
        }
        let (source, sink) = match arrays {
            Some(arrays) => arrays,
            None => {
                let options = &conversion.options.options;
                let open = |store: &Arc<dyn Store>, found: &StoredNode, options: Options| {
                    Array::from_found(store, found.clone(), &conversion.registry, options)
                };
                // The new array has no document yet.
                let new = options.clone().trust_missing(true);
                arrays.insert((open(store, &planned.source, options.clone())?, open(destination, written, new)?))
            }
        };
        let memory = conversion.options.memory;
        let size = zarr_grid::total_size(&shape, sink.data_type().item_size() as u64);
        if size > memory.into() {
            let message = format!("the chunk has {size} bytes, more than the {memory} bytes of memory allowed");
            return Err(located(Error::argument(message).with_hint("allow more memory")));
        }
        sink.write(&region, source.read_stored(&region, &[])?.view())?;
        if encoded.len() < DISTINCT
            && let Some(bytes) = destination.get_all(&key).map_err(|error| located(error.into()))?
        {
            encoded.insert(shape, bytes.to_vec());
        }
        Ok(())
    }
}

/// Reads the value at `key` with one request. Fails if the value has more than `memory` bytes.
pub(super) fn value_within(store: &dyn Store, key: &Key, memory: u64) -> Result<Option<Bytes>> {
    let Some(fetched) = store.get_ranges(key, &[ByteRange::First(memory.saturating_add(1))])? else { return Ok(None) };
    let found = fetched.size.unwrap_or(0).max(fetched.part(0).len() as u64);
    if found > memory {
        let error =
            Error::argument(format!("the chunk has {found} bytes, more than the {memory} bytes of memory allowed"));
        return Err(error.with_hint("allow more memory"));
    }
    Ok(Some(fetched.into_bytes()))
}

/// Asks the service to copy the value at `from` to `to`. Returns false if the two stores do not belong to one service, if the service does
/// not copy the value, or if there is no value.
pub(super) fn copy_within(source: &dyn Store, from: &Key, destination: &dyn Store, to: &Key) -> Result<bool> {
    match (source.copy_source(from), destination.copy_source(to)) {
        (Some(from), Some(beside)) if from.is_beside(&beside) => Ok(destination.copy(&from, to)? == Copied::Done),
        _ => Ok(false),
    }
}

/// Returns the number of threads for the copy: as many as the options ask for, as long as each can hold a chunk in memory. Chunks that the
/// service copies (`by_store`) take no memory. For remote stores the number is larger, since threads mostly wait for requests.
fn threads(
    conversion: &Conversion,
    chunks: &[(Key, ChunkIndex)],
    source: &dyn Store,
    destination: &dyn Store,
    by_store: bool,
) -> Result<usize> {
    let options = &conversion.options.options;
    let is_remote = source.as_async().is_some() || destination.as_async().is_some();
    let wanted = if is_remote {
        options.requests_in_flight.map_or(WAITING, NonZeroUsize::get)
    } else {
        options.threads.unwrap_or_else(processors).get()
    };
    let most = wanted.min(chunks.len()).max(1);
    if by_store || most == 1 {
        return Ok(most);
    }
    // Some chunks stand for all: sizes differ, but not by orders of magnitude.
    let step = (chunks.len() / SAMPLES).max(1);
    let samples: Vec<&Key> = chunks.iter().step_by(step).map(|(key, _)| key).collect();
    let largest = AtomicU64::new(1);
    let one = |key: &Key| {
        if let Some(size) = source.size(key).ok().flatten() {
            largest.fetch_max(size, Ordering::Relaxed);
        }
        Ok(())
    };
    in_parallel(if is_remote { samples.len() } else { 1 }, samples.iter().copied(), &one)?;
    let room = conversion.options.memory / largest.into_inner().saturating_mul(2).max(1);
    Ok(usize::try_from(room).unwrap_or(usize::MAX).clamp(1, most))
}
