//! Buffer of new elements of one chunk, collected until they are written together.

use crate::core::ArrayCore;
use crate::data::copy_elements;
use crate::{ArrayData, Error, ErrorKind, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use zarr_codec::{Dims, Patch, View, ViewMut, each_masked};
use zarr_grid::{AxisRange, ChunkIndex, Region, SelectedElements, Shape};

/// Number of bytes that replaced elements of variable length may always take in the heap before it is compacted.
pub(crate) const LEAST_HEAP: u64 = 64 << 10;

/// Buffer of new elements of a chunk (of a shard, if the array is sharded). Other elements of the chunk stay as they are stored.
#[derive(Debug)]
pub(crate) struct KeptChunk {
    index: ChunkIndex,
    /// Full shape of the chunk, with the part beyond the edge of the array.
    shape: Shape,
    /// Elements of the part of the chunk that lies in the array. Only elements in `cover` are meaningful.
    data: ArrayData,
    /// Size of the heap in bytes when it was last compacted: when it had no bytes of replaced elements.
    least_heap: u64,
    cover: Cover,
    is_written: AtomicBool,
}

/// Set of the elements that are new.
#[derive(Debug)]
enum Cover {
    Nothing,
    /// Box of new elements. Used until the new elements no longer form one box.
    Box(Region),
    /// Mask with a byte for each element, 0 if the element is not new. `missing` is the number of elements that are not new.
    Mask {
        bytes: Vec<u8>,
        missing: usize,
    },
}

impl KeptChunk {
    /// Makes the buffer of a chunk, without new elements. `is_over` says that it may be merged with an earlier buffer of the same chunk:
    /// then the mask is allocated now, since memory may be short later.
    pub(crate) fn new(core: &ArrayCore, index: &ChunkIndex, is_over: bool) -> Result<Self> {
        let shape = core.grid.chunk_shape(index);
        let data = ArrayData::zeroed(core.element(), &core.grid.chunk_region(index).shape());
        let data = data.map_err(|error| core.locate(error))?;
        let cover = match is_over {
            true => Cover::empty_mask(data.len()).map_err(|error| core.locate(error))?,
            false => Cover::Nothing,
        };
        Ok(Self { index: index.clone(), shape, data, least_heap: 0, cover, is_written: AtomicBool::new(false) })
    }

    pub(crate) fn index(&self) -> &ChunkIndex {
        &self.index
    }

    /// Number of bytes of memory that the buffer takes.
    pub(crate) fn size(&self) -> u64 {
        let mask = match &self.cover {
            Cover::Mask { bytes, .. } => bytes.len(),
            Cover::Nothing | Cover::Box(_) => 0,
        };
        (self.data.items().len() + mask) as u64 + self.data.heap().map_or(0, |heap| heap.size())
    }

    /// Whether the buffer has no new elements.
    pub(crate) fn is_empty(&self) -> bool {
        match &self.cover {
            Cover::Nothing => true,
            Cover::Box(_) => false,
            Cover::Mask { missing, .. } => *missing == self.data.len(),
        }
    }

    /// Whether all elements of the chunk that lie in the array are new.
    pub(crate) fn covers(&self) -> bool {
        match &self.cover {
            Cover::Nothing => false,
            Cover::Box(region) => region.is_whole(self.data.shape()),
            Cover::Mask { missing, .. } => *missing == 0,
        }
    }

    /// Copies `elements` to a region of the chunk as new elements. `elements` has the shape of `region`.
    pub(crate) fn put(&mut self, region: &Region, elements: &View<'_>) -> Result<()> {
        self.copy(region, elements)?;
        let joined = match &self.cover {
            Cover::Nothing => region.is_contiguous_box().then(|| region.clone()),
            Cover::Box(before) => joined(before, region),
            Cover::Mask { .. } => None,
        };
        match joined {
            Some(joined) => self.cover = Cover::Box(joined),
            None => self.mask(|mask, missing| set_all(mask.window(region), missing))?,
        }
        Ok(())
    }

    /// Copies the elements of a selection that lie in the chunk. `output` has all elements of the selection, in C order.
    pub(crate) fn put_selected<'s>(&mut self, selected: &SelectedElements<'s>, output: &View<'s>) -> Result<()> {
        let shape = Shape::from_slice(self.data.shape());
        Patch::selected(&shape, selected.clone(), output)?.apply(&mut self.data.view_mut())?;
        self.compact()?;
        self.mask(|mut mask, missing| {
            let Some(mask) = mask.as_contiguous() else { return };
            selected.runs(&shape, |run| {
                let run = mask.get_mut(run.from as usize..).and_then(|mask| mask.get_mut(..run.len as usize));
                set(run.unwrap_or_default(), missing);
                true
            });
        })
    }

    /// Merges the new elements of a later buffer of the same chunk. If `later` has a mask and this buffer has none, the mask is moved here.
    pub(crate) fn put_all(&mut self, later: &mut Self) -> Result<()> {
        let view = later.data.view();
        let bytes = match &later.cover {
            Cover::Nothing => return Ok(()),
            Cover::Box(region) => return self.put(region, &view.window(region)),
            Cover::Mask { bytes, .. } => bytes,
        };
        let mask = View::new(bytes, 1, view.shape())?;
        if matches!(self.cover, Cover::Mask { .. }) {
            return each_masked(&mask, |run| self.put(run, &view.window(run)));
        }
        each_masked(&mask, |run| self.copy(run, &view.window(run)))?;
        let before = std::mem::replace(&mut self.cover, std::mem::replace(&mut later.cover, Cover::Nothing));
        if let Cover::Box(before) = before {
            self.mask(|mask, missing| set_all(mask.window(&before), missing))?;
        }
        Ok(())
    }

    /// Copies elements to a region of the chunk without marking them as new.
    fn copy(&mut self, region: &Region, elements: &View<'_>) -> Result<()> {
        copy_elements(elements, &mut self.data.view_mut().window(region))?;
        self.compact()
    }

    /// Compacts the heap if replaced elements of variable length take much of it.
    fn compact(&mut self) -> Result<()> {
        let least = self.least_heap.saturating_mul(2) + self.data.items().len() as u64 + LEAST_HEAP;
        if self.data.heap().is_some_and(|heap| heap.size() > least) {
            self.data.compact()?;
            self.least_heap = self.data.heap().map_or(0, |heap| heap.size());
        }
        Ok(())
    }

    /// Returns the patch of the new elements, to be written; an error if there are no new elements.
    pub(crate) fn patch(&self) -> Result<Patch<'_>> {
        let view = self.data.view();
        let all = || Region::whole(self.data.shape());
        Ok(match &self.cover {
            Cover::Nothing => return Err(Error::internal("a kept chunk without elements was to be written")),
            Cover::Box(region) => Patch::region(&self.shape, region.clone(), view.window(region)),
            Cover::Mask { missing: 0, .. } => Patch::region(&self.shape, all(), view),
            Cover::Mask { bytes, .. } => {
                let mask = View::new(bytes, 1, view.shape())?;
                Patch::masked(&self.shape, all(), view, mask)?
            }
        })
    }

    /// Notes that the new elements are stored.
    pub(crate) fn note_written(&self) {
        self.is_written.store(true, Ordering::Release);
    }

    pub(crate) fn is_written(&self) -> bool {
        self.is_written.load(Ordering::Acquire)
    }

    /// Calls `change` with the mask and the number of elements that are not new, after turning the cover into a mask if necessary.
    fn mask(&mut self, change: impl FnOnce(ViewMut<'_>, &mut usize)) -> Result<()> {
        let dims: Dims = self.data.view().shape().into();
        if !matches!(self.cover, Cover::Mask { .. }) {
            let mut mask = Cover::empty_mask(self.data.len())?;
            if let (Cover::Box(before), Cover::Mask { bytes, missing }) = (&self.cover, &mut mask) {
                set_all(ViewMut::new(bytes, 1, &dims)?.window(before), missing);
            }
            self.cover = mask;
        }
        if let Cover::Mask { bytes, missing } = &mut self.cover {
            change(ViewMut::new(bytes, 1, &dims)?, missing);
        }
        Ok(())
    }
}

impl Cover {
    /// Makes a mask of `len` elements, all unset.
    fn empty_mask(len: usize) -> Result<Self> {
        let no_memory = || Error::new(ErrorKind::Limit, format!("no memory for a mask of {len} elements"));
        #[cfg(test)]
        if tests::has_no_memory() {
            return Err(no_memory());
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(len).map_err(|_| no_memory())?;
        bytes.resize(len, 0);
        Ok(Self::Mask { bytes, missing: len })
    }
}

/// Sets all bytes of a mask. `missing` is reduced by the number of bytes that were 0.
fn set_all(mut mask: ViewMut<'_>, missing: &mut usize) {
    mask.runs_mut(|run| {
        set(run, missing);
        true
    });
}

/// Sets bytes of a mask. `missing` is reduced by the number of bytes that were 0.
fn set(run: &mut [u8], missing: &mut usize) {
    *missing -= run.iter().filter(|&&byte| byte == 0).count();
    run.fill(1);
}

/// Returns the box with the elements of the boxes `a` and `b` and no others; `None` if there is no such box.
fn joined(a: &Region, b: &Region) -> Option<Region> {
    if !b.is_contiguous_box() {
        return None;
    }
    let end = |axis: &AxisRange| axis.start + axis.len;
    let contains =
        |a: &Region, b: &Region| a.axes().iter().zip(b.axes()).all(|(a, b)| a.start <= b.start && end(b) <= end(a));
    if contains(a, b) {
        return Some(a.clone());
    }
    if contains(b, a) {
        return Some(b.clone());
    }
    let mut others = a.axes().iter().zip(b.axes()).filter(|(a, b)| a != b);
    let (one, other) = others.next()?;
    let touch = one.start <= end(other) && other.start <= end(one);
    if others.next().is_some() || !touch {
        return None;
    }
    let axes = a.axes().iter().zip(b.axes());
    let ranges: Vec<_> = axes.map(|(a, b)| a.start.min(b.start)..end(a).max(end(b))).collect();
    Some(Region::from_ranges(&ranges))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::cell::Cell;
    use std::ops::Range;

    thread_local! {
        static HAS_NO_MEMORY: Cell<bool> = const { Cell::new(false) };
    }

    /// Whether allocations of masks fail on this thread.
    pub(super) fn has_no_memory() -> bool {
        HAS_NO_MEMORY.get()
    }

    /// Lets allocations of masks on this thread succeed if `has`, else fail.
    pub(crate) fn set_memory(has: bool) {
        HAS_NO_MEMORY.set(!has);
    }

    fn region(ranges: [Range<u64>; 2]) -> Region {
        Region::from_ranges(&ranges)
    }

    #[test]
    fn boxes_are_joined_where_they_are_one_box() {
        let middle = region([2..4, 3..6]);
        let both = |other: [Range<u64>; 2]| joined(&middle, &region(other));
        assert_eq!(both([4..5, 3..6]), Some(region([2..5, 3..6])));
        assert_eq!(both([2..4, 1..4]), Some(region([2..4, 1..6])));
        assert_eq!(both([3..4, 4..5]), Some(middle.clone()));
        assert_eq!(both([0..9, 0..9]), Some(region([0..9, 0..9])));
        // Apart, or with a corner left.
        assert_eq!(both([5..6, 3..6]), None);
        assert_eq!(both([4..5, 3..5]), None);
        assert_eq!(both([1..3, 2..7]), None);
    }
}
