//! How large an array is, and how much of it is stored.

use crate::core::ArrayCore;
use zarr_grid::{ChunkGrid, ChunkIndex, total_size};
use zarr_json::{Map, Value};

/// How large an array is, and how much of it is stored; see [`Array::sizes`](crate::Array::sizes).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArraySizes {
    /// Bytes of all elements; `None` if they are of variable length.
    pub elements: Option<u128>,
    /// Bytes of the elements of all chunks, beyond the edges of the array too; `None` if they are of variable length, or chunks end
    /// beyond 64 bits.
    pub padded: Option<u128>,
    /// Chunks (shards, if it is sharded) of the grid.
    pub chunks: u128,
    /// The stored ones of these chunks; `None` if the store was not asked, or cannot list.
    pub stored: Option<StoredSizes>,
    /// Whether chunks are shards with inner chunks.
    pub is_sharded: bool,
}

/// The stored chunks of an array.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredSizes {
    /// Bytes of each chunk as it is stored, sorted.
    pub chunks: Vec<u64>,
    /// Bytes of the elements of these chunks, beyond the edges of the array too; `None` if they are of variable length.
    pub elements: Option<u128>,
}

impl StoredSizes {
    /// Bytes of all chunks as they are stored.
    pub fn bytes(&self) -> u64 {
        self.chunks.iter().fold(0, |sum, size| sum.saturating_add(*size))
    }
}

impl ArraySizes {
    /// The sizes as `zarr info` prints them as JSON: `chunks`, `chunks_stored`, `logical_bytes` (of all elements), `padded_bytes` (beyond the
    /// edges of the array too), `stored_bytes`, and `ratio`, that of logical to stored bytes. What is not known is `null`.
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

    /// The sizes that metadata shows.
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

    /// With the chunks that are stored.
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

/// Bytes of an element; `None` if they are of variable length.
fn item_size(core: &ArrayCore) -> Option<u64> {
    (!core.data_type().is_variable()).then(|| core.data_type().item_size() as u64)
}

/// The shape of all chunks together: up to where the last one ends.
fn padded(grid: &ChunkGrid) -> Option<Vec<u64>> {
    let last: Vec<u64> = grid.grid_shape().iter().map(|count| count.saturating_sub(1)).collect();
    let (start, len) = (grid.chunk_region(&last), grid.chunk_shape(&last));
    start.axes().iter().zip(len).map(|(range, len)| range.start.checked_add(len)).collect()
}
