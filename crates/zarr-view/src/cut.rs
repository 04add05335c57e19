//! What of an array is shown: which axes, and where along the others.

use crate::samples::Samples;
use crate::{Error, Result};
use zarr_array::Selection;
use zarr_grid::AxisSelection;

/// What of an array is shown: the axes of a plane or of a line, and an index along each other axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Along each axis of the array.
    picks: Vec<Pick>,
    /// The axes that are shown: rows and columns; one of a line, none of a single element.
    shown: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pick {
    /// One index was asked for.
    One(u64),
    /// Of an axis that is shown; else the first one is taken.
    Many(Samples),
}

impl Cut {
    /// What a selection leaves of an array of this shape, of indices and ranges. Shown are the `axes`, at most two; if they are not given
    /// the last two along which more than one element is selected. Along other axes it is the first index of the selection.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) for an index out of bounds, for lists, masks and points, for an axis that does
    /// not exist or of which one index is selected.
    pub fn new(shape: &[u64], selection: &Selection, axes: Option<&[usize]>) -> Result<Self> {
        let Selection::Axes(given) = selection else {
            return Err(Error::argument("points and masks are no plane, expected indices and ranges"));
        };
        let mentioned = given.iter().filter(|axis| **axis != AxisSelection::Ellipsis).count();
        let Some(rest) = shape.len().checked_sub(mentioned) else {
            return Err(Error::argument(format!("found a selection along {mentioned} axes, expected {}", shape.len())));
        };
        let mut full = Vec::new();
        for axis in given {
            match axis {
                AxisSelection::Ellipsis => full.extend(std::iter::repeat_n(&AxisSelection::All, rest)),
                axis => full.push(axis),
            }
        }
        full.resize(shape.len(), &AxisSelection::All);
        let picks: Vec<Pick> =
            shape.iter().zip(full).enumerate().map(|(axis, (&len, it))| pick(axis, len, it)).collect::<Result<_>>()?;
        let shown = match axes {
            Some(axes) => chosen(&picks, axes)?,
            None => last_two(&picks),
        };
        Ok(Self { picks, shown })
    }

    /// The axes that are shown: rows and columns.
    pub fn shown(&self) -> &[usize] {
        &self.shown
    }

    /// The elements that are selected along the axes that are shown.
    pub fn samples(&self) -> Vec<Samples> {
        let many = |&axis: &usize| match self.picks.get(axis) {
            Some(Pick::Many(samples)) => *samples,
            Some(Pick::One(index)) => Samples::all(*index, 1, 1),
            None => Samples::all(0, 1, 0),
        };
        self.shown.iter().map(many).collect()
    }

    /// The other axes, each with its index, and whether that was asked for.
    pub fn others(&self) -> impl Iterator<Item = (usize, u64, bool)> + '_ {
        let others = self.picks.iter().enumerate().filter(|(axis, _)| !self.shown.contains(axis));
        others.map(|(axis, pick)| match pick {
            Pick::One(index) => (axis, *index, true),
            Pick::Many(samples) => (axis, samples.start, samples.of == 1),
        })
    }

    /// The elements that are selected along an axis that is not shown, to go through them.
    pub fn along(&self, axis: usize) -> Option<Samples> {
        match self.picks.get(axis)? {
            Pick::Many(samples) if !self.shown.contains(&axis) => Some(*samples),
            _ => None,
        }
    }

    /// The same with one index along an axis that is not shown.
    pub fn at(&self, axis: usize, index: u64) -> Self {
        let mut other = self.clone();
        if let Some(pick) = other.picks.get_mut(axis) {
            *pick = Pick::One(index);
        }
        other
    }

    /// The same part of an array of another resolution: of shape `to` instead of `from`.
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
                Pick::One(index) => Pick::One(of(index).min(to.saturating_sub(1))),
                Pick::Many(samples) if samples.step == 1 => {
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

    /// The selection of the array that has these samples of the axes that are shown.
    pub(crate) fn selection(&self, samples: &[Samples]) -> Selection {
        let axis = |(axis, pick): (usize, &Pick)| {
            let shown = self.shown.iter().position(|&shown| shown == axis).and_then(|at| samples.get(at));
            match (shown, pick) {
                (Some(samples), _) => samples.to_axis(),
                (None, Pick::One(index)) => AxisSelection::Index(signed(*index)),
                (None, Pick::Many(samples)) => AxisSelection::Index(signed(samples.start)),
            }
        };
        Selection::Axes(self.picks.iter().enumerate().map(axis).collect())
    }
}

fn signed(index: u64) -> i64 {
    i64::try_from(index).unwrap_or(i64::MAX)
}

fn pick(axis: usize, len: u64, selection: &AxisSelection) -> Result<Pick> {
    let size = signed(len);
    let wrapped = |index: i64| if index < 0 { index.saturating_add(size) } else { index };
    match selection {
        AxisSelection::All => Ok(Pick::Many(Samples::all(0, 1, len))),
        AxisSelection::Index(index) => match u64::try_from(wrapped(*index)).ok().filter(|&index| index < len) {
            Some(index) => Ok(Pick::One(index)),
            None => Err(Error::argument(format!("found index {index} of axis {axis}, which has {len} elements"))),
        },
        AxisSelection::Range { start, stop, step } if *step != 0 => {
            // As Python has it.
            let (low, high) = if *step > 0 { (0, size) } else { (-1, size - 1) };
            let clip = |bound: &Option<i64>, default: i64| bound.map_or(default, |it| wrapped(it).clamp(low, high));
            let (first, end) = match *step > 0 {
                true => (clip(start, 0), clip(stop, size)),
                false => (clip(start, size - 1), clip(stop, -1)),
            };
            let span = if *step > 0 { end.saturating_sub(first) } else { first.saturating_sub(end) };
            let count = u64::try_from(span).unwrap_or(0).div_ceil(step.unsigned_abs());
            Ok(Pick::Many(Samples::all(u64::try_from(first).unwrap_or(0), *step, count)))
        }
        _ => Err(Error::argument(format!("axis {axis}: lists and masks are no plane, expected indices and ranges"))),
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
        assert_eq!(cut.others().collect::<Vec<_>>(), [(0, 2, false)]);
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
        assert!(refused("7", None).to_string().contains("found index 7 of axis 0, which has 5 elements"));
        assert!(refused("1", Some(&[0, 1])).to_string().contains("index 1 of it is selected"));
        assert!(refused("", Some(&[0, 0])).to_string().contains("twice"));
        assert!(refused("", Some(&[2])).to_string().contains("found axis 2"));
        assert!(refused("0, 0, 0", None).to_string().contains("3 axes"));
    }

    #[test]
    fn parts_are_those_of_other_resolutions() {
        let whole = cut(&[3, 100, 101], "1, 50:70, :").unwrap();
        let half = whole.scaled(&[3, 100, 101], &[3, 50, 51]).unwrap();
        assert_eq!(half.samples(), [Samples::all(25, 1, 10), Samples::all(0, 1, 51)]);
        assert_eq!(half.others().collect::<Vec<_>>(), [(0, 1, true)]);
        let fewer = whole.scaled(&[3, 100, 101], &[1, 1, 1]).unwrap();
        assert_eq!(fewer.others().collect::<Vec<_>>(), [(0, 0, true)]);
        assert_eq!(fewer.samples(), [Samples::all(0, 1, 1); 2]);
        assert!(cut(&[10], "::2").unwrap().scaled(&[10], &[5]).is_err());
    }
}
