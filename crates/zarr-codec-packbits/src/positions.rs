//! Where the elements of a region are among those of a chunk.

use smallvec::SmallVec;
use zarr_grid::{AxisRange, Region};

/// The numbers, in C order of the chunk, of the elements of a region, in C order of the region.
#[derive(Clone, Debug)]
pub(crate) struct Positions {
    /// Axes of the region, and elements of the chunk from one index to the next.
    axes: SmallVec<[(AxisRange, u64); 6]>,
    /// How many steps were taken along each axis.
    taken: SmallVec<[u64; 6]>,
    next: Option<u64>,
}

impl Positions {
    /// The positions of `region` in a chunk of `shape`, whose elements can be counted.
    pub(crate) fn new(shape: &[u64], region: &Region) -> Self {
        if region.axes().iter().any(|axis| axis.len == 0) {
            return Self { axes: SmallVec::new(), taken: SmallVec::new(), next: None };
        }
        let mut stride = 1;
        let mut axes: SmallVec<[(AxisRange, u64); 6]> = SmallVec::new();
        for (&axis, &len) in region.axes().iter().zip(shape).rev() {
            axes.push((axis, stride));
            stride *= len;
        }
        axes.reverse();
        let first = axes.iter().map(|(axis, stride)| axis.start * stride).sum();
        let taken = SmallVec::from_elem(0, axes.len());
        Self { axes, taken, next: Some(first) }
    }

    /// The first and the last one.
    pub(crate) fn ends(&self) -> Option<(u64, u64)> {
        let first = self.next?;
        let span: u64 = self.axes.iter().map(|(axis, stride)| (axis.len - 1) * axis.step * stride).sum();
        Some((first, first + span))
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
