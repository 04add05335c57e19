//! A batch of chunk selections: their boxes are read into a staging buffer, and runs of elements are copied from there to the output.

use super::ReadJob;
use super::attempt::{Attempt, RetryPolicy};
use crate::Result;
use crate::advanced_selection::{SelectionBatch, box_size, box_view, copy_runs, region};
use crate::buffer::Buffer;
use std::sync::Arc;
use zarr_dtype::Heap;
use zarr_grid::ChunkIndex;

/// The read of a batch of chunk selections.
#[derive(Debug)]
pub(super) struct SelectionBatchRead<'p> {
    batch: SelectionBatch<'p>,
    /// The boxes, one after the other.
    staging: Buffer,
    heap: Option<Arc<Heap>>,
    attempt: Attempt,
}

impl<'p> SelectionBatchRead<'p> {
    /// Elements of variable length go into `heap`.
    pub(super) fn new(batch: SelectionBatch<'p>, heap: Option<Arc<Heap>>) -> Result<Self> {
        let staging = Buffer::zeroed(usize::try_from(batch.size).unwrap_or(usize::MAX))?;
        Ok(Self { batch, staging, heap, attempt: Attempt::First })
    }

    /// The job that reads the boxes; `None` if they are read.
    pub(super) fn read_job<'a>(&'a mut self, policy: &'a RetryPolicy<'a>) -> Result<Option<ReadJob<'a>>> {
        let Some(context) = self.attempt.context(policy) else { return Ok(None) };
        let SelectionBatch { grid, chunks, item, .. } = &self.batch;
        let mut regions = Vec::new();
        let mut rest = self.staging.as_bytes_mut();
        for selection in chunks {
            let (bytes, others) = rest.split_at_mut(box_size(&selection.overlap, *item) as usize);
            rest = others;
            let region = region(grid, &selection.overlap)?;
            // A chunk selection lies in one chunk.
            let lies_in = |chunks: &[ChunkIndex]| chunks.contains(&context.core.grid.intersect(&region).get(0).index);
            if self.attempt.chunks().is_none_or(lies_in) {
                regions.push((region, box_view(bytes, *item, &selection.overlap, self.heap.clone())?));
            }
        }
        ReadJob::regions(context, regions).map(Some)
    }

    /// Takes the result of the last job: whether all boxes are read.
    ///
    /// # Errors
    /// Those of the result, unless the job is to be done again.
    pub(super) fn ended(&mut self, policy: &RetryPolicy<'_>, result: Result<()>) -> Result<bool> {
        self.attempt.ended(policy, result)?;
        Ok(self.attempt == Attempt::Done)
    }

    /// Copies the elements to `out`, the C-order bytes of the output.
    pub(super) fn scatter(&self, out: &mut [u8]) -> Result<()> {
        let item = self.batch.item;
        let mut rest = self.staging.as_bytes();
        for selection in &self.batch.chunks {
            let (bytes, others) = rest.split_at(box_size(&selection.overlap, item) as usize);
            rest = others;
            copy_runs(selection, item, |run| (run.from, run.to), bytes, out)?;
        }
        Ok(())
    }
}
