use core::iter::FusedIterator;

use smallvec::SmallVec;

use super::Cuts;
use crate::region::{AxisRange, Region};
use crate::shape::{ChunkIndex, Shape};

/// One chunk that a region meets, the part of it that is selected, and where that part goes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cell {
    /// The chunk.
    pub index: ChunkIndex,
    /// The chunk's full shape, also where it reaches beyond the array.
    pub shape: Shape,
    /// The selected part, relative to the beginning of the chunk.
    pub region: Region,
    /// The first output position of that part. The output has the shape of the region that was cut.
    pub out_start: Shape,
    /// The shape of the part in the output, which is `region.shape()`.
    pub out_shape: Shape,
}

impl Cell {
    /// Where the selected part goes in the output.
    pub fn output(&self) -> Region {
        Region(self.out_start.iter().zip(&self.out_shape).map(|(&start, &len)| AxisRange::new(start, len)).collect())
    }
}

/// Goes through the cells of [`Cuts`] in C order and lends the current one.
///
/// Going to the next cell changes only the axes that move and allocates nothing (up to six axes).
///
/// ```
/// # use zarr_grid::{ChunkGrid, Region};
/// let grid = ChunkGrid::regular(&[10], &[4])?;
/// let cuts = grid.meet(&Region::whole(&[10]));
/// let mut cursor = cuts.cursor();
/// let mut lens = Vec::new();
/// while let Some(cell) = cursor.cell() {
///     lens.push(cell.out_shape[0]);
///     cursor.advance();
/// }
/// assert_eq!(lens, [4, 4, 2]);
/// # Ok::<(), zarr_grid::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    cuts: &'a Cuts,
    /// The number of the current cut along each axis.
    at: SmallVec<[u64; 6]>,
    cell: Cell,
    number: u64,
    live: bool,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(cuts: &'a Cuts, i: u64) -> Self {
        let rank = cuts.axes.len();
        let zeros = || SmallVec::from_elem(0, rank);
        let cell = Cell {
            index: zeros(),
            shape: zeros(),
            region: Region(SmallVec::from_elem(AxisRange::new(0, 0), rank)),
            out_start: zeros(),
            out_shape: zeros(),
        };
        let mut cursor = Self { cuts, at: zeros(), cell, number: 0, live: false };
        cursor.seek(i);
        cursor
    }

    /// The current cell, `None` past the end.
    pub fn cell(&self) -> Option<&Cell> {
        self.live.then_some(&self.cell)
    }

    /// The number of the current cell in C order.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Goes to cell `i`; past the end there is none.
    pub fn seek(&mut self, i: u64) -> Option<&Cell> {
        self.number = i;
        self.live = !self.cuts.is_empty();
        let mut rest = i;
        for (at, axis) in self.at.iter_mut().zip(&self.cuts.axes).rev() {
            if axis.len > 0 {
                *at = rest % axis.len;
                rest /= axis.len;
            }
        }
        self.live &= rest == 0;
        if self.live {
            (0..self.at.len()).for_each(|axis| self.load(axis));
        }
        self.cell()
    }

    /// Goes to the next cell.
    pub fn advance(&mut self) -> Option<&Cell> {
        if !self.live {
            return None;
        }
        self.number = self.number.saturating_add(1);
        for axis in (0..self.at.len()).rev() {
            let len = self.cuts.axes[axis].len;
            if self.at[axis] + 1 < len {
                self.at[axis] += 1;
                self.load(axis);
                return Some(&self.cell);
            }
            // An axis with one cut stays where it is.
            if len > 1 {
                self.at[axis] = 0;
                self.load(axis);
            }
        }
        self.live = false;
        None
    }

    /// The current cell, without elements past the end.
    pub(super) fn into_cell(mut self) -> Cell {
        if !self.live {
            self.cell.region.0.iter_mut().for_each(|axis| *axis = AxisRange::new(0, 0));
            self.cell.out_shape.fill(0);
        }
        self.cell
    }

    fn load(&mut self, axis: usize) {
        let cut = self.cuts.axes[axis].get(self.at[axis]);
        self.cell.index[axis] = cut.cell;
        self.cell.shape[axis] = cut.cell_len;
        self.cell.region.0[axis] = cut.inner;
        self.cell.out_start[axis] = cut.out;
        self.cell.out_shape[axis] = cut.inner.len;
    }
}

/// The cells of [`Cuts`] in C order, each a value of its own.
#[derive(Debug, Clone)]
pub struct Cells<'a>(Cursor<'a>);

impl<'a> Cells<'a> {
    pub(super) fn new(cuts: &'a Cuts) -> Self {
        Self(cuts.cursor())
    }
}

impl Iterator for Cells<'_> {
    type Item = Cell;

    fn next(&mut self) -> Option<Cell> {
        let cell = self.0.cell()?.clone();
        self.0.advance();
        Some(cell)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let rest = if self.0.live { self.0.cuts.len().saturating_sub(self.0.number) } else { 0 };
        let rest = usize::try_from(rest).unwrap_or(usize::MAX);
        (rest, (rest < usize::MAX).then_some(rest))
    }
}

impl FusedIterator for Cells<'_> {}
