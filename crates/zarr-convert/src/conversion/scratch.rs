//! Temporary storage of elements between reading and writing, for memory that is too small to decode each part of the source once.
//!
//! Slabs of the target cut most parts of the source, so each part would be decoded for every slab that it meets: many times if rows
//! become columns. Instead the source is read once, in slabs of its own. The elements of a source slab are stored as one value,
//! ordered by target slab, so that each target slab later reads its elements with one range of each value. So each chunk is decoded
//! once and encoded once, and elements are stored once in between, uncompressed.

use super::journal;
use super::part::Part;
use std::sync::{Arc, Mutex};
use zarr_array::ArrayData;
use zarr_codec::{View, ViewMut};
use zarr_grid::{AxisRange, ChunkGrid, ChunkIndex, Region};
use zarr_hierarchy::node::new_id;
use zarr_hierarchy::{Error, ErrorKind, Result};
use zarr_meta::NodePath;
use zarr_scan::{Selected, Slabs, in_parallel, lock};
use zarr_store::{ByteRange, Key, Store, StoreExt};

/// Least number of times that parts would be decoded otherwise at which elements are stored temporarily: above it, storing and reading them
/// is cheaper.
const TIMES: f64 = 3.0;
/// Least average size of pieces in bytes. For smaller pieces requests would cost more than decoding.
const PIECE: u64 = 4 << 10;
/// Greatest size of a slab of the source in bytes, since databases limit the size of values.
const LARGEST: u64 = 256 << 20;
/// Greatest number of concurrent requests to a remote store.
const REQUESTS: usize = 16;

/// Temporary storage of the elements of an array.
#[derive(Debug)]
pub(super) struct Scratch<'a> {
    store: Arc<dyn Store>,
    name: ScratchName,
    /// Slabs in which the source is read.
    sources: Slabs,
    /// Slabs in which the target is written.
    targets: &'a Slabs,
    /// Size of an element in bytes.
    item: u64,
}

/// Name from which the keys of temporary values of one run are formed.
#[derive(Clone, Debug)]
pub(super) struct ScratchName {
    path: NodePath,
    part: Option<Part>,
    /// Number of the first value, drawn at random, so that a run that continues after another run has taken over neither replaces nor
    /// erases its values.
    first: u64,
}

impl ScratchName {
    /// Returns the name for a conversion to `path` whose values are stored in the target, beside its journal.
    pub(super) fn beside(path: NodePath, part: Option<Part>) -> Self {
        Self { path, part, first: new_id() }
    }

    /// Returns the name for one run whose values are in another store, which other conversions may use, too. No later run looks for such
    /// values.
    pub(super) fn elsewhere() -> Result<Self> {
        Ok(Self { path: NodePath::root().join(&format!("{:016x}", new_id()))?, part: None, first: 0 })
    }

    fn key(&self, number: u64) -> Result<Key> {
        journal::scratch_key(&self.path, self.part, self.first.wrapping_add(number))
    }
}

impl<'a> Scratch<'a> {
    /// Plans the storage of elements of fixed size; `None` if it would not save much, given the `share` of target slabs that are still to
    /// be written. A slab of the source takes at most half of `budget` bytes.
    pub(super) fn plan(
        source: &Selected,
        targets: &'a Slabs,
        share: impl FnOnce() -> f64,
        budget: u64,
        store: &Arc<dyn Store>,
        name: ScratchName,
    ) -> Option<Self> {
        let (part, item) = (source.part_shape(), source.array().data_type().item_size() as u64);
        let times = targets.decoding(&part);
        if source.array().data_type().is_variable() || times < TIMES || times * share() < TIMES {
            return None;
        }
        let shape = targets.grid().shape();
        let grid = match source.array().chunk_grid() {
            grid @ ChunkGrid::Rectilinear(_) if !source.is_region() => grid.clone(),
            _ => ChunkGrid::regular(shape, &part).ok()?,
        };
        // Slabs grow so that those of the target cut them into few pieces.
        let sources = Slabs::plan(&grid, &targets.shape(), item, (budget / 2).min(LARGEST))?;
        let pieces = sources.pieces(&targets.shape());
        let size = zarr_grid::total_size(shape, item) as f64;
        (size >= PIECE as f64 * pieces).then(|| Self { store: Arc::clone(store), name, sources, targets, item })
    }

    /// Reads the slabs of the source that meet target slabs for which `is_wanted` is true, on `threads` threads, and stores their elements.
    /// Calls `advance` with the number of bytes of elements that belong to these target slabs.
    pub(super) fn fill(
        &self,
        threads: usize,
        is_wanted: &(dyn Fn(&ChunkIndex) -> bool + Sync),
        read: &(dyn Fn(&Region) -> Result<ArrayData> + Sync),
        advance: &(dyn Fn(u128) -> Result<()> + Sync),
    ) -> Result<()> {
        let is_left =
            |slab: &ChunkIndex| self.targets.meeting(&self.sources.region(slab)).any(|target| is_wanted(&target));
        in_parallel(threads, self.sources.all().filter(is_left), &|slab| {
            let region = self.sources.region(&slab);
            let data = read(&region)?;
            let mut value = Vec::new();
            let size = data.items().len();
            value.try_reserve_exact(size).map_err(|_| Error::from(zarr_store::Error::Memory { size: size as u64 }))?;
            let mut wanted = 0;
            for target in self.targets.meeting(&region) {
                let Some(piece) = region.overlap(&self.targets.region(&target)) else { continue };
                data.view().window(&within(&piece, &region)).append_to(&mut value)?;
                if is_wanted(&target) {
                    wanted += zarr_grid::total_size(&piece.shape(), self.item);
                }
            }
            drop(data);
            self.store
                .set_all(&self.name.key(self.sources.number(&slab))?, &value)
                .map_err(|error| self.located(error.into()))?;
            advance(wanted)
        })
    }

    /// Reads the elements of a slab of the target, in C order. All of them must have been stored.
    pub(super) fn read(&self, target: &ChunkIndex) -> Result<FixedElements> {
        let region = self.targets.region(target);
        let size = zarr_grid::total_size(&region.shape(), self.item);
        let size = usize::try_from(size).map_err(|_| Error::internal("a slab does not fit into memory"))?;
        let mut items = Vec::new();
        items.try_reserve_exact(size).map_err(|_| Error::from(zarr_store::Error::Memory { size: size as u64 }))?;
        items.resize(size, 0);
        let (item, shape) = (self.item_size(), dims(&region));
        let out = Mutex::new(ViewMut::new(&mut items, item, &shape)?);
        // Pieces take a small part of the memory that the slab takes.
        let pieces = self.sources.meeting(&region).count().max(1);
        let at_once = if self.store.as_async().is_some() { REQUESTS.min(pieces.div_ceil(8)) } else { 1 };
        in_parallel(at_once, self.sources.meeting(&region), &|source| {
            let slab = self.sources.region(&source);
            let Some(piece) = slab.overlap(&region) else { return Ok(()) };
            let key = self.name.key(self.sources.number(&source))?;
            let at = self.position(&piece, &slab)?;
            let fetched =
                self.store.get_ranges(&key, &[ByteRange::Range(at)]).map_err(|error| self.located(error.into()))?;
            let Some(fetched) = fetched else {
                let error = Error::new(ErrorKind::NotFound, "elements that were stored for the conversion are gone");
                return Err(self.located(error.at(|location| location.key = Some(key.to_string()))));
            };
            let from = View::new(fetched.part(0), item, &dims(&piece))?;
            lock(&out).reborrow().window(&within(&piece, &region)).copy_from(&from);
            Ok(())
        })?;
        Ok(FixedElements { items, item, shape })
    }

    /// Erases the stored elements.
    pub(super) fn erase(&self) -> Result<()> {
        let erase = |number| self.store.erase(&self.name.key(number)?).map_err(|error| self.located(error.into()));
        (0..self.sources.counts().iter().product()).try_for_each(erase)
    }

    /// Returns the byte range of a piece in the value of the source slab `slab`. The value holds the pieces for all target slabs, one after
    /// another, in C order.
    fn position(&self, piece: &Region, slab: &Region) -> Result<std::ops::Range<u64>> {
        let axes = || piece.axes().iter().zip(slab.axes());
        let too_large = || Error::internal("a slab does not fit into memory");
        let (mut before, mut inner) = (0_u64, self.item);
        for (axis, (part, all)) in axes().enumerate().rev() {
            let outer =
                axes().take(axis).try_fold(part.start - all.start, |count, (part, _)| count.checked_mul(part.len));
            let count = outer.and_then(|count| count.checked_mul(inner)).ok_or_else(too_large)?;
            before = before.checked_add(count).ok_or_else(too_large)?;
            inner = inner.checked_mul(all.len).ok_or_else(too_large)?;
        }
        let len = piece.len_checked().and_then(|len| len.checked_mul(self.item)).ok_or_else(too_large)?;
        Ok(before..before.checked_add(len).ok_or_else(too_large)?)
    }

    fn item_size(&self) -> usize {
        usize::try_from(self.item).unwrap_or(usize::MAX)
    }

    fn located(&self, error: Error) -> Error {
        error.at(|location| location.store = Some(self.store.to_string()))
    }
}

/// Elements of fixed size, in C order.
#[derive(Debug)]
pub(super) struct FixedElements {
    items: Vec<u8>,
    item: usize,
    shape: Vec<usize>,
}

impl FixedElements {
    pub(super) fn view(&self) -> View<'_> {
        View::new(&self.items, self.item, &self.shape).expect("as many bytes as the shape says were read")
    }
}

/// Returns the region `part` relative to the start of the region `all`.
fn within(part: &Region, all: &Region) -> Region {
    let range = |(part, all): (&AxisRange, &AxisRange)| part.start - all.start..part.start - all.start + part.len;
    Region::from_ranges(&part.axes().iter().zip(all.axes()).map(range).collect::<Vec<_>>())
}

fn dims(region: &Region) -> Vec<usize> {
    region.shape().iter().map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use zarr_dtype::DataType;
    use zarr_store::MemoryStore;

    /// Returns the elements of a region of an array whose elements are their positions in C order.
    fn numbered(shape: &[u64], region: &Region) -> Vec<u8> {
        let mut numbers = vec![0_u64];
        for (axis, len) in region.axes().iter().zip(shape) {
            let inner = |number: u64| (axis.start..axis.start + axis.len).map(move |at| number * len + at);
            numbers = numbers.into_iter().flat_map(inner).collect();
        }
        numbers.into_iter().flat_map(|number| (number as u32).to_ne_bytes()).collect()
    }

    #[test]
    fn runs_of_one_conversion_share_no_values() {
        let names = [(); 2].map(|()| ScratchName::beside(NodePath::parse("/g/a").unwrap(), None));
        let keys: std::collections::BTreeSet<Key> =
            names.iter().flat_map(|name| (0..100).map(move |number| name.key(number).unwrap())).collect();
        assert_eq!(keys.len(), 200);
    }

    proptest! {
        #[test]
        fn slabs_of_the_target_get_their_elements(
            axes in proptest::collection::vec((0_u64..14, 1_u64..6, 1_u64..6), 0..4),
            budgets in (4_u64..800, 4_u64..800),
            skipped in 0_u64..4,
        ) {
            let shape: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
            let grid = |chunk: fn(&(u64, u64, u64)) -> u64| {
                ChunkGrid::regular(&shape, &axes.iter().map(chunk).collect::<Vec<_>>()).unwrap()
            };
            let (from, to) = (grid(|axis| axis.1), grid(|axis| axis.2));
            let plan = |grid: &ChunkGrid, other: &ChunkGrid, budget| Slabs::plan(grid, &other.largest_chunk_shape(), 4, budget);
            let (Some(sources), Some(targets)) = (plan(&from, &to, budgets.0), plan(&to, &from, budgets.1)) else {
                return Ok(());
            };
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let name = ScratchName::beside(NodePath::parse("/g/a").unwrap(), None);
            let scratch = Scratch { store: Arc::clone(&store), name, sources, targets: &targets, item: 4 };
            let read = |region: &Region| ArrayData::from_items(&DataType::UInt32, &region.shape(), &numbered(&shape, region), None);
            let is_wanted = |slab: &ChunkIndex| targets.number(slab) % 4 != skipped;
            let told = Mutex::new(0);
            scratch.fill(2, &is_wanted, &read, &|bytes| { *lock(&told) += bytes; Ok(()) }).unwrap();
            let mut expected = 0;
            for slab in targets.all().filter(is_wanted) {
                let region = targets.region(&slab);
                let elements = scratch.read(&slab).unwrap();
                prop_assert_eq!(&elements.items, &numbered(&shape, &region));
                expected += elements.items.len() as u128;
            }
            prop_assert_eq!(*lock(&told), expected);
            prop_assert!(store.list().unwrap().iter().all(|key| key.as_str().starts_with("g/.zconversion.scratch.")));
            scratch.erase().unwrap();
            prop_assert!(store.list().unwrap().is_empty());
        }
    }
}
