use core::iter::FusedIterator;

use smallvec::SmallVec;

use super::ChunkOverlaps;
use crate::region::{AxisRange, Region};
use crate::shape::{ChunkIndex, Shape};

/// Part of a chunk that a region selects, and the region of the output that the part fills.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ChunkOverlap {
    /// Index of the chunk in its grid.
    pub index: ChunkIndex,
    /// Full shape of the chunk, even if it reaches beyond the array.
    pub shape: Shape,
    /// Selected part, relative to the beginning of the chunk.
    pub region: Region,
    /// First output position of the part. The output has the shape of the whole region.
    pub out_start: Shape,
    /// Shape of the part in the output, equal to `region.shape()`.
    pub out_shape: Shape,
}

impl ChunkOverlap {
    /// Returns the region of the output that the part fills.
    pub fn output(&self) -> Region {
        Region(self.out_start.iter().zip(&self.out_shape).map(|(&start, &len)| AxisRange::new(start, len)).collect())
    }
}

/// Cursor that moves through [`ChunkOverlaps`] in C order of the chunks and lends the current overlap.
///
/// A step updates only the axes that change, and allocates nothing (for up to six axes).
///
/// ```
/// # use zarr_grid::{ChunkGrid, Region};
/// let grid = ChunkGrid::regular(&[10], &[4])?;
/// let overlaps = grid.intersect(&Region::whole(&[10]));
/// let mut cursor = overlaps.cursor();
/// let mut lens = Vec::new();
/// while let Some(overlap) = cursor.overlap() {
///     lens.push(overlap.out_shape[0]);
///     cursor.advance();
/// }
/// assert_eq!(lens, [4, 4, 2]);
/// # Ok::<(), zarr_grid::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    overlaps: &'a ChunkOverlaps,
    /// Number of the current overlap along each axis.
    at: SmallVec<[u64; 6]>,
    overlap: ChunkOverlap,
    number: u64,
    live: bool,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(overlaps: &'a ChunkOverlaps, i: u64) -> Self {
        let rank = overlaps.axes.len();
        let zeros = || SmallVec::from_elem(0, rank);
        let overlap = ChunkOverlap {
            index: zeros(),
            shape: zeros(),
            region: Region(SmallVec::from_elem(AxisRange::new(0, 0), rank)),
            out_start: zeros(),
            out_shape: zeros(),
        };
        let mut cursor = Self { overlaps, at: zeros(), overlap, number: 0, live: false };
        cursor.seek(i);
        cursor
    }

    /// Returns the current overlap; `None` past the end.
    pub fn overlap(&self) -> Option<&ChunkOverlap> {
        self.live.then_some(&self.overlap)
    }

    /// Returns the number of the current overlap in C order.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Moves to overlap `i`; returns `None` if `i` is past the end.
    pub fn seek(&mut self, i: u64) -> Option<&ChunkOverlap> {
        self.number = i;
        self.live = !self.overlaps.is_empty();
        let mut rest = i;
        for (at, axis) in self.at.iter_mut().zip(&self.overlaps.axes).rev() {
            if axis.len > 0 {
                *at = rest % axis.len;
                rest /= axis.len;
            }
        }
        self.live &= rest == 0;
        if self.live {
            (0..self.at.len()).for_each(|axis| self.load(axis));
        }
        self.overlap()
    }

    /// Moves to the next overlap; returns `None` past the end.
    pub fn advance(&mut self) -> Option<&ChunkOverlap> {
        if !self.live {
            return None;
        }
        self.number = self.number.saturating_add(1);
        for axis in (0..self.at.len()).rev() {
            let len = self.overlaps.axes[axis].len;
            if self.at[axis] + 1 < len {
                self.at[axis] += 1;
                self.load(axis);
                return Some(&self.overlap);
            }
            // An axis with one overlap stays where it is.
            if len > 1 {
                self.at[axis] = 0;
                self.load(axis);
            }
        }
        self.live = false;
        None
    }

    /// Returns the current overlap by value; past the end an overlap without elements.
    pub(super) fn into_overlap(mut self) -> ChunkOverlap {
        if !self.live {
            self.overlap.region.0.iter_mut().for_each(|axis| *axis = AxisRange::new(0, 0));
            self.overlap.out_shape.fill(0);
        }
        self.overlap
    }

    fn load(&mut self, axis: usize) {
        let along = self.overlaps.axes[axis].get(self.at[axis]);
        self.overlap.index[axis] = along.chunk;
        self.overlap.shape[axis] = along.chunk_len;
        self.overlap.region.0[axis] = along.inner;
        self.overlap.out_start[axis] = along.out;
        self.overlap.out_shape[axis] = along.inner.len;
    }
}

/// Iterator over [`ChunkOverlaps`] in C order of the chunks.
#[derive(Debug, Clone)]
pub struct ChunkOverlapIter<'a>(Cursor<'a>);

impl<'a> ChunkOverlapIter<'a> {
    pub(super) fn new(overlaps: &'a ChunkOverlaps) -> Self {
        Self(overlaps.cursor())
    }
}

impl Iterator for ChunkOverlapIter<'_> {
    type Item = ChunkOverlap;

    fn next(&mut self) -> Option<ChunkOverlap> {
        let overlap = self.0.overlap()?.clone();
        self.0.advance();
        Some(overlap)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let rest = if self.0.live { self.0.overlaps.len().saturating_sub(self.0.number) } else { 0 };
        let rest = usize::try_from(rest).unwrap_or(usize::MAX);
        (rest, (rest < usize::MAX).then_some(rest))
    }
}

impl FusedIterator for ChunkOverlapIter<'_> {}
