//! Cuts: the parts of arrays that are shown.

use crate::samples::Samples;
use crate::{Error, Result};
use zarr_array::Selection;
use zarr_grid::{AxisRange, AxisSelection, Region, Resolved};

/// Part of an array that is shown: the axes of a plane or line, and an index along each other axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Selected elements along each axis of the array.
    picks: Vec<Pick>,
    /// Axes that are shown: those of rows and of columns for a plane, one for a line, none for a single element.
    shown: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pick {
    /// One selected index.
    One(u64),
    /// Several selected elements. If the axis is not shown, its first element is taken.
    Many(Samples),
}

/// Axis of the array that is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HiddenAxis {
    /// Number of the axis.
    pub axis: usize,
    /// Index along the axis at which the cut lies.
    pub index: u64,
    /// Number of selected indices along the axis; `index` is the first of them.
    pub of: u64,
}

impl Cut {
    /// Creates the cut for a selection of indices and ranges in an array of shape `shape`. It shows the `axes`, at most two; `None` for the
    /// last two along which more than one element is selected. Along other axes the cut lies at the first selected index.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) in the cases of [`Selection::resolve`], for lists, masks and points, and for a
    /// shown axis that does not exist or along which one index is selected.
    pub fn new(shape: &[u64], selection: &Selection, axes: Option<&[usize]>) -> Result<Self> {
        let resolved = selection.resolve(shape)?;
        if let Some(axis) = listed(selection, shape.len()) {
            return Err(Error::argument(format!(
                "axis {axis}: lists and masks are no plane, expected indices and ranges"
            )));
        }
        let Resolved::Box(part) = resolved else {
            return Err(Error::argument("points and masks are no plane, expected indices and ranges"));
        };
        let pick = |((range, is_flipped), is_one): ((&AxisRange, &bool), &bool)| match is_one {
            true => Pick::One(range.start),
            false => Pick::Many(Samples::of_range(range, *is_flipped)),
        };
        let picks: Vec<Pick> = part.region.axes().iter().zip(&part.flipped).zip(&part.dropped).map(pick).collect();
        let shown = match axes {
            Some(axes) => chosen(&picks, axes)?,
            None => last_two(&picks),
        };
        Ok(Self { picks, shown })
    }

    /// Returns the axes that are shown: those of rows and columns.
    pub fn shown(&self) -> &[usize] {
        &self.shown
    }

    /// Returns the selected elements along each axis that is shown.
    pub fn samples(&self) -> Vec<Samples> {
        let many = |&axis: &usize| match self.picks.get(axis) {
            Some(Pick::Many(samples)) => *samples,
            Some(Pick::One(index)) => Samples::all(*index, 1, 1),
            None => Samples::all(0, 1, 0),
        };
        self.shown.iter().map(many).collect()
    }

    /// Returns the axes that are not shown, each with its index.
    pub fn others(&self) -> impl Iterator<Item = HiddenAxis> + '_ {
        let others = self.picks.iter().enumerate().filter(|(axis, _)| !self.shown.contains(axis));
        others.map(|(axis, pick)| match pick {
            Pick::One(index) => HiddenAxis { axis, index: *index, of: 1 },
            Pick::Many(samples) => HiddenAxis { axis, index: samples.start, of: samples.of },
        })
    }

    /// Returns whether some axis has selected elements that are not adjacent and ascending.
    pub(crate) fn has_steps(&self) -> bool {
        self.picks.iter().any(|pick| matches!(pick, Pick::Many(samples) if samples.count > 1 && samples.step != 1))
    }

    /// Returns whether no element is selected.
    pub fn is_empty(&self) -> bool {
        self.picks.iter().any(|pick| matches!(pick, Pick::Many(samples) if samples.count == 0))
    }

    /// Returns the selected elements along an axis that is not shown; `None` if the axis is shown, or one index is selected.
    pub fn along(&self, axis: usize) -> Option<Samples> {
        match self.picks.get(axis)? {
            Pick::Many(samples) if !self.shown.contains(&axis) => Some(*samples),
            _ => None,
        }
    }

    /// Returns the cut moved to `index` along an axis that is not shown.
    pub fn at(&self, axis: usize, index: u64) -> Self {
        let mut other = self.clone();
        if let Some(pick) = other.picks.get_mut(axis) {
            *pick = Pick::One(index);
        }
        other
    }

    /// Returns the cut with `axis`, which was not shown, as an additional shown axis before rows and columns: that of frames.
    pub(crate) fn with_frames(&self, axis: usize) -> Result<Self> {
        if self.along(axis).is_none() {
            return Err(Error::argument(format!("axis {axis}: found a shown axis or one index, expected a range")));
        }
        let mut other = self.clone();
        other.shown.insert(0, axis);
        Ok(other)
    }

    /// Returns the corresponding cut of an array of another resolution, of shape `to` instead of `from`.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if the shapes differ in their number of dimensions, or a selection has steps
    /// along an axis whose resolution differs.
    pub fn scaled(&self, from: &[u64], to: &[u64]) -> Result<Self> {
        if from.len() != to.len() || from.len() != self.picks.len() {
            return Err(Error::argument(format!("found {} dimensions, expected {}", to.len(), from.len())));
        }
        let mut other = self.clone();
        for (axis, (pick, (&from, &to))) in other.picks.iter_mut().zip(from.iter().zip(to)).enumerate() {
            if from == to {
                continue;
            }
            let of = |index: u64| {
                let at = u128::from(index) * u128::from(to) / u128::from(from.max(1));
                u64::try_from(at).unwrap_or(u64::MAX)
            };
            *pick = match *pick {
                Pick::Many(samples) if samples.count == 0 => continue,
                Pick::One(index) => Pick::One(of(index).min(to.saturating_sub(1))),
                Pick::Many(samples) if samples.step == 1 || samples.count == 1 => {
                    let (start, end) = (of(samples.start), of(samples.start.saturating_add(samples.count)));
                    let start = start.min(to.saturating_sub(1));
                    Pick::Many(Samples::all(start, 1, end.saturating_sub(start).max(1).min(to)))
                }
                Pick::Many(samples) => {
                    let message = format!("axis {axis}: found step {}, expected 1 for another level", samples.step);
                    return Err(Error::argument(message));
                }
            };
        }
        Ok(other)
    }

    /// Returns the selection of these samples along the axes that are shown, and of one index along each other axis.
    pub fn selection(&self, samples: &[Samples]) -> Selection {
        let axis = |(axis, pick): (usize, &Pick)| match (self.samples_of(axis, samples), pick) {
            (Some(samples), _) => samples.to_axis(),
            (None, Pick::One(index)) => AxisSelection::Index(signed(*index)),
            (None, Pick::Many(samples)) if samples.count == 0 => samples.to_axis(),
            (None, Pick::Many(samples)) => AxisSelection::Index(signed(samples.start)),
        };
        Selection::Axes(self.picks.iter().enumerate().map(axis).collect())
    }

    /// Returns [`selection`](Self::selection) as a region.
    pub(crate) fn region(&self, samples: &[Samples]) -> Result<Region> {
        let range = |(axis, pick): (usize, &Pick)| match (self.samples_of(axis, samples), pick) {
            (Some(samples), _) => samples.to_range(),
            (None, Pick::One(index)) => AxisRange::new(*index, 1),
            (None, Pick::Many(samples)) => AxisRange::new(samples.start, samples.count.min(1)),
        };
        Ok(Region::new(self.picks.iter().enumerate().map(range))?)
    }

    /// Returns the samples of `axis`; `None` if it is not shown.
    fn samples_of<'s>(&self, axis: usize, samples: &'s [Samples]) -> Option<&'s Samples> {
        self.shown.iter().position(|&shown| shown == axis).and_then(|at| samples.get(at))
    }

    /// Reorders the elements that a read of [`selection`](Self::selection) returns, from C order of the array's axes to C order of the
    /// shown axes: rows from first to last. Returns `elements` unchanged if their number does not match the samples.
    pub fn transposed<T: Clone>(&self, elements: Vec<T>, samples: &[Samples]) -> Vec<T> {
        if self.shown.is_sorted() {
            return elements;
        }
        let count = |samples: &Samples| usize::try_from(samples.count).unwrap_or(usize::MAX);
        let counts: Vec<usize> = samples.iter().map(count).collect();
        let stride = |axis: &usize| {
            let inner = self.shown.iter().zip(&counts).filter(|(other, _)| *other > axis);
            inner.fold(1_usize, |stride, (_, &count)| stride.saturating_mul(count))
        };
        let total = counts.iter().fold(1_usize, |total, &count| total.saturating_mul(count));
        // Frames, rows, columns, each with the distance from one to the next.
        let mut axes: Vec<(usize, usize)> = counts.iter().copied().zip(self.shown.iter().map(stride)).collect();
        while axes.len() < 3 {
            axes.insert(0, (1, 0));
        }
        let [frames, rows, columns] = *axes else { return elements };
        if total != elements.len() {
            return elements;
        }
        let row = |first: usize| (0..columns.0).map(move |at| first + at * columns.1);
        let frame = |first: usize| (0..rows.0).flat_map(move |at| row(first + at * rows.1));
        let all = (0..frames.0).flat_map(|at| frame(at * frames.1));
        all.filter_map(|at| elements.get(at).cloned()).collect()
    }
}

fn signed(index: u64) -> i64 {
    i64::try_from(index).unwrap_or(i64::MAX)
}

/// Returns the first axis for which a list or mask is selected.
fn listed(selection: &Selection, rank: usize) -> Option<usize> {
    let Selection::Axes(given) = selection else { return None };
    let is_list = |axis: &AxisSelection| matches!(axis, AxisSelection::Indices(_) | AxisSelection::Mask(_));
    let at = given.iter().position(is_list)?;
    // Behind an ellipsis axes count from the last.
    match given.iter().take(at).any(|axis| *axis == AxisSelection::Ellipsis) {
        true => (rank + at).checked_sub(given.len()),
        false => Some(at),
    }
}

fn chosen(picks: &[Pick], axes: &[usize]) -> Result<Vec<usize>> {
    for (number, axis) in axes.iter().enumerate() {
        let message = match picks.get(*axis) {
            None => format!("found axis {axis}, expected one of {}", picks.len()),
            Some(Pick::One(index)) => format!("axis {axis} cannot be shown: index {index} of it is selected"),
            Some(_) if axes.iter().take(number).any(|other| other == axis) => format!("axis {axis} is given twice"),
            Some(_) => continue,
        };
        return Err(Error::argument(message));
    }
    match axes.len() {
        1 | 2 => Ok(axes.to_vec()),
        count => Err(Error::argument(format!("found {count} axes to show, expected one or two"))),
    }
}

fn last_two(picks: &[Pick]) -> Vec<usize> {
    let many = picks.iter().enumerate().filter_map(|(axis, pick)| match pick {
        Pick::Many(samples) => Some((axis, samples.count)),
        Pick::One(_) => None,
    });
    let all: Vec<(usize, u64)> = many.collect();
    let long: Vec<usize> = all.iter().filter(|(_, count)| *count != 1).map(|(axis, _)| *axis).collect();
    let shown = if long.len() >= 2 { long } else { all.into_iter().map(|(axis, _)| axis).collect() };
    shown.get(shown.len().saturating_sub(2)..).unwrap_or_default().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(shape: &[u64], text: &str) -> Result<Cut> {
        Cut::new(shape, &text.parse().unwrap(), None)
    }

    #[test]
    fn the_last_two_axes_are_shown() {
        assert_eq!(cut(&[5, 6, 7], "").unwrap().shown(), [1, 2]);
        assert_eq!(cut(&[5, 6, 7, 1], "").unwrap().shown(), [1, 2]);
        assert_eq!(cut(&[5, 6, 7], "..., 3").unwrap().shown(), [0, 1]);
        assert_eq!(cut(&[5, 6, 7], "1, 2").unwrap().shown(), [2]);
        assert!(cut(&[], "").unwrap().shown().is_empty());
        let cut = cut(&[5, 6, 7], "2:4, 1:5:2, ::-3").unwrap();
        assert_eq!(cut.samples(), [Samples::all(1, 2, 2), Samples::all(6, -3, 3)]);
        assert_eq!(cut.others().collect::<Vec<_>>(), [HiddenAxis { axis: 0, index: 2, of: 2 }]);
        assert_eq!(cut.along(0), Some(Samples::all(2, 1, 2)));
    }

    #[test]
    fn selections_are_those_of_numpy() {
        let selected = |text: &str| {
            let cut = cut(&[10], text).unwrap();
            let resolved = cut.selection(&cut.samples()).resolve(&[10]).unwrap();
            let expected = text.parse::<Selection>().unwrap().resolve(&[10]).unwrap();
            assert_eq!(resolved.result_shape(), expected.result_shape(), "{text}");
            cut.samples().first().map(|it| (0..it.count).map(|at| it.index(at)).collect::<Vec<_>>())
        };
        assert_eq!(selected("::-4"), Some(vec![9, 5, 1]));
        assert_eq!(selected("-3:"), Some(vec![7, 8, 9]));
        assert_eq!(selected("2:-2:3"), Some(vec![2, 5]));
        assert_eq!(selected("20:"), Some(vec![]));
        assert_eq!(selected("::-3"), Some(vec![9, 6, 3, 0]));
    }

    #[test]
    fn what_is_no_plane_is_refused() {
        let refused = |text: &str, axes: Option<&[usize]>| Cut::new(&[5, 6], &text.parse().unwrap(), axes).unwrap_err();
        assert!(refused("[1, 2]", None).to_string().contains("axis 0: lists"));
        assert!(refused("7", None).to_string().contains("index 7 is out of bounds for axis 0 of length 5"));
        assert!(refused("1", Some(&[0, 1])).to_string().contains("index 1 of it is selected"));
        assert!(refused("", Some(&[0, 0])).to_string().contains("twice"));
        assert!(refused("", Some(&[2])).to_string().contains("found axis 2"));
        assert!(refused("0, 0, 0", None).to_string().contains("3 dimensions"));
        assert!(refused("..., [1, 2]", None).to_string().contains("axis 1: lists"));
        let points = Selection::coordinates(vec![vec![1], vec![2]]);
        assert!(Cut::new(&[5, 6], &points, None).unwrap_err().to_string().contains("points"));
    }

    #[test]
    fn empty_selections_stay_empty() {
        for text in ["3:3, :, :", ":, 9:, :", ":, :, 2:2"] {
            let cut = cut(&[5, 6, 7], text).unwrap();
            let selection = cut.selection(&cut.samples());
            assert!(cut.is_empty(), "{text}");
            assert_eq!(selection.resolve(&[5, 6, 7]).unwrap().len_checked(), Some(0), "{text}");
        }
        assert!(!cut(&[5, 6, 7], "3:4").unwrap().is_empty());
    }

    #[test]
    fn elements_are_in_the_order_of_the_axes_that_are_shown() {
        let cut = Cut::new(&[2, 3, 4], &Selection::all(), Some(&[2, 0])).unwrap();
        // numpy: np.arange(24).reshape(2, 3, 4)[:, 0].T, and the same of all three axes: .transpose(1, 2, 0)
        let samples = cut.samples();
        assert_eq!(cut.transposed(vec![0, 1, 2, 3, 12, 13, 14, 15], &samples), [0, 12, 1, 13, 2, 14, 3, 15]);
        let frames = cut.with_frames(1).unwrap();
        assert!(cut.with_frames(0).is_err() && cut.with_frames(3).is_err());
        let samples = frames.samples();
        let expected: Vec<i32> = (0..3)
            .flat_map(|frame| (0..4).flat_map(move |row| (0..2).map(move |column| column * 12 + frame * 4 + row)))
            .collect();
        assert_eq!(frames.transposed((0..24).collect(), &samples), expected);
        assert_eq!(frames.transposed(vec!["another", "number"], &samples), ["another", "number"]);
    }

    #[test]
    fn parts_are_those_of_other_resolutions() {
        let whole = cut(&[3, 100, 101], "1, 50:70, :").unwrap();
        let half = whole.scaled(&[3, 100, 101], &[3, 50, 51]).unwrap();
        assert_eq!(half.samples(), [Samples::all(25, 1, 10), Samples::all(0, 1, 51)]);
        assert_eq!(half.others().collect::<Vec<_>>(), [HiddenAxis { axis: 0, index: 1, of: 1 }]);
        let fewer = whole.scaled(&[3, 100, 101], &[1, 1, 1]).unwrap();
        assert_eq!(fewer.others().collect::<Vec<_>>(), [HiddenAxis { axis: 0, index: 0, of: 1 }]);
        assert_eq!(fewer.samples(), [Samples::all(0, 1, 1); 2]);
        assert!(cut(&[10], "::2").unwrap().scaled(&[10], &[5]).is_err());
        assert!(cut(&[10, 10], "4:4").unwrap().scaled(&[10, 10], &[5, 5]).unwrap().is_empty());
    }
}
