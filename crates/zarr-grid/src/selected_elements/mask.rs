use smallvec::SmallVec;

use super::CopyRun;
use crate::error::{Error, Result};
use crate::grid::ChunkGrid;
use crate::region::{AxisRange, Region};
use crate::resolved::MaskSelection;
use crate::shape::{ChunkIndex, Shape, element_count};

/// Elements in a box of an array that a mask of the array selects.
#[derive(Debug, Clone)]
pub(super) struct MaskPart<'a> {
    mask: &'a MaskSelection,
    axes: SmallVec<[MaskAxis; 6]>,
}

/// Axis of the box that a [`MaskPart`] covers.
#[derive(Debug, Clone, Copy)]
struct MaskAxis {
    /// Number of the axis of the array.
    axis: usize,
    /// First position of the box in the array; `len` is the number of positions.
    origin: u64,
    len: u64,
}

impl<'a> MaskPart<'a> {
    pub(super) fn whole(mask: &'a MaskSelection) -> Self {
        let axes = mask.shape().iter().enumerate().map(|(axis, &len)| MaskAxis { axis, origin: 0, len });
        Self { mask, axes: axes.collect() }
    }

    pub(super) fn rank(&self) -> usize {
        self.axes.len()
    }

    pub(super) fn permuted(&self, order: &[usize]) -> Self {
        Self { mask: self.mask, axes: order.iter().filter_map(|&axis| self.axes.get(axis).copied()).collect() }
    }

    /// Calls `each` with each selected element of the box, in C order of the array, until it returns false: its index in a chunk with these
    /// `strides` that begins where the box begins, and its index in the output.
    pub(super) fn each(&self, strides: &[u64], mut each: impl FnMut(CopyRun) -> bool) -> bool {
        let last = self.mask.shape().len().checked_sub(1);
        let inner = self.axes.iter().zip(strides).find(|(axis, _)| Some(axis.axis) == last);
        let stride = inner.map_or(0, |(_, stride)| *stride);
        self.rows(|start, end, before| {
            let base: u64 = before.iter().zip(strides).map(|(at, stride)| at * stride).sum();
            let mut to = self.mask.count_before(start);
            self.mask.each(start, end, |position| {
                let run = CopyRun { from: base + (position - start) as u64 * stride, to, len: 1 };
                to += 1;
                each(run)
            })
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows(|start, end, _| self.mask.each(start, end, |_| false))
    }

    pub(super) fn cover(&self, shape: &[u64]) -> bool {
        let mut count = 0;
        self.rows(|start, end, _| {
            count += self.mask.count_before(end) - self.mask.count_before(start);
            true
        });
        element_count(shape) == Some(count)
    }

    /// Calls `each` for each row of the box along the last axis of the array, in C order, until it returns false. Its arguments are begin
    /// and end of the row in the mask, and the position of the row along each axis of the box. Returns whether it never returned false.
    fn rows(&self, mut each: impl FnMut(usize, usize, &[u64]) -> bool) -> bool {
        let rank = self.mask.shape().len();
        // The axis of the box for each axis of the array.
        let mut axes: SmallVec<[usize; 6]> = (0..self.axes.len()).collect();
        axes.sort_unstable_by_key(|&axis| self.axes[axis].axis);
        if self.axes.iter().any(|axis| axis.len == 0) || axes.len() != rank {
            return true;
        }
        let mut at = Shape::from_elem(0, rank);
        loop {
            let position = axes
                .iter()
                .zip(self.mask.shape())
                .fold(0, |sum: u64, (&axis, len)| sum * len + self.axes[axis].origin + at[axis]);
            let start = position as usize;
            let row = axes.last().map_or(1, |&axis| self.axes[axis].len as usize);
            if !each(start, start + row, &at) {
                return false;
            }
            let mut outer = axes.iter().rev().skip(1);
            loop {
                let Some(&axis) = outer.next() else { return true };
                at[axis] += 1;
                if at[axis] < self.axes[axis].len {
                    break;
                }
                at[axis] = 0;
            }
        }
    }

    /// Returns the smallest box that contains all selected elements.
    pub(super) fn bounds(&self) -> Region {
        let mut ends: SmallVec<[(u64, u64); 6]> = SmallVec::from_elem((u64::MAX, 0), self.rank());
        let last = (0..self.rank()).max_by_key(|&axis| self.axes[axis].axis);
        self.rows(|start, end, before| {
            let (mut first, mut count) = (None, 0);
            self.mask.each(start, end, |position| {
                let at = (position - start) as u64;
                first.get_or_insert(at);
                count = at + 1;
                true
            });
            let Some(first) = first else { return true };
            for (axis, (low, high)) in ends.iter_mut().enumerate() {
                let (from, to) = if Some(axis) == last { (first, count) } else { (before[axis], before[axis] + 1) };
                (*low, *high) = (from.min(*low), to.max(*high));
            }
            true
        });
        Region(ends.iter().map(|&(low, high)| AxisRange::new(low, high.saturating_sub(low))).collect())
    }

    /// Returns the elements in `bounds`, a box relative to this box.
    pub(super) fn in_box(&self, bounds: &Region) -> Self {
        let axes = self.axes.iter().zip(bounds.axes());
        let axes = axes.map(|(axis, range)| MaskAxis { origin: axis.origin + range.start, len: range.len, ..*axis });
        Self { mask: self.mask, axes: axes.collect() }
    }

    /// Returns the elements in a chunk of `grid`, a grid of the box.
    fn within(&self, grid: &ChunkGrid, chunk: &[u64]) -> Option<Self> {
        let axes = self.axes.iter().zip(chunk).enumerate().map(|(number, (axis, &index))| {
            let (start, len) = grid.extent(number, index)?;
            // A chunk at the edge reaches beyond the box.
            let len = len.min(axis.len.saturating_sub(start));
            Some(MaskAxis { origin: axis.origin + start, len, ..*axis })
        });
        Some(Self { mask: self.mask, axes: axes.collect::<Option<_>>()? })
    }
}

/// [`MaskPart`] divided by chunk.
#[derive(Debug, Clone)]
pub(super) struct MaskByChunk<'a> {
    part: MaskPart<'a>,
    grid: ChunkGrid,
    /// Number of chunks along each axis of the grid.
    counts: Shape,
    /// Numbers, in C order, of the chunks with selected elements.
    chunks: Vec<u64>,
}

impl<'a> MaskByChunk<'a> {
    pub(super) fn new(part: &MaskPart<'a>, grid: &ChunkGrid) -> Result<Self> {
        // Inner chunks of a chunk at the edge lie beyond the array, too.
        if let Some(axis) = (0..part.rank()).find(|&axis| part.axes[axis].len > grid.shape()[axis]) {
            let (found, len) = (part.axes[axis].len.into(), grid.shape()[axis]);
            return Err(Error::OutOfBounds { what: "index", axis, found, len });
        }
        let counts = grid.grid_shape();
        let count = element_count(&counts).ok_or(Error::Overflow { what: "the number of chunks" })?;
        let mut divided = Self { part: part.clone(), grid: grid.clone(), counts, chunks: Vec::new() };
        let has_some =
            |number: &u64| divided.part.within(grid, &divided.index(*number)).is_some_and(|part| !part.is_empty());
        divided.chunks = (0..count).filter(has_some).collect();
        Ok(divided)
    }

    pub(super) fn len(&self) -> usize {
        self.chunks.len()
    }

    pub(super) fn get(&self, i: usize) -> Option<(ChunkIndex, MaskPart<'a>)> {
        let chunk = self.index(*self.chunks.get(i)?);
        let part = self.part.within(&self.grid, &chunk)?;
        Some((chunk, part))
    }

    pub(super) fn at(&self, chunk: &[u64]) -> Option<MaskPart<'a>> {
        if chunk.len() != self.counts.len() || chunk.iter().zip(&self.counts).any(|(at, count)| at >= count) {
            return None;
        }
        let number = chunk.iter().zip(&self.counts).fold(0, |number, (at, count)| number * count + at);
        self.chunks.binary_search(&number).ok()?;
        self.part.within(&self.grid, chunk)
    }

    fn index(&self, mut number: u64) -> ChunkIndex {
        let mut index = ChunkIndex::from_elem(0, self.counts.len());
        for (at, &count) in index.iter_mut().zip(&self.counts).rev() {
            *at = number % count.max(1);
            number /= count.max(1);
        }
        index
    }
}
