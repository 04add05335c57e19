//! Progress reports of a conversion, and its cancellation.

use super::skipped::{SkippedChunk, SkippedKey};
use super::{CopiedKey, PlannedNode};
use std::ops::ControlFlow;
use zarr_hierarchy::{IntoFlow, Result};

/// Event of a running conversion.
///
/// A conversion that is [cancelled](IntoFlow) ends with [`ErrorKind::Cancelled`](zarr_hierarchy::ErrorKind::Cancelled), in the same state
/// as after an error of a store: arrays that exist in the target are complete, and the source is unchanged. Nodes that are overwritten are
/// erased before the first report, unless the store exchanges prefixes (see [`Conversion::run`](super::Conversion::run)). A migration
/// writes into its source: its documents and chunks stay beside the complete old hierarchy until it is run again or
/// [undone](super::Migration::undo).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// A node is begun.
    Begin(&'a PlannedNode),
    /// Bytes of elements, as [`PlannedNode::size`] counts them, that were done since the last report. A resumed conversion first reports
    /// the bytes that were done before.
    Done(u128),
    /// A chunk of the source cannot be read and is left out: see [`ConvertOptions::keep_going`](super::ConvertOptions::keep_going). Each
    /// chunk is reported once, and once more if a conversion is resumed.
    Skipped(&'a SkippedChunk),
    /// Approximate number of further chunks that earlier runs or other parts left out, and that the journal does not list: it lists at most
    /// 1,000 chunks.
    MoreSkipped(u64),
    /// Key that belongs to no node, with the number of its bytes that were copied since the last report; 0 at its beginning. These bytes
    /// are not counted in [`Done`](Self::Done).
    OtherKey(&'a CopiedKey, u64),
    /// A key that belongs to no node cannot be read and is left out: see [`ConvertOptions::keep_going`](super::ConvertOptions::keep_going).
    /// It is reported again if a conversion is resumed.
    SkippedKey(&'a SkippedKey),
}

/// Wrapper of the caller's function for progress reports.
pub(super) struct Reporter<'a>(&'a (dyn Fn(Progress<'_>) -> ControlFlow<()> + Sync));

impl<'a> Reporter<'a> {
    pub(super) fn new(report: &'a (dyn Fn(Progress<'_>) -> ControlFlow<()> + Sync)) -> Self {
        Self(report)
    }

    /// Reports that a node is begun.
    pub(super) fn begin(&self, node: &PlannedNode) -> Result<()> {
        self.report(Progress::Begin(node))
    }

    /// Reports bytes of elements that were done since the last report.
    pub(super) fn done(&self, bytes: u128) -> Result<()> {
        self.report(Progress::Done(bytes))
    }

    /// Reports a chunk that cannot be read.
    pub(super) fn skipped(&self, chunk: &SkippedChunk) -> Result<()> {
        self.report(Progress::Skipped(chunk))
    }

    /// Reports the unreadable chunks of earlier runs, and the number `more` of further ones that are not listed.
    pub(super) fn all_skipped(&self, chunks: &[SkippedChunk], more: u64) -> Result<()> {
        chunks.iter().try_for_each(|chunk| self.skipped(chunk))?;
        if more > 0 { self.report(Progress::MoreSkipped(more)) } else { Ok(()) }
    }

    pub(super) fn report(&self, progress: Progress<'_>) -> Result<()> {
        (self.0)(progress).into_result()
    }
}
