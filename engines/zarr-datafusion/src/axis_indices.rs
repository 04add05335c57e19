//! Indices of a dimension that a query selects.

use std::ops::Range;
use std::sync::Arc;
use zarr::grid::AxisSelection;

/// Indices of a dimension that rows are made of, in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AxisIndices {
    Range(Range<u64>),
    List(Arc<[u64]>),
}

impl AxisIndices {
    /// Picks indices that ascend; a range, if each follows the one before.
    pub(crate) fn new(indices: Vec<u64>) -> Self {
        match (indices.first(), indices.last()) {
            (Some(&first), Some(&last)) if last - first + 1 == indices.len() as u64 => Self::Range(first..last + 1),
            (Some(_), _) => Self::List(indices.into()),
            (None, _) => Self::Range(0..0),
        }
    }

    /// Number of indices.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Range(range) => range.end - range.start,
            Self::List(list) => list.len() as u64,
        }
    }

    /// Returns index number `at`; `None` behind the last one.
    pub(crate) fn get(&self, at: u64) -> Option<u64> {
        match self {
            Self::Range(range) => range.start.checked_add(at).filter(|index| *index < range.end),
            Self::List(list) => list.get(usize::try_from(at).ok()?).copied(),
        }
    }

    /// Returns the indices whose numbers are in `part`, which is cut at the last one.
    pub(crate) fn part(&self, part: &Range<u64>) -> Self {
        let end = part.end.min(self.len());
        let start = part.start.min(end);
        match self {
            Self::Range(range) => Self::Range(range.start + start..range.start + end),
            Self::List(list) => {
                let list = list.iter().skip(usize::try_from(start).unwrap_or(usize::MAX));
                Self::new(list.take(usize::try_from(end - start).unwrap_or(usize::MAX)).copied().collect())
            }
        }
    }

    /// Returns the indices that both have.
    pub(crate) fn and(&self, other: &Self) -> Self {
        let mut ours = (0..self.len()).filter_map(|at| self.get(at)).peekable();
        let mut both = Vec::new();
        for run in other.runs() {
            while ours.next_if(|index| *index < run.start).is_some() {}
            while let Some(index) = ours.next_if(|index| *index < run.end) {
                both.push(index);
            }
        }
        Self::new(both)
    }

    /// Returns the runs of indices that follow each other.
    pub(crate) fn runs(&self) -> Vec<Range<u64>> {
        let list = match self {
            Self::Range(range) => return vec![range.clone()],
            Self::List(list) => list,
        };
        let mut runs: Vec<Range<u64>> = Vec::new();
        for &index in list.iter() {
            match runs.last_mut() {
                Some(run) if run.end == index => run.end += 1,
                _ => runs.push(index..index + 1),
            }
        }
        runs
    }

    /// Returns the selection along the dimension.
    pub(crate) fn selection(&self) -> AxisSelection {
        let signed = |index: u64| i64::try_from(index).unwrap_or(i64::MAX);
        match self {
            Self::Range(range) => {
                AxisSelection::Range { start: Some(signed(range.start)), stop: Some(signed(range.end)), step: 1 }
            }
            Self::List(list) => AxisSelection::Indices(list.iter().map(|&index| signed(index)).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_runs_are_those_of_the_list() {
        for indices in [vec![], vec![4], vec![2, 3, 4], vec![0, 2, 3, 9], vec![1, 3]] {
            let picked = AxisIndices::new(indices.clone());
            let all = |picked: &AxisIndices| (0..picked.len()).map(|at| picked.get(at).unwrap()).collect::<Vec<_>>();
            assert_eq!(all(&picked), indices);
            assert_eq!(picked.get(picked.len()), None);
            assert_eq!(picked.runs().into_iter().flatten().collect::<Vec<_>>(), indices);
            for start in 0..5 {
                for end in start..6 {
                    let part: Vec<u64> = indices.iter().skip(start).take(end - start).copied().collect();
                    assert_eq!(all(&picked.part(&(start as u64..end as u64))), part);
                    let both: Vec<u64> =
                        indices.iter().copied().filter(|index| (start as u64..end as u64).contains(index)).collect();
                    assert_eq!(all(&picked.and(&AxisIndices::Range(start as u64..end as u64))), both);
                    assert_eq!(all(&AxisIndices::Range(start as u64..end as u64).and(&picked)), both);
                }
            }
        }
    }
}
