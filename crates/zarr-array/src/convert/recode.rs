//! Decoding and encoding an array, slab by slab.

use super::slabs::Slabs;
use super::{Conversion, ConvertOptions, Planned, target};
use crate::{Array, ArrayData, Error, Options, Result};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;
use zarr_grid::{AxisRange, ChunkIndex, Region};
use zarr_meta::Found;
use zarr_store::Store;

/// What is set aside of the memory for everything that is not data, at most.
const OVERHEAD: u64 = 16 << 20;
/// How many places of an array of elements of variable length are looked at for their usual length.
const SAMPLES: u64 = 3;

/// Checks that memory suffices, as far as metadata tells.
pub(super) fn check(source: &Array, sink: &Array, options: &ConvertOptions) -> Result<()> {
    let item = source.data_type().item_size() as u64;
    let plan = Plan::new(source, sink, item, options);
    plan.map(drop).ok_or_else(|| too_large(sink, item, options.memory))
}

/// Reads all elements of a node and writes them to `target`, in slabs of whole chunks of the new array.
pub(super) fn recode(
    conversion: &Conversion,
    planned: &Planned,
    written: &Found,
    target: &Arc<dyn Store>,
    advance: &(dyn Fn(u64) + Sync),
) -> Result<()> {
    let open = |store: &Arc<dyn Store>, found: &Found, options: &Options| {
        Array::from_found(store, found.clone(), &conversion.registry, options.clone())
    };
    let options = &conversion.options.options;
    let source = open(&conversion.source, &planned.source, options)?;
    let sink = open(target, written, options)?;
    let item = item_size(&source)?;
    let too_large = || too_large(&sink, item, conversion.options.memory);
    let plan = Plan::new(&source, &sink, item, &conversion.options).ok_or_else(too_large)?;
    let options = Options { threads: plan.threads.or(options.threads), ..options.clone() };
    let (source, sink) = (source.with(options.clone())?, sink.with(options)?);
    let same_fill = source.fill_value() == sink.fill_value();
    let stored = match target::missing_stay(&planned.source, written, same_fill) {
        true => some_stored(&source)?,
        // What is missing reads as another value in the target: all of it is written.
        false => None,
    };
    // Where they are agreed, chunks of nothing but fill values are left out anyway.
    let only = stored.as_ref().filter(|_| !written.fill_value_agreed);
    let mut done: u64 = 0;
    for slab in plan.slabs_to_do(&source, stored.as_ref()) {
        let region = plan.slabs.region(&slab);
        let data = source.read_data(&region)?;
        match only {
            None => sink.write_from(&region, data.view())?,
            Some(stored) => write_met(&source, stored, &sink, &region, &data)?,
        }
        let elements = region.len_checked().unwrap_or(0);
        let bytes = elements.saturating_mul(source.data_type().item_size() as u64);
        done = done.saturating_add(bytes);
        advance(bytes);
    }
    advance(planned.size.saturating_sub(done));
    Ok(())
}

struct Plan {
    slabs: Slabs,
    /// Fewer than were asked for, where memory does not suffice for all.
    threads: Option<NonZeroUsize>,
}

impl Plan {
    /// The most threads for which memory suffices, and slabs for what they leave over; `None` if a chunk is too large.
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
            Some(Self { slabs, threads: NonZeroUsize::new(threads).filter(|_| threads < wanted) })
        })
    }

    /// The slabs in which one of these chunks lies; all if none are named.
    fn slabs_to_do(
        &self,
        source: &Array,
        stored: Option<&BTreeSet<ChunkIndex>>,
    ) -> Box<dyn Iterator<Item = ChunkIndex> + '_> {
        let Some(stored) = stored else { return Box::new(self.slabs.all()) };
        let mut met = BTreeSet::new();
        for chunk in stored {
            met.extend(self.slabs.meeting(&source.chunk_grid().chunk_region(chunk)));
            if met.len() as u64 == self.slabs.len() {
                break;
            }
        }
        Box::new(met.into_iter())
    }
}

/// The chunks that are stored; `None` if all are, or it cannot be known which.
fn some_stored(source: &Array) -> Result<Option<BTreeSet<ChunkIndex>>> {
    if !source.store().capabilities().list {
        return Ok(None);
    }
    let stored = source.stored_chunks()?;
    let all = zarr_grid::element_count(&source.chunk_grid().grid_shape());
    Ok((all != Some(stored.len() as u64)).then(|| stored.into_iter().collect()))
}

/// Writes `data`, the elements of `region`, but for chunks that meet none of those that are stored of the source.
fn write_met(
    source: &Array,
    stored: &BTreeSet<ChunkIndex>,
    sink: &Array,
    region: &Region,
    data: &ArrayData,
) -> Result<()> {
    let meets = |chunk: &[u64]| {
        let cuts = source.chunk_grid().meet(&sink.chunk_grid().chunk_region(chunk));
        cuts.iter().any(|cell| stored.contains(&cell.index))
    };
    let cuts = sink.chunk_grid().meet(region);
    let mut cells = cuts.iter().peekable();
    while let Some(first) = cells.next() {
        if !meets(&first.index) {
            continue;
        }
        // Chunks behind one another on the last axis are written together, so that there is something to do for all threads.
        let mut last = first.clone();
        while let Some(next) = cells.next_if(|next| follows(&last.index, &next.index) && meets(&next.index)) {
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
        let place = Region::from_ranges(&ends.iter().zip(region.axes()).map(at).collect::<Vec<_>>());
        sink.write_from(&place, data.view().window(&part))?;
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
    error.at(|place| (place.store, place.path) = (Some(sink.store().to_string()), Some(sink.path().to_string())))
}

/// Bytes that an element takes in memory. Elements of variable length are looked at in a few places.
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
    // Twice the usual length: other places may have longer ones, and writing copies them.
    Ok(item + 2 * bytes.div_ceil(elements.max(1)))
}
