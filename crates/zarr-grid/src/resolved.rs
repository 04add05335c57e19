mod mask;
pub use mask::MaskSelection;

use std::sync::Arc;

use smallvec::SmallVec;

use crate::region::{AxisRange, Region};
use crate::shape::Shape;

/// A selection applied to a shape: the elements that are read, and their positions in the result.
///
/// [`SelectedElements`](crate::SelectedElements) divides every kind chunk by chunk. For a box without flipped axes
/// [`ChunkGrid::intersect`](crate::ChunkGrid::intersect) of its region is faster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved {
    /// One region.
    Box(BoxSelection),
    /// The outer product of a list or range per axis.
    Orthogonal(OrthogonalSelection),
    /// Single elements.
    Coordinates(CoordinateSelection),
    /// The elements that a mask of the array selects.
    Mask(MaskSelection),
}

impl Resolved {
    /// The shape of the result, without the axes of single indices.
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

    /// The shape of the output: that of the result, with axes of single indices kept at length 1. In C order both are the
    /// same bytes.
    pub fn output_shape(&self) -> Shape {
        match self {
            Self::Box(selection) => selection.region.shape(),
            Self::Orthogonal(selection) => selection.axes.iter().map(AxisIndices::len).collect(),
            Self::Coordinates(selection) => SmallVec::from_slice(&[selection.count as u64]),
            Self::Mask(selection) => SmallVec::from_slice(&[selection.len()]),
        }
    }

    /// The number of elements of the result; `None` if it does not fit 64 bits.
    pub fn len_checked(&self) -> Option<u64> {
        crate::element_count(&self.output_shape())
    }

    /// The region, if the elements are one region in ascending order.
    pub fn as_region(&self) -> Option<&Region> {
        match self {
            Self::Box(selection) if !selection.flipped.contains(&true) => Some(&selection.region),
            _ => None,
        }
    }
}

/// One region of an array, and how its axes become the axes of the result.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BoxSelection {
    /// The elements, in ascending order along each axis.
    pub region: Region,
    /// The axes along which the result is in descending order (negative steps).
    pub flipped: SmallVec<[bool; 6]>,
    /// The axes of length 1 that the result lacks (single indices).
    pub dropped: SmallVec<[bool; 6]>,
}

impl BoxSelection {
    /// A region as it is.
    pub fn new(region: Region) -> Self {
        let none = SmallVec::from_elem(false, region.rank());
        Self { region, flipped: none.clone(), dropped: none }
    }
}

/// One position of a list along an axis, and its index in the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SelectedIndex {
    /// The position in the array.
    pub position: u64,
    /// The index in the result.
    pub out: u64,
}

/// The positions that an orthogonal selection takes along one axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AxisIndices {
    /// Evenly spaced positions.
    Range {
        /// The positions, ascending.
        range: AxisRange,
        /// Whether the result has them in descending order.
        flipped: bool,
    },
    /// Positions in ascending order with their indices in the result. A position that is listed more than once occurs as
    /// often, with ascending indices.
    List(Vec<SelectedIndex>),
}

impl AxisIndices {
    /// The indices of a list of positions: a range where they are evenly spaced.
    pub fn from_positions(positions: &[u64]) -> Self {
        if let Some((range, flipped)) = evenly(positions) {
            return Self::Range { range, flipped };
        }
        let mut indices: Vec<SelectedIndex> =
            (0..).zip(positions).map(|(out, &position)| SelectedIndex { position, out }).collect();
        indices.sort_unstable();
        Self::List(indices)
    }

    /// How many positions are taken.
    pub fn len(&self) -> u64 {
        match self {
            Self::Range { range, .. } => range.len,
            Self::List(indices) => indices.len() as u64,
        }
    }

    /// Whether no position is taken.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The range that a list of positions is, if it is one.
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

/// The outer product of one list or range per axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrthogonalSelection {
    axes: SmallVec<[AxisIndices; 6]>,
    dropped: SmallVec<[bool; 6]>,
}

impl OrthogonalSelection {
    pub(crate) fn new(axes: SmallVec<[AxisIndices; 6]>, dropped: SmallVec<[bool; 6]>) -> Self {
        Self { axes, dropped }
    }

    /// The positions that are taken along each axis.
    pub fn axes(&self) -> &[AxisIndices] {
        &self.axes
    }

    /// The axes that the result lacks (single indices).
    pub fn dropped(&self) -> &[bool] {
        &self.dropped
    }

    /// A box, if no axis has a list.
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
    /// `rank` numbers for each selected element.
    positions: Arc<[u64]>,
}

impl CoordinateSelection {
    pub(crate) fn new(rank: usize, count: usize, positions: Vec<u64>) -> Self {
        Self { rank, count, positions: positions.into() }
    }

    /// The number of selected elements.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether no element is selected.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The coordinates of all selected elements, one element after another.
    pub(crate) fn positions(&self) -> &[u64] {
        &self.positions
    }

    /// The coordinates of selected element `i`, empty in an array without dimensions.
    pub fn get(&self, i: usize) -> Option<&[u64]> {
        let start = i.checked_mul(self.rank)?;
        self.positions.get(start..start.checked_add(self.rank)?).filter(|_| i < self.count)
    }
}
