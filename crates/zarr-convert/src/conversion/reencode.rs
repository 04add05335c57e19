//! Decoding and encoding of an array, slab by slab.

use super::scratch::{Scratch, ScratchName};
use super::skipped::{is_of_chunk, read_good};
use super::sparse::{SparsePart, SparseParts};
use super::work::Work;
use super::{Conversion, ConvertOptions, PlannedNode, target};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use zarr_array::{Array, ArrayData, Options};
use zarr_grid::{AxisRange, ChunkIndex, Region};
use zarr_hierarchy::{Error, Result};
use zarr_meta::StoredNode;
use zarr_scan::{COMFORT, Memory, Selected, Slabs, in_parallel, lock, usual_item_size};
use zarr_store::Store;

/// Greatest number of small parts that are processed together.
const BATCH: usize = 1024;

/// Checks that memory suffices, as far as metadata tells.
pub(super) fn check(source: &Selected, sink: &Array, options: &ConvertOptions) -> Result<()> {
    let item = source.array().data_type().item_size() as u64;
    let plan = ReencodePlan::new(source, sink, item, options);
    plan.map(drop).ok_or_else(|| too_large(source, sink, item, options.memory))
}

/// Reads all elements of a node and writes them to `target`, in slabs of whole chunks of the new array. Two slabs are processed at a time:
/// one is read while the other is written.
pub(super) fn reencode(
    conversion: &Conversion,
    planned: &PlannedNode,
    source: &Arc<dyn Store>,
    written: &StoredNode,
    target: &Arc<dyn Store>,
    work: &Work<'_>,
) -> Result<()> {
    let open = |store: &Arc<dyn Store>, found: &StoredNode, options: &Options| {
        Array::from_found(store, found.clone(), &conversion.registry, options.clone())
    };
    let options = &conversion.options.options;
    let source = Selected::new(open(source, &planned.source, options)?, planned.region.clone())?;
    // The new array has no document yet.
    let new = options.clone().trust_missing(true);
    let sink = open(target, written, &new)?;
    let item = match work.item() {
        Some(item) => item,
        None => item_size(source.array(), work.keeps_going())?,
    };
    let too_large = || too_large(&source, &sink, item, conversion.options.memory);
    let plan = &ReencodePlan::new(&source, &sink, item, &conversion.options).ok_or_else(too_large)?;
    let sink = sink.with(new.threads(plan.options.threads).bytes_in_flight(plan.options.bytes_in_flight))?;
    let source = source.with(plan.options.clone())?;
    work.begin(written, plan.slabs.chunks(), plan.slabs.counts())?;
    let same_fill = source.array().fill_value() == sink.fill_value();
    let stored = match target::missing_stay(&planned.source, written, same_fill) {
        true => source.some_stored()?,
        // A missing chunk reads as another value in the target: all chunks are written.
        false => None,
    };
    let is_alone = source.array().options().threads == NonZeroUsize::new(1) && !is_remote(&source, &sink);
    let workers = if is_alone { 1 } else { plan.workers };
    // Where most chunks are missing, the others alone are read, slab by slab.
    let all = source.grid().count_all();
    let is_dense = stored.as_ref().is_none_or(|stored| stored.len() as u128 >= all / 2);
    let scratch = is_dense.then(|| scratch(conversion, &source, plan, target, work)).flatten();
    let stored = stored.filter(|_| scratch.is_none());
    let reencoding = Reencoding { source, sink, work, plan, item, scratch, done: Mutex::new(0) };
    let elides = written.may_omit_empty_chunks;
    let done = reencoding.run(stored, elides, workers).map(|()| *lock(&reencoding.done));
    let erased = reencoding.scratch.as_ref().map_or(Ok(()), Scratch::erase);
    // An error of the work says more than one of what is erased after it.
    let done = done?;
    erased?;
    work.advance(planned.size.saturating_sub(done))
}

/// Plans to store elements temporarily; `None` if that would not save much.
fn scratch<'a>(
    conversion: &Conversion,
    source: &Selected,
    plan: &'a ReencodePlan,
    target: &Arc<dyn Store>,
    work: &Work<'_>,
) -> Option<Scratch<'a>> {
    let (part, (_, path)) = (conversion.options.part, conversion.paths());
    let (store, name) = match &conversion.options.scratch {
        Some(scratch) => (scratch, ScratchName::elsewhere().ok()?),
        None if target.capabilities().appears_at_flush => return None,
        None => (target, ScratchName::beside(path, part)),
    };
    // A part, and a run that resumes, would store all elements for the few slabs that it has to write.
    let share = || {
        let left = plan.slabs.all().filter(|slab| work.has(slab, &plan.slabs.chunks_of(slab))).count();
        left as f64 / plan.slabs.counts().iter().product::<u64>().max(1) as f64
    };
    Scratch::plan(source, &plan.slabs, share, plan.budget, store, name)
}

/// Returns the size in bytes of the elements of `parts`, for elements of `item` bytes.
fn bytes_of(parts: &[SparsePart], item: u64) -> u64 {
    let size = |part: &SparsePart| part.region.len_checked().unwrap_or(u64::MAX).saturating_mul(item);
    parts.iter().fold(0, |sum: u64, part| sum.saturating_add(size(part)))
}

/// Slab that is read and written, at least in part.
struct Unit {
    slab: ChunkIndex,
    /// Parts of the slab that meet stored chunks; `None` for the whole slab.
    parts: Option<Vec<SparsePart>>,
}

impl Unit {
    /// Returns the number of chunks of the new array in the unit.
    fn chunks(&self, slabs: &Slabs) -> u64 {
        match &self.parts {
            Some(parts) => parts.iter().fold(0, |sum, part| sum.saturating_add(part.count())),
            None => {
                slabs.chunks_of(&self.slab).iter().fold(1, |count, range| count.saturating_mul(range.end - range.start))
            }
        }
    }
}

/// Array that is decoded and encoded again.
struct Reencoding<'a> {
    source: Selected,
    sink: Array,
    work: &'a Work<'a>,
    plan: &'a ReencodePlan,
    /// Size of an element in bytes.
    item: u64,
    /// Temporary storage of elements; `None` if they are not stored temporarily.
    scratch: Option<Scratch<'a>>,
    /// Bytes of elements that were reported as done.
    done: Mutex<u128>,
}

impl Reencoding<'_> {
    /// Writes all remaining units; if `stored` is given, only the chunks that meet these stored chunks of the source.
    fn run(&self, stored: Option<Vec<ChunkIndex>>, elides: bool, workers: usize) -> Result<()> {
        let (plan, work, item) = (self.plan, self.work, self.item);
        if let Some(scratch) = &self.scratch {
            let is_left = |slab: &ChunkIndex| work.has(slab, &plan.slabs.chunks_of(slab));
            let advance = |bytes: u128| self.advance(bytes / 2);
            let read = |region: &Region| work.confirm().and_then(|()| self.read(region, None));
            scratch.fill(workers, &is_left, &read, &advance)?;
        }
        let units: Box<dyn Iterator<Item = Unit> + Send + '_> = match stored {
            None => Box::new(plan.slabs.all().map(|slab| Unit { slab, parts: None })),
            Some(stored) => {
                let mut parts = SparseParts::new(self.source.grid(), stored, &plan.slabs, item, elides).peekable();
                Box::new(std::iter::from_fn(move || {
                    let first = parts.next()?;
                    let slab = first.slab(&plan.slabs);
                    let mut of_slab = vec![first];
                    of_slab.extend(std::iter::from_fn(|| parts.next_if(|part| part.slab(&plan.slabs) == slab)));
                    Some(Unit { slab, parts: Some(of_slab) })
                }))
            }
        };
        let is_left = |unit: &Unit| {
            let is_left = work.has(&unit.slab, &plan.slabs.chunks_of(&unit.slab));
            if !is_left {
                let bytes = self.bytes(unit);
                *lock(&self.done) += bytes;
                work.pass(bytes);
            }
            is_left
        };
        let mut units = units.filter(is_left).inspect(|unit| work.begin_unit(&unit.slab)).peekable();
        // Small parts of several slabs are processed as one batch, so that all threads have work.
        let batches = std::iter::from_fn(move || {
            let mut batch = vec![units.next()?];
            let size =
                |unit: &Unit| unit.parts.as_ref().map_or((u64::MAX, 1), |parts| (bytes_of(parts, item), parts.len()));
            let (mut bytes, mut count) = batch.first().map_or((0, 0), size);
            while bytes < plan.room && count < BATCH {
                let Some(next) = units.peek() else { break };
                let (more, parts) = size(next);
                (bytes, count) = (bytes.saturating_add(more), count + parts);
                if bytes > plan.room || count > BATCH {
                    break;
                }
                batch.extend(units.next());
            }
            Some(batch)
        });
        in_parallel(workers, batches, &|batch: Vec<Unit>| {
            work.confirm()?;
            self.write(&batch)?;
            batch.iter().try_for_each(|unit| work.end_unit(&unit.slab, unit.chunks(&plan.slabs)))?;
            let bytes: u128 = batch.iter().map(|unit| self.bytes(unit)).sum();
            self.advance(if self.scratch.is_some() { bytes.div_ceil(2) } else { bytes })
        })
    }

    /// Returns the size of the elements of a unit in bytes, as counted for progress.
    fn bytes(&self, unit: &Unit) -> u128 {
        let size = |region: &Region| {
            zarr_grid::total_size(&region.shape(), self.source.array().data_type().item_size() as u64)
        };
        match &unit.parts {
            Some(parts) => parts.iter().map(|part| size(&part.region)).sum(),
            None => size(&self.plan.slabs.region(&unit.slab)),
        }
    }

    /// Reports bytes of elements that are done.
    fn advance(&self, bytes: u128) -> Result<()> {
        *lock(&self.done) += bytes;
        self.work.advance(bytes)
    }

    fn write(&self, batch: &[Unit]) -> Result<()> {
        let mut parts: Vec<&SparsePart> = Vec::new();
        for unit in batch {
            match &unit.parts {
                Some(some) => parts.extend(some),
                None => {
                    let region = self.plan.slabs.region(&unit.slab);
                    match &self.scratch {
                        Some(scratch) => self.sink.write(&region, scratch.read(&unit.slab)?.view())?,
                        None => self.sink.write(&region, self.read(&region, None)?.view())?,
                    }
                }
            }
        }
        let mut rest = &parts[..];
        while !rest.is_empty() {
            let mut bytes = 0_u64;
            let fits = |part: &&&SparsePart| {
                bytes = bytes.saturating_add(bytes_of(std::slice::from_ref(**part), self.item));
                bytes <= self.plan.room
            };
            let count = rest.iter().take(BATCH).take_while(fits).count().max(1);
            let (now, later) = rest.split_at(count);
            let done = self.source.array().map_parallel(now.to_vec(), |part| self.write_part(part))?;
            done.into_iter().collect::<Result<()>>()?;
            rest = later;
        }
        Ok(())
    }

    /// Reads the stored chunks of a part, and writes the chunks of the new array that meet them.
    fn write_part(&self, part: &SparsePart) -> Result<()> {
        let data = self.read(&part.region, Some(&part.stored))?;
        match part.met(self.source.grid(), self.sink.chunk_grid()) {
            None => self.sink.write(&part.region, data.view()),
            Some(met) => write_met(&self.sink, &part.region, &data, &met),
        }
    }

    /// Reads the elements of `region`. `stored` holds the stored chunks that it meets; `None` if all may be stored.
    fn read(&self, region: &Region, stored: Option<&[ChunkIndex]>) -> Result<ArrayData> {
        let read = match stored {
            Some(stored) => self.source.read_stored(region, stored),
            None => self.source.read(region),
        };
        match read {
            Err(error) if self.work.keeps_going() && is_of_chunk(&error) => {
                let (source, region) = (&self.source, &self.source.grid().of_array(region)?);
                read_good(source.array(), region, stored, &|chunk| self.work.skip(&chunk))
            }
            read => read,
        }
    }
}

struct ReencodePlan {
    slabs: Slabs,
    /// Greatest size of a slab in bytes.
    budget: u64,
    /// Greatest number of bytes of elements in memory, for parts that are smaller than slabs.
    room: u64,
    /// Number of slabs that may be in memory at once.
    workers: usize,
    /// Options, with fewer threads than requested if memory does not suffice for all.
    options: Options,
}

impl ReencodePlan {
    /// Plans two slabs of half the memory, or one if chunks are too large for that, and as many threads as the rest of the memory allows;
    /// `None` if a chunk is too large. Slabs do not depend on the number of threads, which may differ in a resumed run or in another part.
    fn new(source: &Selected, sink: &Array, item: u64, options: &ConvertOptions) -> Option<Self> {
        let (decoded, encoded) = (source.array().part_shape(), sink.chunk_grid().largest_chunk_shape());
        let memory = Memory::new(options.memory, [(&decoded[..], item), (&encoded[..], item)], &options.options)
            .with_requests(is_remote(source, sink));
        let (bytes, for_thread, part) = (memory.bytes(), memory.for_thread(), source.part_shape());
        [(2, for_thread.max(bytes / 4)), (2, for_thread), (1, for_thread)].into_iter().find_map(|(workers, kept)| {
            let budget = bytes.checked_sub(kept)? / workers;
            let slabs = Slabs::plan(sink.chunk_grid(), &part, item, budget)?;
            let threads = memory.threads_in(bytes.saturating_sub(slabs.size(item).saturating_mul(workers)));
            Some(Self {
                slabs,
                budget,
                room: budget.min(COMFORT),
                workers: usize::try_from(workers).unwrap_or(1),
                // Each worker reads or writes.
                options: memory.limit(&options.options, threads, usize::try_from(workers).unwrap_or(1)),
            })
        })
    }
}

/// Writes the chunks `met` of `sink`; `data` holds the elements of `region`.
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

/// Returns whether `chunk` follows `before` on the last axis.
fn follows(before: &[u64], chunk: &[u64]) -> bool {
    let (Some((last, outer)), Some((next, others))) = (before.split_last(), chunk.split_last()) else { return false };
    outer == others && last + 1 == *next
}

/// Returns whether the source or the target answers requests that wait for a network.
fn is_remote(source: &Selected, sink: &Array) -> bool {
    [source.array(), sink].iter().any(|array| array.store().as_async().is_some())
}

fn too_large(source: &Selected, sink: &Array, item: u64, memory: u64) -> Error {
    let shape = sink.chunk_grid().largest_chunk_shape();
    let what = if sink.is_sharded() { "shards" } else { "chunks" };
    let size = zarr_grid::element_count(&shape).and_then(|count| count.checked_mul(item)).unwrap_or(u64::MAX);
    let part = source.array().part_shape();
    let part = zarr_grid::element_count(&part).and_then(|count| count.checked_mul(item)).unwrap_or(u64::MAX);
    let one = size.saturating_add(size.max(part).saturating_mul(2));
    let needed = Memory::with_reserve(one, is_remote(source, sink));
    let message = format!(
        "{what} {:?} have {size} bytes, and need about {needed} bytes of memory: one decoded, and a thread that encodes it; {memory} bytes \
         are allowed",
        shape.as_slice()
    );
    let error = Error::argument(message).with_hint(format!("allow more memory, or write smaller {what}"));
    error.at(|location| {
        (location.store, location.path) = (Some(sink.store().to_string()), Some(sink.path().to_string()))
    })
}

/// Returns the size in memory of an element of variable length, in bytes, after a look at stored chunks; `None` for data types of fixed
/// size. The size determines the slabs, and so the units of each part.
pub(super) fn looked_up_item(conversion: &Conversion, planned: &PlannedNode) -> Result<Option<u64>> {
    let Conversion { source, registry, options, .. } = conversion;
    let source = Array::from_found(source, planned.source.clone(), registry, options.options.clone())?;
    match source.data_type().is_variable() {
        true => item_size(&source, options.keep_going).map(Some),
        false => Ok(None),
    }
}

/// Returns the result of [`usual_item_size`]. If `keeps_going`, ignores chunks that cannot be read.
fn item_size(source: &Array, keeps_going: bool) -> Result<u64> {
    usual_item_size(source, |error| keeps_going && is_of_chunk(error))
}
