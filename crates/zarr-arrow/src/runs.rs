//! Elements of repeated columns for rows of a box: which element of the values that were read stands in which row.

use std::ops::Range;

/// Rows of a box in C order, and where a column with fewer or other dimensions has its elements.
#[derive(Clone, Debug)]
pub(crate) struct Repeated {
    /// Number of indices of the box along each dimension, and the distance of elements, outermost first. Dimensions with a distance of 0
    /// repeat elements.
    axes: Vec<(usize, usize)>,
    /// Element of the first row.
    start: usize,
}

/// Elements of successive rows: `count` rows, whose elements are `step` apart; a step of 0 is one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) first: usize,
    pub(crate) step: usize,
    pub(crate) count: usize,
}

impl Repeated {
    /// Takes the lengths of a box and the distances of elements along its dimensions.
    pub(crate) fn new(start: usize, axes: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut merged: Vec<(usize, usize)> = Vec::new();
        for (len, step) in axes.into_iter().filter(|(len, _)| *len != 1) {
            match merged.last_mut() {
                // Elements of the outer axis are as far apart as the inner axis is long.
                Some((outer, distance)) if *distance == step.saturating_mul(len) => {
                    (*outer, *distance) = (outer.saturating_mul(len), step);
                }
                _ => merged.push((len, step)),
            }
        }
        Self { axes: merged, start }
    }

    /// Calls `each` with the runs that rows `rows` of the box consist of.
    pub(crate) fn for_each(&self, rows: Range<usize>, mut each: impl FnMut(Run)) {
        let Some((&(inner, step), outer)) = self.axes.split_last() else {
            if !rows.is_empty() {
                each(Run { first: self.start, step: 0, count: rows.len() });
            }
            return;
        };
        let mut row = rows.start;
        while row < rows.end && inner != 0 {
            let (mut number, at) = (row / inner, row % inner);
            let mut first = self.start + at * step;
            for (len, distance) in outer.iter().rev() {
                first += number % len * distance;
                number /= len;
            }
            let count = (inner - at).min(rows.end - row);
            each(Run { first, step, count });
            row += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_are_the_elements_of_each_row(
            axes in prop::collection::vec((1_usize..5, 0_usize..7), 0..4),
            start in 0_usize..3,
            ends in (0_usize..200, 0_usize..200),
        ) {
            let mut model = vec![start];
            for (len, step) in &axes {
                model = model.iter().flat_map(|&first| (0..*len).map(move |at| first + at * step)).collect();
            }
            let end = ends.1.min(model.len());
            let rows = ends.0.min(end)..end;
            let mut found = Vec::new();
            let repeated = Repeated::new(start, axes);
            repeated.for_each(rows.clone(), |run| found.extend((0..run.count).map(|at| run.first + at * run.step)));
            prop_assert_eq!(found, &model[rows]);
        }
    }

    #[test]
    fn axes_that_follow_each_other_are_one_run() {
        let mut runs = Vec::new();
        Repeated::new(0, [(4, 6), (2, 3), (3, 1)]).for_each(1..24, |run| runs.push(run));
        assert_eq!(runs, [Run { first: 1, step: 1, count: 23 }]);
    }
}
