use core::ops::Range;

use super::mask::MaskByChunk;
use super::{AxisPart, AxisPositions, ElementSet, PointSet, Points, SelectedElements};
use crate::error::{Error, Result};
use crate::grid::{AxisChunk, ChunkGrid};
use crate::overlaps::AxisOverlaps;
use crate::points_by_chunk::PointsByChunk;
use crate::region::Region;
use crate::resolved::SelectedIndex;
use crate::shape::{ChunkIndex, Shape};

/// Selected elements divided by chunk, see [`SelectedElements::by_chunk`]. Each chunk with selected elements occurs once.
#[derive(Debug, Clone)]
pub struct ElementsByChunk<'a>(ByChunk<'a>);

#[derive(Debug, Clone)]
enum ByChunk<'a> {
    Orthogonal(Vec<AxisByChunk<'a>>),
    Coordinates { points: Points<'a>, grid: ChunkGrid, sorted: PointsByChunk },
    Mask(MaskByChunk<'a>),
}

/// Selected positions of one axis, divided by chunk.
#[derive(Debug, Clone)]
struct AxisByChunk<'a> {
    positions: PositionsByChunk<'a>,
    /// Stride of the [`AxisPart`].
    stride: u64,
}

#[derive(Debug, Clone)]
enum PositionsByChunk<'a> {
    Range {
        overlaps: AxisOverlaps,
        out: u64,
        flipped: bool,
    },
    List {
        indices: &'a [SelectedIndex],
        origin: u64,
        /// Chunks, each with the range of `indices` that lie in it.
        chunks: Vec<(AxisChunk, Range<usize>)>,
    },
}

impl<'a> ElementsByChunk<'a> {
    pub(super) fn new(elements: &SelectedElements<'a>, grid: &ChunkGrid) -> Result<Self> {
        if elements.rank() != grid.rank() {
            return Err(Error::Rank { what: "selection", found: elements.rank(), expected: grid.rank() });
        }
        Ok(Self(match &elements.0 {
            ElementSet::Orthogonal(axes) => {
                let axes = axes.iter().enumerate().map(|(axis, part)| AxisByChunk::new(*part, grid, axis));
                ByChunk::Orthogonal(axes.collect::<Result<_>>()?)
            }
            ElementSet::Coordinates(points) => {
                let position = |point: usize, axis: usize| {
                    let (coordinate, origin) = points.axes[axis];
                    points.positions[point * points.rank + coordinate] - origin
                };
                let sorted = match points.set {
                    PointSet::All(count) => PointsByChunk::new(grid, count, |slot| slot, position)?,
                    PointSet::Some(numbers) => PointsByChunk::new(grid, numbers.len(), |slot| numbers[slot], position)?,
                };
                ByChunk::Coordinates { points: points.clone(), grid: grid.clone(), sorted }
            }
            ElementSet::Mask(part) => ByChunk::Mask(MaskByChunk::new(part, grid)?),
        }))
    }

    /// Returns the number of chunks with selected elements, at most `u64::MAX`.
    pub fn len(&self) -> u64 {
        match &self.0 {
            ByChunk::Orthogonal(_) if self.is_empty() => 0,
            ByChunk::Orthogonal(axes) => axes.iter().fold(1, |n: u64, axis| n.saturating_mul(axis.len())),
            ByChunk::Coordinates { sorted, .. } => sorted.len() as u64,
            ByChunk::Mask(divided) => divided.len() as u64,
        }
    }

    /// Returns whether no element is selected.
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            ByChunk::Orthogonal(axes) => axes.iter().any(|axis| axis.len() == 0),
            ByChunk::Coordinates { sorted, .. } => sorted.len() == 0,
            ByChunk::Mask(divided) => divided.len() == 0,
        }
    }

    /// Returns the `i`-th chunk with selected elements, in C order, and the elements in it; `None` past the end.
    pub fn get(&self, i: u64) -> Option<(ChunkIndex, SelectedElements<'_>)> {
        match &self.0 {
            ByChunk::Orthogonal(axes) => {
                if self.is_empty() {
                    return None;
                }
                let mut at = Shape::from_elem(0, axes.len());
                let mut rest = i;
                for (at, axis) in at.iter_mut().zip(axes).rev() {
                    *at = rest % axis.len();
                    rest /= axis.len();
                }
                if rest > 0 {
                    return None;
                }
                let (chunk, parts) = axes.iter().zip(at).map(|(axis, at)| axis.get(at)).unzip();
                Some((chunk, SelectedElements(ElementSet::Orthogonal(parts))))
            }
            ByChunk::Coordinates { points, grid, sorted } => {
                let (chunk, numbers) = sorted.get(usize::try_from(i).ok()?)?;
                Some((chunk.into(), SelectedElements(ElementSet::Coordinates(points.within(grid, chunk, numbers)?))))
            }
            ByChunk::Mask(divided) => {
                let (chunk, part) = divided.get(usize::try_from(i).ok()?)?;
                Some((chunk, SelectedElements(ElementSet::Mask(part))))
            }
        }
    }

    /// Returns the elements in the chunk with index `chunk`; `None` if there are none.
    pub fn at(&self, chunk: &[u64]) -> Option<SelectedElements<'_>> {
        match &self.0 {
            ByChunk::Orthogonal(axes) => {
                if axes.len() != chunk.len() {
                    return None;
                }
                let parts = axes.iter().zip(chunk).map(|(axis, &index)| Some(axis.get(axis.find(index)?).1));
                Some(SelectedElements(ElementSet::Orthogonal(parts.collect::<Option<_>>()?)))
            }
            ByChunk::Coordinates { points, grid, sorted } => {
                let numbers = sorted.at(chunk)?;
                Some(SelectedElements(ElementSet::Coordinates(points.within(grid, chunk, numbers)?)))
            }
            ByChunk::Mask(divided) => Some(SelectedElements(ElementSet::Mask(divided.at(chunk)?))),
        }
    }
}

impl Points<'_> {
    /// Returns the points `numbers`, which lie in one chunk, relative to that chunk.
    fn within<'p>(&self, grid: &ChunkGrid, chunk: &[u64], numbers: &'p [usize]) -> Option<Points<'p>>
    where
        Self: 'p,
    {
        let axes = self.axes.iter().zip(chunk).enumerate().map(|(axis, (&(coordinate, origin), &index))| {
            let (start, _) = grid.extent(axis, index)?;
            Some((coordinate, origin + start))
        });
        let axes = axes.collect::<Option<_>>()?;
        Some(Points { positions: self.positions, rank: self.rank, set: PointSet::Some(numbers), axes })
    }
}

impl<'a> AxisByChunk<'a> {
    fn new(part: AxisPart<'a>, grid: &ChunkGrid, axis: usize) -> Result<Self> {
        let len = grid.shape()[axis];
        let positions = match part.positions {
            AxisPositions::Range { range, out, flipped } => {
                Region::new([range])?.check(&[len])?;
                PositionsByChunk::Range { overlaps: grid.intersect_axis(axis, range), out, flipped }
            }
            AxisPositions::List { indices, origin, .. } => {
                let mut chunks = Vec::new();
                let mut from = 0;
                while let Some(first) = indices.get(from) {
                    let found = first.position - origin;
                    let chunk = grid.locate(axis, found).filter(|_| found < len);
                    let chunk = chunk.ok_or(Error::OutOfBounds { what: "index", axis, found: found.into(), len })?;
                    let inside = |index: &SelectedIndex| {
                        let position = index.position - origin;
                        position < len && position - chunk.start < chunk.len
                    };
                    let to = from + indices[from..].partition_point(inside);
                    chunks.push((chunk, from..to));
                    from = to;
                }
                PositionsByChunk::List { indices, origin, chunks }
            }
        };
        Ok(Self { positions, stride: part.stride })
    }

    fn len(&self) -> u64 {
        match &self.positions {
            PositionsByChunk::Range { overlaps, .. } => overlaps.len(),
            PositionsByChunk::List { chunks, .. } => chunks.len() as u64,
        }
    }

    /// Returns the number of the chunk with this index among the chunks with positions; `None` if it has none.
    fn find(&self, index: u64) -> Option<u64> {
        match &self.positions {
            PositionsByChunk::Range { overlaps, .. } => overlaps.position(index),
            PositionsByChunk::List { chunks, .. } => {
                chunks.binary_search_by_key(&index, |(chunk, _)| chunk.index).ok().map(|at| at as u64)
            }
        }
    }

    /// Returns the index of the `i`-th chunk with positions, which must exist, and the positions in it.
    fn get(&self, i: u64) -> (u64, AxisPart<'a>) {
        let (index, positions) = match &self.positions {
            PositionsByChunk::Range { overlaps, out, flipped } => {
                let overlap = overlaps.get(i);
                let out = if *flipped { out - overlap.out } else { out + overlap.out };
                (overlap.chunk, AxisPositions::Range { range: overlap.inner, out, flipped: *flipped })
            }
            PositionsByChunk::List { indices, origin, chunks } => {
                let (chunk, range) = &chunks[i as usize];
                let indices = &indices[range.clone()];
                (chunk.index, AxisPositions::List { indices, origin: origin + chunk.start, step: 1 })
            }
        };
        (index, AxisPart { positions, stride: self.stride })
    }
}
