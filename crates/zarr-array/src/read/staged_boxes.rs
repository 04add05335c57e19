//! Boxes of elements, each within one chunk, that are read into a staging buffer: the boxes around the elements of an advanced selection.
//! Selected runs of elements are copied from the buffer to the output.

use super::span::ReadContext;
use super::{ArrayRead, ReadJob, ReadPart};
use crate::advanced_selection::{finest_grid, next_batch};
use crate::buffer::Buffer;
use crate::drive::Drive;
use crate::selected_memory::ContiguousOutput;
use crate::{Error, ErrorKind, Result};
use std::sync::Arc;
use zarr_codec::ViewMut;
use zarr_dtype::Heap;
use zarr_grid::{ChunkIndex, Region, Resolved, SelectedElements};

impl<D: Drive> ArrayRead<'_, D> {
    /// Reads a selection by lists, coordinates or a mask, in batches of chunks.
    pub(super) async fn advanced(&self, resolved: &Resolved, out: ViewMut<'_>) -> Result<()> {
        let core = self.context.core;
        let grid = finest_grid(core)?;
        let chunks = SelectedElements::new(resolved)?.by_chunk(&grid)?;
        let mut out = ContiguousOutput::new(out)?;
        // The elements of a plan have no bytes.
        let item = if self.log.is_none() { core.element().item_size() } else { 0 };
        let mut next = 0;
        loop {
            let batch = next_batch(&grid, &chunks, &mut next, core.element().item_size())?;
            if batch.is_empty() {
                break;
            }
            let regions = batch.iter().map(|chunk| chunk.region.clone());
            let mut staged = StagedBoxes::new(regions, item, out.heap())?;
            self.part(&mut staged, None).await?;
            for (chunk, bytes) in batch.iter().zip(staged.bytes()) {
                chunk.copy(item, bytes, out.bytes()?)?;
            }
        }
        if next != chunks.len() {
            return Err(Error::new(ErrorKind::Internal, "a chunk of a selection lies outside of the array"));
        }
        out.finish()
    }
}

/// Boxes, and the staging buffer into which they are read.
#[derive(Debug)]
pub(super) struct StagedBoxes {
    /// Boxes as regions of the array, with the number of bytes of each box.
    boxes: Vec<(Region, usize)>,
    item: usize,
    /// Elements of the boxes in C order, one box after the other.
    staging: Buffer,
    heap: Option<Arc<Heap>>,
}

impl StagedBoxes {
    /// Allocates the buffer for boxes of elements of `item` bytes. Elements of variable length are read into `heap`.
    pub(super) fn new(regions: impl IntoIterator<Item = Region>, item: usize, heap: Option<Arc<Heap>>) -> Result<Self> {
        Self::within(Buffer::default(), regions, item, heap)
    }

    /// Makes the buffer in the memory of another one, like [`new`](Self::new).
    pub(super) fn within(
        memory: Buffer,
        regions: impl IntoIterator<Item = Region>,
        item: usize,
        heap: Option<Arc<Heap>>,
    ) -> Result<Self> {
        let size = |region: &Region| {
            let size = zarr_grid::total_size(&region.shape(), item as u64);
            usize::try_from(size).unwrap_or(usize::MAX)
        };
        let sized = |region: Region| {
            let size = size(&region);
            (region, size)
        };
        let boxes: Vec<_> = regions.into_iter().map(sized).collect();
        let total = boxes.iter().fold(0_usize, |total, (_, size)| total.saturating_add(*size));
        Ok(Self { boxes, item, staging: memory.resized(total)?, heap })
    }

    /// Returns the memory of the buffer.
    pub(super) fn into_memory(self) -> Buffer {
        self.staging
    }

    /// Bytes of each box in C order, in the order of the boxes.
    pub(super) fn bytes(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = self.staging.as_bytes();
        self.boxes.iter().map(move |(_, size)| {
            let (bytes, others) = rest.split_at(*size);
            rest = others;
            bytes
        })
    }
}

impl StagedBoxes {
    /// Returns the boxes as regions of the array, with views of their parts of the buffer.
    pub(super) fn views(&mut self) -> Result<Vec<(Region, ViewMut<'_>)>> {
        let mut rest = self.staging.as_bytes_mut();
        let view = |(region, size): &(Region, usize)| {
            let (bytes, others) = std::mem::take(&mut rest).split_at_mut(*size);
            rest = others;
            let shape = region.shape().iter().map(|&len| len as usize).collect::<Vec<_>>();
            Ok((region.clone(), ViewMut::new(bytes, self.item, &shape)?.with_heap(self.heap.clone())))
        };
        self.boxes.iter().map(view).collect()
    }
}

/// Whether a box, which lies in one chunk, is in `chunks`, which are sorted; so is each box if there are none.
pub(super) fn lies_in(context: &ReadContext<'_>, region: &Region, chunks: Option<&[ChunkIndex]>) -> bool {
    chunks.is_none_or(|chunks| chunks.binary_search(&context.core.grid.intersect(region).get(0).index).is_ok())
}

impl ReadPart for StagedBoxes {
    fn job<'a>(&'a mut self, context: &'a ReadContext<'a>, chunks: Option<&[ChunkIndex]>) -> Result<ReadJob<'a>> {
        let mut regions = self.views()?;
        regions.retain(|(region, _)| lies_in(context, region, chunks));
        ReadJob::regions(context, regions)
    }
}
