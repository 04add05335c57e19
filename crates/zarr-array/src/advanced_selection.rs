//! Reads of advanced selections, in numpy's sense: orthogonal selections with lists, coordinates and masks. Such a selection is not one
//! region.
//!
//! A read gets the elements of each chunk from a box of the chunk, in batches of boxes, through a staging buffer. Writes need no boxes.

use crate::core::ArrayCore;
use crate::{Error, Result};
use zarr_grid::{AxisRange, ChunkGrid, ElementsByChunk, Region, Resolved, SelectedElements};

/// Maximum number of bytes of the boxes of a batch; a single box may have more.
const MAX_BATCH_SIZE: u64 = 64 << 20;
/// Maximum number of chunks of a batch. Each chunk is a job, however few bytes it has.
const MAX_BATCH_CHUNKS: usize = 1 << 14;

/// Selected elements of one chunk, and the box around them that is read.
#[derive(Debug)]
pub(crate) struct SelectionBox<'s> {
    /// Smallest box of the chunk that contains the selected elements, as a region of the array.
    pub(crate) region: Region,
    /// Selected elements, with positions relative to the box.
    elements: SelectedElements<'s>,
}

/// Number of chunks of the array (shards, if the array is sharded) that a selection meets.
pub(crate) fn count_chunks(core: &ArrayCore, resolved: &Resolved) -> Result<u64> {
    match resolved {
        Resolved::Box(selected) => Ok(core.grid.intersect(&selected.region).len()),
        _ => Ok(SelectedElements::new(resolved)?.by_chunk(&core.grid)?.len()),
    }
}

/// Returns the finest grid whose chunks can be read alone: the inner chunks of a sharded array, since a bounding box in a whole shard might
/// span most of the shard.
pub(crate) fn finest_grid(core: &ArrayCore) -> Result<ChunkGrid> {
    let Some(chunk) = core.grid.regular_chunk_shape() else { return Ok(core.grid.clone()) };
    match core.codecs.part_shape(chunk).filter(|_| core.codecs.is_sharded(chunk)) {
        Some(part) => Ok(ChunkGrid::regular(core.grid.shape(), &part)?),
        None => Ok(core.grid.clone()),
    }
}

/// Returns the next batch of boxes, beginning with chunk number `next` of `chunks`, and advances `next`; an empty batch at the end. `item`
/// is the size of an element in bytes.
pub(crate) fn next_batch<'s>(
    grid: &ChunkGrid,
    chunks: &'s ElementsByChunk<'_>,
    next: &mut u64,
    item: usize,
) -> Result<Vec<SelectionBox<'s>>> {
    let (mut batch, mut size) = (Vec::new(), 0_u64);
    while let Some((index, elements)) = chunks.get(*next) {
        let (bounds, elements) = elements.bounded();
        size = bounds.axes().iter().fold(item as u64, |size, axis| size.saturating_mul(axis.len)).saturating_add(size);
        if batch.len() >= MAX_BATCH_CHUNKS || (!batch.is_empty() && size > MAX_BATCH_SIZE) {
            break;
        }
        let chunk = grid.chunk_region(&index);
        let axes = chunk.axes().iter().zip(bounds.axes());
        let region = Region::new(axes.map(|(chunk, axis)| AxisRange { start: chunk.start + axis.start, ..*axis }))?;
        batch.push(SelectionBox { region, elements });
        *next += 1;
    }
    Ok(batch)
}

impl SelectionBox<'_> {
    /// Copies the selected elements from `source`, the elements of the box, to `target`, the output. Both are in C order, with `item` bytes
    /// per element.
    pub(crate) fn copy(&self, item: usize, source: &[u8], target: &mut [u8]) -> Result<()> {
        let fits = self.elements.runs(&self.region.shape(), |run| {
            let [from, to, len] = [run.from, run.to, run.len].map(|elements| elements as usize * item);
            let Some((target, source)) = target.get_mut(to..to + len).zip(source.get(from..from + len)) else {
                return false;
            };
            target.copy_from_slice(source);
            true
        });
        if fits {
            Ok(())
        } else {
            Err(Error::internal("a run of selected elements lies outside of its box or of the output"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Array, NewArray, Registry, Store};
    use std::sync::Arc;
    use zarr_grid::Selection;
    use zarr_store::MemoryStore;

    #[test]
    fn coordinates_in_many_chunks_are_read_in_batches() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let mut registry = Registry::default();
        registry.codecs.add(zarr_codec_bytes::BYTES);
        let len = 2 * MAX_BATCH_CHUNKS as u64 + 5;
        let new = NewArray::new(&[len], "uint8").chunks(&[1]).codecs("bytes").unwrap().fill(7);
        let array = Array::create(&store, "/", new, &Arc::new(registry)).unwrap();
        let coordinates = Selection::coordinates(vec![(0..len as i64).rev().collect()]);
        let resolved = coordinates.resolve(&[len]).unwrap();
        let grid = finest_grid(&array.core).unwrap();
        let chunks = SelectedElements::new(&resolved).unwrap().by_chunk(&grid).unwrap();
        let mut next = 0;
        let batches = std::iter::repeat_with(|| next_batch(&grid, &chunks, &mut next, 1).unwrap().len());
        let sizes: Vec<usize> = batches.take_while(|&len| len > 0).collect();
        assert_eq!(sizes, [MAX_BATCH_CHUNKS, MAX_BATCH_CHUNKS, 5]);
        array.write(MAX_BATCH_CHUNKS as u64..MAX_BATCH_CHUNKS as u64 + 1, &[9_u8]).unwrap();
        let read = array.read::<u8>(coordinates).unwrap();
        assert!(
            read.iter().rev().enumerate().all(|(at, &element)| element == if at == MAX_BATCH_CHUNKS { 9 } else { 7 })
        );
    }
}
