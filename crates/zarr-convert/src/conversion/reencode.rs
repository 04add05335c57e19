//! Decoding and encoding an array, slab by slab.

use super::slabs::{COMFORT, Slabs};
use super::sparse::{SparsePart, SparseParts};
use super::{Conversion, ConvertOptions, PlannedNode, target};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;
use zarr_array::{Array, ArrayData, MissingChunks, Options};
use zarr_grid::{AxisRange, ChunkIndex, Region};
use zarr_hierarchy::{Error, Result};
use zarr_meta::StoredNode;
use zarr_store::Store;

/// The most memory set aside for everything that is not data.
const OVERHEAD: u64 = 16 << 20;
/// How many positions of an array of elements of variable length are looked at for their usual length.
const SAMPLES: u64 = 3;
/// As many small parts are under way at once.
const BATCH: usize = 1024;

/// Checks that memory suffices, as far as metadata tells.
pub(super) fn check(source: &Array, sink: &Array, options: &ConvertOptions) -> Result<()> {
    let item = source.data_type().item_size() as u64;
    let plan = ReencodePlan::new(source, sink, item, options);
    plan.map(drop).ok_or_else(|| too_large(sink, item, options.memory))
}

/// Reads all elements of a node and writes them to `target`, in slabs of whole chunks of the new array.
pub(super) fn reencode(
    conversion: &Conversion,
    planned: &PlannedNode,
    written: &StoredNode,
    target: &Arc<dyn Store>,
    advance: &(dyn Fn(u128) -> Result<()> + Sync),
) -> Result<()> {
    let open = |store: &Arc<dyn Store>, found: &StoredNode, options: &Options| {
        Array::from_found(store, found.clone(), &conversion.registry, options.clone())
    };
    let options = &conversion.options.options;
    let source = open(&conversion.source, &planned.source, options)?;
    let sink = open(target, written, options)?;
    let item = item_size(&source)?;
    let too_large = || too_large(&sink, item, conversion.options.memory);
    let plan = ReencodePlan::new(&source, &sink, item, &conversion.options).ok_or_else(too_large)?;
    let options = options.clone().threads(plan.threads.or(options.threads));
    let (source, sink) = (source.with(options.clone())?, sink.with(options)?);
    let same_fill = source.fill_value() == sink.fill_value();
    let stored = match target::missing_stay(&planned.source, written, same_fill) {
        true => some_stored(&source)?,
        // A missing chunk reads as another value in the target: all chunks are written.
        false => None,
    };
    let logical = source.data_type().item_size() as u64;
    let size = |region: &Region| region.len_checked().unwrap_or(u64::MAX).saturating_mul(item);
    let mut done: u128 = 0;
    let mut advanced = |region: &Region| {
        let bytes = zarr_grid::total_size(&region.shape(), logical);
        done = done.saturating_add(bytes);
        advance(bytes)
    };
    let Some(stored) = stored else {
        for slab in plan.slabs.all() {
            let region = plan.slabs.region(&slab);
            sink.write(&region, source.read_data(&region)?.view())?;
            advanced(&region)?;
        }
        return advance(planned.size.saturating_sub(done));
    };
    let mut parts =
        SparseParts::new(source.chunk_grid(), stored, &plan.slabs, item, written.may_omit_empty_chunks).peekable();
    while parts.peek().is_some() {
        let mut batch = Vec::new();
        let mut batch_size = 0_u64;
        while let Some(part) = parts.next_if(|part| {
            let grown = batch_size.saturating_add(size(&part.region));
            batch.is_empty() || (grown <= plan.room && batch.len() < BATCH)
        }) {
            batch_size = batch_size.saturating_add(size(&part.region));
            batch.push(part);
        }
        let regions: Vec<Region> = batch.iter().map(|part| part.region.clone()).collect();
        let reencoded = source.map_parallel(batch, |part| reencode_part(&source, &sink, &part))?;
        reencoded.into_iter().collect::<Result<()>>()?;
        regions.iter().try_for_each(&mut advanced)?;
    }
    advance(planned.size.saturating_sub(done))
}

/// Reads the stored chunks of a part, and writes the chunks that it meets.
fn reencode_part(source: &Array, sink: &Array, part: &SparsePart) -> Result<()> {
    let data = source.read_stored(&part.region, &part.stored)?;
    match part.met(source.chunk_grid(), sink.chunk_grid()) {
        None => sink.write(&part.region, data.view()),
        Some(met) => write_met(sink, &part.region, &data, &met),
    }
}

struct ReencodePlan {
    slabs: Slabs,
    /// Bytes of elements that may be held where parts are smaller than slabs.
    room: u64,
    /// Fewer than were asked for, where memory does not suffice for all.
    threads: Option<NonZeroUsize>,
}

impl ReencodePlan {
    /// The most threads for which memory suffices, and slabs for the memory that they leave; `None` if a chunk is too
    /// large.
    fn new(source: &Array, sink: &Array, item: u64, options: &ConvertOptions) -> Option<Self> {
        let bytes = |shape: &[u64]| zarr_grid::element_count(shape)?.checked_mul(item);
        let memory = options.memory - OVERHEAD.min(options.memory / 4);
        let part = source.part_shape();
        // A thread holds a chunk encoded, and decoded where it reaches beyond the array or is read in part.
        let for_thread = bytes(&part)?.max(bytes(&sink.chunk_grid().largest_chunk_shape())?).checked_mul(2)?;
        let wanted = options.options.threads.or_else(|| std::thread::available_parallelism().ok());
        let wanted = wanted.map_or(1, usize::from);
        (1..=wanted).rev().find_map(|threads| {
            let budget = memory.checked_sub(for_thread.checked_mul(threads as u64)?)?;
            let slabs = Slabs::plan(sink.chunk_grid(), &part, item, budget)?;
            Some(Self {
                slabs,
                room: budget.min(COMFORT),
                threads: NonZeroUsize::new(threads).filter(|_| threads < wanted),
            })
        })
    }
}

/// The chunks that are stored, sorted; `None` if all are, it cannot be known which, or missing chunks are an error.
fn some_stored(source: &Array) -> Result<Option<Vec<ChunkIndex>>> {
    if !source.store().capabilities().list || !matches!(source.options().missing_chunks, MissingChunks::Fill) {
        return Ok(None);
    }
    let mut stored = source.stored_chunks()?;
    stored.sort_unstable();
    stored.dedup();
    let all = zarr_grid::total_size(&source.chunk_grid().grid_shape(), 1);
    Ok((all != stored.len() as u128).then_some(stored))
}

/// Writes the chunks `met` of `data`, the elements of `region`.
fn write_met(sink: &Array, region: &Region, data: &ArrayData, met: &BTreeSet<ChunkIndex>) -> Result<()> {
    let overlaps = sink.chunk_grid().intersect(region);
    let mut rest = overlaps.iter().peekable();
    while let Some(first) = rest.next() {
        if !met.contains(&first.index) {
            continue;
        }
        // Chunks behind one another on the last axis are written together, so that there is something to do for all threads.
        let mut last = first.clone();
        while let Some(next) = rest.next_if(|next| follows(&last.index, &next.index) && met.contains(&next.index)) {
            last = next;
        }
        let ends = first
            .output()
            .axes()
            .iter()
            .zip(last.output().axes())
            .map(|(a, b)| (a.start, b.start + b.len))
            .collect::<Vec<_>>();
        let part = Region::from_ranges(&ends.iter().map(|&(start, end)| start..end).collect::<Vec<_>>());
        let at = |((start, end), axis): (&(u64, u64), &AxisRange)| axis.start + start..axis.start + end;
        let target = Region::from_ranges(&ends.iter().zip(region.axes()).map(at).collect::<Vec<_>>());
        sink.write(&target, data.view().window(&part))?;
    }
    Ok(())
}

/// Whether a chunk is the next one on the last axis.
fn follows(before: &[u64], chunk: &[u64]) -> bool {
    let (Some((last, outer)), Some((next, others))) = (before.split_last(), chunk.split_last()) else { return false };
    outer == others && last + 1 == *next
}

fn too_large(sink: &Array, item: u64, memory: u64) -> Error {
    let shape = sink.chunk_grid().largest_chunk_shape();
    let what = if sink.is_sharded() { "shards" } else { "chunks" };
    let size = zarr_grid::element_count(&shape).and_then(|count| count.checked_mul(item)).unwrap_or(u64::MAX);
    let message =
        format!("{what} {:?} of {size} bytes need more than the {memory} of memory allowed", shape.as_slice());
    let error = Error::argument(message).with_hint(format!("allow more memory, or write smaller {what}"));
    error.at(|location| {
        (location.store, location.path) = (Some(sink.store().to_string()), Some(sink.path().to_string()))
    })
}

/// Bytes that an element takes in memory. Elements of variable length are looked at at a few positions.
fn item_size(source: &Array) -> Result<u64> {
    let item = source.data_type().item_size() as u64;
    if !source.data_type().is_variable() {
        return Ok(item);
    }
    let (mut elements, mut bytes) = (0_u64, 0_u64);
    for sample in 0..SAMPLES {
        let part = source.part_shape();
        let range = |(&len, &part): (&u64, &u64)| {
            let part = part.min(len);
            let start = (len - part) / (SAMPLES - 1) * sample;
            start..start + part
        };
        let ranges: Vec<_> = source.shape().iter().zip(&part).map(range).collect();
        let data = source.read_data(Region::from_ranges(&ranges))?;
        elements += data.len() as u64;
        bytes += data.heap().map_or(0, |heap| heap.size());
    }
    // Twice the usual length: other positions may have longer ones, and writing copies them.
    Ok(item + 2 * bytes.div_ceil(elements.max(1)))
}
