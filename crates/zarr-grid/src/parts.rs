use smallvec::SmallVec;

use crate::cuts::Cell;
use crate::element_count;
use crate::error::{Error, Result};
use crate::grid::ChunkGrid;
use crate::region::Region;
use crate::resolved::{AxisPicks, Resolved};
use crate::shape::Shape;

mod axis;
mod points;
use axis::{AxisParts, Way};
use points::{PointGroup, PointGroups};

/// A run of elements to be copied between a part and the output.
///
/// Both indices count elements in C order: `from` in the part's region, `to` in the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Move {
    /// The first element in the region of the part.
    pub from: u64,
    /// The first element in the output.
    pub to: u64,
    /// How many elements.
    pub len: u64,
}

/// A selection chunk by chunk.
///
/// Each chunk that holds a selected element is one part, so that no chunk is decoded twice; of each chunk only the
/// smallest box (with a common step, for lists) around what is selected is wanted. Lists and ranges cost the sum of
/// the axes, points their number.
///
/// # Example
/// ```
/// # use zarr_grid::{ChunkGrid, Selection};
/// let grid = ChunkGrid::regular(&[100], &[10])?;
/// let selection: Selection = "[91, 3, 3, 7]".parse()?;
/// let parts = selection.resolve(grid.shape())?.parts(&grid)?;
/// let chunks: Vec<_> = parts.iter().map(|part| (part.cell.index[0], part.cell.region.to_string())).collect();
/// assert_eq!(chunks, [(0, "[3:8:4]".to_owned()), (9, "[1:2]".to_owned())]);
/// # Ok::<(), zarr_grid::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Parts {
    kind: Kind,
    output_shape: Shape,
}

#[derive(Debug, Clone)]
enum Kind {
    Outer(SmallVec<[AxisParts; 2]>),
    Points(PointGroups),
}

impl Parts {
    pub(crate) fn new(resolved: &Resolved, grid: &ChunkGrid) -> Result<Self> {
        let output_shape = resolved.output_shape();
        element_count(&output_shape).ok_or(Error::Overflow { what: "the number of selected elements" })?;
        element_count(&grid.largest_chunk_shape())
            .ok_or(Error::Overflow { what: "the number of elements of a chunk" })?;
        let check = |found: usize| match grid.rank() == found {
            true => Ok(()),
            false => Err(Error::Rank { what: "selection", found, expected: grid.rank() }),
        };
        let kind = match resolved {
            Resolved::Box(part) => {
                check(part.region.rank())?;
                part.region.check(grid.shape())?;
                let axes = part.region.axes().iter().zip(&part.flipped).enumerate();
                Kind::Outer(
                    axes.map(|(axis, (range, flipped))| AxisParts::even(grid, axis, *range, *flipped)).collect(),
                )
            }
            Resolved::Orthogonal(part) => {
                check(part.axes().len())?;
                let axes = part.axes().iter().enumerate().map(|(axis, picks)| match picks {
                    AxisPicks::Range { range, flipped } => {
                        Region::new([*range])?.check(&grid.shape()[axis..=axis])?;
                        Ok(AxisParts::even(grid, axis, *range, *flipped))
                    }
                    AxisPicks::List(picks) => AxisParts::listed(grid, axis, picks),
                });
                Kind::Outer(axes.collect::<Result<_>>()?)
            }
            Resolved::Points(points) => {
                check(points.rank())?;
                Kind::Points(PointGroups::new(grid, points)?)
            }
        };
        Ok(Self { kind, output_shape })
    }

    /// The number of parts, `u64::MAX` if there are more.
    pub fn len(&self) -> u64 {
        match &self.kind {
            Kind::Outer(_) if self.is_empty() => 0,
            Kind::Outer(axes) => axes.iter().fold(1, |n: u64, axis| n.saturating_mul(axis.len())),
            Kind::Points(groups) => groups.len(),
        }
    }

    /// Whether nothing is selected.
    pub fn is_empty(&self) -> bool {
        match &self.kind {
            Kind::Outer(axes) => axes.iter().any(|axis| axis.len() == 0),
            Kind::Points(groups) => groups.len() == 0,
        }
    }

    /// The shape of the output that parts write to, as [`Resolved::output_shape`].
    pub fn output_shape(&self) -> &[u64] {
        &self.output_shape
    }

    /// Part `i`, in C order of the chunks.
    pub fn get(&self, i: u64) -> Option<Part<'_>> {
        match &self.kind {
            Kind::Outer(axes) => self.outer(axes, i),
            Kind::Points(groups) => {
                let (cell, group) = groups.get(i)?;
                Some(Part { cell, straight: false, ways: Ways::Points(group) })
            }
        }
    }

    /// All parts, in C order of the chunks.
    pub fn iter(&self) -> impl Iterator<Item = Part<'_>> {
        (0..self.len()).map_while(|i| self.get(i))
    }

    fn outer<'a>(&'a self, axes: &'a [AxisParts], i: u64) -> Option<Part<'a>> {
        if self.is_empty() {
            return None;
        }
        let mut at = Shape::from_elem(0, axes.len());
        let mut rest = i;
        for (at, axis) in at.iter_mut().zip(axes).rev() {
            *at = rest % axis.len();
            rest /= axis.len();
        }
        if rest > 0 {
            return None;
        }
        let mut cell = Cell::default();
        let mut ways = SmallVec::new();
        let mut straight = true;
        for (axis, at) in axes.iter().zip(at) {
            let (cut, way) = axis.get(at);
            straight &= way.is_straight();
            cell.index.push(cut.cell);
            cell.shape.push(cut.cell_len);
            cell.region.0.push(cut.inner);
            cell.out_start.push(cut.out);
            cell.out_shape.push(cut.inner.len);
            ways.push(way);
        }
        if !straight {
            cell.out_start.fill(0);
        }
        Some(Part { cell, straight, ways: Ways::Outer { ways, output_shape: &self.output_shape } })
    }
}

/// What one chunk contributes to a selection.
#[derive(Debug, Clone)]
pub struct Part<'a> {
    /// The chunk and the box of it that is wanted.
    ///
    /// If the part [is straight](Part::is_straight), `out_start` and `out_shape` are its window of the output. If not,
    /// they are the whole of a buffer of the box's shape, between which and the output the [moves](Part::moves) go.
    pub cell: Cell,
    straight: bool,
    ways: Ways<'a>,
}

#[derive(Debug, Clone)]
enum Ways<'a> {
    Outer { ways: SmallVec<[Way<'a>; 6]>, output_shape: &'a [u64] },
    Points(PointGroup<'a>),
}

impl Part<'_> {
    /// Whether the box goes into a window of the output as it is.
    pub fn is_straight(&self) -> bool {
        self.straight
    }

    /// Whether every element of the box is selected, so that all of it is known when the part is written.
    pub fn is_full(&self) -> bool {
        match &self.ways {
            Ways::Outer { ways, .. } => ways.iter().zip(&self.cell.out_shape).all(|(way, &len)| way.distinct() == len),
            // The number of elements of a chunk fits, and a box is not larger.
            Ways::Points(group) => Some(group.distinct()) == element_count(&self.cell.out_shape),
        }
    }

    /// Calls `each` for all runs of elements between the box and the output, whether straight or not.
    ///
    /// Where an element is selected more than once, the later place in the output comes later: if moves are made from
    /// the output to the box, the last value stays, as in numpy.
    pub fn moves(&self, mut each: impl FnMut(Move)) {
        // Neighbouring runs are joined: whole rows of the box that are whole rows of the output become one.
        let mut pending: Option<Move> = None;
        let mut add = |next: Move| match &mut pending {
            Some(run) if run.from + run.len == next.from && run.to + run.len == next.to => run.len += next.len,
            _ => {
                if let Some(run) = pending.replace(next) {
                    each(run);
                }
            }
        };
        match &self.ways {
            Ways::Outer { ways, output_shape } => axis::product(ways, &self.cell.out_shape, output_shape, &mut add),
            Ways::Points(group) => group.moves(&mut add),
        }
        if let Some(run) = pending {
            each(run);
        }
    }
}

/// How many elements further the next position of each axis lies, in C order. The shape's product fits 64 bits.
fn strides(shape: &[u64]) -> Shape {
    let mut strides = Shape::from_elem(1, shape.len());
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(shape[axis]);
    }
    strides
}
