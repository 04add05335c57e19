use core::ops::Range;

use super::{Move, strides};
use crate::cuts::{AxisCuts, Cut};
use crate::error::{Error, Result};
use crate::grid::{ChunkGrid, Place};
use crate::region::AxisRange;
use crate::resolved::Pick;
use crate::shape::Shape;

/// What is selected along one axis, chunk by chunk.
#[derive(Debug, Clone)]
pub(super) enum AxisParts {
    Even { cuts: AxisCuts, flipped: bool, len: u64 },
    Listed { groups: Vec<Group>, steps: Vec<Step> },
}

/// The picks of a list that lie in one chunk.
#[derive(Debug, Clone)]
pub(super) struct Group {
    cut: Cut,
    steps: Range<usize>,
}

/// From a position within the box of a chunk to one of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    from: u64,
    to: u64,
}

impl AxisParts {
    /// A range that lies in the grid.
    pub(super) fn even(grid: &ChunkGrid, axis: usize, range: AxisRange, flipped: bool) -> Self {
        Self::Even { cuts: grid.meet_axis(axis, range), flipped: flipped && range.len > 1, len: range.len }
    }

    /// Picks in ascending order.
    pub(super) fn listed(grid: &ChunkGrid, axis: usize, picks: &[Pick]) -> Result<Self> {
        let len = grid.shape()[axis];
        let mut groups = Vec::new();
        let mut steps = Vec::with_capacity(picks.len());
        let mut rest = picks;
        while let Some(first) = rest.first() {
            let found = first.position;
            let place = grid.locate(axis, found).filter(|_| found < len);
            let place = place.ok_or(Error::OutOfBounds { what: "index", axis, found: found.into(), len })?;
            let count = rest.partition_point(|pick| pick.position - place.start < place.len && pick.position < len);
            let (here, others) = rest.split_at(count);
            let inner = common_range(here, &place);
            let from = steps.len();
            steps.extend(
                here.iter()
                    .map(|pick| Step { from: (pick.position - place.start - inner.start) / inner.step, to: pick.out }),
            );
            let cut = Cut { cell: place.cell, cell_len: place.len, inner, out: first.out };
            groups.push(Group { cut, steps: from..steps.len() });
            rest = others;
        }
        Ok(Self::Listed { groups, steps })
    }

    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Even { cuts, .. } => cuts.len(),
            Self::Listed { groups, .. } => groups.len() as u64,
        }
    }

    /// Cut `i`, which exists.
    pub(super) fn get(&self, i: u64) -> (Cut, Way<'_>) {
        match self {
            Self::Even { cuts, flipped, len } => {
                let cut = cuts.get(i);
                let to = if *flipped { len - 1 - cut.out } else { cut.out };
                // Turning round a single position only changes where it goes.
                let flipped = *flipped && cut.inner.len > 1;
                (Cut { out: to, ..cut }, Way::Even { to, flipped, len: cut.inner.len })
            }
            Self::Listed { groups, steps } => {
                let group = &groups[i as usize];
                (group.cut, Way::Listed(&steps[group.steps.clone()]))
            }
        }
    }
}

/// The smallest range within a chunk that has all of these positions, of which there is at least one.
fn common_range(picks: &[Pick], chunk: &Place) -> AxisRange {
    let first = picks[0].position;
    let (last, step) =
        picks.iter().fold((first, 0), |(_, step), pick| (pick.position, gcd(step, pick.position - first)));
    let step = step.max(1);
    AxisRange { start: first - chunk.start, len: (last - first) / step + 1, step }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// How the positions of a box go to the output, along one axis.
#[derive(Debug, Clone, Copy)]
pub(super) enum Way<'a> {
    /// One after another from `to`, downwards if flipped.
    Even { to: u64, flipped: bool, len: u64 },
    /// Each where it belongs, in ascending order of the box.
    Listed(&'a [Step]),
}

impl Way<'_> {
    fn len(&self) -> u64 {
        match self {
            Self::Even { len, .. } => *len,
            Self::Listed(steps) => steps.len() as u64,
        }
    }

    fn get(&self, i: u64) -> Step {
        match self {
            Self::Even { to, flipped, .. } => Step { from: i, to: if *flipped { to - i } else { to + i } },
            Self::Listed(steps) => steps[i as usize],
        }
    }

    /// Whether the box goes to consecutive places as it is.
    pub(super) fn is_straight(&self) -> bool {
        match self {
            Self::Even { flipped, .. } => !flipped,
            Self::Listed(steps) => {
                let first = steps[0];
                (0..).zip(*steps).all(|(i, step)| *step == Step { from: i, to: first.to + i })
            }
        }
    }

    /// How many positions of the box are used.
    pub(super) fn distinct(&self) -> u64 {
        match self {
            Self::Even { len, .. } => *len,
            Self::Listed(steps) => 1 + steps.windows(2).filter(|pair| pair[0].from != pair[1].from).count() as u64,
        }
    }

    /// Runs of consecutive places on both sides.
    fn runs(&self, mut each: impl FnMut(Move)) {
        match self {
            Self::Even { to, flipped: false, len } => each(Move { from: 0, to: *to, len: *len }),
            _ => (0..self.len()).for_each(|i| {
                let Step { from, to } = self.get(i);
                each(Move { from, to, len: 1 });
            }),
        }
    }
}

/// All combinations of the ways of the axes, in C order of the box.
pub(super) fn product(ways: &[Way<'_>], box_shape: &[u64], output_shape: &[u64], each: &mut impl FnMut(Move)) {
    let Some((last, outer)) = ways.split_last() else {
        return each(Move { from: 0, to: 0, len: 1 });
    };
    let (inward, outward) = (strides(box_shape), strides(output_shape));
    let mut at = Shape::from_elem(0, outer.len());
    loop {
        let (mut from, mut to) = (0, 0);
        for (axis, way) in outer.iter().enumerate() {
            let step = way.get(at[axis]);
            from += step.from * inward[axis];
            to += step.to * outward[axis];
        }
        last.runs(|run| each(Move { from: from + run.from, to: to + run.to, len: run.len }));
        let Some(axis) = (0..outer.len()).rev().find(|&axis| at[axis] + 1 < outer[axis].len()) else { return };
        at[axis] += 1;
        at[axis + 1..].fill(0);
    }
}
