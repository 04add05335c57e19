//! Arrays small enough to look at every element.

use proptest::prelude::*;
use zarr_grid::{AxisChunks, AxisRange, ChunkGrid, Region, Run};

/// A grid, and the chunk lengths of each axis written out until the axis is covered.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) grid: ChunkGrid,
    pub(crate) lens: Vec<Vec<u64>>,
}

impl Case {
    pub(crate) fn shape(&self) -> &[u64] {
        self.grid.shape()
    }

    /// The chunk that holds a position of an axis, and the position within it.
    pub(crate) fn locate(&self, axis: usize, position: u64) -> (u64, u64) {
        let mut start = 0;
        for (overlap, len) in (0..).zip(&self.lens[axis]) {
            if position < start + len {
                return (overlap, position - start);
            }
            start += len;
        }
        panic!("position {position} of axis {axis} lies in no chunk")
    }
}

pub(crate) fn case() -> impl Strategy<Value = Case> {
    prop_oneof![
        prop::collection::vec((0u64..14, 1u64..7), 0..4).prop_map(regular),
        prop::collection::vec(listed(), 0..4).prop_map(rectilinear),
    ]
}

fn regular(axes: Vec<(u64, u64)>) -> Case {
    let (shape, chunk): (Vec<u64>, Vec<u64>) = axes.into_iter().unzip();
    let lens = shape.iter().zip(&chunk).map(|(len, &chunk)| vec![chunk; len.div_ceil(chunk) as usize]).collect();
    Case { grid: ChunkGrid::regular(&shape, &chunk).unwrap(), lens }
}

/// The length of an axis and its runs; `None` repeats the length.
type Axis = (u64, Vec<(u64, Option<u64>)>);

fn listed() -> impl Strategy<Value = Axis> {
    let runs = prop::collection::vec((1u64..5, 1u64..4), 1..5).prop_flat_map(|runs| {
        let sum: u64 = runs.iter().map(|(len, count)| len * count).sum();
        (0..=sum, Just(runs.into_iter().map(|(len, count)| (len, Some(count))).collect()))
    });
    prop_oneof![3 => runs, 1 => (0u64..14, 1u64..7).prop_map(|(len, chunk)| (len, vec![(chunk, None)]))]
}

fn rectilinear(axes: Vec<Axis>) -> Case {
    let shape: Vec<u64> = axes.iter().map(|(len, _)| *len).collect();
    let chunks = axes.iter().map(|(_, runs)| match runs[..] {
        [(len, None)] => AxisChunks::repeated(len).unwrap(),
        _ => AxisChunks::listed(runs.iter().map(|&(len, count)| Run { len, count: count.unwrap() })).unwrap(),
    });
    let grid = ChunkGrid::rectilinear(&shape, chunks).unwrap();
    let expand = |&(len, count): &(u64, Option<u64>)| vec![len; count.unwrap_or(14) as usize];
    let lens = axes.iter().map(|(_, runs)| runs.iter().flat_map(expand).collect()).collect();
    Case { grid, lens }
}

/// A case with a region of its array.
pub(crate) fn case_and_region() -> impl Strategy<Value = (Case, Region)> {
    case().prop_flat_map(|case| {
        let axes: Vec<_> = case.shape().iter().map(|&len| range(len)).collect();
        (Just(case), axes).prop_map(|(case, axes)| (case, Region::new(axes).unwrap()))
    })
}

fn range(len: u64) -> impl Strategy<Value = AxisRange> {
    (0..=len, 1u64..9, 0u64..20).prop_map(move |(start, step, count)| {
        let most = (len - start).div_ceil(step);
        AxisRange { start, len: count.min(most), step }
    })
}

/// The positions of a range.
pub(crate) fn positions(range: &AxisRange) -> Vec<u64> {
    (0..range.len).map(|i| range.start + i * range.step).collect()
}

/// The outer product, in C order.
pub(crate) fn product(axes: &[Vec<u64>]) -> Vec<Vec<u64>> {
    axes.iter().fold(vec![Vec::new()], |all, axis| {
        all.iter().flat_map(|head| axis.iter().map(move |&at| [head.as_slice(), &[at]].concat())).collect()
    })
}

/// The number of an index in C order.
pub(crate) fn number(index: &[u64], shape: &[u64]) -> usize {
    index.iter().zip(shape).fold(0, |number, (&at, &len)| number * len as usize + at as usize)
}
