mod mask;
pub use mask::MaskSelection;

use std::sync::Arc;

use smallvec::SmallVec;

use crate::region::{AxisRange, Region};
use crate::shape::Shape;

/// Selection applied to a shape: the selected elements, and their positions in the result.
///
/// [`SelectedElements`](crate::SelectedElements) divides every kind by chunk. For a box without flipped axes,
/// [`ChunkGrid::intersect`](crate::ChunkGrid::intersect) of its region is faster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved {
    /// Elements of one region.
    Box(BoxSelection),
    /// Outer product of a list or range per axis.
    Orthogonal(OrthogonalSelection),
    /// Single elements, given by coordinates.
    Coordinates(CoordinateSelection),
    /// Elements that a mask of the array selects.
    Mask(MaskSelection),
}

impl Resolved {
    /// Returns the shape of the result, without the axes of single indices.
    pub fn result_shape(&self) -> Shape {
        let kept = |(len, dropped): (u64, &bool)| (!dropped).then_some(len);
        match self {
            Self::Box(selection) => {
                selection.region.shape().into_iter().zip(&selection.dropped).filter_map(kept).collect()
            }
            Self::Orthogonal(selection) => {
                self.output_shape().into_iter().zip(&selection.dropped).filter_map(kept).collect()
            }
            Self::Coordinates(_) | Self::Mask(_) => self.output_shape(),
        }
    }

    /// Returns the shape of the output: that of the result, with axes of single indices at length 1. In C order both have the same bytes.
    pub fn output_shape(&self) -> Shape {
        match self {
            Self::Box(selection) => selection.region.shape(),
            Self::Orthogonal(selection) => selection.axes.iter().map(AxisIndices::len).collect(),
            Self::Coordinates(selection) => SmallVec::from_slice(&[selection.count as u64]),
            Self::Mask(selection) => SmallVec::from_slice(&[selection.len()]),
        }
    }

    /// Returns the number of elements of the result; `None` if it exceeds 64 bits.
    pub fn len_checked(&self) -> Option<u64> {
        crate::element_count(&self.output_shape())
    }

    /// Returns the region if the elements are one region in ascending order; else `None`.
    pub fn as_region(&self) -> Option<&Region> {
        match self {
            Self::Box(selection) if !selection.flipped.contains(&true) => Some(&selection.region),
            _ => None,
        }
    }
}

/// Region of an array, and the relation of its axes to the axes of the result.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BoxSelection {
    /// Selected elements, in ascending order along each axis.
    pub region: Region,
    /// Whether each axis is in descending order in the result (negative step).
    pub flipped: SmallVec<[bool; 6]>,
    /// Whether each axis, of length 1, is missing in the result (single index).
    pub dropped: SmallVec<[bool; 6]>,
}

impl BoxSelection {
    /// Creates a selection of `region` without flipped or dropped axes.
    pub fn new(region: Region) -> Self {
        let none = SmallVec::from_elem(false, region.rank());
        Self { region, flipped: none.clone(), dropped: none }
    }
}

/// Position in a list along an axis, and its index in the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SelectedIndex {
    /// Position in the array, along the axis.
    pub position: u64,
    /// Index in the result, along the axis.
    pub out: u64,
}

/// Positions that an orthogonal selection takes along one axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AxisIndices {
    /// Evenly spaced positions, as a range.
    Range {
        /// Selected positions in ascending order.
        range: AxisRange,
        /// Whether the result has the positions in descending order.
        flipped: bool,
    },
    /// Positions in ascending order with their indices in the result. A position that was listed several times occurs as often, with
    /// ascending indices.
    List(Vec<SelectedIndex>),
}

impl AxisIndices {
    /// Creates the indices for a list of positions: a range if they are evenly spaced.
    pub fn from_positions(positions: &[u64]) -> Self {
        if let Some((range, flipped)) = evenly(positions) {
            return Self::Range { range, flipped };
        }
        let mut indices: Vec<SelectedIndex> =
            (0..).zip(positions).map(|(out, &position)| SelectedIndex { position, out }).collect();
        indices.sort_unstable();
        Self::List(indices)
    }

    /// Returns the number of positions, with repetitions.
    pub fn len(&self) -> u64 {
        match self {
            Self::Range { range, .. } => range.len,
            Self::List(indices) => indices.len() as u64,
        }
    }

    /// Returns whether there are no positions.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Returns the range that equals a list of positions, and whether it is descending; `None` if the positions are not evenly spaced.
fn evenly(positions: &[u64]) -> Option<(AxisRange, bool)> {
    let len = positions.len() as u64;
    let (Some(&first), Some(&last)) = (positions.first(), positions.last()) else {
        return Some((AxisRange::new(0, 0), false));
    };
    let Some(&second) = positions.get(1) else { return Some((AxisRange::new(first, 1), false)) };
    let flipped = second < first;
    let step = Some(first.abs_diff(second)).filter(|&step| step > 0)?;
    let even = positions.windows(2).all(|pair| (pair[1] < pair[0]) == flipped && pair[0].abs_diff(pair[1]) == step);
    even.then_some((AxisRange { start: first.min(last), len, step }, flipped))
}

/// Outer product of one list or range per axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrthogonalSelection {
    axes: SmallVec<[AxisIndices; 6]>,
    dropped: SmallVec<[bool; 6]>,
}

impl OrthogonalSelection {
    pub(crate) fn new(axes: SmallVec<[AxisIndices; 6]>, dropped: SmallVec<[bool; 6]>) -> Self {
        Self { axes, dropped }
    }

    /// Returns the positions along each axis.
    pub fn axes(&self) -> &[AxisIndices] {
        &self.axes
    }

    /// Returns whether each axis is missing in the result (single index).
    pub fn dropped(&self) -> &[bool] {
        &self.dropped
    }

    /// Returns a box selection if no axis has a list, else the orthogonal selection.
    pub(crate) fn simplified(self) -> Resolved {
        let range = |axis: &AxisIndices| match axis {
            AxisIndices::Range { range, flipped } => Some((*range, *flipped)),
            AxisIndices::List(_) => None,
        };
        match self.axes.iter().map(range).collect::<Option<Vec<_>>>() {
            None => Resolved::Orthogonal(self),
            Some(ranges) => Resolved::Box(BoxSelection {
                region: Region(ranges.iter().map(|(range, _)| *range).collect()),
                flipped: ranges.iter().map(|(_, flipped)| *flipped).collect(),
                dropped: self.dropped,
            }),
        }
    }
}

/// Single elements, in the order of the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoordinateSelection {
    rank: usize,
    count: usize,
    /// Coordinates of the selected elements, `rank` numbers for each.
    positions: Arc<[u64]>,
}

impl CoordinateSelection {
    pub(crate) fn new(rank: usize, count: usize, positions: Vec<u64>) -> Self {
        Self { rank, count, positions: positions.into() }
    }

    /// Returns the number of selected elements.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether no element is selected.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the number of dimensions.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Returns the coordinates of all selected elements, one element after another.
    pub(crate) fn positions(&self) -> &[u64] {
        &self.positions
    }

    /// Returns the coordinates of selected element `i`, which are empty in an array without dimensions; `None` past the end.
    pub fn get(&self, i: usize) -> Option<&[u64]> {
        let start = i.checked_mul(self.rank)?;
        self.positions.get(start..start.checked_add(self.rank)?).filter(|_| i < self.count)
    }
}
