//! Positions in the array of the elements of a selection.

use zarr_array::{Error, Result};
use zarr_grid::{AxisIndices, AxisRange, Resolved};

/// Indices that a selection selects along one axis of the array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AxisPositions {
    Range { range: AxisRange, is_flipped: bool },
    List(Vec<u64>),
}

impl AxisPositions {
    fn of(indices: &AxisIndices) -> Self {
        match indices {
            AxisIndices::Range { range, flipped } => Self::Range { range: *range, is_flipped: *flipped },
            AxisIndices::List(list) => {
                let mut list = list.clone();
                list.sort_unstable_by_key(|index| index.out);
                Self::List(list.into_iter().map(|index| index.position).collect())
            }
        }
    }

    /// Index in the array of position `position` of the selection.
    pub(crate) fn at(&self, position: u64) -> u64 {
        match self {
            Self::Range { range, is_flipped } => {
                let last = range.len.saturating_sub(1);
                let position = if *is_flipped { last.saturating_sub(position) } else { position };
                range.start.saturating_add(position.saturating_mul(range.step))
            }
            Self::List(list) => {
                usize::try_from(position).ok().and_then(|position| list.get(position)).copied().unwrap_or(position)
            }
        }
    }
}

/// Indices that a selection selects along all axes of the array.
#[derive(Clone, Debug)]
pub(crate) struct Positions {
    axes: Vec<AxisPositions>,
    /// Whether the result of the selection lacks each axis of the array.
    dropped: Vec<bool>,
}

impl Positions {
    /// Returns the positions of a selection along the axes.
    ///
    /// # Errors
    /// [`zarr_array::ErrorKind::Argument`] for points, which have no axes of the array.
    pub(crate) fn of(resolved: &Resolved) -> Result<Self> {
        match resolved {
            Resolved::Box(selected) => {
                let axes = selected.region.axes().iter().zip(&selected.flipped);
                let axes = axes.map(|(&range, &is_flipped)| AxisPositions::Range { range, is_flipped }).collect();
                Ok(Self { axes, dropped: selected.dropped.to_vec() })
            }
            Resolved::Orthogonal(selected) => Ok(Self {
                axes: selected.axes().iter().map(AxisPositions::of).collect(),
                dropped: selected.dropped().to_vec(),
            }),
            Resolved::Coordinates(_) | Resolved::Mask(_) => {
                let error = Error::argument("points are selected, which have no rows along an axis");
                Err(error.with_hint("select ranges or lists along the axes"))
            }
        }
    }

    /// Selected indices along an axis of the array.
    pub(crate) fn axis(&self, axis: usize) -> Option<&AxisPositions> {
        self.axes.get(axis)
    }

    /// Removes the last axes until the selection has `rank` axes that are not dropped, for instance to remove the axis of the characters of
    /// strings.
    pub(crate) fn leading(mut self, rank: usize) -> Self {
        let kept = |dropped: &[bool]| dropped.iter().filter(|dropped| !**dropped).count();
        while kept(&self.dropped) > rank {
            self.dropped.pop();
            self.axes.pop();
        }
        self
    }

    /// Axes of the array that the result of the selection has.
    fn kept(&self) -> impl Iterator<Item = &AxisPositions> {
        self.axes.iter().zip(&self.dropped).filter(|(_, dropped)| !**dropped).map(|(axis, _)| axis)
    }

    /// Selected indices along axis `axis` of the result of the selection.
    pub(crate) fn selected_axis(&self, axis: usize) -> Option<&AxisPositions> {
        self.kept().nth(axis)
    }

    /// Converts the index of an element in the result of the selection to its index in the array.
    pub(crate) fn index(&self, selected: &[u64]) -> Vec<u64> {
        let mut selected = selected.iter();
        let axes = self.axes.iter().zip(&self.dropped);
        axes.map(|(axis, &dropped)| axis.at(if dropped { 0 } else { selected.next().copied().unwrap_or(0) })).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_grid::{AxisSelection, Selection};

    #[test]
    fn positions_become_indices_of_the_array() {
        let range = |start, stop, step| AxisSelection::Range { start, stop, step };
        let axes = vec![
            AxisSelection::Index(3),
            range(Some(8), Some(1), -2),
            AxisSelection::Indices(vec![5, 0, 4]),
            range(None, None, 1),
        ];
        let places = Positions::of(&Selection::Axes(axes).resolve(&[9, 9, 9, 4]).unwrap()).unwrap().leading(2);
        assert_eq!(places.index(&[1, 2]), [3, 6, 4]);
        assert_eq!(places.selected_axis(1).map(|axis| axis.at(0)), Some(5));
        assert_eq!(places.axis(1).map(|axis| axis.at(3)), Some(2));
    }
}
