//! Sizes of an array and of its stored part.

use crate::core::ArrayCore;
use zarr_grid::{ChunkGrid, ChunkIndex, total_size};
use zarr_json::{Map, Value};

/// Size of an array, and of its stored part; see [`Array::sizes`](crate::Array::sizes).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArraySizes {
    /// Number of bytes of all elements; `None` if they are of variable length.
    pub elements: Option<u128>,
    /// Number of bytes of the elements of all chunks, including those beyond the edges of the array; `None` if elements are of variable
    /// length, or if chunks end beyond 64 bits.
    pub padded: Option<u128>,
    /// Number of chunks of the grid (shards, if the array is sharded).
    pub chunks: u128,
    /// Sizes of the stored chunks; `None` if the store was not asked, or cannot list.
    pub stored: Option<StoredSizes>,
    /// Whether chunks are shards with inner chunks.
    pub is_sharded: bool,
}

/// Sizes of the stored chunks of an array.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredSizes {
    /// Number of stored bytes of each chunk, sorted.
    pub chunks: Vec<u64>,
    /// Number of bytes of the elements of the stored chunks, including those beyond the edges of the array; `None` if they are of variable
    /// length.
    pub elements: Option<u128>,
}

impl StoredSizes {
    /// Number of stored bytes of all chunks.
    pub fn bytes(&self) -> u64 {
        self.chunks.iter().fold(0, |sum, size| sum.saturating_add(*size))
    }
}

impl ArraySizes {
    /// Returns the sizes as `zarr info` prints them as JSON: `chunks`, `chunks_stored`, `logical_bytes` (of all elements), `padded_bytes`
    /// (including elements beyond the edges of the array), `stored_bytes`, and `ratio`, the ratio of logical to stored bytes. Unknown
    /// values are `null`.
    #[must_use]
    pub fn facts(&self) -> Map {
        let bytes = self.stored.as_ref().map(StoredSizes::bytes);
        let ratio = |logical: u128| bytes.filter(|&bytes| bytes > 0).map(|bytes| logical as f64 / bytes as f64);
        let stored = self.stored.as_ref().map(|stored| stored.chunks.len());
        let facts = [
            ("chunks", Value::from(self.chunks)),
            ("chunks_stored", or_null(stored)),
            ("logical_bytes", or_null(self.elements)),
            ("padded_bytes", or_null(self.padded)),
            ("stored_bytes", or_null(bytes)),
            ("ratio", or_null(self.elements.and_then(ratio))),
        ];
        facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Returns the sizes that the metadata shows.
    pub(crate) fn of(core: &ArrayCore) -> Self {
        let grid = &core.grid;
        let bytes = |shape: &[u64]| Some(total_size(shape, item_size(core)?));
        Self {
            elements: bytes(&core.metadata().shape),
            padded: padded(grid).and_then(|shape| bytes(&shape)),
            chunks: total_size(&grid.grid_shape(), 1),
            stored: None,
            is_sharded: core.codecs.part_shape(&grid.largest_chunk_shape()).is_some(),
        }
    }

    /// Adds the sizes of the stored chunks, given with their stored bytes.
    pub(crate) fn stored(mut self, core: &ArrayCore, chunks: &[(ChunkIndex, u64)]) -> Self {
        let decoded = |chunk: &[u64]| Some(total_size(&core.grid.chunk_shape(chunk), item_size(core)?));
        let elements = chunks.iter().try_fold(0_u128, |sum, (chunk, _)| Some(sum.saturating_add(decoded(chunk)?)));
        let mut sizes: Vec<u64> = chunks.iter().map(|(_, size)| *size).collect();
        sizes.sort_unstable();
        self.stored = Some(StoredSizes { chunks: sizes, elements });
        self
    }
}

fn or_null(value: Option<impl Into<Value>>) -> Value {
    value.map_or(Value::Null, Into::into)
}

/// Number of bytes of an element; `None` if elements are of variable length.
fn item_size(core: &ArrayCore) -> Option<u64> {
    (!core.data_type().is_variable()).then(|| core.data_type().item_size() as u64)
}

/// Shape of all chunks of the grid together, up to the end of the last chunk; `None` if it overflows 64 bits.
fn padded(grid: &ChunkGrid) -> Option<Vec<u64>> {
    let last: Vec<u64> = grid.grid_shape().iter().map(|count| count.saturating_sub(1)).collect();
    let (start, len) = (grid.chunk_region(&last), grid.chunk_shape(&last));
    start.axes().iter().zip(len).map(|(range, len)| range.start.checked_add(len)).collect()
}
