use smallvec::SmallVec;

use crate::element_count;
use crate::error::{Error, Result};
use crate::factors::gcd;
use crate::grid::ChunkGrid;
use crate::region::{AxisRange, Region};
use crate::resolved::{AxisIndices, Resolved, SelectedIndex};
use crate::shape::Shape;

mod by_chunk;
mod mask;
pub use by_chunk::ElementsByChunk;
use mask::MaskPart;

/// Run of elements that is copied between a chunk (or box) and the output.
///
/// Both indices count elements in C order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyRun {
    /// Index of the first element in the chunk or the box.
    pub from: u64,
    /// Index of the first element in the output.
    pub to: u64,
    /// Number of elements to copy.
    pub len: u64,
}

/// Selected elements in a container (an array, a chunk or an inner chunk), and their indices in the output.
///
/// [`by_chunk`](Self::by_chunk) divides the elements of an array ([`new`](Self::new)) by chunk, and those of a chunk by inner chunk, in one
/// pass over the coordinates, the rows of a mask, or the positions along each axis. A write copies the elements to the chunk, a read from
/// the smallest box that contains them ([`bounded`](Self::bounded)).
///
/// # Example
/// ```
/// # use zarr_grid::{ChunkGrid, SelectedElements, Selection};
/// let grid = ChunkGrid::regular(&[100], &[10])?;
/// let selection: Selection = "[91, 3, 3, 7]".parse()?;
/// let resolved = selection.resolve(grid.shape())?;
/// let elements = SelectedElements::new(&resolved)?;
/// let chunks = elements.by_chunk(&grid)?;
/// assert_eq!(chunks.len(), 2);
/// let (chunk, elements) = chunks.get(0).unwrap();
/// let mut found = Vec::new();
/// elements.runs(&[10], |run| {
///     found.push((run.from, run.to, run.len));
///     true
/// });
/// // The element that is selected twice ends with its last index.
/// assert_eq!((chunk[0], found), (0, vec![(3, 1, 1), (3, 2, 1), (7, 3, 1)]));
/// # Ok::<(), zarr_grid::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SelectedElements<'a>(ElementSet<'a>);

#[derive(Debug, Clone)]
enum ElementSet<'a> {
    Orthogonal(SmallVec<[AxisPart<'a>; 6]>),
    Coordinates(Points<'a>),
    Mask(MaskPart<'a>),
}

/// Selected positions of one axis.
#[derive(Debug, Clone, Copy)]
struct AxisPart<'a> {
    positions: AxisPositions<'a>,
    /// Number of elements between neighbouring output indices along this axis.
    stride: u64,
}

#[derive(Debug, Clone, Copy)]
enum AxisPositions<'a> {
    /// Range of positions. The output index of the first position is `out`; those of the following positions ascend, or descend if flipped.
    Range { range: AxisRange, out: u64, flipped: bool },
    /// Positions in ascending order, counted from `origin` in units of `step`.
    List { indices: &'a [SelectedIndex], origin: u64, step: u64 },
}

/// Single elements of a coordinate selection, in a container.
#[derive(Debug, Clone)]
struct Points<'a> {
    /// Coordinates of all points of the selection; `rank` is the number of coordinates of each point.
    positions: &'a [u64],
    rank: usize,
    set: PointSet<'a>,
    /// For each axis of the container: number of the coordinate, and its value at the beginning of the container.
    axes: SmallVec<[(usize, u64); 6]>,
}

#[derive(Debug, Clone, Copy)]
enum PointSet<'a> {
    /// All points, with their number.
    All(usize),
    /// Numbers of some points, in ascending order.
    Some(&'a [usize]),
}

impl<'a> SelectedElements<'a> {
    /// Returns all elements of a selection.
    ///
    /// # Errors
    /// [`Error::Overflow`] if the number of elements exceeds 64 bits.
    pub fn new(resolved: &'a Resolved) -> Result<Self> {
        let output_shape = resolved.output_shape();
        element_count(&output_shape).ok_or(Error::Overflow { what: "the number of selected elements" })?;
        let strides = strides(&output_shape);
        let range = |range: AxisRange, flipped: bool| {
            let flipped = flipped && range.len > 1;
            AxisPositions::Range { range, out: if flipped { range.len - 1 } else { 0 }, flipped }
        };
        let part = |(positions, stride)| AxisPart { positions, stride };
        Ok(Self(match resolved {
            Resolved::Box(selected) => {
                let axes = selected.region.axes().iter().zip(&selected.flipped);
                ElementSet::Orthogonal(
                    axes.map(|(axis, flipped)| range(*axis, *flipped)).zip(strides).map(part).collect(),
                )
            }
            Resolved::Orthogonal(selected) => {
                let axes = selected.axes().iter().map(|axis| match axis {
                    AxisIndices::Range { range: positions, flipped } => range(*positions, *flipped),
                    AxisIndices::List(indices) => AxisPositions::List { indices, origin: 0, step: 1 },
                });
                ElementSet::Orthogonal(axes.zip(strides).map(part).collect())
            }
            Resolved::Coordinates(selected) => ElementSet::Coordinates(Points {
                positions: selected.positions(),
                rank: selected.rank(),
                set: PointSet::All(selected.len()),
                axes: (0..selected.rank()).map(|axis| (axis, 0)).collect(),
            }),
            Resolved::Mask(selected) => ElementSet::Mask(MaskPart::whole(selected)),
        }))
    }

    /// Returns the number of dimensions.
    pub fn rank(&self) -> usize {
        match &self.0 {
            ElementSet::Orthogonal(axes) => axes.len(),
            ElementSet::Coordinates(points) => points.axes.len(),
            ElementSet::Mask(part) => part.rank(),
        }
    }

    /// Divides the elements by the chunks of `grid`, a grid of the container.
    ///
    /// # Errors
    /// [`Error::Rank`] or [`Error::OutOfBounds`] if the elements do not lie in an array with this grid.
    pub fn by_chunk(&self, grid: &ChunkGrid) -> Result<ElementsByChunk<'a>> {
        ElementsByChunk::new(self, grid)
    }

    /// Returns the elements in the container with permuted axes: axis `i` of the result is axis `order[i]` of `self`. Numbers that are no
    /// axis are skipped.
    #[must_use]
    pub fn permuted(&self, order: &[usize]) -> Self {
        Self(match &self.0 {
            ElementSet::Orthogonal(axes) => {
                ElementSet::Orthogonal(order.iter().filter_map(|&axis| axes.get(axis).copied()).collect())
            }
            ElementSet::Coordinates(points) => {
                let axes = order.iter().filter_map(|&axis| points.axes.get(axis).copied()).collect();
                ElementSet::Coordinates(Points { axes, ..points.clone() })
            }
            ElementSet::Mask(part) => ElementSet::Mask(part.permuted(order)),
        })
    }

    /// Returns the smallest box that contains the elements, with the common step of the positions of each range or list, and the elements
    /// relative to that box: pass the shape of the box to their [`runs`](Self::runs). There must be at least one element.
    ///
    /// ```
    /// # use zarr_grid::{ChunkGrid, SelectedElements, Selection};
    /// # let grid = ChunkGrid::regular(&[100], &[10])?;
    /// let selection: Selection = "[91, 3, 3, 7]".parse()?;
    /// let resolved = selection.resolve(grid.shape())?;
    /// let chunks = SelectedElements::new(&resolved)?.by_chunk(&grid)?;
    /// let boxes = (0..2).filter_map(|number| chunks.get(number)).map(|(_, elements)| elements.bounded().0.to_string());
    /// assert_eq!(boxes.collect::<Vec<_>>(), ["[3:8:4]", "[1:2]"]);
    /// # Ok::<(), zarr_grid::Error>(())
    /// ```
    #[must_use]
    pub fn bounded(&self) -> (Region, Self) {
        match &self.0 {
            ElementSet::Orthogonal(axes) => {
                let (bounds, axes) = axes.iter().map(|axis| axis.bounded()).unzip();
                (Region(bounds), Self(ElementSet::Orthogonal(axes)))
            }
            ElementSet::Coordinates(points) => {
                let bounds = points.bounds();
                let axes =
                    points.axes.iter().zip(&bounds.0).map(|(&(axis, origin), range)| (axis, origin + range.start));
                let bounded = Points { axes: axes.collect(), ..points.clone() };
                (bounds, Self(ElementSet::Coordinates(bounded)))
            }
            ElementSet::Mask(part) => {
                let bounds = part.bounds();
                let bounded = part.in_box(&bounds);
                (bounds, Self(ElementSet::Mask(bounded)))
            }
        }
    }

    /// Returns whether all elements of a chunk of `shape` are selected.
    pub fn cover(&self, shape: &[u64]) -> bool {
        match &self.0 {
            ElementSet::Orthogonal(axes) => {
                axes.len() == shape.len()
                    && axes.iter().zip(shape).all(|(axis, &len)| axis.positions.count_distinct() == len)
            }
            ElementSet::Coordinates(points) => points.cover(shape),
            ElementSet::Mask(part) => part.cover(shape),
        }
    }

    /// Calls `each` with all runs of elements that are consecutive both in the container ([`CopyRun::from`]) and in the output
    /// ([`CopyRun::to`]), until it returns false. `shape` is the shape of the container. Returns whether `each` never returned false.
    ///
    /// If an element is selected several times, its last index in the output comes last, so that this value remains when runs are copied to
    /// the chunk, as in numpy.
    pub fn runs(&self, shape: &[u64], mut each: impl FnMut(CopyRun) -> bool) -> bool {
        let strides = strides(shape);
        let mut pending: Option<CopyRun> = None;
        let mut add = |next: CopyRun| match &mut pending {
            Some(run) if run.from + run.len == next.from && run.to + run.len == next.to => {
                run.len += next.len;
                true
            }
            _ => pending.replace(next).is_none_or(&mut each),
        };
        let goes_on = match &self.0 {
            ElementSet::Orthogonal(axes) => product(axes, &strides, CopyRun { from: 0, to: 0, len: 1 }, &mut add),
            ElementSet::Coordinates(points) => {
                points.each(&strides, |from, point| add(CopyRun { from, to: point as u64, len: 1 }))
            }
            ElementSet::Mask(part) => part.each(&strides, &mut add),
        };
        goes_on && pending.is_none_or(each)
    }
}

impl AxisPart<'_> {
    /// Returns the smallest range that contains the positions, and the positions relative to that range.
    fn bounded(&self) -> (AxisRange, Self) {
        let (bounds, positions) = match self.positions {
            AxisPositions::Range { range, out, flipped } => {
                (range, AxisPositions::Range { range: AxisRange::new(0, range.len), out, flipped })
            }
            AxisPositions::List { indices, origin, .. } => {
                let bounds = common_range(indices, origin);
                (bounds, AxisPositions::List { indices, origin: origin + bounds.start, step: bounds.step })
            }
        };
        (bounds, Self { positions, ..*self })
    }
}

/// Returns the smallest range, relative to `origin`, that contains all positions of a list.
fn common_range(indices: &[SelectedIndex], origin: u64) -> AxisRange {
    let first = indices.first().map_or(origin, |index| index.position);
    let (last, step) =
        indices.iter().fold((first, 0), |(_, step), index| (index.position, gcd(step, index.position - first)));
    let step = step.max(1);
    AxisRange { start: first - origin, len: (last - first) / step + 1, step }
}

impl AxisPositions<'_> {
    fn len(&self) -> u64 {
        match self {
            Self::Range { range, .. } => range.len,
            Self::List { indices, .. } => indices.len() as u64,
        }
    }

    /// Returns position `i` and its index in the output.
    fn get(&self, i: u64) -> (u64, u64) {
        match self {
            Self::Range { range, out, flipped } => {
                (range.start + i * range.step, if *flipped { out - i } else { out + i })
            }
            Self::List { indices, origin, step } => {
                let index = indices[i as usize];
                let distance = index.position - origin;
                (if *step == 1 { distance } else { distance / step }, index.out)
            }
        }
    }

    fn count_distinct(&self) -> u64 {
        match self {
            Self::Range { range, .. } => range.len,
            Self::List { indices, .. } => {
                let changes = indices.windows(2).filter(|pair| pair[0].position != pair[1].position).count();
                (changes + usize::from(!indices.is_empty())) as u64
            }
        }
    }
}

/// Calls `each` with all combinations of positions along the axes; the last axis varies fastest.
fn product(axes: &[AxisPart<'_>], strides: &[u64], at: CopyRun, each: &mut impl FnMut(CopyRun) -> bool) -> bool {
    let (Some((axis, inner)), Some((stride, inner_strides))) = (axes.split_first(), strides.split_first()) else {
        return each(at);
    };
    if let (AxisPositions::Range { range: AxisRange { start, len, step: 1 }, out, flipped: false }, 1, 1, []) =
        (axis.positions, axis.stride, *stride, inner)
    {
        return len == 0 || each(CopyRun { from: at.from + start, to: at.to + out, len });
    }
    (0..axis.positions.len()).all(|i| {
        let (position, out) = axis.positions.get(i);
        let at = CopyRun { from: at.from + position * stride, to: at.to + out * axis.stride, len: 1 };
        product(inner, inner_strides, at, each)
    })
}

impl Points<'_> {
    fn len(&self) -> usize {
        match self.set {
            PointSet::All(count) => count,
            PointSet::Some(points) => points.len(),
        }
    }

    /// Calls `each` with the index of each point in a chunk with these `strides`, and the number of the point, until it returns false.
    /// Returns whether it never returned false.
    fn each(&self, strides: &[u64], mut each: impl FnMut(u64, usize) -> bool) -> bool {
        let mut visit = |point: usize| {
            let position = &self.positions[point * self.rank..][..self.rank];
            let axes = self.axes.iter().zip(strides);
            each(axes.map(|(&(axis, origin), stride)| (position[axis] - origin) * stride).sum(), point)
        };
        match self.set {
            PointSet::All(count) => (0..count).all(&mut visit),
            PointSet::Some(points) => points.iter().all(|&point| visit(point)),
        }
    }

    /// Returns the smallest box that contains all points.
    fn bounds(&self) -> Region {
        let mut ends: SmallVec<[(u64, u64); 6]> = SmallVec::from_elem((u64::MAX, 0), self.axes.len());
        let visit = |point: usize| {
            let position = &self.positions[point * self.rank..][..self.rank];
            for ((axis, origin), (low, high)) in self.axes.iter().zip(&mut ends) {
                let at = position[*axis] - origin;
                (*low, *high) = (at.min(*low), at.max(*high));
            }
        };
        match self.set {
            PointSet::All(count) => (0..count).for_each(visit),
            PointSet::Some(points) => points.iter().copied().for_each(visit),
        }
        Region(ends.iter().map(|&(low, high)| AxisRange::new(low, (high + 1).saturating_sub(low))).collect())
    }

    fn cover(&self, shape: &[u64]) -> bool {
        let Some(count) = element_count(shape).filter(|&count| count <= self.len() as u64) else { return false };
        let mut seen = vec![0_u64; (count as usize).div_ceil(64)];
        let mut missing = count;
        self.each(&strides(shape), |at, _| {
            if let Some(word) = seen.get_mut((at / 64) as usize) {
                let bit = 1 << (at % 64);
                missing -= u64::from(*word & bit == 0);
                *word |= bit;
            }
            missing > 0
        });
        missing == 0
    }
}

/// Returns the number of elements between neighbouring positions along each axis, in C order. The product of `shape` must fit 64 bits.
fn strides(shape: &[u64]) -> Shape {
    let mut strides = Shape::from_elem(1, shape.len());
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(shape[axis]);
    }
    strides
}
