use smallvec::SmallVec;
use std::cmp::Ordering;

use crate::region::AxisRange;
use crate::shape::Shape;

mod cursor;
pub use cursor::{Cell, Cells, Cursor};

/// One piece of a region along one axis: the part that lies in one chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// The chunk, counted along the axis.
    pub cell: u64,
    /// The length of the chunk along the axis, also where it reaches beyond the array.
    pub cell_len: u64,
    /// The selected positions, relative to the beginning of the chunk.
    pub inner: AxisRange,
    /// The place of the first of them in the output. The cut fills `out..out + inner.len`.
    pub out: u64,
}

/// Where a region meets the chunks of one axis.
///
/// Nothing is stored per chunk: one record for a stretch of chunks of equal length, the cuts are computed on demand.
#[derive(Debug, Clone, Default)]
pub struct AxisCuts {
    segments: SmallVec<[Segment; 1]>,
    len: u64,
}

/// The cuts within a stretch of chunks of equal length.
#[derive(Debug, Clone, Copy)]
struct Segment {
    /// How many cuts lie in earlier segments.
    first: u64,
    /// The first chunk of the stretch, and where it begins.
    cell: u64,
    base: u64,
    cell_len: u64,
    /// The first chunk of the stretch that the range meets, counted from `cell`.
    skip: u64,
    /// The selected positions within the stretch, never empty.
    range: AxisRange,
    /// The output index of the first of them.
    out: u64,
}

/// Where a region meets the cells of a grid.
///
/// The cuts are kept per axis, so that their cost is the sum of the axes: planning a region over 10^12 chunks costs
/// nothing. Cells (one cut of each axis) come in C order from [`Cuts::iter`], or without a copy from [`Cuts::cursor`].
/// A chunk that the region steps over is no cell.
///
/// # Example
/// ```
/// # use zarr_grid::{ChunkGrid, Region};
/// let grid = ChunkGrid::regular(&[10, 10], &[4, 5])?;
/// let cuts = grid.meet(&Region::from_ranges(&[2..6, 0..3]));
/// let cells: Vec<_> = cuts.iter().map(|cell| (cell.index.to_vec(), cell.region.to_string())).collect();
/// assert_eq!(cells, [(vec![0, 0], "[2:4, 0:3]".to_owned()), (vec![1, 0], "[0:2, 0:3]".to_owned())]);
/// # Ok::<(), zarr_grid::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Cuts {
    axes: SmallVec<[AxisCuts; 6]>,
}

impl Cuts {
    pub(crate) fn new(axes: SmallVec<[AxisCuts; 6]>) -> Self {
        Self { axes }
    }

    /// The cuts along each axis.
    pub fn axes(&self) -> &[AxisCuts] {
        &self.axes
    }

    /// The number of cells, `u64::MAX` if there are more. A 0-d grid has one cell.
    pub fn len(&self) -> u64 {
        if self.is_empty() { 0 } else { self.axes.iter().fold(1, |n: u64, axis| n.saturating_mul(axis.len)) }
    }

    /// Whether the region meets no cell.
    pub fn is_empty(&self) -> bool {
        self.axes.iter().any(AxisCuts::is_empty)
    }

    /// The number of cells along each axis.
    pub fn shape(&self) -> Shape {
        self.axes.iter().map(AxisCuts::len).collect()
    }

    /// Cell `i` in C order. Past the end: a cell without elements.
    pub fn cell(&self, i: u64) -> Cell {
        self.cursor_at(i).into_cell()
    }

    /// All cells in C order.
    pub fn iter(&self) -> Cells<'_> {
        Cells::new(self)
    }

    /// A cursor at the first cell.
    pub fn cursor(&self) -> Cursor<'_> {
        self.cursor_at(0)
    }

    /// The number of the cell that is this chunk; `None` if there is none.
    pub fn position(&self, chunk: &[u64]) -> Option<u64> {
        if chunk.len() != self.axes.len() {
            return None;
        }
        let mut number = 0_u64;
        for (axis, &cell) in self.axes.iter().zip(chunk) {
            number = number.checked_mul(axis.len())?.checked_add(axis.position(cell)?)?;
        }
        Some(number)
    }

    /// A cursor at cell `i`.
    pub fn cursor_at(&self, i: u64) -> Cursor<'_> {
        Cursor::new(self, i)
    }

    /// The cuts of the transposed region and grid: axis `i` of the result is axis `order[i]` of these.
    ///
    /// `order` is a permutation of the axes; numbers that are no axis contribute nothing.
    pub fn permuted(&self, order: &[usize]) -> Self {
        Self { axes: order.iter().filter_map(|&axis| self.axes.get(axis).cloned()).collect() }
    }
}

impl<'a> IntoIterator for &'a Cuts {
    type Item = Cell;
    type IntoIter = Cells<'a>;

    fn into_iter(self) -> Cells<'a> {
        self.iter()
    }
}

impl AxisCuts {
    /// Cuts of `range` along an axis of chunks of `cell_len`. A chunk length of 0 has no cuts.
    pub(crate) fn regular(range: AxisRange, cell_len: u64) -> Self {
        let mut cuts = Self::default();
        cuts.push(0, 0, cell_len, range, 0);
        cuts
    }

    /// Appends the cuts of `range` in a stretch of chunks of `cell_len` that begins with chunk `cell` at `base`.
    pub(crate) fn push(&mut self, cell: u64, base: u64, cell_len: u64, range: AxisRange, out: u64) {
        let Some(last) = range.last().filter(|_| cell_len > 0) else { return };
        let skip = (range.start - base) / cell_len;
        // With a step of a chunk or more no two positions share a chunk; with less no chunk is skipped.
        let count = if range.step >= cell_len { range.len } else { (last - base) / cell_len - skip + 1 };
        let segment = Segment { first: self.len, cell, base, cell_len, skip, range, out };
        self.segments.push(segment);
        self.len += count;
    }

    /// Which cut is that of a chunk, counted along the axis; `None` if the range steps over it.
    fn position(&self, cell: u64) -> Option<u64> {
        let (mut from, mut to) = (0, self.len);
        while from < to {
            let middle = from + (to - from) / 2;
            match self.get(middle).cell.cmp(&cell) {
                Ordering::Less => from = middle + 1,
                Ordering::Equal => return Some(middle),
                Ordering::Greater => to = middle,
            }
        }
        None
    }

    /// The number of cuts.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are no cuts.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Cut `i`, in the order of the axis. Past the end: a cut without positions.
    pub fn get(&self, i: u64) -> Cut {
        if i >= self.len {
            return Cut { cell: 0, cell_len: 0, inner: AxisRange::new(0, 0), out: 0 };
        }
        match self.segments.as_slice() {
            [only] => only.cut(i),
            all => all[all.partition_point(|segment| segment.first <= i) - 1].cut(i),
        }
    }

    /// How many cuts from `i` on are whole chunks of the same length, one behind the other. None if cut `i` is a part of a chunk,
    /// and not all where the grid changes the length of chunks in between.
    pub fn whole_from(&self, i: u64) -> u64 {
        match self.segments.as_slice() {
            _ if i >= self.len => 0,
            [only] => only.whole_from(i),
            all => all[all.partition_point(|segment| segment.first <= i) - 1].whole_from(i),
        }
    }

    /// How many cuts from `i` on have as many positions as cut `i`, as far as that shows without a look at each.
    ///
    /// At least 1 where there is a cut `i`. Only where a step is neither a chunk or more nor a divisor of the length of chunks,
    /// fewer than there are may be said.
    pub fn alike_from(&self, i: u64) -> u64 {
        match self.segments.as_slice() {
            _ if i >= self.len => 0,
            [only] => only.alike_from(i, self.len),
            all => {
                let next = all.partition_point(|segment| segment.first <= i);
                all[next - 1].alike_from(i, all.get(next).map_or(self.len, |next| next.first))
            }
        }
    }

    /// All cuts, in the order of the axis.
    pub fn iter(&self) -> impl Iterator<Item = Cut> + '_ {
        (0..self.len).map(|i| self.get(i))
    }
}

impl Segment {
    /// How many cuts from `i` on, which lies in this segment, are whole chunks that follow each other.
    fn whole_from(&self, i: u64) -> u64 {
        let AxisRange { start, len, step } = self.range;
        let begin = self.base + (self.skip + i - self.first) * self.cell_len;
        if step == 1 && begin >= start {
            return (len - (begin - start)) / self.cell_len;
        }
        u64::from(self.cut(i).inner == AxisRange::new(0, self.cell_len))
    }

    /// How many cuts from `i` on have as many positions, of those of this segment, whose cuts end before `end`.
    fn alike_from(&self, i: u64, end: u64) -> u64 {
        let AxisRange { len, step, .. } = self.range;
        if step >= self.cell_len {
            return end - i;
        }
        let cut = self.cut(i);
        if !self.cell_len.is_multiple_of(step) || cut.inner.len != self.cell_len / step {
            return 1;
        }
        // Each chunk has this many but for the first and the last.
        (len - (cut.out - self.out)) / cut.inner.len
    }

    /// Cut `i` of the axis, which lies in this segment.
    fn cut(&self, i: u64) -> Cut {
        let AxisRange { start, len, step } = self.range;
        let nth = i - self.first;
        let (in_stretch, from, to) = if step >= self.cell_len {
            ((start + nth * step - self.base) / self.cell_len, nth, nth + 1)
        } else {
            let cell = self.skip + nth;
            let begin = self.base + cell * self.cell_len;
            // The number of positions before `begin`, and before the end of the chunk.
            let before = |end: u64| match end.saturating_sub(start) {
                n if step == 1 => n,
                n => n.div_ceil(step),
            };
            (cell, before(begin), before(begin.saturating_add(self.cell_len)).min(len))
        };
        let begin = self.base + in_stretch * self.cell_len;
        let inner = AxisRange { start: start + from * step - begin, len: to - from, step };
        Cut { cell: self.cell + in_stretch, cell_len: self.cell_len, inner: inner.normal(), out: self.out + from }
    }
}
