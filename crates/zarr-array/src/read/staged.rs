//! A batch of the parts of a selection that is no region: their boxes are read into a staging buffer, and runs of elements are copied
//! from there to the output.

use super::ReadJob;
use super::attempt::{Attempt, RetryPolicy};
use crate::Result;
use crate::buffer::Buffer;
use crate::fancy::{SelectionBatch, box_size, box_view, copy_runs, region};
use std::sync::Arc;
use zarr_dtype::Heap;
use zarr_grid::ChunkIndex;

/// Some parts of a selection, and the memory of their boxes.
#[derive(Debug)]
pub(super) struct StagedBatch<'p> {
    batch: SelectionBatch<'p>,
    staged: Buffer,
    heap: Option<Arc<Heap>>,
    attempt: Attempt,
}

impl<'p> StagedBatch<'p> {
    /// Elements of variable length go into `heap`.
    pub(super) fn new(batch: SelectionBatch<'p>, heap: Option<Arc<Heap>>) -> Result<Self> {
        let staged = Buffer::zeroed(usize::try_from(batch.size).unwrap_or(usize::MAX))?;
        Ok(Self { batch, staged, heap, attempt: Attempt::First })
    }

    /// The job that reads the boxes; `None` if they are read.
    pub(super) fn read_job<'a>(&'a mut self, policy: &'a RetryPolicy<'a>) -> Result<Option<ReadJob<'a>>> {
        let Some(context) = self.attempt.context(policy) else { return Ok(None) };
        let SelectionBatch { grid, parts, item, .. } = &self.batch;
        let mut targets = Vec::new();
        let mut rest = self.staged.as_bytes_mut();
        for part in parts {
            let (bytes, others) = rest.split_at_mut(box_size(&part.overlap, *item) as usize);
            rest = others;
            let region = region(grid, &part.overlap)?;
            // A part lies in one chunk.
            let lies_in = |chunks: &[ChunkIndex]| chunks.contains(&context.core.grid.intersect(&region).get(0).index);
            if self.attempt.chunks().is_none_or(lies_in) {
                targets.push((region, box_view(bytes, *item, &part.overlap, self.heap.clone())?));
            }
        }
        ReadJob::points(context, targets).map(Some)
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
        let mut rest = self.staged.as_bytes();
        for part in &self.batch.parts {
            let (bytes, others) = rest.split_at(box_size(&part.overlap, item) as usize);
            rest = others;
            copy_runs(part, item, |run| (run.from, run.to), bytes, out)?;
        }
        Ok(())
    }
}
