//! Positions of the elements of a region among the elements of a chunk, run by run.

use smallvec::SmallVec;
use zarr_grid::{AxisRange, Region};

/// Iterator over the positions, in C order of the chunk, of the first elements of the runs of a region, in C order of the region. The
/// elements of a run are consecutive both in the chunk and in the region.
#[derive(Clone, Debug)]
pub(crate) struct Positions {
    /// Axes of the region that runs do not cover, each with the number of elements of the chunk between consecutive indices.
    axes: SmallVec<[(AxisRange, u64); 6]>,
    /// Number of steps taken along each axis.
    taken: SmallVec<[u64; 6]>,
    next: Option<u64>,
    /// Number of elements of a run.
    run: u64,
}

impl Positions {
    /// Creates the iterator for `region` of a chunk of `shape`, whose number of elements must fit in 64 bits.
    pub(crate) fn new(shape: &[u64], region: &Region) -> Self {
        if region.axes().iter().any(|axis| axis.len == 0) {
            return Self { axes: SmallVec::new(), taken: SmallVec::new(), next: None, run: 0 };
        }
        let mut stride = 1;
        let mut axes: SmallVec<[(AxisRange, u64); 6]> = SmallVec::new();
        for (&axis, &len) in region.axes().iter().zip(shape).rev() {
            axes.push((axis, stride));
            stride *= len;
        }
        let first = axes.iter().map(|(axis, stride)| axis.start * stride).sum();
        let mut run = 1;
        // An axis is a part of the run if the axes behind it are so as a whole.
        while let Some((axis, _)) = axes.first().filter(|(axis, stride)| axis.step == 1 && *stride == run) {
            run *= axis.len;
            axes.remove(0);
        }
        axes.reverse();
        let taken = SmallVec::from_elem(0, axes.len());
        Self { axes, taken, next: Some(first), run }
    }

    /// Returns the number of elements of each run.
    pub(crate) fn run(&self) -> u64 {
        self.run
    }

    /// Returns the positions of the first and the last element, or `None` for an empty region.
    pub(crate) fn ends(&self) -> Option<(u64, u64)> {
        let first = self.next?;
        let span: u64 = self.axes.iter().map(|(axis, stride)| (axis.len - 1) * axis.step * stride).sum();
        Some((first, first + span + (self.run - 1)))
    }
}

impl Iterator for Positions {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        let current = self.next?;
        let mut next = current;
        self.next = None;
        for ((axis, stride), taken) in self.axes.iter().zip(&mut self.taken).rev() {
            *taken += 1;
            next += axis.step * stride;
            if *taken < axis.len {
                self.next = Some(next);
                break;
            }
            next -= *taken * axis.step * stride;
            *taken = 0;
        }
        Some(current)
    }
}
