use smallvec::SmallVec;
use std::cmp::Ordering;

use crate::region::AxisRange;
use crate::shape::Shape;

mod cursor;
pub use cursor::{ChunkOverlap, ChunkOverlapIter, Cursor};

/// Part of a region along one axis that lies in one chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct AxisOverlap {
    /// Index of the chunk along the axis.
    pub chunk: u64,
    /// Length of the chunk along the axis, even if it reaches beyond the array.
    pub chunk_len: u64,
    /// Selected positions, relative to the beginning of the chunk.
    pub inner: AxisRange,
    /// Index of the first selected position in the output. The overlap fills `out..out + inner.len`.
    pub out: u64,
}

/// Overlaps of a region with the chunks of one axis.
///
/// There is one record for each run of chunks of equal length, and not for each chunk; overlaps are computed on demand.
#[derive(Debug, Clone, Default)]
pub struct AxisOverlaps {
    segments: SmallVec<[Segment; 1]>,
    len: u64,
}

/// Overlaps with a run of chunks of equal length.
#[derive(Debug, Clone, Copy)]
struct Segment {
    /// Number of overlaps in earlier segments.
    first: u64,
    /// Index of the first chunk of the run; `base` is the first position of that chunk.
    chunk: u64,
    base: u64,
    chunk_len: u64,
    /// First chunk of the run that the range overlaps, counted from `chunk`.
    skip: u64,
    /// Selected positions within the run, never empty.
    range: AxisRange,
    /// Output index of the first position of `range`.
    out: u64,
}

/// Overlaps of a region with the chunks of a grid.
///
/// They are stored per axis, so their cost is the sum over the axes and not the product: planning a region over 10^12 chunks costs nothing.
/// [`ChunkOverlaps::iter`] returns overlaps in C order of the chunks, [`ChunkOverlaps::cursor`] lends them without a copy. A chunk that the
/// region steps over has no overlap.
///
/// # Example
/// ```
/// # use zarr_grid::{ChunkGrid, Region};
/// let grid = ChunkGrid::regular(&[10, 10], &[4, 5])?;
/// let overlaps = grid.intersect(&Region::from_ranges(&[2..6, 0..3]));
/// let parts: Vec<_> = overlaps.iter().map(|overlap| (overlap.index.to_vec(), overlap.region.to_string())).collect();
/// assert_eq!(parts, [(vec![0, 0], "[2:4, 0:3]".to_owned()), (vec![1, 0], "[0:2, 0:3]".to_owned())]);
/// # Ok::<(), zarr_grid::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ChunkOverlaps {
    axes: SmallVec<[AxisOverlaps; 6]>,
}

impl ChunkOverlaps {
    pub(crate) fn new(axes: SmallVec<[AxisOverlaps; 6]>) -> Self {
        Self { axes }
    }

    /// Returns the overlaps along each axis.
    pub fn axes(&self) -> &[AxisOverlaps] {
        &self.axes
    }

    /// Returns the number of overlaps, at most `u64::MAX`. A 0-d grid has one overlap.
    pub fn len(&self) -> u64 {
        if self.is_empty() { 0 } else { self.axes.iter().fold(1, |n: u64, axis| n.saturating_mul(axis.len)) }
    }

    /// Returns whether the region overlaps no chunk.
    pub fn is_empty(&self) -> bool {
        self.axes.iter().any(AxisOverlaps::is_empty)
    }

    /// Returns the number of overlaps along each axis.
    pub fn shape(&self) -> Shape {
        self.axes.iter().map(AxisOverlaps::len).collect()
    }

    /// Returns overlap `i` in C order of the chunks; past the end an overlap without elements.
    pub fn get(&self, i: u64) -> ChunkOverlap {
        self.cursor_at(i).into_overlap()
    }

    /// Returns all overlaps in C order of the chunks.
    pub fn iter(&self) -> ChunkOverlapIter<'_> {
        ChunkOverlapIter::new(self)
    }

    /// Returns a cursor at the first overlap.
    pub fn cursor(&self) -> Cursor<'_> {
        self.cursor_at(0)
    }

    /// Returns the number, in C order, of the overlap with the chunk of index `chunk`; `None` if there is none.
    pub fn position(&self, chunk: &[u64]) -> Option<u64> {
        if chunk.len() != self.axes.len() {
            return None;
        }
        let mut number = 0_u64;
        for (axis, &index) in self.axes.iter().zip(chunk) {
            number = number.checked_mul(axis.len())?.checked_add(axis.position(index)?)?;
        }
        Some(number)
    }

    /// Returns a cursor at overlap `i`.
    pub fn cursor_at(&self, i: u64) -> Cursor<'_> {
        Cursor::new(self, i)
    }

    /// Returns the overlaps of the transposed region and grid: axis `i` of the result is axis `order[i]` of `self`.
    ///
    /// `order` must be a permutation of the axes; numbers that are no axis are skipped.
    pub fn permuted(&self, order: &[usize]) -> Self {
        Self { axes: order.iter().filter_map(|&axis| self.axes.get(axis).cloned()).collect() }
    }
}

impl<'a> IntoIterator for &'a ChunkOverlaps {
    type Item = ChunkOverlap;
    type IntoIter = ChunkOverlapIter<'a>;

    fn into_iter(self) -> ChunkOverlapIter<'a> {
        self.iter()
    }
}

impl AxisOverlaps {
    /// Returns the overlaps of `range` with chunks of length `chunk_len`; none if `chunk_len` is 0.
    pub(crate) fn regular(range: AxisRange, chunk_len: u64) -> Self {
        let mut overlaps = Self::default();
        overlaps.push(0, 0, chunk_len, range, 0);
        overlaps
    }

    /// Appends the overlaps of `range` with a run of chunks of length `chunk_len` that begins with chunk `chunk` at position `base`. `out`
    /// is the output index of the first position.
    pub(crate) fn push(&mut self, chunk: u64, base: u64, chunk_len: u64, range: AxisRange, out: u64) {
        let Some(last) = range.last().filter(|_| chunk_len > 0) else { return };
        let skip = (range.start - base) / chunk_len;
        // With a step of a chunk or more no two positions share a chunk; with less no chunk is skipped.
        let count = if range.step >= chunk_len { range.len } else { (last - base) / chunk_len - skip + 1 };
        let segment = Segment { first: self.len, chunk, base, chunk_len, skip, range, out };
        self.segments.push(segment);
        self.len += count;
    }

    /// Returns the number of the overlap with the chunk of index `chunk`; `None` if the range has no position in it.
    pub(crate) fn position(&self, chunk: u64) -> Option<u64> {
        // Where no chunk is skipped, numbers follow each other.
        if let [only] = self.segments.as_slice()
            && only.range.step < only.chunk_len
        {
            return chunk.checked_sub(only.chunk + only.skip).filter(|&number| number < self.len);
        }
        let (mut from, mut to) = (0, self.len);
        while from < to {
            let middle = from + (to - from) / 2;
            match self.get(middle).chunk.cmp(&chunk) {
                Ordering::Less => from = middle + 1,
                Ordering::Equal => return Some(middle),
                Ordering::Greater => to = middle,
            }
        }
        None
    }

    /// Returns the number of overlaps.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether there are no overlaps.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns overlap `i`, in the order of the axis; past the end an overlap without positions.
    pub fn get(&self, i: u64) -> AxisOverlap {
        if i >= self.len {
            return AxisOverlap { chunk: 0, chunk_len: 0, inner: AxisRange::new(0, 0), out: 0 };
        }
        match self.segments.as_slice() {
            [only] => only.overlap(i),
            all => all[all.partition_point(|segment| segment.first <= i) - 1].overlap(i),
        }
    }

    /// Returns the number of consecutive overlaps, beginning with overlap `i`, that are whole chunks of one length; 0 if overlap `i` is a
    /// part of a chunk. The result may be too small if the grid has chunks of several lengths.
    pub fn whole_from(&self, i: u64) -> u64 {
        match self.segments.as_slice() {
            _ if i >= self.len => 0,
            [only] => only.whole_from(i),
            all => all[all.partition_point(|segment| segment.first <= i) - 1].whole_from(i),
        }
    }

    /// Returns the number of consecutive overlaps, beginning with overlap `i`, that have as many positions as overlap `i`, as far as it can
    /// be computed without looking at each.
    ///
    /// The result is at least 1 if there is an overlap `i`. It may be too small if the step is smaller than a chunk and does not divide the
    /// chunk length.
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

    /// Returns all overlaps, in the order of the axis.
    pub fn iter(&self) -> impl Iterator<Item = AxisOverlap> + '_ {
        (0..self.len).map(|i| self.get(i))
    }
}

impl Segment {
    /// Returns the number of consecutive overlaps in this segment, beginning with overlap `i`, that are whole chunks.
    fn whole_from(&self, i: u64) -> u64 {
        let AxisRange { start, len, step } = self.range;
        let begin = self.base + (self.skip + i - self.first) * self.chunk_len;
        if step == 1 && begin >= start {
            return (len - (begin - start)) / self.chunk_len;
        }
        u64::from(self.overlap(i).inner == AxisRange::new(0, self.chunk_len))
    }

    /// Returns the number of consecutive overlaps in this segment, beginning with overlap `i`, that have equally many positions. The last
    /// overlap of the segment is `end - 1`.
    fn alike_from(&self, i: u64, end: u64) -> u64 {
        let AxisRange { len, step, .. } = self.range;
        if step >= self.chunk_len {
            return end - i;
        }
        let overlap = self.overlap(i);
        if !self.chunk_len.is_multiple_of(step) || overlap.inner.len != self.chunk_len / step {
            return 1;
        }
        // Each chunk has this many but for the first and the last.
        (len - (overlap.out - self.out)) / overlap.inner.len
    }

    /// Returns overlap `i` of the axis, which must be in this segment.
    fn overlap(&self, i: u64) -> AxisOverlap {
        let AxisRange { start, len, step } = self.range;
        let nth = i - self.first;
        let (in_run, from, to) = if step >= self.chunk_len {
            ((start + nth * step - self.base) / self.chunk_len, nth, nth + 1)
        } else {
            let chunk = self.skip + nth;
            let begin = self.base + chunk * self.chunk_len;
            // The number of positions before `begin`, and before the end of the chunk.
            let before = |end: u64| match end.saturating_sub(start) {
                n if step == 1 => n,
                n => n.div_ceil(step),
            };
            (chunk, before(begin), before(begin.saturating_add(self.chunk_len)).min(len))
        };
        let begin = self.base + in_run * self.chunk_len;
        let inner = AxisRange { start: start + from * step - begin, len: to - from, step };
        AxisOverlap {
            chunk: self.chunk + in_run,
            chunk_len: self.chunk_len,
            inner: inner.normal(),
            out: self.out + from,
        }
    }
}
