//! Parts of a result that are printed: its first rows, or the ends of each axis.

use zarr::Selection;
use zarr::grid::AxisSelection;

/// Greatest number of elements of a result that is printed in full, as in numpy (`threshold` of its print options).
const THRESHOLD: u64 = 1000;
/// Number of elements that are printed at each end of an axis (`edgeitems` of numpy).
const EDGE: u64 = 3;
/// Approximate limit of the elements that are read: outer axes of a result of many dimensions are cut further to meet it.
const MOST: u64 = 20_000;

/// Elements at each end of an axis of a result that are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// Length of the axis.
    pub(crate) len: u64,
}

impl Ends {
    /// Returns the ends that have all elements of an axis of length `len`.
    pub(crate) fn all(len: u64) -> Self {
        Self { first: len, last: 0, len }
    }

    pub(crate) fn is_all(self) -> bool {
        self.shown() >= self.len
    }

    /// Returns the number of elements that are printed.
    pub(crate) fn shown(self) -> u64 {
        self.first.saturating_add(self.last)
    }

    /// Returns the index along the axis of printed element number `at`.
    pub(crate) fn index(self, at: u64) -> u64 {
        if at < self.first { at } else { (self.len - self.last).saturating_add(at - self.first) }
    }

    /// Returns the number of printed elements before the gap; `None` if no elements are left out.
    pub(crate) fn gap(self) -> Option<usize> {
        (!self.is_all()).then(|| usize::try_from(self.first).unwrap_or(usize::MAX))
    }

    /// Returns the selection of the printed elements within the axis.
    pub(super) fn selection(self) -> AxisSelection {
        stored(&AxisSelection::All, self.len, self)
    }
}

/// Returns the first `rows` elements along the first axis of a result, and all elements along the other axes.
pub(super) fn head(shape: &[u64], rows: u64) -> Vec<Ends> {
    let mut ends: Vec<Ends> = shape.iter().map(|&len| Ends::all(len)).collect();
    if let Some(first) = ends.first_mut() {
        first.first = rows.min(first.len);
    }
    ends
}

/// Returns the ends of each axis of a result; all elements, if the result is small. The first axis is not cut if `keeps_rows`.
pub(super) fn elided(shape: &[u64], keeps_rows: bool) -> Vec<Ends> {
    let count = zarr::grid::element_count(shape).unwrap_or(u64::MAX);
    let mut ends: Vec<Ends> = shape.iter().map(|&len| Ends::all(len)).collect();
    if count <= THRESHOLD {
        return ends;
    }
    let mut read = 1_u64;
    for (axis, ends) in ends.iter_mut().enumerate().rev() {
        // An axis that is no longer than its ends is printed in full; if there are many axes, the outer ones show fewer elements.
        let fits = |edge: u64| read.saturating_mul(ends.len.min(2 * edge)) <= MOST;
        let edge = if fits(EDGE) { EDGE } else { u64::from(fits(1)) };
        if ends.len > 2 * edge && !(keeps_rows && axis == 0) {
            (ends.first, ends.last) = (edge.max(1), edge);
        }
        read = read.saturating_mul(ends.shown());
    }
    ends
}

/// Narrows a selection of an array of `shape` to the printed elements. `ends` has an entry for each axis of the result.
pub(super) fn narrowed(selection: &Selection, shape: &[u64], ends: &[Ends]) -> Selection {
    if !matches!(selection, Selection::Axes(_)) {
        return selection.clone();
    }
    let mut shown = ends.iter();
    let narrow = |(axis, &size): (AxisSelection, &u64)| match axis {
        AxisSelection::Index(_) => axis,
        axis => match shown.next() {
            Some(ends) if !ends.is_all() => stored(&axis, size, *ends),
            _ => axis,
        },
    };
    Selection::Axes(axes(selection, shape.len()).into_iter().zip(shape).map(narrow).collect())
}

/// Narrows `axis`, the selection along an axis of length `size`, to the printed elements.
fn stored(axis: &AxisSelection, size: u64, ends: Ends) -> AxisSelection {
    let at = |shown: u64| position(axis, size, ends.index(shown));
    match axis {
        AxisSelection::All | AxisSelection::Range { .. } if ends.last == 0 => {
            let step = if let AxisSelection::Range { step, .. } = axis { *step } else { 1 };
            let stop = at(ends.first.saturating_sub(1)).saturating_add(step.signum());
            match ends.first {
                0 => AxisSelection::range(0, 0),
                // Without a stop, the range with a negative step ends at the first element.
                _ => AxisSelection::Range { start: Some(at(0)), stop: (stop >= 0).then_some(stop), step },
            }
        }
        _ => AxisSelection::Indices((0..ends.shown()).map(at).collect()),
    }
}

/// Returns the index, along an axis of length `size`, of selected element number `at`.
pub(super) fn position(axis: &AxisSelection, size: u64, at: u64) -> i64 {
    let size = i64::try_from(size).unwrap_or(i64::MAX);
    let at = i64::try_from(at).unwrap_or(i64::MAX);
    let wrapped = |index: i64| if index < 0 { index.saturating_add(size) } else { index };
    match axis {
        AxisSelection::Index(index) => wrapped(*index),
        AxisSelection::Indices(list) => {
            usize::try_from(at).ok().and_then(|at| list.get(at)).map_or(at, |it| wrapped(*it))
        }
        AxisSelection::Range { start, step, .. } => {
            let first = match (start, *step > 0) {
                (None, true) => 0,
                (None, false) => size - 1,
                (Some(start), true) => wrapped(*start).max(0),
                (Some(start), false) => wrapped(*start).min(size - 1),
            };
            first.saturating_add(at.saturating_mul(*step))
        }
        _ => at,
    }
}

/// Returns the selection along each of `rank` axes, with an ellipsis replaced by the axes for which it stands.
pub(super) fn axes(selection: &Selection, rank: usize) -> Vec<AxisSelection> {
    let Selection::Axes(given) = selection else { return vec![AxisSelection::All; rank] };
    let plain = given.iter().filter(|axis| **axis != AxisSelection::Ellipsis).count();
    let rest = rank.saturating_sub(plain);
    let mut axes = Vec::new();
    for axis in given {
        match axis {
            AxisSelection::Ellipsis => axes.extend(std::iter::repeat_n(AxisSelection::All, rest)),
            axis => axes.push(axis.clone()),
        }
    }
    axes.resize(rank, AxisSelection::All);
    axes
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr::grid::Resolved;

    #[test]
    fn indices_are_those_of_the_array() {
        let index = |axis: AxisSelection, at| position(&axis, 10, at);
        let range = |start, step| AxisSelection::Range { start, stop: None, step };
        assert_eq!(index(AxisSelection::All, 3), 3);
        assert_eq!(index(AxisSelection::Index(-1), 0), 9);
        assert_eq!(index(AxisSelection::Indices(vec![4, -2]), 1), 8);
        assert_eq!(index(range(Some(-4), 2), 1), 8);
        assert_eq!(index(range(Some(-40), 2), 1), 2);
        assert_eq!(index(range(None, -3), 1), 6);
        assert_eq!(index(range(Some(40), -1), 0), 9);
    }

    #[test]
    fn selections_are_filled_up() {
        let axes = |text: &str| axes(&text.parse().unwrap(), 3);
        assert_eq!(axes("..., 0"), [AxisSelection::All, AxisSelection::All, AxisSelection::Index(0)]);
        assert_eq!(axes("0"), [AxisSelection::Index(0), AxisSelection::All, AxisSelection::All]);
        assert_eq!(axes(""), [AxisSelection::All, AxisSelection::All, AxisSelection::All]);
    }

    /// Checks the printed elements against what numpy prints for `np.zeros(shape)`.
    #[test]
    fn axes_are_elided_as_numpy_does() {
        let shown = |shape: &[u64]| elided(shape, false).iter().map(|ends| (ends.first, ends.last)).collect::<Vec<_>>();
        assert_eq!(shown(&[1000]), [(1000, 0)]);
        assert_eq!(shown(&[1001]), [(3, 3)]);
        assert_eq!(shown(&[6, 200]), [(6, 0), (3, 3)]);
        assert_eq!(shown(&[12, 18, 432]), [(3, 3); 3]);
        assert_eq!(shown(&[0, 5000]), [(0, 0), (5000, 0)]);
        assert_eq!(elided(&[12, 18, 432], true)[0], Ends::all(12));
        // Of many dimensions, outer axes are shown by less.
        for rank in [5, 8, 20, 64] {
            let ends = elided(&vec![9; rank], false);
            assert!(ends.iter().map(|ends| ends.shown()).product::<u64>() <= 2 * MOST, "{ends:?}");
            assert!(ends.iter().all(|ends| ends.first > 0));
        }
    }

    #[test]
    fn the_shown_elements_are_those_of_the_selection() {
        let whole = |selection: &Selection, len: u64| match selection.resolve(&[len]).unwrap() {
            Resolved::Box(part) => {
                let range = part.region.axes()[0];
                let mut all: Vec<u64> = (0..range.len).map(|at| range.start + at * range.step).collect();
                if part.flipped[0] {
                    all.reverse();
                }
                all
            }
            Resolved::Orthogonal(part) => match &part.axes()[0] {
                zarr::grid::AxisIndices::List(list) => {
                    let mut all = vec![0; list.len()];
                    list.iter().for_each(|index| all[usize::try_from(index.out).unwrap()] = index.position);
                    all
                }
                zarr::grid::AxisIndices::Range { range, flipped } => {
                    let mut all: Vec<u64> = (0..range.len).map(|at| range.start + at * range.step).collect();
                    if *flipped {
                        all.reverse();
                    }
                    all
                }
            },
            other => unreachable!("{other:?}"),
        };
        for text in [":", "2:", "::-1", "::-3", "-5:", "9:1:-2", "[4, 1, 1, 8]", "1:8:3"] {
            let selection: Selection = text.parse().unwrap();
            let all = whole(&selection, 10);
            let len = all.len() as u64;
            for (first, last) in [(1, 1), (2, 0), (1, 0), (0, 0), (2, 1)] {
                let ends = Ends { first, last, len };
                let shown = whole(&narrowed(&selection, &[10], &[ends]), 10);
                let expected: Vec<u64> =
                    (0..ends.shown()).map(|at| all[usize::try_from(ends.index(at)).unwrap()]).collect();
                assert_eq!(shown, if ends.is_all() { all.clone() } else { expected }, "{text} {ends:?}");
            }
        }
    }
}
