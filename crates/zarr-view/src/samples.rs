//! Samples: elements along an axis that are read.

use zarr_grid::{AxisRange, AxisSelection};

/// Elements at equal distances along an axis: `start`, `start + step` and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Samples {
    /// Index of the first element.
    pub start: u64,
    /// Distance from one element to the next; negative if indices descend.
    pub step: i64,
    /// Number of elements.
    pub count: u64,
    /// Number of selected elements that the samples represent.
    pub of: u64,
}

impl Samples {
    /// Creates samples for all elements of a selection.
    pub fn all(start: u64, step: i64, count: u64) -> Self {
        Self { start, step, count, of: count }
    }

    /// Returns the index in the array of the sample `number`.
    pub fn index(&self, number: u64) -> u64 {
        let at = i128::from(self.start) + i128::from(self.step) * i128::from(number);
        u64::try_from(at).unwrap_or(0)
    }

    /// Returns whether an index of the array is that of a sample.
    pub(crate) fn contains(&self, index: u64) -> bool {
        let distance = i128::from(index) - i128::from(self.start);
        let step = i128::from(self.step);
        match self.count {
            0 => false,
            1 => distance == 0,
            count if step != 0 && distance % step == 0 => (0..i128::from(count)).contains(&(distance / step)),
            _ => false,
        }
    }

    /// Returns at most `most` of the elements (at least one), each in the middle of a run of equal length: `x[(k - 1) // 2::k]` in numpy.
    pub fn thinned(&self, most: u64) -> Self {
        let every = self.count.div_ceil(most.max(1)).max(1);
        let first = (every - 1) / 2;
        let count = self.count.saturating_sub(first).div_ceil(every);
        let step = self.step.saturating_mul(i64::try_from(every).unwrap_or(i64::MAX));
        Self { start: self.index(first), step, count, of: self.of }
    }

    /// Creates samples for the elements of a range, in descending order if `is_flipped`.
    pub(crate) fn of_range(range: &AxisRange, is_flipped: bool) -> Self {
        let step = i64::try_from(range.step).unwrap_or(i64::MAX);
        match range.last().filter(|_| is_flipped) {
            Some(last) => Self::all(last, step.saturating_neg(), range.len),
            None => Self::all(range.start, step, range.len),
        }
    }

    /// Returns the elements as an ascending range.
    pub(crate) fn to_range(self) -> AxisRange {
        let ends = [self.start, self.index(self.count.saturating_sub(1))];
        let start = ends.into_iter().min().unwrap_or(self.start);
        AxisRange { start, len: self.count, step: self.step.unsigned_abs().max(1) }
    }

    /// Returns the elements as a selection along an axis.
    pub(crate) fn to_axis(self) -> AxisSelection {
        let signed = |index: u64| i64::try_from(index).unwrap_or(i64::MAX);
        let last = signed(self.index(self.count.saturating_sub(1)));
        let stop = match self.step > 0 {
            _ if self.count == 0 => Some(signed(self.start)),
            true => Some(last.saturating_add(1)),
            false => last.checked_sub(1).filter(|&stop| stop >= 0),
        };
        AxisSelection::Range { start: Some(signed(self.start)), stop, step: self.step }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_the_middle_ones_of_runs() {
        let of = |count, most| {
            let samples = Samples::all(0, 1, count).thinned(most);
            (0..samples.count).map(|number| samples.index(number)).collect::<Vec<_>>()
        };
        assert_eq!(of(6, 6), [0, 1, 2, 3, 4, 5]);
        assert_eq!(of(6, 100), [0, 1, 2, 3, 4, 5]);
        assert_eq!(of(10, 4), [1, 4, 7]);
        assert_eq!(of(12, 3), [1, 5, 9]);
        assert_eq!(of(5, 0), [2]);
        assert!(of(0, 4).is_empty());
        let down = Samples::all(9, -1, 10).thinned(5);
        assert_eq!((down.start, down.step, down.count, down.index(4)), (9, -2, 5, 1));
        let huge = Samples::all(0, 1, u64::MAX >> 1).thinned(3);
        assert_eq!(huge.count, 3);
    }

    #[test]
    fn samples_contain_their_indices_alone() {
        for samples in [Samples::all(3, 2, 4), Samples::all(9, -4, 3), Samples::all(5, 1, 1), Samples::all(5, 1, 0)] {
            let indices: Vec<u64> = (0..samples.count).map(|number| samples.index(number)).collect();
            for index in 0..20 {
                assert_eq!(samples.contains(index), indices.contains(&index), "{index} in {samples:?}");
            }
        }
        assert!(Samples::all(0, 1, 1 << 62).contains((1 << 62) - 1));
    }

    #[test]
    fn ranges_are_in_ascending_order() {
        let down = Samples::all(9, -4, 3);
        assert_eq!(down.to_range(), AxisRange { start: 1, len: 3, step: 4 });
        assert_eq!(Samples::of_range(&down.to_range(), true), down);
        assert_eq!(Samples::of_range(&AxisRange::new(2, 5), false), Samples::all(2, 1, 5));
        assert_eq!(Samples::all(3, 2, 0).to_range().len, 0);
    }
}
