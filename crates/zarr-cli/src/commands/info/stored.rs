//! How much of an array is stored.

use super::Facts;
use crate::failure::Result;
use crate::number;
use crate::object::{object, or_null};
use zarr::Array;
use zarr::grid::{ChunkGrid, total_size};

/// How much of an array is stored, and how large it is decoded.
#[derive(Debug)]
pub(super) struct Stored {
    /// Bytes of all elements.
    logical: Option<u128>,
    /// Bytes of all chunks at full size, beyond the edges of the array too.
    padded: Option<u128>,
    /// Bytes of the chunks that are stored, decoded.
    written: Option<u128>,
    /// Chunks of the grid.
    chunks: u128,
    /// Encoded sizes of the chunks that are stored, sorted; `None` if the store cannot list.
    sizes: Option<Vec<u64>>,
}

impl Stored {
    /// Counts stored chunks and bytes.
    pub(super) fn of(array: &Array) -> Result<Self> {
        let item = (!array.data_type().is_variable()).then(|| array.data_type().item_size() as u64);
        let grid = array.chunk_grid();
        let bytes = |shape: &[u64]| Some(total_size(shape, item?));
        let chunks = total_size(&grid.grid_shape(), 1);
        let (mut sizes, mut written) = (None, None);
        if array.store().capabilities().list {
            let stored = array.stored_chunk_sizes()?;
            let decoded = |chunk: &[u64]| bytes(&grid.chunk_shape(chunk));
            written = stored.iter().try_fold(0_u128, |sum, (chunk, _)| Some(sum.saturating_add(decoded(chunk)?)));
            let mut all: Vec<u64> = stored.into_iter().map(|(_, size)| size).collect();
            all.sort_unstable();
            sizes = Some(all);
        }
        Ok(Self {
            logical: bytes(array.shape()),
            padded: padded(grid).and_then(|shape| bytes(&shape)),
            written,
            chunks,
            sizes,
        })
    }

    /// Adds it to the facts.
    pub(super) fn tell(&self, facts: &mut Facts, array: &Array) {
        let stored = self.sizes.as_ref().map(|sizes| sizes.iter().sum::<u64>());
        let count = self.sizes.as_ref().map(|sizes| sizes.len() as u64);
        let over_stored = |logical| stored.filter(|&stored| stored > 0).map(|stored| logical as f64 / stored as f64);
        facts.json = object! {
            ..std::mem::take(&mut facts.json),
            "chunks": self.chunks,
            "chunks_stored": or_null(count),
            "logical_bytes": or_null(self.logical),
            "padded_bytes": or_null(self.padded),
            "stored_bytes": or_null(stored),
            "ratio": or_null(self.logical.and_then(over_stored)),
        };
        if let Some(logical) = self.logical {
            facts.line("No. bytes", &format!("{} ({})", number::size(logical), number::grouped(logical)));
        }
        if let Some(padded) = self.padded.filter(|&padded| self.logical != Some(padded)) {
            facts.line("Padded", &format!("{} with the overhang of chunks at the edges", number::size(padded)));
        }
        let kind = if array.is_sharded() { "Shards" } else { "Chunks" };
        let Some(sizes) = &self.sizes else {
            facts.line(&format!("{kind} initialized"), &format!("unknown of {}", number::grouped(self.chunks)));
            return;
        };
        let (stored, count) = (stored.unwrap_or(0), count.unwrap_or(0));
        facts.line("No. bytes stored", &format!("{} ({})", number::size(stored), number::grouped(stored)));
        if let (Some(logical), Some(written)) = (self.logical, self.written) {
            let (logical, written) = (number::ratio(logical, stored), number::ratio(written, stored));
            facts.line("Storage ratio", &format!("{logical} logical, {written} over written chunks"));
        }
        let share = number::percent(count, self.chunks);
        let text = format!("{} of {} ({share})", number::grouped(count), number::grouped(self.chunks));
        facts.line(&format!("{kind} initialized"), &text);
        if let [least, .., most] = sizes.as_slice() {
            let median = sizes.get(sizes.len() / 2).copied().unwrap_or(0);
            let [least, median, most] = [*least, median, *most].map(number::size);
            facts.line(&format!("{} bytes", &kind[..5]), &format!("min {least}  median {median}  max {most}"));
        }
    }
}

/// The shape of all chunks together: up to where the last one ends.
fn padded(grid: &ChunkGrid) -> Option<Vec<u64>> {
    let last: Vec<u64> = grid.grid_shape().iter().map(|count| count.saturating_sub(1)).collect();
    let (start, len) = (grid.chunk_region(&last), grid.chunk_shape(&last));
    start.axes().iter().zip(len).map(|(range, len)| range.start.checked_add(len)).collect()
}
