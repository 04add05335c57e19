//! An array that is read, or a region of one, as an array of its own.

use super::skipped::{SkippedChunk, read_good};
use zarr_array::{Array, ArrayData, MissingChunks};
use zarr_grid::{ChunkGrid, ChunkIndex, Region, Shape};
use zarr_hierarchy::Result;

/// The chunks of an array, or of a region of it: with the indices that they have in the array, and positions that count from the region.
#[derive(Clone, Debug)]
pub(super) struct SourceGrid {
    grid: ChunkGrid,
    /// The elements that are read; the whole array if `None`.
    region: Option<Region>,
}

impl SourceGrid {
    pub(super) fn new(grid: &ChunkGrid, region: Option<Region>) -> Self {
        Self { grid: grid.clone(), region }
    }

    /// The elements that lie in a chunk, which may be none.
    pub(super) fn chunk_region(&self, chunk: &[u64]) -> Region {
        let found = self.grid.chunk_region(chunk);
        match &self.region {
            Some(region) => region.numbers_in(&found),
            None => found,
        }
    }

    /// The elements of the array that a part of the region is.
    pub(super) fn of_array(&self, part: &Region) -> Result<Region> {
        Ok(match &self.region {
            Some(region) => region.at_numbers(part)?,
            None => part.clone(),
        })
    }

    /// How many chunks have elements of a part.
    pub(super) fn count(&self, part: &Region) -> u64 {
        self.of_array(part).map_or(u64::MAX, |part| self.grid.intersect(&part).len())
    }

    /// How many chunks there are.
    pub(super) fn count_all(&self) -> u128 {
        let whole = || Region::whole(self.grid.shape());
        let counts = |region: &Region| u128::from(self.grid.intersect(region).len());
        match &self.region {
            Some(region) => counts(region),
            None if self.grid.shape().contains(&0) => counts(&whole()),
            None => zarr_grid::total_size(&self.grid.grid_shape(), 1),
        }
    }
}

/// An array, or a region of it.
#[derive(Clone, Debug)]
pub(super) struct Source {
    array: Array,
    grid: SourceGrid,
}

impl Source {
    pub(super) fn new(array: Array, region: Option<Region>) -> Self {
        let grid = SourceGrid::new(array.chunk_grid(), region);
        Self { array, grid }
    }

    /// The array.
    pub(super) fn array(&self) -> &Array {
        &self.array
    }

    pub(super) fn grid(&self) -> &SourceGrid {
        &self.grid
    }

    /// The same, read with other options.
    pub(super) fn with(self, options: zarr_array::Options) -> Result<Self> {
        Ok(Self { array: self.array.with(options)?, ..self })
    }

    /// Whether it is a region of the array.
    pub(super) fn is_region(&self) -> bool {
        self.grid.region.is_some()
    }

    /// About the shape of the parts that are decoded at once, in elements that are read.
    pub(super) fn part_shape(&self) -> Shape {
        let part = self.array.part_shape();
        match &self.grid.region {
            Some(region) => part.iter().zip(region.axes()).map(|(&len, axis)| len.div_ceil(axis.step.max(1))).collect(),
            None => part,
        }
    }

    /// Reads a part.
    pub(super) fn read(&self, part: &Region) -> Result<ArrayData> {
        self.array.read_data(&self.grid.of_array(part)?)
    }

    /// Reads a part, of which these chunks are stored.
    pub(super) fn read_stored(&self, part: &Region, chunks: &[ChunkIndex]) -> Result<ArrayData> {
        self.array.read_stored(&self.grid.of_array(part)?, chunks)
    }

    /// Reads a part of which some chunks cannot be read, and tells each of these.
    pub(super) fn read_good(
        &self,
        part: &Region,
        chunks: Option<&[ChunkIndex]>,
        skip: &dyn Fn(SkippedChunk) -> Result<()>,
    ) -> Result<ArrayData> {
        read_good(&self.array, &self.grid.of_array(part)?, chunks, skip)
    }

    /// The chunks that are stored and have elements of it, sorted; `None` if all are, it cannot be known which, or missing chunks are an error.
    /// Costs a listing.
    pub(super) fn some_stored(&self) -> Result<Option<Vec<ChunkIndex>>> {
        let array = &self.array;
        if !array.store().capabilities().list || !matches!(array.options().missing_chunks, MissingChunks::Fill) {
            return Ok(None);
        }
        let mut stored = array.stored_chunks()?;
        if self.is_region() {
            stored.retain(|chunk| !self.grid.chunk_region(chunk).is_empty());
        }
        stored.sort_unstable();
        stored.dedup();
        Ok((self.grid.count_all() != stored.len() as u128).then_some(stored))
    }
}
