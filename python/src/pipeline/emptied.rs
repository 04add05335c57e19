//! Chunks that have only fill values after a write.
//!
//! zarr-python erases such chunks, and this library does not erase them after partial writes. Only chunks to which only fill values were
//! written are checked: first the part of the chunk (an inner chunk of a shard) with the first new element, since most chunks are full,
//! then the whole chunk, box by box, until another element is found.
//!
//! Another writer may set such a chunk after the check. In a directory, only the version that was checked is erased. Buckets erase only
//! without conditions, so the chunk of fill values is not erased there, which does not change its elements. Stores of Python have no
//! conditions for sets either, neither with this library nor with zarr-python.

use crate::pipeline::batch::{Batch, index_of};
use crate::pipeline::chunks::{Known, Seen};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use zarr::codec::View;
use zarr::dtype::HeapRef;
use zarr::grid::{AxisSelection, Region};
use zarr::store::{FilesystemStore, GetOptions, Store, StoreExt};
use zarr::{Array, Error, Result, Selection};

/// Number of chunks that are checked at the same time.
const AT_ONCE: usize = 8;

/// Least number of bytes of elements of a chunk that are checked together.
const BOX: u64 = 8 << 20;

/// Batch that was written.
pub(crate) struct Emptied<'a> {
    pub(crate) array: &'a Array,
    pub(crate) batch: &'a Batch,
    pub(crate) known: &'a Known,
    pub(crate) store: &'a dyn Store,
    /// Store below, if it is a directory.
    pub(crate) directory: Option<&'a FilesystemStore>,
}

impl Emptied<'_> {
    /// Erases the chunks of the batch that have only fill values. `value` has the written elements.
    pub(crate) fn erase(&self, value: &View<'_>) -> Result<()> {
        let fill = self.array.fill_value().bytes();
        let is_omitted = !self.array.options().write_empty_chunks && self.array.found().may_omit_empty_chunks;
        let are_erased = is_omitted && (self.directory.is_some() || !self.store.capabilities().conditional);
        let is_candidate = |&number: &usize| {
            let is_passed_over = self.known.seen.get(number).is_some_and(Seen::is_passed_over);
            let is_patched = || are_erased && self.known.was_patched(number);
            is_passed_over || (is_patched() && self.batch.part(number).is_some_and(|part| is_fill(value, &part, fill)))
        };
        let candidates: Vec<usize> = (0..self.known.keys.len()).filter(is_candidate).collect();
        let at_once = AT_ONCE.min(self.store.access_profile().concurrency);
        for_each(&candidates, at_once, |number| self.erase_one(number, fill))
    }

    fn erase_one(&self, number: usize, fill: &[u8]) -> Result<()> {
        let Some(key) = self.known.keys.get(number) else { return Ok(()) };
        // The whole chunk was written, with only fill values, but old elements may be stored.
        if self.known.seen.get(number).is_some_and(Seen::is_passed_over) {
            return Ok(self.store.erase(key)?);
        }
        let Some(directory) = self.directory else {
            return if self.is_empty(number, fill)? { Ok(self.store.erase(key)?) } else { Ok(()) };
        };
        // Another writer that changes the chunk after this request checks it itself.
        let found = self.store.get(key, &[], &GetOptions::default())?;
        let Some(version) = found.and_then(|found| found.version) else { return Ok(()) };
        if self.is_empty(number, fill)? {
            directory.erase_version(key, &version)?;
        }
        Ok(())
    }

    /// Returns whether chunk `number` has only fill values.
    fn is_empty(&self, number: usize, fill: &[u8]) -> Result<bool> {
        let chunk_shape = &self.batch.chunk_shape;
        let index = index_of(number as u64, &self.batch.grid);
        let origin: Vec<u64> = index.iter().zip(chunk_shape).map(|(at, len)| at * len).collect();
        let part: Vec<u64> = self.array.part_shape().iter().map(|&len| len.max(1)).collect();
        let position = self.batch.part(number).and_then(|part| self.batch.position(&part));
        if let Some(position) = position.filter(|position| part != *chunk_shape && position.len() == part.len()) {
            let within = position.iter().zip(&origin).map(|(at, origin)| at.saturating_sub(*origin));
            let start: Vec<u64> = within.zip(&part).map(|(at, len)| at / len * len).collect();
            if !self.is_box_empty(&origin, &start, &part, fill)? {
                return Ok(false);
            }
        }
        // A box consists of parts: as many along the last axes as fit into it.
        let mut lens = part;
        let mut size = lens.iter().fold(fill.len().max(1) as u64, |size, &len| size.saturating_mul(len));
        for (len, &chunk_len) in lens.iter_mut().zip(chunk_shape).rev() {
            let count = (BOX / size.max(1)).clamp(1, chunk_len.div_ceil(*len).max(1));
            size = size.saturating_mul(count);
            *len = len.saturating_mul(count);
        }
        let counts: Vec<u64> = chunk_shape.iter().zip(&lens).map(|(chunk, len)| chunk.div_ceil(*len)).collect();
        for number in 0..counts.iter().fold(1, |count: u64, &len| count.saturating_mul(len)) {
            let start: Vec<u64> = index_of(number, &counts).iter().zip(&lens).map(|(at, len)| at * len).collect();
            if !self.is_box_empty(&origin, &start, &lens, fill)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns whether a box of a chunk, which may reach beyond the chunk, has only fill values.
    fn is_box_empty(&self, origin: &[u64], start: &[u64], lens: &[u64], fill: &[u8]) -> Result<bool> {
        let ranges = start.iter().zip(lens).zip(&self.batch.chunk_shape).zip(origin);
        let range = |(((start, len), chunk_len), origin): (((&u64, &u64), &u64), &u64)| {
            AxisSelection::range((origin + start) as i64, (origin + start.saturating_add(*len).min(*chunk_len)) as i64)
        };
        let elements = self.array.read_data(Selection::Axes(ranges.map(range).collect()))?;
        if let Some(mut elements) = elements.variable() {
            return Ok(elements.all(|element| element == fill));
        }
        // Many elements are compared at once.
        let filled = fill.repeat((4096 / fill.len().max(1)).max(1));
        Ok(filled.is_empty() || elements.items().chunks(filled.len()).all(|items| filled.starts_with(items)))
    }
}

/// Returns whether all elements of a part of the written elements are the fill value.
fn is_fill(value: &View<'_>, part: &[Range<u64>], fill: &[u8]) -> bool {
    let window = value.window(&Region::from_ranges(part));
    match value.heap() {
        None => window.all(|item| item == fill),
        Some(heap) => window.all(|item| HeapRef::from_item(item).and_then(|at| heap.get(at)) == Some(fill)),
    }
}

/// Runs `work` for each number, for at most `at_once` numbers at the same time. Stops at the first error.
fn for_each(numbers: &[usize], at_once: usize, work: impl Fn(usize) -> Result<()> + Sync) -> Result<()> {
    // New threads decode in the global pool, which a forked child lacks, so that threads of a pool do all the work themselves.
    let threads = if rayon::current_thread_index().is_some() { 1 } else { at_once.min(numbers.len()) };
    let (next, failed) = (AtomicUsize::new(0), Mutex::<Option<Error>>::default());
    let run = || {
        while let Some(&number) = numbers.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(error) = work(number) {
                next.store(numbers.len(), Ordering::Relaxed);
                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // If no thread can be started, the others do its work.
            let _ = thread::Builder::new().spawn_scoped(scope, run);
        }
        run();
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}
