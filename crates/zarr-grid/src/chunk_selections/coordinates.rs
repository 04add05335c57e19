use core::cmp::Ordering;
use std::sync::Arc;

use super::{CopyRun, strides};
use crate::error::{Error, Result};
use crate::grid::{AxisChunk, ChunkGrid};
use crate::overlaps::ChunkOverlap;
use crate::region::AxisRange;
use crate::resolved::CoordinateSelection;
use crate::shape::Shape;

/// A coordinate selection, divided by chunk.
#[derive(Debug, Clone)]
pub(super) struct CoordinateGroups {
    grid: ChunkGrid,
    positions: Arc<[u64]>,
    /// Indices into the selection, sorted by chunk, then by position, then by themselves.
    order: Vec<usize>,
    /// Where in `order` each group begins, and the end of the last.
    bounds: Vec<usize>,
}

impl CoordinateGroups {
    pub(super) fn new(grid: &ChunkGrid, selection: &CoordinateSelection) -> Result<Self> {
        let rank = grid.rank();
        let positions = selection.positions().clone();
        let mut chunks = Vec::with_capacity(positions.len());
        for point in positions.chunks_exact(rank.max(1)) {
            for (axis, (&found, &len)) in point.iter().zip(grid.shape()).enumerate() {
                let chunk = grid.locate(axis, found).filter(|_| found < len);
                let chunk = chunk.ok_or(Error::OutOfBounds { what: "index", axis, found: found.into(), len })?;
                chunks.push(chunk.index);
            }
        }
        let of = |numbers: &[u64], point: usize, other: usize| -> Ordering {
            numbers[point * rank..][..rank].cmp(&numbers[other * rank..][..rank])
        };
        let mut order: Vec<usize> = (0..selection.len()).collect();
        order.sort_by(|&a, &b| of(&chunks, a, b).then_with(|| of(&positions, a, b)));
        let breaks = order.windows(2).enumerate().filter(|(_, pair)| of(&chunks, pair[0], pair[1]).is_ne());
        let mut bounds: Vec<usize> = breaks.map(|(i, _)| i + 1).collect();
        if !order.is_empty() {
            bounds.insert(0, 0);
            bounds.push(order.len());
        }
        Ok(Self { grid: grid.clone(), positions, order, bounds })
    }

    pub(super) fn len(&self) -> u64 {
        self.bounds.len().saturating_sub(1) as u64
    }

    pub(super) fn get(&self, i: u64) -> Option<(ChunkOverlap, CoordinateGroup<'_>)> {
        let i = usize::try_from(i).ok()?;
        let points = &self.order[*self.bounds.get(i)?..*self.bounds.get(i.checked_add(1)?)?];
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

    /// How many elements of the box are selected.
    pub(super) fn distinct(&self) -> u64 {
        let mut last = None;
        self.steps().filter(|&(from, _)| last.replace(from) != Some(from)).count() as u64
    }
}
