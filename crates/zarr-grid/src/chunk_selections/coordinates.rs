use std::sync::Arc;

use super::{CopyRun, strides};
use crate::error::Result;
use crate::grid::{AxisChunk, ChunkGrid};
use crate::overlaps::ChunkOverlap;
use crate::points_by_chunk::PointsByChunk;
use crate::region::AxisRange;
use crate::resolved::CoordinateSelection;
use crate::shape::Shape;

/// A coordinate selection, divided by chunk.
#[derive(Debug, Clone)]
pub(super) struct CoordinateGroups {
    grid: ChunkGrid,
    positions: Arc<[u64]>,
    /// Of each chunk sorted by position, then by their numbers.
    points: PointsByChunk,
}

impl CoordinateGroups {
    pub(super) fn new(grid: &ChunkGrid, selection: &CoordinateSelection) -> Result<Self> {
        let rank = grid.rank();
        let positions = selection.positions().clone();
        let position = |point: usize, axis: usize| positions[point * rank + axis];
        let mut points = PointsByChunk::new(grid, selection.len(), |slot| slot, position)?;
        points.sort_each(|a, b| positions[a * rank..][..rank].cmp(&positions[b * rank..][..rank]));
        Ok(Self { grid: grid.clone(), positions, points })
    }

    pub(super) fn len(&self) -> u64 {
        self.points.len() as u64
    }

    pub(super) fn get(&self, i: u64) -> Option<(ChunkOverlap, CoordinateGroup<'_>)> {
        let (_, points) = self.points.get(usize::try_from(i).ok()?)?;
        let mut overlap = ChunkOverlap::default();
        let mut origin = Shape::new();
        for axis in 0..self.grid.rank() {
            let along = points.iter().map(|point| self.positions[point * self.grid.rank() + axis]);
            let (low, high) = along.fold((u64::MAX, 0), |(low, high), at| (at.min(low), at.max(high)));
            let AxisChunk { index, start, len } = self.grid.locate(axis, low)?;
            overlap.index.push(index);
            overlap.shape.push(len);
            overlap.region.0.push(AxisRange::new(low - start, high - low + 1));
            overlap.out_shape.push(high - low + 1);
            origin.push(low);
        }
        overlap.out_start = Shape::from_elem(0, origin.len());
        let group =
            CoordinateGroup { points, positions: &self.positions, strides: strides(&overlap.out_shape), origin };
        Some((overlap, group))
    }
}

/// The coordinates that lie in one chunk.
#[derive(Debug, Clone)]
pub(super) struct CoordinateGroup<'a> {
    /// Indices into the selection.
    points: &'a [usize],
    positions: &'a [u64],
    /// The first position of the bounding box, and the strides of that box.
    origin: Shape,
    strides: Shape,
}

impl CoordinateGroup<'_> {
    /// The index of each selected element in the box, in ascending order, with its index in the output.
    fn steps(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let rank = self.origin.len();
        self.points.iter().map(move |&point| {
            let axes = self.positions[point * rank..][..rank].iter().zip(&self.origin).zip(&self.strides);
            (axes.map(|((at, origin), stride)| (at - origin) * stride).sum(), point as u64)
        })
    }

    pub(super) fn copy_runs(&self, each: &mut impl FnMut(CopyRun)) {
        self.steps().for_each(|(from, to)| each(CopyRun { from, to, len: 1 }));
    }
}
