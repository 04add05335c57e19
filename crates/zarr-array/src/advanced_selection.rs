//! Advanced selections, in numpy's sense: orthogonal ones with lists, coordinates, masks. None of them is one region.
//!
//! A [`ChunkSelection`] has the selected elements of one chunk: their bounding box, and the runs that are copied between the box and
//! the output. Reads take chunk selections in batches, through a staging buffer. Writes need no boxes: they have the elements of each
//! chunk from [`zarr_grid::SelectedElements`].

use crate::core::ArrayCore;
use crate::{Error, Result};
use zarr_codec::ElementSpec;
use zarr_grid::{AxisRange, ChunkGrid, ChunkOverlap, ChunkSelection, ChunkSelections, Region, Resolved};

/// The most bytes of a batch; a single box may be larger.
const MAX_BATCH_SIZE: u64 = 64 << 20;
/// The most chunks of a batch: each is a job, however few bytes it has.
const MAX_BATCH_CHUNKS: usize = 1 << 14;

/// A selection, divided by chunk.
#[derive(Debug)]
pub(crate) struct AdvancedSelection {
    /// The grid that divides the selection: of inner chunks, where chunks are shards.
    grid: ChunkGrid,
    chunks: ChunkSelections,
}

/// The chunk selections of a selection, batch by batch.
#[derive(Debug)]
pub(crate) struct SelectionBatches<'p> {
    chunks: &'p ChunkSelections,
    next: u64,
    /// The bytes of an element.
    item: usize,
}

impl AdvancedSelection {
    pub(crate) fn new(core: &ArrayCore, resolved: &Resolved) -> Result<Self> {
        let grid = finest_grid(core)?;
        Ok(Self { chunks: ChunkSelections::new(resolved, &grid)?, grid })
    }

    /// How many chunks of the array a selection meets: shards, if it is sharded.
    pub(crate) fn count_chunks(core: &ArrayCore, resolved: &Resolved) -> Result<u64> {
        match resolved {
            Resolved::Box(selected) => Ok(core.grid.intersect(&selected.region).len()),
            _ => Ok(ChunkSelections::new(resolved, &core.grid)?.len()),
        }
    }

    /// The grid whose chunks divide it.
    pub(crate) fn grid(&self) -> &ChunkGrid {
        &self.grid
    }

    /// All chunk selections in batches.
    pub(crate) fn batches(&self, element: &ElementSpec) -> SelectionBatches<'_> {
        SelectionBatches { chunks: &self.chunks, next: 0, item: element.item_size() }
    }
}

impl<'p> SelectionBatches<'p> {
    /// The next batch; `None` at the end.
    pub(crate) fn next_batch(&mut self) -> Option<Vec<ChunkSelection<'p>>> {
        let (mut batch, mut size) = (Vec::new(), 0_u64);
        while let Some(chunk) = self.chunks.get(self.next) {
            size = size.saturating_add(box_size(&chunk.overlap, self.item));
            if batch.len() >= MAX_BATCH_CHUNKS || (!batch.is_empty() && size > MAX_BATCH_SIZE) {
                break;
            }
            batch.push(chunk);
            self.next += 1;
        }
        (!batch.is_empty()).then_some(batch)
    }
}

/// The bytes of the box of a chunk selection.
pub(crate) fn box_size(overlap: &ChunkOverlap, item: usize) -> u64 {
    overlap.out_shape.iter().fold(item as u64, |size, &len| size.saturating_mul(len))
}

/// The finest grid whose chunks can be read on their own: a bounding box in a whole shard might span most of it.
pub(crate) fn finest_grid(core: &ArrayCore) -> Result<ChunkGrid> {
    let Some(chunk) = core.grid.regular_chunk_shape() else { return Ok(core.grid.clone()) };
    match core.codecs.part_shape(chunk).filter(|_| core.codecs.is_sharded(chunk)) {
        Some(part) => Ok(ChunkGrid::regular(core.grid.shape(), &part)?),
        None => Ok(core.grid.clone()),
    }
}

/// The box of a chunk selection as a region of the array.
pub(crate) fn region(grid: &ChunkGrid, overlap: &ChunkOverlap) -> Result<Region> {
    let chunk = grid.chunk_region(&overlap.index);
    let shifted = chunk.axes().iter().zip(overlap.region.axes()).map(|(chunk, inner)| AxisRange {
        start: chunk.start + inner.start,
        len: inner.len,
        step: inner.step,
    });
    Ok(Region::new(shifted)?)
}

/// Copies the runs of a chunk selection from its box to the output, whose elements have `item` bytes.
pub(crate) fn copy_runs(selection: &ChunkSelection<'_>, item: usize, source: &[u8], target: &mut [u8]) -> Result<()> {
    let mut fits = true;
    selection.copy_runs(|run| {
        let [from, to, len] = [run.from, run.to, run.len].map(|elements| elements as usize * item);
        match (target.get_mut(to..to + len), source.get(from..from + len)) {
            (Some(target), Some(source)) => target.copy_from_slice(source),
            _ => fits = false,
        }
    });
    if fits {
        Ok(())
    } else {
        Err(Error::internal("a run of selected elements lies outside of its box or of the output"))
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
        let selection = AdvancedSelection::new(&array.core, &resolved).unwrap();
        let mut batches = selection.batches(array.core.element());
        let mut sizes = Vec::new();
        while let Some(batch) = batches.next_batch() {
            sizes.push(batch.len());
        }
        assert_eq!(sizes, [MAX_BATCH_CHUNKS, MAX_BATCH_CHUNKS, 5]);
        array.write(MAX_BATCH_CHUNKS as u64..MAX_BATCH_CHUNKS as u64 + 1, &[9_u8]).unwrap();
        let read = array.read::<u8>(coordinates).unwrap();
        assert!(
            read.iter().rev().enumerate().all(|(at, &element)| element == if at == MAX_BATCH_CHUNKS { 9 } else { 7 })
        );
    }
}
