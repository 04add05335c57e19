//! Offsets of the elements of a region among the elements of the chunk.

use zarr_grid::{Region, Shape};

/// Iterator of the C order indices in the chunk of the elements of a region, in ascending order.
///
/// For codecs whose elements can only be read from front to back.
#[derive(Debug)]
pub struct ElementOffsets {
    /// Number of elements of the region per axis.
    lens: Shape,
    /// Distance from one element of the region to the next, per axis, in elements of the chunk.
    strides: Shape,
    /// Index in the region of the next element.
    index: Shape,
    next: u64,
    left: u64,
}

impl ElementOffsets {
    /// Iterates over `region` in a chunk of `shape`. The number of elements of the chunk must fit in 64 bits.
    pub fn new(shape: &[u64], region: &Region) -> Self {
        let lens = region.shape();
        let (mut stride, mut next) = (1u64, 0u64);
        let mut strides = lens.clone();
        for ((slot, axis), &len) in strides.iter_mut().zip(region.axes()).zip(shape).rev() {
            next = next.wrapping_add(axis.start.wrapping_mul(stride));
            *slot = axis.step.wrapping_mul(stride);
            stride = stride.wrapping_mul(len);
        }
        let index = lens.iter().map(|_| 0).collect();
        Self { lens, strides, index, next, left: region.len_checked().unwrap_or(0) }
    }
}

impl Iterator for ElementOffsets {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        let position = self.next;
        for ((index, &len), &stride) in self.index.iter_mut().zip(&self.lens).zip(&self.strides).rev() {
            *index += 1;
            self.next = self.next.wrapping_add(stride);
            if *index < len {
                break;
            }
            *index = 0;
            self.next = self.next.wrapping_sub(stride.wrapping_mul(len));
        }
        Some(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_grid::AxisRange;

    fn check(shape: &[u64], axes: &[(u64, u64, u64)], expected: &[u64]) {
        let region = Region::new(axes.iter().map(|&(start, len, step)| AxisRange { start, len, step })).unwrap();
        assert_eq!(ElementOffsets::new(shape, &region).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn places_count_in_c_order() {
        check(&[], &[], &[0]);
        check(&[4], &[(1, 2, 2)], &[1, 3]);
        check(&[2, 3], &[(0, 2, 1), (0, 3, 1)], &[0, 1, 2, 3, 4, 5]);
        check(&[4, 5], &[(1, 2, 2), (0, 3, 2)], &[5, 7, 9, 15, 17, 19]);
        check(&[2, 3, 4], &[(1, 1, 1), (0, 2, 2), (3, 1, 1)], &[15, 23]);
        check(&[4, 5], &[(1, 0, 1), (0, 3, 1)], &[]);
    }
}
