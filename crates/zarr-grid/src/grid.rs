//! Chunk grids: which chunks an array has, and where its elements lie in them.
//!
//! # A new chunk grid
//! 1. A file in the folder `grid` with the struct of the grid, its variant here, and its arms in the methods.
//! 2. Its configuration: both directions in `grid/config.rs`.
//! 3. What asks for a regular grid: `git grep regular_chunk_shape crates` (selections, conversions, which also write temporary chunks in
//!    `crates/zarr-convert/src/conversion/scratch.rs`, joined files in `crates/zarr-virtualize/src/chunks.rs`).
//! 4. Python: `python/zarr_rust/_grid.py`. A row of the laws in `tests/tests/crates/grid.rs`, and `docs/dialects.md`.

use crate::error::{Error, Result};
use crate::overlaps::{AxisOverlaps, ChunkOverlap, ChunkOverlaps};
use crate::region::{AxisRange, Region};
use crate::shape::{ChunkIndex, Shape};

mod bounded;
mod config;
mod rectilinear;
mod regular;
pub use bounded::BoundedGrid;
pub use rectilinear::{AxisChunks, RectilinearGrid, Run};
pub use regular::RegularGrid;

/// Chunk grid: the division of an array into chunks.
///
/// It is built once from an array's shape and metadata. Chunks have their full length even if they reach beyond the array (except in a
/// bounded grid); positions and regions always count elements of the array.
///
/// # Example
/// ```
/// # use zarr_grid::{ChunkGrid, Region};
/// let grid = ChunkGrid::regular(&[10, 10], &[4, 5])?;
/// assert_eq!(grid.grid_shape().as_slice(), [3, 2]);
/// assert_eq!(grid.chunk_at(&[9, 4])?.as_slice(), [2, 0]);
/// assert_eq!(grid.chunk_region(&[2, 0]), Region::from_ranges(&[8..10, 0..5]));
/// # Ok::<(), zarr_grid::Error>(())
/// ```
///
/// Zarr v3 core, section "Chunk grids".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChunkGrid {
    /// Grid of chunks of one shape.
    Regular(RegularGrid),
    /// List of chunk lengths along each axis.
    Rectilinear(RectilinearGrid),
    /// Chunks of one shape, cut off at the end of the array.
    Bounded(BoundedGrid),
}

impl ChunkGrid {
    /// Creates a grid with chunks of one shape.
    ///
    /// # Errors
    /// [`Error::Rank`], or [`Error::ZeroChunk`] if a chunk length is 0 along an axis that is not empty.
    pub fn regular(shape: &[u64], chunk: &[u64]) -> Result<Self> {
        RegularGrid::new(shape, chunk).map(Self::Regular)
    }

    /// Creates a grid with a separate list of chunk lengths along each axis.
    ///
    /// # Errors
    /// [`Error::Rank`], or [`Error::Uncovered`] if the chunks of an axis end before the axis does.
    pub fn rectilinear(shape: &[u64], axes: impl IntoIterator<Item = AxisChunks>) -> Result<Self> {
        RectilinearGrid::new(shape, axes).map(Self::Rectilinear)
    }

    /// Returns the shape of the array.
    pub fn shape(&self) -> &[u64] {
        match self {
            Self::Regular(grid) => grid.shape(),
            Self::Rectilinear(grid) => grid.shape(),
            Self::Bounded(grid) => grid.shape(),
        }
    }

    /// Returns the number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape().len()
    }

    /// Returns the number of chunks along each axis that hold elements of the array.
    pub fn grid_shape(&self) -> Shape {
        (0..self.rank()).map(|axis| self.chunk_count(axis)).collect()
    }

    /// Returns the number of chunks along `axis` that hold elements of the array; 0 if the array has no such axis.
    pub fn chunk_count(&self, axis: usize) -> u64 {
        match self.shape().get(axis).map(|len| len.checked_sub(1)) {
            Some(Some(last)) => self.locate(axis, last).map_or(0, |at| at.index + 1),
            _ => 0,
        }
    }

    /// Returns the chunk shape if all chunks have the same shape; else `None`.
    pub fn regular_chunk_shape(&self) -> Option<&[u64]> {
        match self {
            Self::Regular(grid) => Some(grid.chunk_shape()),
            Self::Rectilinear(_) => None,
            Self::Bounded(grid) => grid.is_even().then(|| grid.chunk_shape()),
        }
    }

    /// Returns the largest chunk length along each axis, which bounds the memory for a chunk.
    pub fn largest_chunk_shape(&self) -> Shape {
        match self {
            Self::Regular(grid) => grid.chunk_shape().into(),
            Self::Rectilinear(grid) => grid.axes().iter().map(AxisChunks::longest).collect(),
            Self::Bounded(grid) => grid.axes().iter().map(AxisChunks::longest).collect(),
        }
    }

    /// Returns the full shape of a chunk, even if the chunk reaches beyond the array. Lengths are 0 along axes in which there is no such
    /// chunk; see [`ChunkGrid::check_index`].
    pub fn chunk_shape(&self, index: &[u64]) -> Shape {
        self.extents(index).map(|(_, len)| len).collect()
    }

    /// Returns the elements of the array that lie in a chunk: the chunk's box, clipped to the array. Empty if there is no such chunk.
    pub fn chunk_region(&self, index: &[u64]) -> Region {
        let ranges = self.extents(index).zip(self.shape());
        Region(ranges.map(|((start, len), &end)| AxisRange::new(start, len.min(end.saturating_sub(start)))).collect())
    }

    /// Checks that there is a chunk with this index that holds elements of the array.
    ///
    /// # Errors
    /// [`Error::Rank`] or [`Error::OutOfBounds`].
    pub fn check_index(&self, index: &[u64]) -> Result<()> {
        self.check_rank("chunk index", index.len())?;
        for (axis, &found) in index.iter().enumerate() {
            let len = self.chunk_count(axis);
            if found >= len {
                return Err(Error::OutOfBounds { what: "chunk", axis, found: found.into(), len });
            }
        }
        Ok(())
    }

    /// Returns the index of the chunk that holds the element at `position`.
    ///
    /// `position` has one coordinate per dimension, in elements from the origin of the array. The result counts chunks.
    ///
    /// # Errors
    /// [`Error::Rank`] if `position` has another number of dimensions than the array, [`Error::OutOfBounds`] if it lies outside of the
    /// array.
    pub fn chunk_at(&self, position: &[u64]) -> Result<ChunkIndex> {
        self.check_rank("position", position.len())?;
        let mut index = ChunkIndex::new();
        for (axis, (&found, &len)) in position.iter().zip(self.shape()).enumerate() {
            let chunk = self.locate(axis, found).filter(|_| found < len);
            let out_of_bounds = Error::OutOfBounds { what: "index", axis, found: found.into(), len };
            index.push(chunk.ok_or(out_of_bounds)?.index);
        }
        Ok(index)
    }

    /// Returns the overlaps of a region with the chunks.
    ///
    /// `region` must be a region of this array ([`Region::check`]): positions outside of the array have no overlap, and a region with
    /// another number of dimensions has none at all.
    pub fn intersect(&self, region: &Region) -> ChunkOverlaps {
        if region.rank() != self.rank() {
            let none = core::iter::repeat_with(AxisOverlaps::default);
            return ChunkOverlaps::new(none.take(self.rank().max(1)).collect());
        }
        ChunkOverlaps::new(
            region.axes().iter().enumerate().map(|(axis, range)| self.intersect_axis(axis, *range)).collect(),
        )
    }

    /// Returns whether an overlap contains every element of its chunk that lies in the array, so that writing the overlap replaces the
    /// whole chunk.
    pub fn covers_chunk(&self, overlap: &ChunkOverlap) -> bool {
        let clipped = self
            .extents(&overlap.index)
            .zip(self.shape())
            .map(|((start, len), end)| len.min(end.saturating_sub(start)));
        overlap
            .region
            .axes()
            .iter()
            .zip(clipped)
            .all(|(range, len)| range.start == 0 && range.step == 1 && range.len == len)
    }

    /// Returns the same grid for an array of another shape.
    ///
    /// If the listed lengths of a rectilinear axis do not reach the new end, chunks of its last length are added. Chunks beyond the end of
    /// a smaller array stay listed.
    ///
    /// # Errors
    /// [`Error::Rank`], [`Error::ZeroChunk`] or [`Error::Overflow`]; [`Error::CutChunk`] if stored chunks that end with the array would
    /// change their shape.
    pub fn resized(&self, shape: &[u64]) -> Result<Self> {
        match self {
            Self::Regular(grid) => Self::regular(shape, grid.chunk_shape()),
            Self::Rectilinear(grid) => grid.resized(shape).map(Self::Rectilinear),
            Self::Bounded(grid) => grid.resized(shape).map(Self::Bounded),
        }
    }

    fn check_rank(&self, what: &'static str, found: usize) -> Result<()> {
        let expected = self.rank();
        if found == expected { Ok(()) } else { Err(Error::Rank { what, found, expected }) }
    }

    /// Returns first element and full length of a chunk along each axis; `(0, 0)` along axes in which there is no such chunk.
    fn extents<'a>(&'a self, index: &'a [u64]) -> impl Iterator<Item = (u64, u64)> + 'a {
        let axes = 0..self.rank();
        axes.map(|axis| index.get(axis).and_then(|&chunk| self.extent(axis, chunk)).unwrap_or((0, 0)))
    }

    /// Returns first element and full length of chunk `chunk` along `axis`; `None` if it holds no elements of the array.
    pub(crate) fn extent(&self, axis: usize, chunk: u64) -> Option<(u64, u64)> {
        let end = *self.shape().get(axis)?;
        let (start, len) = match self {
            Self::Regular(grid) => grid.extent(axis, chunk)?,
            Self::Rectilinear(grid) => grid.axes().get(axis)?.extent(chunk)?,
            Self::Bounded(grid) => grid.axes().get(axis)?.extent(chunk)?,
        };
        (start < end).then_some((start, len))
    }

    /// Returns the chunk along `axis` that holds `position`; `None` if there is none.
    pub(crate) fn locate(&self, axis: usize, position: u64) -> Option<AxisChunk> {
        match self {
            Self::Regular(grid) => grid.locate(axis, position),
            Self::Rectilinear(grid) => grid.axes().get(axis)?.locate(position),
            Self::Bounded(grid) => grid.axes().get(axis)?.locate(position),
        }
    }

    /// Returns the overlaps of a range with the chunks along `axis`, which must exist.
    pub(crate) fn intersect_axis(&self, axis: usize, range: AxisRange) -> AxisOverlaps {
        let range = range.before(self.shape()[axis]);
        match self {
            Self::Regular(grid) => AxisOverlaps::regular(range, grid.chunk_shape()[axis]),
            Self::Rectilinear(grid) => grid.axes()[axis].intersect(range),
            Self::Bounded(grid) => grid.axes()[axis].intersect(range),
        }
    }
}

/// Index and elements of a chunk along one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AxisChunk {
    /// Index of the chunk along the axis.
    pub(crate) index: u64,
    /// First element of the chunk.
    pub(crate) start: u64,
    /// Full length of the chunk in elements.
    pub(crate) len: u64,
}
