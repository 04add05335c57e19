//! Boxes of elements, each within one chunk, that are read into a staging buffer.

use super::ReadJob;
use super::attempt::{Attempt, RetryPolicy};
use crate::Result;
use crate::buffer::Buffer;
use std::sync::Arc;
use zarr_codec::ViewMut;
use zarr_dtype::Heap;
use zarr_grid::{ChunkIndex, Region};

/// The read of some boxes.
#[derive(Debug)]
pub(super) struct StagedBoxes {
    /// The boxes as regions of the array, and the bytes of each.
    boxes: Vec<(Region, usize)>,
    item: usize,
    /// The boxes in C order, one after the other.
    staging: Buffer,
    heap: Option<Arc<Heap>>,
    attempt: Attempt,
}

impl StagedBoxes {
    /// Of elements of `item` bytes; elements of variable length go into `heap`.
    pub(super) fn new(regions: impl IntoIterator<Item = Region>, item: usize, heap: Option<Arc<Heap>>) -> Result<Self> {
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
        Ok(Self { boxes, item, staging: Buffer::zeroed(total)?, heap, attempt: Attempt::First })
    }

    /// The job that reads the boxes; `None` if they are read.
    pub(super) fn read_job<'a>(&'a mut self, policy: &'a RetryPolicy<'a>) -> Result<Option<ReadJob<'a>>> {
        let Some(context) = self.attempt.context(policy) else { return Ok(None) };
        let mut regions = Vec::new();
        let mut rest = self.staging.as_bytes_mut();
        for (region, size) in &self.boxes {
            let (bytes, others) = rest.split_at_mut(*size);
            rest = others;
            // A box lies in one chunk.
            let lies_in = |chunks: &[ChunkIndex]| chunks.contains(&context.core.grid.intersect(region).get(0).index);
            if self.attempt.chunks().is_none_or(lies_in) {
                let shape = region.shape().iter().map(|&len| len as usize).collect::<Vec<_>>();
                let view = ViewMut::new(bytes, self.item, &shape)?.with_heap(self.heap.clone());
                regions.push((region.clone(), view));
            }
        }
        ReadJob::regions(context, regions).map(Some)
    }

    /// Takes the result of the last job: whether all boxes are read.
    ///
    /// # Errors
    /// The error of the result, unless the job is to be done again.
    pub(super) fn ended(&mut self, policy: &RetryPolicy<'_>, result: Result<()>) -> Result<bool> {
        self.attempt.ended(policy, result)?;
        Ok(self.attempt == Attempt::Done)
    }

    /// The C-order bytes of each box, in their order.
    pub(super) fn bytes(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = self.staging.as_bytes();
        self.boxes.iter().map(move |(_, size)| {
            let (bytes, others) = rest.split_at(*size);
            rest = others;
            bytes
        })
    }
}
