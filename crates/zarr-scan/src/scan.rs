//! Scans: passes over arrays of one shape, slab by slab.

use crate::block::{Block, Buffers, Stored};
use crate::item::usual_item_size;
use crate::location::at;
use crate::memory::Memory;
use crate::parallel::in_parallel;
use crate::selected::Selected;
use crate::slabs::Slabs;
use std::collections::BTreeSet;
use zarr_array::Array;
use zarr_grid::{ChunkGrid, ChunkIndex, Region, Shape};
use zarr_hierarchy::{Error, Result};

/// Size in bytes up to which slabs grow if larger slabs save no decoding, so that elements are still in the CPU caches when they are
/// processed.
const CACHED: u64 = 2 << 20;
/// Size in bytes up to which slabs grow if larger slabs save no decoding, in stores whose requests take long: requests for several chunks
/// should run at once.
const REMOTE: u64 = 32 << 20;

/// Rules for the division of arrays into slabs.
#[derive(Clone, Copy, Debug)]
pub struct Division<'a> {
    /// Boxes that small slabs contain whole: each thread reads a slab, and processes its boxes while they are in the CPU caches.
    pub boxes: &'a ChunkGrid,
    /// Boxes of large slabs, which all threads read one after another. They may be smaller than `boxes`, so that slabs divide `boxes`.
    pub cut: &'a ChunkGrid,
    /// Shape of the parts that are decoded at once. As many parts as possible should lie in one slab each.
    pub parts: &'a [u64],
}

/// Pass over the elements of arrays of one shape, in slabs that fit into memory. Each part of an array is decoded once if memory suffices.
///
/// If slabs of a few boxes decode nothing twice, each thread reads such a slab; else all threads together read one large slab at a time.
#[derive(Debug)]
pub struct Scan<const N: usize> {
    arrays: [Selected; N],
    stored: [Stored; N],
    slabs: Slabs,
    is_cut: bool,
    /// Number of slabs that are read at the same time.
    workers: usize,
    buffers: Buffers,
}

impl<const N: usize> Scan<N> {
    /// Plans a pass over arrays in `memory` bytes of memory, with the number of threads in the options of the first array. Costs a listing
    /// for each array, and a few reads for an array whose elements are of variable length.
    ///
    /// # Errors
    /// [`Argument`](zarr_hierarchy::ErrorKind::Argument) if a box or a part does not fit; the errors of [`usual_item_size`] and
    /// [`Selected::some_stored`].
    pub fn plan(arrays: [Selected; N], division: &Division<'_>, memory: u64) -> Result<Self> {
        let items: [u64; N] = try_each(&arrays, |one| usual_item_size(one.array(), |_| false))?;
        let parts: Vec<Shape> = arrays.iter().map(|one| one.array().part_shape()).collect();
        let first = arrays.first().ok_or_else(|| Error::internal("a scan of no array"))?.array();
        let is_remote = arrays.iter().any(|one| one.array().store().as_async().is_some());
        let budget = Memory::new(memory, parts.iter().map(|part| &part[..]).zip(items), first.options())
            .with_requests(is_remote);
        let threads = budget.threads_in(budget.bytes() / 2);
        let bytes = budget.bytes().saturating_sub(budget.for_thread().saturating_mul(threads as u64));
        let item = items.into_iter().fold(0, u64::saturating_add);
        let planned = plan(division, item, bytes, threads, if is_remote { REMOTE } else { CACHED });
        let (slabs, is_cut, workers) = planned.ok_or_else(|| too_large(first, memory))?;
        let arrays =
            try_each(&arrays, |one| one.with(budget.limit(one.array().options(), threads, workers.saturating_mul(N))))?;
        let stored = try_each(&arrays, Stored::of)?;
        Ok(Self { arrays, stored, slabs, is_cut, workers, buffers: Buffers::default() })
    }

    /// Arrays of the scan, with the number of threads for which memory suffices.
    pub fn arrays(&self) -> &[Selected; N] {
        &self.arrays
    }

    /// Slabs of the scan.
    pub fn slabs(&self) -> &Slabs {
        &self.slabs
    }

    /// Whether slabs are large, and consist of the boxes [`cut`](Division::cut) instead of [`boxes`](Division::boxes).
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Regions of the stored chunks of all arrays; `None` if all chunks of one of the arrays may be stored.
    pub fn stored(&self) -> Option<impl Iterator<Item = Region>> {
        let known: Option<Vec<_>> = self.stored.iter().map(Stored::chunks).collect();
        Some(self.arrays.iter().zip(known?).flat_map(|(one, chunks)| {
            chunks.iter().map(move |chunk| one.grid().chunk_region(chunk)).filter(|region| !region.is_empty())
        }))
    }

    /// Slabs that have elements of stored chunks; `None` if all slabs may have some.
    pub fn met(&self) -> Option<BTreeSet<ChunkIndex>> {
        let mut met = BTreeSet::new();
        for region in self.stored()? {
            met.extend(self.slabs.meeting(&region));
        }
        Some(met)
    }

    /// Number of bytes of `elements` elements of each array, for all arrays together. Elements of variable length count as 16 bytes each.
    pub fn size(&self, elements: u128) -> u128 {
        let items = self.arrays.iter().map(|one| one.array().data_type().item_size() as u128);
        elements.saturating_mul(items.sum())
    }

    /// Reads a region of each array. If most chunks of a region are not stored, requests only the stored chunks.
    ///
    /// # Errors
    /// The errors of [`Array::read_data`].
    pub fn read(&self, region: &Region) -> Result<[Block<'_>; N]> {
        let blocks = self.arrays.iter().zip(&self.stored).map(|(one, stored)| stored.read(one, region, &self.buffers));
        all(blocks.collect::<Result<_>>()?)
    }

    /// Calls `each` with the region of each slab of `slabs`, several at the same time if slabs are small. After each slab calls `done` with
    /// the number of bytes of its elements; `done` may cancel with an error.
    ///
    /// # Errors
    /// An error of `each` or `done`, as [`in_parallel`](crate::in_parallel) returns it; no further slabs are begun.
    pub fn each(
        &self,
        slabs: impl Iterator<Item = ChunkIndex> + Send,
        done: &(dyn Fn(u128) -> Result<()> + Sync),
        each: &(dyn Fn(&Region) -> Result<()> + Sync),
    ) -> Result<()> {
        in_parallel(self.workers, slabs, &|slab: ChunkIndex| {
            let region = self.slabs.region(&slab);
            each(&region)?;
            done(self.size(zarr_grid::total_size(&region.shape(), 1)))
        })
    }
}

/// Returns the slabs, whether they consist of the boxes `cut`, and the number of slabs that are read at the same time; `None` if memory
/// does not suffice.
fn plan(division: &Division<'_>, item: u64, bytes: u64, threads: usize, comfort: u64) -> Option<(Slabs, bool, usize)> {
    let Division { boxes, cut, parts } = *division;
    let small = Slabs::plan_up_to(boxes, parts, item, bytes / threads as u64, comfort);
    let is_once = |slabs: &Slabs| slabs.decoding(parts) <= 1.0 + 1e-9;
    let large = || Slabs::plan(cut, parts, item, bytes);
    let (slabs, is_cut, workers) = match small {
        Some(small) if is_once(&small) => (small, false, threads),
        small => match (small, large()) {
            (Some(small), Some(large)) if small.decoding(parts) <= large.decoding(parts) => (small, false, threads),
            (_, Some(large)) => (large, true, 1),
            (Some(small), None) => (small, false, threads),
            (None, None) => return None,
        },
    };
    let count = usize::try_from(zarr_grid::total_size(slabs.counts(), 1)).unwrap_or(usize::MAX);
    Some((slabs, is_cut, workers.min(count).max(1)))
}

/// Error for an array whose parts do not fit into memory.
fn too_large(array: &Array, memory: u64) -> Error {
    let shape = array.part_shape();
    let message = format!("chunks {:?} need more than the {memory} bytes of memory allowed", shape.as_slice());
    at(array, Error::argument(message).with_hint("allow more memory"))
}

fn try_each<T, R, const N: usize>(items: &[T; N], each: impl FnMut(&T) -> Result<R>) -> Result<[R; N]> {
    all(items.iter().map(each).collect::<Result<_>>()?)
}

/// Converts `results` to an array; an error if their number is not `N`.
fn all<R, const N: usize>(results: Vec<R>) -> Result<[R; N]> {
    results.try_into().map_err(|_| Error::internal("results are not as many as arrays"))
}
