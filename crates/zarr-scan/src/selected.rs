//! The elements of an array that are read: all, or those of a region, as if it were an array of its own.

use crate::location::at;
use crate::stored::stored_chunks;
use zarr_array::{Array, ArrayData, MissingChunks, Options};
use zarr_grid::{ChunkGrid, ChunkIndex, Region, Shape};
use zarr_hierarchy::Result;

/// The chunks of an array, or of a region of it: with the indices that they have in the array, and positions that count from the region.
#[derive(Clone, Debug)]
pub struct SelectedGrid {
    grid: ChunkGrid,
    /// The elements that are read; `None` for all.
    region: Option<Region>,
}

impl SelectedGrid {
    /// The chunks of `grid` in a region, or all.
    pub fn new(grid: &ChunkGrid, region: Option<Region>) -> Self {
        Self { grid: grid.clone(), region }
    }

    /// The elements that lie in a chunk, which may be none.
    pub fn chunk_region(&self, chunk: &[u64]) -> Region {
        let found = self.grid.chunk_region(chunk);
        match &self.region {
            Some(region) => region.numbers_in(&found),
            None => found,
        }
    }

    /// The elements of the array that a part of the region is.
    ///
    /// # Errors
    /// [`Argument`](zarr_hierarchy::ErrorKind::Argument) if a position does not fit 64 bits.
    pub fn of_array(&self, part: &Region) -> Result<Region> {
        Ok(match &self.region {
            Some(region) => region.at_numbers(part)?,
            None => part.clone(),
        })
    }

    /// How many chunks have elements of a part.
    pub fn count(&self, part: &Region) -> u64 {
        self.of_array(part).map_or(u64::MAX, |part| self.grid.intersect(&part).len())
    }

    /// How many chunks there are.
    pub fn count_all(&self) -> u128 {
        let whole = || Region::whole(self.grid.shape());
        let counts = |region: &Region| u128::from(self.grid.intersect(region).len());
        match &self.region {
            Some(region) => counts(region),
            None if self.grid.shape().contains(&0) => counts(&whole()),
            None => zarr_grid::total_size(&self.grid.grid_shape(), 1),
        }
    }
}

/// An array, or a region of it as if it were an array of its own.
///
/// ```
/// # use std::sync::Arc;
/// use zarr_array::{Array, NewArray, Registry, Store};
/// use zarr_grid::Region;
/// use zarr_scan::Selected;
///
/// # let mut registry = Registry::default();
/// # registry.codecs.add(zarr_codec_bytes::BYTES);
/// let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
/// let new = NewArray::new(&[10], "int8").chunks(&[4]).codecs("bytes")?;
/// let array = Array::create(&store, "/", new, &Arc::new(registry))?;
/// array.write(.., &[0_i8, 1, 2, 3, 4, 5, 6, 7, 8, 9])?;
/// let selected = Selected::new(array, Some(Region::from_ranges(&[5..10])))?;
/// assert_eq!(selected.shape()[..], [5]);
/// assert_eq!(selected.read(&Region::from_ranges(&[1..3]))?.to_vec::<i8>()?, [6, 7]);
/// // Of the second chunk the region has three elements.
/// assert_eq!(selected.grid().chunk_region(&[1]), Region::from_ranges(&[0..3]));
/// # Ok::<(), zarr_hierarchy::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Selected {
    array: Array,
    grid: SelectedGrid,
}

impl Selected {
    /// A region of an array; `None` for all elements.
    ///
    /// # Errors
    /// [`Argument`](zarr_hierarchy::ErrorKind::Argument) if the region is not one of the array.
    pub fn new(array: Array, region: Option<Region>) -> Result<Self> {
        let region = region.filter(|region| !region.is_whole(array.shape()));
        if let Some(region) = &region {
            region.check(array.shape()).map_err(|error| at(&array, error.into()))?;
        }
        let grid = SelectedGrid::new(array.chunk_grid(), region);
        Ok(Self { array, grid })
    }

    /// The array with all of its elements.
    pub fn array(&self) -> &Array {
        &self.array
    }

    /// The chunks that have elements of it.
    pub fn grid(&self) -> &SelectedGrid {
        &self.grid
    }

    /// Whether it is a region of the array.
    pub fn is_region(&self) -> bool {
        self.grid.region.is_some()
    }

    /// The same, read with other options.
    ///
    /// # Errors
    /// As [`Array::with`].
    pub fn with(&self, options: Options) -> Result<Self> {
        Ok(Self { array: self.array.with(options)?, grid: self.grid.clone() })
    }

    /// The number of elements along each axis.
    pub fn shape(&self) -> Shape {
        self.grid.region.as_ref().map_or_else(|| self.array.shape().into(), Region::shape)
    }

    /// About the shape of the parts that are decoded at once, in elements that are read; of a region, as if it began with a chunk.
    pub fn part_shape(&self) -> Shape {
        let part = self.array.part_shape();
        match &self.grid.region {
            Some(region) => part.iter().zip(region.axes()).map(|(&len, axis)| len.div_ceil(axis.step.max(1))).collect(),
            None => part,
        }
    }

    /// The index in the array of an element.
    pub fn index(&self, index: &[u64]) -> Vec<u64> {
        match &self.grid.region {
            Some(region) => region.axes().iter().zip(index).map(|(axis, at)| axis.start + at * axis.step).collect(),
            None => index.to_vec(),
        }
    }

    /// Bytes of all elements, those of variable length as 16 each.
    pub fn size(&self) -> u128 {
        zarr_grid::total_size(&self.shape(), self.array.data_type().item_size() as u64)
    }

    /// Reads a part.
    ///
    /// # Errors
    /// As [`Array::read_data`].
    pub fn read(&self, part: &Region) -> Result<ArrayData> {
        self.array.read_data(&self.grid.of_array(part)?)
    }

    /// Reads a part, of which these chunks are stored, sorted. Where most are missing, the store is asked for the others alone.
    ///
    /// # Errors
    /// As [`Array::read_data`].
    pub fn read_stored(&self, part: &Region, chunks: &[ChunkIndex]) -> Result<ArrayData> {
        match is_worth_knowing(chunks.len(), self.grid.count(part)) {
            true => self.array.read_stored(&self.grid.of_array(part)?, chunks),
            false => self.read(part),
        }
    }

    /// The chunks that are stored and have elements of it, sorted; `None` if all are, it cannot be known which, or missing chunks are an error.
    /// Costs a listing.
    ///
    /// Which are stored cannot be known in a store that does not list, such as a bucket that allows gets alone: each chunk is to be asked for then.
    ///
    /// # Errors
    /// [`Store`](zarr_hierarchy::ErrorKind::Store).
    pub fn some_stored(&self) -> Result<Option<Vec<ChunkIndex>>> {
        if !matches!(self.array.options().missing_chunks, MissingChunks::Fill) {
            return Ok(None);
        }
        let Some(mut stored) = stored_chunks(&self.array)? else { return Ok(None) };
        if self.is_region() {
            stored.retain(|chunk| !self.grid.chunk_region(chunk).is_empty());
        }
        stored.sort_unstable();
        stored.dedup();
        Ok((self.grid.count_all() != stored.len() as u128).then_some(stored))
    }
}

/// Whether a read gains by knowing which of its chunks are stored. Where there are many, it takes less to ask for all.
pub(crate) fn is_worth_knowing(stored: usize, met: u64) -> bool {
    (stored as u64) < met / 2
}
