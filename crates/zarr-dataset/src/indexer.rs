//! Selected indices along a dimension, from which further indices can be selected.

use crate::{Error, Result};
use std::sync::Arc;
use zarr_grid::AxisSelection;

/// Selected indices along an axis of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Indexer {
    /// Indices that begin with `start` and are `step` apart; their number is `len`.
    Strided { start: u64, step: i64, len: u64 },
    /// Indices in any order.
    List(Arc<[u64]>),
    /// Index of each point, along the dimension of points that several axes share.
    Points { dimension: Arc<str>, indices: Arc<[u64]> },
    /// One index, which removes the dimension.
    One(u64),
}

impl Indexer {
    /// Returns all indices of a dimension of `len` elements.
    pub(crate) fn all(len: u64) -> Self {
        Self::Strided { start: 0, step: 1, len }
    }

    /// Returns `indices` of a dimension of `len` elements; negative indices count from the end.
    ///
    /// # Errors
    /// For an index that is out of bounds.
    pub(crate) fn chosen(len: u64, dimension: &str, indices: &[i64]) -> Result<Arc<[u64]>> {
        indices.iter().map(|&index| wrapped(len, dimension, index)).collect()
    }

    /// Number of selected indices; `None` if the dimension is removed.
    pub(crate) fn len(&self) -> Option<u64> {
        match self {
            Self::Strided { len, .. } => Some(*len),
            Self::List(list) | Self::Points { indices: list, .. } => Some(list.len() as u64),
            Self::One(_) => None,
        }
    }

    /// Name of the dimension of points; `None` if no points are selected.
    pub(crate) fn points(&self) -> Option<&str> {
        match self {
            Self::Points { dimension, .. } => Some(dimension),
            _ => None,
        }
    }

    /// Returns the index in the array of the selected index number `at`.
    pub(crate) fn get(&self, at: u64) -> u64 {
        match self {
            Self::Strided { start, step, .. } => start.wrapping_add_signed(step.wrapping_mul(at as i64)),
            Self::List(list) | Self::Points { indices: list, .. } => {
                usize::try_from(at).ok().and_then(|at| list.get(at)).copied().unwrap_or(u64::MAX)
            }
            Self::One(index) => *index,
        }
    }

    /// Selects among the selected indices, as numpy does: negative indices count from the end, ranges are clipped.
    ///
    /// # Errors
    /// For an index out of bounds, a mask of another length, a step of 0, and if the dimension is removed.
    pub(crate) fn select(&self, dimension: &str, axis: &AxisSelection) -> Result<Self> {
        let Some(len) = self.len() else {
            return Err(Error::argument(format!("dimension {dimension} is gone: an index of it was selected before")));
        };
        let wrapped = |index: i64| wrapped(len, dimension, index);
        if let Self::Points { dimension: points, indices } = self {
            let selected = Self::List(Arc::clone(indices)).select(dimension, axis)?;
            return Ok(match selected {
                Self::List(indices) => Self::Points { dimension: Arc::clone(points), indices },
                other => other,
            });
        }
        Ok(match axis {
            AxisSelection::All | AxisSelection::Ellipsis => self.clone(),
            AxisSelection::Index(index) => Self::One(self.get(wrapped(*index)?)),
            AxisSelection::Indices(list) => {
                Self::List(list.iter().map(|&index| Ok(self.get(wrapped(index)?))).collect::<Result<_>>()?)
            }
            AxisSelection::Mask(mask) => {
                if mask.len() as u64 != len {
                    let (found, expected) = (mask.len(), len);
                    return Err(Error::argument(format!(
                        "dimension {dimension}: found a mask of {found} elements, expected {expected}"
                    )));
                }
                let chosen = mask.iter().enumerate().filter(|(_, chosen)| **chosen);
                Self::List(chosen.map(|(at, _)| self.get(at as u64)).collect())
            }
            AxisSelection::Range { start, stop, step } => {
                let (first, count) = range(len, *start, *stop, *step)
                    .ok_or_else(|| Error::argument(format!("dimension {dimension}: a step of 0")))?;
                match self {
                    Self::List(list) => {
                        let at = |number: u64| first.wrapping_add_signed(step.wrapping_mul(number as i64));
                        let chosen = (0..count).filter_map(|number| list.get(usize::try_from(at(number)).ok()?));
                        Self::List(chosen.copied().collect())
                    }
                    Self::Strided { step: outer, .. } => Self::Strided {
                        start: if count == 0 { 0 } else { self.get(first) },
                        step: outer.wrapping_mul(*step),
                        len: count,
                    },
                    Self::One(_) | Self::Points { .. } => self.clone(),
                }
            }
        })
    }

    /// Selects, for each point along dimension `points`, the selected index whose number is in `chosen`. All numbers must be less than the
    /// length.
    pub(crate) fn select_points(&self, points: &Arc<str>, chosen: &Arc<[u64]>) -> Self {
        let indices = match self {
            // All variables share the list.
            Self::Strided { start: 0, step: 1, .. } => Arc::clone(chosen),
            _ => chosen.iter().map(|&at| self.get(at)).collect(),
        };
        Self::Points { dimension: Arc::clone(points), indices }
    }

    /// Converts the indices to a selection along an axis of the array.
    pub(crate) fn to_axis(&self) -> AxisSelection {
        match self {
            Self::One(index) => AxisSelection::Index(*index as i64),
            Self::List(list) | Self::Points { indices: list, .. } => {
                AxisSelection::Indices(list.iter().map(|&index| index as i64).collect())
            }
            Self::Strided { len: 0, .. } => AxisSelection::range(0, 0),
            Self::Strided { start, step, len } => {
                let start = *start as i64;
                let stop = start.saturating_add(step.saturating_mul(*len as i64));
                // Before the first element there is no index: -1 would be the last one.
                AxisSelection::Range { start: Some(start), stop: (stop >= 0).then_some(stop), step: *step }
            }
        }
    }
}

fn wrapped(len: u64, dimension: &str, index: i64) -> Result<u64> {
    let found = if index < 0 { len.checked_sub(index.unsigned_abs()) } else { Some(index as u64) };
    found.filter(|&index| index < len).ok_or_else(|| {
        Error::argument(format!("dimension {dimension}: index {index} is out of bounds for {len} elements"))
    })
}

/// Returns the first index and the number of indices of a Python slice; `None` for a step of 0.
fn range(len: u64, start: Option<i64>, stop: Option<i64>, step: i64) -> Option<(u64, u64)> {
    let len = i128::from(len);
    let (least, greatest) = if step > 0 { (0, len) } else { (-1, len - 1) };
    let bound = |bound: Option<i64>, default: i128| match bound.map(i128::from) {
        None => default,
        Some(bound) => (if bound < 0 { bound + len } else { bound }).clamp(least, greatest),
    };
    let step = i128::from(step);
    let (start, stop) = match step {
        0 => return None,
        1.. => (bound(start, 0), bound(stop, len)),
        _ => (bound(start, len - 1), bound(stop, -1)),
    };
    let distance = if step > 0 { stop - start } else { start - stop };
    let count = if distance > 0 { (distance + step.abs() - 1) / step.abs() } else { 0 };
    Some((u64::try_from(start).unwrap_or(0), u64::try_from(count).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the indices that `indexer` selects, in the order of the selection.
    fn listed(indexer: &Indexer) -> Vec<u64> {
        (0..indexer.len().unwrap_or(1)).map(|at| indexer.get(at)).collect()
    }

    fn slice(list: &[u64], start: Option<i64>, stop: Option<i64>, step: i64) -> Vec<u64> {
        let (first, count) = range(list.len() as u64, start, stop, step).unwrap();
        (0..count).map(|number| list[(first as i64 + step * number as i64) as usize]).collect()
    }

    proptest! {
        #[test]
        fn selections_of_selections(
            len in 0_u64..12,
            slices in prop::collection::vec((prop::option::of(-14_i64..14), prop::option::of(-14_i64..14), prop_oneof![-3_i64..0, 1_i64..4]), 0..4),
            as_list in any::<bool>(),
        ) {
            let mut model: Vec<u64> = (0..len).collect();
            let mut indexer = Indexer::all(len);
            if as_list {
                let axis = AxisSelection::Indices((0..len as i64).collect());
                indexer = indexer.select("x", &axis).unwrap();
            }
            for (start, stop, step) in slices {
                indexer = indexer.select("x", &AxisSelection::Range { start, stop, step }).unwrap();
                model = slice(&model, start, stop, step);
                prop_assert_eq!(listed(&indexer), model.clone());
            }
            // The axis selects the same of the array.
            let resolved = Indexer::all(len).select("x", &indexer.to_axis()).unwrap();
            prop_assert_eq!(listed(&resolved), model);
        }
    }

    #[test]
    fn slices_are_those_of_python() {
        let list: Vec<u64> = (0..5).collect();
        assert_eq!(slice(&list, None, None, -1), [4, 3, 2, 1, 0]);
        assert_eq!(slice(&list, Some(-2), None, 1), [3, 4]);
        assert_eq!(slice(&list, Some(3), Some(-9), -2), [3, 1]);
        assert_eq!(slice(&list, Some(9), None, 1), [0; 0]);
    }

    #[test]
    fn bad_indices_are_named() {
        let error = Indexer::all(4).select("time", &AxisSelection::Index(-5)).unwrap_err();
        assert_eq!(error.message(), "dimension time: index -5 is out of bounds for 4 elements");
        let gone = Indexer::all(4).select("time", &AxisSelection::Index(-1)).unwrap();
        assert_eq!(gone, Indexer::One(3));
        assert!(gone.select("time", &AxisSelection::All).is_err());
        assert!(Indexer::all(4).select("time", &AxisSelection::Mask(vec![true])).is_err());
    }
}
