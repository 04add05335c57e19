//! Selected elements of an array: all, or those of a region, treated as if the region were an array.

use crate::location::at;
use crate::stored::stored_chunks;
use zarr_array::{Array, ArrayData, MissingChunks, Options};
use zarr_grid::{ChunkGrid, ChunkIndex, Region, Shape};
use zarr_hierarchy::Result;

/// Chunk grid of an array, or of a region of an array. Chunks have their indices in the array; positions of elements are relative to the
/// region.
#[derive(Clone, Debug)]
pub struct SelectedGrid {
    grid: ChunkGrid,
    /// Region of the selected elements; `None` for all elements.
    region: Option<Region>,
}

impl SelectedGrid {
    /// Makes the grid of the chunks of `grid` that lie in `region`; of all chunks if `None`.
    pub fn new(grid: &ChunkGrid, region: Option<Region>) -> Self {
        Self { grid: grid.clone(), region }
    }

    /// Returns the selected elements that lie in a chunk; an empty region if there are none.
    pub fn chunk_region(&self, chunk: &[u64]) -> Region {
        let found = self.grid.chunk_region(chunk);
        match &self.region {
            Some(region) => region.numbers_in(&found),
            None => found,
        }
    }

    /// Converts a part of the selected region to a region of the array.
    ///
    /// # Errors
    /// [`Argument`](zarr_hierarchy::ErrorKind::Argument) if a position does not fit 64 bits.
    pub fn of_array(&self, part: &Region) -> Result<Region> {
        Ok(match &self.region {
            Some(region) => region.at_numbers(part)?,
            None => part.clone(),
        })
    }

    /// Number of chunks that have elements of `part`.
    pub fn count(&self, part: &Region) -> u64 {
        self.of_array(part).map_or(u64::MAX, |part| self.grid.intersect(&part).len())
    }

    /// Number of chunks that have selected elements.
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

/// Array, or a region of an array treated as if it were an array.
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
    /// Selects a region of an array; all elements if `None`.
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

    /// Array with all its elements, selected or not.
    pub fn array(&self) -> &Array {
        &self.array
    }

    /// Grid of the chunks that have selected elements.
    pub fn grid(&self) -> &SelectedGrid {
        &self.grid
    }

    /// Whether only a region of the array is selected.
    pub fn is_region(&self) -> bool {
        self.grid.region.is_some()
    }

    /// Returns the same selection of the array with other options.
    ///
    /// # Errors
    /// The errors of [`Array::with`].
    pub fn with(&self, options: Options) -> Result<Self> {
        Ok(Self { array: self.array.with(options)?, grid: self.grid.clone() })
    }

    /// Shape of the selection: the number of selected elements along each axis.
    pub fn shape(&self) -> Shape {
        self.grid.region.as_ref().map_or_else(|| self.array.shape().into(), Region::shape)
    }

    /// Approximate shape, in selected elements, of the parts that are decoded at once. Assumes that a region begins at a bound of chunks.
    pub fn part_shape(&self) -> Shape {
        let part = self.array.part_shape();
        match &self.grid.region {
            Some(region) => part.iter().zip(region.axes()).map(|(&len, axis)| len.div_ceil(axis.step.max(1))).collect(),
            None => part,
        }
    }

    /// Converts the index of a selected element to its index in the array.
    pub fn index(&self, index: &[u64]) -> Vec<u64> {
        match &self.grid.region {
            Some(region) => region.axes().iter().zip(index).map(|(axis, at)| axis.start + at * axis.step).collect(),
            None => index.to_vec(),
        }
    }

    /// Number of bytes of all selected elements. Elements of variable length count as 16 bytes each.
    pub fn size(&self) -> u128 {
        zarr_grid::total_size(&self.shape(), self.array.data_type().item_size() as u64)
    }

    /// Reads a part of the selection.
    ///
    /// # Errors
    /// The errors of [`Array::read_data`].
    pub fn read(&self, part: &Region) -> Result<ArrayData> {
        self.array.read_data(&self.grid.of_array(part)?)
    }

    /// Reads a part of the selection of which `chunks`, sorted, are stored. If most chunks of the part are not stored, requests only the
    /// stored chunks.
    ///
    /// # Errors
    /// The errors of [`Array::read_data`].
    pub fn read_stored(&self, part: &Region, chunks: &[ChunkIndex]) -> Result<ArrayData> {
        match is_worth_knowing(chunks.len(), self.grid.count(part)) {
            true => self.array.read_stored(&self.grid.of_array(part)?, chunks),
            false => self.read(part),
        }
    }

    /// Lists the stored chunks that have selected elements, sorted. Returns `None` if all chunks are stored, if the store cannot list, or
    /// if missing chunks are an error. Costs a listing.
    ///
    /// A store that does not list is, for example, a bucket that allows gets alone. Each chunk has to be requested then.
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

/// Whether a read of `met` chunks is faster if it requests only the `stored` chunks. If most are stored, requesting all chunks is faster.
pub(crate) fn is_worth_knowing(stored: usize, met: u64) -> bool {
    (stored as u64) < met / 2
}
