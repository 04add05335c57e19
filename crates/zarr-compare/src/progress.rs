//! Progress reports of comparisons, digests and manifests, and their cancellation.

use std::ops::ControlFlow;
use zarr_hierarchy::{IntoFlow, Result};

/// Event of a running comparison, digest or manifest. The function that receives it [may cancel](IntoFlow).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// Number of bytes that will be read: of elements, of which one of variable length counts as 16 bytes, and for a manifest of stored
    /// values. For a manifest it is 0 if the store does not tell the sizes. The first event.
    Total(u128),
    /// The array at this path is begun.
    Begin(&'a str),
    /// Number of bytes that are done since the last such event, counted as for [`Total`](Self::Total).
    Done(u128),
}

/// Wrapper of the caller's function for progress reports.
pub(crate) struct Reporter<'a>(&'a (dyn Fn(Progress<'_>) -> ControlFlow<()> + Sync));

impl<'a> Reporter<'a> {
    pub(crate) fn new(report: &'a (dyn Fn(Progress<'_>) -> ControlFlow<()> + Sync)) -> Self {
        Self(report)
    }

    pub(crate) fn report(&self, progress: Progress<'_>) -> Result<()> {
        (self.0)(progress).into_result()
    }
}
