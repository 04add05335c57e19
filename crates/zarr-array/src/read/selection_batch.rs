//! A batch of chunk selections: their boxes are read into a staging buffer, and runs of elements are copied from there to the output.

use super::ReadJob;
use super::attempt::RetryPolicy;
use super::staged_boxes::StagedBoxes;
use crate::Result;
use crate::advanced_selection::{SelectionBatch, copy_runs, region};
use std::sync::Arc;
use zarr_dtype::Heap;

/// The read of a batch of chunk selections.
#[derive(Debug)]
pub(super) struct SelectionBatchRead<'p> {
    batch: SelectionBatch<'p>,
    staged: StagedBoxes,
}

impl<'p> SelectionBatchRead<'p> {
    /// Elements of variable length go into `heap`.
    pub(super) fn new(batch: SelectionBatch<'p>, heap: Option<Arc<Heap>>) -> Result<Self> {
        let regions = batch.chunks.iter().map(|selection| region(batch.grid, &selection.overlap));
        let staged = StagedBoxes::new(regions.collect::<Result<Vec<_>>>()?, batch.item, heap)?;
        Ok(Self { batch, staged })
    }

    /// The job that reads the boxes; `None` if they are read.
    pub(super) fn read_job<'a>(&'a mut self, policy: &'a RetryPolicy<'a>) -> Result<Option<ReadJob<'a>>> {
        self.staged.read_job(policy)
    }

    /// Takes the result of the last job: whether all boxes are read.
    ///
    /// # Errors
    /// The error of the result, unless the job is to be done again.
    pub(super) fn ended(&mut self, policy: &RetryPolicy<'_>, result: Result<()>) -> Result<bool> {
        self.staged.ended(policy, result)
    }

    /// Copies the elements to `out`, the C-order bytes of the output.
    pub(super) fn scatter(&self, out: &mut [u8]) -> Result<()> {
        let boxes = self.batch.chunks.iter().zip(self.staged.bytes());
        boxes.into_iter().try_for_each(|(selection, bytes)| copy_runs(selection, self.batch.item, bytes, out))
    }
}
