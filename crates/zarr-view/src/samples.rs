//! Which elements along an axis are read.

/// Elements along an axis, at equal distances: `start`, `start + step` and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Samples {
    /// The index of the first one.
    pub start: u64,
    /// From one to the next; negative if they go down.
    pub step: i64,
    /// How many there are.
    pub count: u64,
    /// How many elements they stand for, from the first one on: all that were selected.
    pub of: u64,
}

impl Samples {
    /// All elements of a selection.
    pub fn all(start: u64, step: i64, count: u64) -> Self {
        Self { start, step, count, of: count }
    }

    /// The index of a sample in the array.
    pub fn index(&self, number: u64) -> u64 {
        let at = i128::from(self.start) + i128::from(self.step) * i128::from(number);
        u64::try_from(at).unwrap_or(0)
    }

    /// At most `most` of them (at least one), each the middle one of a run of equal length: `x[(k - 1) // 2::k]` of numpy.
    pub fn thinned(&self, most: u64) -> Self {
        let every = self.count.div_ceil(most.max(1)).max(1);
        let first = (every - 1) / 2;
        let count = self.count.saturating_sub(first).div_ceil(every);
        let step = self.step.saturating_mul(i64::try_from(every).unwrap_or(i64::MAX));
        Self { start: self.index(first), step, count, of: self.of }
    }

    /// How many parts of this length they lie in, at most, if parts lie side by side from index 0 on.
    pub(crate) fn parts(&self, len: u64) -> u64 {
        let part = |number: u64| self.index(number) / len.max(1);
        let apart = part(0).abs_diff(part(self.count.saturating_sub(1)));
        self.count.min(apart.saturating_add(1))
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
    fn parts_are_counted() {
        assert_eq!(Samples::all(0, 1, 100).parts(100), 1);
        assert_eq!(Samples::all(0, 1, 100).parts(10), 10);
        assert_eq!(Samples::all(99, -1, 100).parts(10), 10);
        assert_eq!(Samples::all(5, 1, 10).parts(10), 2);
        assert_eq!(Samples::all(0, 50, 100).parts(10), 100);
        assert_eq!(Samples::all(70, 1, 1).parts(10), 1);
    }
}
