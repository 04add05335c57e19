use core::ops::Range;

use super::{CopyRun, strides};
use crate::error::{Error, Result};
use crate::grid::{AxisChunk, ChunkGrid};
use crate::overlaps::{AxisOverlap, AxisOverlaps};
use crate::region::AxisRange;
use crate::resolved::SelectedIndex;
use crate::shape::Shape;

/// The selected positions of one axis, divided by chunk.
#[derive(Debug, Clone)]
pub(super) enum AxisChunkSelections {
    Range { overlaps: AxisOverlaps, flipped: bool, len: u64 },
    List { groups: Vec<Group>, steps: Vec<Step> },
}

/// The positions of a list that lie in one chunk.
#[derive(Debug, Clone)]
pub(super) struct Group {
    overlap: AxisOverlap,
    steps: Range<usize>,
}

/// From a position within the box of a chunk to one of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    from: u64,
    to: u64,
}

impl AxisChunkSelections {
    /// A range that lies in the grid.
    pub(super) fn range(grid: &ChunkGrid, axis: usize, range: AxisRange, flipped: bool) -> Self {
        Self::Range { overlaps: grid.intersect_axis(axis, range), flipped: flipped && range.len > 1, len: range.len }
    }

    /// Positions in ascending order.
    pub(super) fn list(grid: &ChunkGrid, axis: usize, indices: &[SelectedIndex]) -> Result<Self> {
        let len = grid.shape()[axis];
        let mut groups = Vec::new();
        let mut steps = Vec::with_capacity(indices.len());
        let mut rest = indices;
        while let Some(first) = rest.first() {
            let found = first.position;
            let chunk = grid.locate(axis, found).filter(|_| found < len);
            let chunk = chunk.ok_or(Error::OutOfBounds { what: "index", axis, found: found.into(), len })?;
            let count = rest.partition_point(|index| index.position - chunk.start < chunk.len && index.position < len);
            let (here, others) = rest.split_at(count);
            let inner = common_range(here, &chunk);
            let from = steps.len();
            steps.extend(
                here.iter().map(|index| Step {
                    from: (index.position - chunk.start - inner.start) / inner.step,
                    to: index.out,
                }),
            );
            let overlap = AxisOverlap { chunk: chunk.index, chunk_len: chunk.len, inner, out: first.out };
            groups.push(Group { overlap, steps: from..steps.len() });
            rest = others;
        }
        Ok(Self::List { groups, steps })
    }

    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Range { overlaps, .. } => overlaps.len(),
            Self::List { groups, .. } => groups.len() as u64,
        }
    }

    /// Overlap `i`, which exists.
    pub(super) fn get(&self, i: u64) -> (AxisOverlap, AxisMap<'_>) {
        match self {
            Self::Range { overlaps, flipped, len } => {
                let overlap = overlaps.get(i);
                let to = if *flipped { len - 1 - overlap.out } else { overlap.out };
                // A single position has no order.
                let flipped = *flipped && overlap.inner.len > 1;
                (AxisOverlap { out: to, ..overlap }, AxisMap::Range { to, flipped, len: overlap.inner.len })
            }
            Self::List { groups, steps } => {
                let group = &groups[i as usize];
                (group.overlap, AxisMap::List(&steps[group.steps.clone()]))
            }
        }
    }
}

/// The smallest range within a chunk that has all of these positions, of which there is at least one.
fn common_range(indices: &[SelectedIndex], chunk: &AxisChunk) -> AxisRange {
    let first = indices[0].position;
    let (last, step) =
        indices.iter().fold((first, 0), |(_, step), index| (index.position, gcd(step, index.position - first)));
    let step = step.max(1);
    AxisRange { start: first - chunk.start, len: (last - first) / step + 1, step }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// From the positions of a box to the positions of the output, along one axis.
#[derive(Debug, Clone, Copy)]
pub(super) enum AxisMap<'a> {
    /// One after another from `to`, downwards if flipped.
    Range { to: u64, flipped: bool, len: u64 },
    /// One by one, in ascending order of the box.
    List(&'a [Step]),
}

impl AxisMap<'_> {
    fn len(&self) -> u64 {
        match self {
            Self::Range { len, .. } => *len,
            Self::List(steps) => steps.len() as u64,
        }
    }

    fn get(&self, i: u64) -> Step {
        match self {
            Self::Range { to, flipped, .. } => Step { from: i, to: if *flipped { to - i } else { to + i } },
            Self::List(steps) => steps[i as usize],
        }
    }

    /// Whether the positions of the box, in their order, go to consecutive ones of the output.
    pub(super) fn is_consecutive(&self) -> bool {
        match self {
            Self::Range { flipped, .. } => !flipped,
            Self::List(steps) => {
                let first = steps[0];
                (0..).zip(*steps).all(|(i, step)| *step == Step { from: i, to: first.to + i })
            }
        }
    }

    /// Runs of positions that are consecutive in the box and in the output.
    fn runs(&self, mut each: impl FnMut(CopyRun)) {
        match self {
            Self::Range { to, flipped: false, len } => each(CopyRun { from: 0, to: *to, len: *len }),
            _ => (0..self.len()).for_each(|i| {
                let Step { from, to } = self.get(i);
                each(CopyRun { from, to, len: 1 });
            }),
        }
    }
}

/// All combinations of the maps of the axes, in C order of the box.
pub(super) fn product(maps: &[AxisMap<'_>], box_shape: &[u64], output_shape: &[u64], each: &mut impl FnMut(CopyRun)) {
    let Some((last, outer)) = maps.split_last() else {
        return each(CopyRun { from: 0, to: 0, len: 1 });
    };
    let (inward, outward) = (strides(box_shape), strides(output_shape));
    let mut at = Shape::from_elem(0, outer.len());
    loop {
        let (mut from, mut to) = (0, 0);
        for (axis, map) in outer.iter().enumerate() {
            let step = map.get(at[axis]);
            from += step.from * inward[axis];
            to += step.to * outward[axis];
        }
        last.runs(|run| each(CopyRun { from: from + run.from, to: to + run.to, len: run.len }));
        let Some(axis) = (0..outer.len()).rev().find(|&axis| at[axis] + 1 < outer[axis].len()) else { return };
        at[axis] += 1;
        at[axis + 1..].fill(0);
    }
}
