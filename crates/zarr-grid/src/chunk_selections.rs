use smallvec::SmallVec;

use crate::element_count;
use crate::error::{Error, Result};
use crate::grid::ChunkGrid;
use crate::overlaps::ChunkOverlap;
use crate::region::Region;
use crate::resolved::{AxisIndices, Resolved};
use crate::shape::Shape;

mod axis;
mod coordinates;
use axis::{AxisChunkSelections, AxisMap};
use coordinates::{CoordinateGroup, CoordinateGroups};

/// A run of elements that is copied between the box of a chunk and the output.
///
/// Both indices count elements in C order: `from` in the box, `to` in the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyRun {
    /// The first element in the box.
    pub from: u64,
    /// The first element in the output.
    pub to: u64,
    /// How many elements.
    pub len: u64,
}

/// A selection, divided by chunk, for reads; [`SelectedElements`](crate::SelectedElements) is for writes.
///
/// Each chunk that holds a selected element occurs once, so that no chunk is decoded twice. Of each chunk only the
/// smallest box (with a common step, for lists) around the selected elements is needed. Lists and ranges cost the sum
/// of the axes, coordinates and masks the number of selected elements.
///
/// # Example
/// ```
/// # use zarr_grid::{ChunkGrid, ChunkSelections, Selection};
/// let grid = ChunkGrid::regular(&[100], &[10])?;
/// let selection: Selection = "[91, 3, 3, 7]".parse()?;
/// let parts = ChunkSelections::new(&selection.resolve(grid.shape())?, &grid)?;
/// let chunks: Vec<_> = parts.iter().map(|part| (part.overlap.index[0], part.overlap.region.to_string())).collect();
/// assert_eq!(chunks, [(0, "[3:8:4]".to_owned()), (9, "[1:2]".to_owned())]);
/// # Ok::<(), zarr_grid::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ChunkSelections {
    kind: Kind,
    output_shape: Shape,
}

#[derive(Debug, Clone)]
enum Kind {
    Orthogonal(SmallVec<[AxisChunkSelections; 2]>),
    Coordinates(CoordinateGroups),
}

impl ChunkSelections {
    /// Divides a selection by the chunks of `grid`: the grid of the array, or a finer one (that of inner chunks).
    ///
    /// # Errors
    /// [`Error::Overflow`] if the result or a chunk has more elements than fit 64 bits, [`Error::Rank`] or
    /// [`Error::OutOfBounds`] if the selection is not one of an array with this grid.
    pub fn new(resolved: &Resolved, grid: &ChunkGrid) -> Result<Self> {
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
                Kind::Orthogonal(
                    axes.map(|(axis, (range, flipped))| AxisChunkSelections::range(grid, axis, *range, *flipped))
                        .collect(),
                )
            }
            Resolved::Orthogonal(part) => {
                check(part.axes().len())?;
                let axes = part.axes().iter().enumerate().map(|(axis, indices)| match indices {
                    AxisIndices::Range { range, flipped } => {
                        Region::new([*range])?.check(&grid.shape()[axis..=axis])?;
                        Ok(AxisChunkSelections::range(grid, axis, *range, *flipped))
                    }
                    AxisIndices::List(indices) => AxisChunkSelections::list(grid, axis, indices),
                });
                Kind::Orthogonal(axes.collect::<Result<_>>()?)
            }
            Resolved::Coordinates(selection) => {
                check(selection.rank())?;
                Kind::Coordinates(CoordinateGroups::new(grid, selection)?)
            }
            Resolved::Mask(selection) => {
                check(selection.shape().len())?;
                Kind::Coordinates(CoordinateGroups::new(grid, &selection.to_coordinates())?)
            }
        };
        Ok(Self { kind, output_shape })
    }

    /// The number of chunks, `u64::MAX` if there are more.
    pub fn len(&self) -> u64 {
        match &self.kind {
            Kind::Orthogonal(_) if self.is_empty() => 0,
            Kind::Orthogonal(axes) => axes.iter().fold(1, |n: u64, axis| n.saturating_mul(axis.len())),
            Kind::Coordinates(groups) => groups.len(),
        }
    }

    /// Whether nothing is selected.
    pub fn is_empty(&self) -> bool {
        match &self.kind {
            Kind::Orthogonal(axes) => axes.iter().any(|axis| axis.len() == 0),
            Kind::Coordinates(groups) => groups.len() == 0,
        }
    }

    /// The shape of the output, as [`Resolved::output_shape`].
    pub fn output_shape(&self) -> &[u64] {
        &self.output_shape
    }

    /// The selection in chunk number `i`, in C order of the chunks.
    pub fn get(&self, i: u64) -> Option<ChunkSelection<'_>> {
        match &self.kind {
            Kind::Orthogonal(axes) => self.orthogonal(axes, i),
            Kind::Coordinates(groups) => {
                let (overlap, group) = groups.get(i)?;
                Some(ChunkSelection { overlap, is_window: false, maps: Maps::Coordinates(group) })
            }
        }
    }

    /// The selections in all chunks, in C order of the chunks.
    pub fn iter(&self) -> impl Iterator<Item = ChunkSelection<'_>> {
        (0..self.len()).map_while(|i| self.get(i))
    }

    fn orthogonal<'a>(&'a self, axes: &'a [AxisChunkSelections], i: u64) -> Option<ChunkSelection<'a>> {
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
        let mut overlap = ChunkOverlap::default();
        let mut maps = SmallVec::new();
        let mut is_window = true;
        for (axis, at) in axes.iter().zip(at) {
            let (along, map) = axis.get(at);
            is_window &= map.is_consecutive();
            overlap.index.push(along.chunk);
            overlap.shape.push(along.chunk_len);
            overlap.region.0.push(along.inner);
            overlap.out_start.push(along.out);
            overlap.out_shape.push(along.inner.len);
            maps.push(map);
        }
        if !is_window {
            overlap.out_start.fill(0);
        }
        Some(ChunkSelection {
            overlap,
            is_window,
            maps: Maps::Orthogonal { axes: maps, output_shape: &self.output_shape },
        })
    }
}

/// The selected elements of one chunk.
#[derive(Debug, Clone)]
pub struct ChunkSelection<'a> {
    /// The chunk and the box of it that is needed.
    ///
    /// If the box [is a window](Self::is_window) of the output, `out_start` and `out_shape` are that window. Otherwise
    /// they are the whole of a buffer of the box's shape, and [`copy_runs`](Self::copy_runs) go between this buffer and
    /// the output.
    pub overlap: ChunkOverlap,
    is_window: bool,
    maps: Maps<'a>,
}

/// From the elements of a box to the elements of the output.
#[derive(Debug, Clone)]
enum Maps<'a> {
    Orthogonal { axes: SmallVec<[AxisMap<'a>; 6]>, output_shape: &'a [u64] },
    Coordinates(CoordinateGroup<'a>),
}

impl ChunkSelection<'_> {
    /// Whether the elements of the box, in their order, are a window of the output.
    pub fn is_window(&self) -> bool {
        self.is_window
    }

    /// Calls `each` for all runs of elements between the box and the output, also if the box is a window of the output.
    pub fn copy_runs(&self, mut each: impl FnMut(CopyRun)) {
        // Neighbouring runs are joined: whole rows of the box that are whole rows of the output become one.
        let mut pending: Option<CopyRun> = None;
        let mut add = |next: CopyRun| match &mut pending {
            Some(run) if run.from + run.len == next.from && run.to + run.len == next.to => run.len += next.len,
            _ => {
                if let Some(run) = pending.replace(next) {
                    each(run);
                }
            }
        };
        match &self.maps {
            Maps::Orthogonal { axes, output_shape } => {
                axis::product(axes, &self.overlap.out_shape, output_shape, &mut add)
            }
            Maps::Coordinates(group) => group.copy_runs(&mut add),
        }
        if let Some(run) = pending {
            each(run);
        }
    }
}

/// How many elements further the next position of each axis lies, in C order. The shape's product fits 64 bits.
pub(crate) fn strides(shape: &[u64]) -> Shape {
    let mut strides = Shape::from_elem(1, shape.len());
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(shape[axis]);
    }
    strides
}
