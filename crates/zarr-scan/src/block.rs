//! Blocks: regions of an array in memory, whose buffers are reused for later regions.

use crate::parallel::lock;
use crate::selected::{Selected, is_worth_knowing};
use std::collections::HashSet;
use std::fmt;
use std::sync::Mutex;
use zarr_array::{Array, ArrayData, View, ViewMut};
use zarr_grid::{ChunkIndex, Region};
use zarr_hierarchy::{Error, ErrorKind, Result};

/// Block: the elements of a region of an array, in C order.
pub struct Block<'p>(Elements<'p>);

enum Elements<'p> {
    /// Elements of a fixed size: their bytes, the shape of the region, and the size of an element in bytes.
    Items(Buffer<'p>, Vec<usize>, usize),
    /// Elements of variable length, or of a region of which few chunks are stored.
    Data(Box<ArrayData>),
}

/// Buffer of a block. When it is dropped, its memory goes back to `pool` for the next region.
struct Buffer<'p> {
    bytes: Vec<u8>,
    pool: &'p Buffers,
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        lock(&self.pool.0).push(std::mem::take(&mut self.bytes));
    }
}

/// Pool of unused buffers, for blocks that are read later.
#[derive(Default)]
pub(crate) struct Buffers(Mutex<Vec<Vec<u8>>>);

impl fmt::Debug for Buffers {
    /// Prints the number of buffers, and not their bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffers").field("len", &lock(&self.0).len()).finish()
    }
}

impl Buffers {
    fn take(&self) -> Buffer<'_> {
        Buffer { bytes: lock(&self.0).pop().unwrap_or_default(), pool: self }
    }
}

/// Stored chunks of an array; `None` if all chunks may be stored.
#[derive(Debug)]
pub(crate) struct Stored(Option<HashSet<ChunkIndex>>);

impl Stored {
    /// Finds the stored chunks of `selected`. Costs a listing.
    pub(crate) fn of(selected: &Selected) -> Result<Self> {
        Ok(Self(selected.some_stored()?.map(|chunks| chunks.into_iter().collect())))
    }

    /// Stored chunks; `None` if all chunks may be stored.
    pub(crate) fn chunks(&self) -> Option<&HashSet<ChunkIndex>> {
        self.0.as_ref()
    }

    /// Reads a region of the elements of an array. If most of its chunks are not stored, requests only the stored chunks.
    pub(crate) fn read<'p>(&self, selected: &Selected, region: &Region, buffers: &'p Buffers) -> Result<Block<'p>> {
        let (array, region) = (selected.array(), &selected.grid().of_array(region)?);
        if let Some(stored) = &self.0 {
            let met = array.chunk_grid().intersect(region);
            let chunks: Vec<ChunkIndex> =
                met.iter().map(|overlap| overlap.index).filter(|chunk| stored.contains(chunk)).collect();
            if is_worth_knowing(chunks.len(), met.len()) {
                return array.read_stored(region, &chunks).map(|data| Block(Elements::Data(Box::new(data))));
            }
        }
        Block::read(array, region, buffers)
    }
}

impl<'p> Block<'p> {
    /// Reads a region of an array, whatever chunks are stored, into a buffer of `buffers`.
    fn read(array: &Array, region: &Region, buffers: &'p Buffers) -> Result<Self> {
        if array.data_type().is_variable() {
            return array.read_data(region).map(|data| Self(Elements::Data(Box::new(data))));
        }
        let item = array.data_type().item_size();
        let too_large =
            || Error::new(ErrorKind::Limit, format!("a region of {:?} has no room in memory", region.shape()));
        let dims: Option<Vec<usize>> = region.shape().iter().map(|&len| usize::try_from(len).ok()).collect();
        let dims = dims.ok_or_else(too_large)?;
        let size = usize::try_from(zarr_grid::total_size(&region.shape(), item as u64)).map_err(|_| too_large())?;
        let mut buffer = buffers.take();
        if buffer.bytes.len() < size {
            let more = size - buffer.bytes.len();
            buffer.bytes.try_reserve_exact(more).map_err(|_| too_large())?;
            buffer.bytes.resize(size, 0);
        }
        let items = buffer.bytes.get_mut(..size).unwrap_or_default();
        array.read_into(region, ViewMut::new(items, item, &dims)?)?;
        Ok(Self(Elements::Items(buffer, dims, item)))
    }

    /// Borrows the elements as a view.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] if the bytes are not as many as the shape says.
    pub fn view(&self) -> Result<View<'_>> {
        match &self.0 {
            Elements::Items(buffer, dims, item) => {
                let size = dims.iter().product::<usize>().saturating_mul(*item);
                Ok(View::new(buffer.bytes.get(..size).unwrap_or_default(), *item, dims)?)
            }
            Elements::Data(data) => Ok(data.view()),
        }
    }
}
