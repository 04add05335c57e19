//! The progress reports of a conversion, and its cancellation.

use super::PlannedNode;
use std::ops::ControlFlow;
use zarr_hierarchy::{Error, ErrorKind, Result};

/// An event of a running conversion.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// A node is begun.
    Begin(&'a PlannedNode),
    /// So many bytes of elements, as [`PlannedNode::size`] counts them, are done.
    Done(u128),
}

/// The result of a function that takes progress reports: nothing, or [`ControlFlow`], by which it cancels.
///
/// A conversion that is cancelled ends with [`ErrorKind::Cancelled`], in the state that an error of a store leaves: the arrays that are
/// there are complete, and the source is as it was. Nodes in the way that were to be replaced are erased before the first report. A
/// migration writes into its source: its documents and chunks stay beside the old hierarchy, which is whole, until it
/// is run again or [undone](super::Migration::undo).
pub trait IntoFlow {
    /// [`ControlFlow::Break`] to cancel.
    fn into_flow(self) -> ControlFlow<()>;
}

impl IntoFlow for () {
    fn into_flow(self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl IntoFlow for ControlFlow<()> {
    fn into_flow(self) -> ControlFlow<()> {
        self
    }
}

/// The function that is told of progress.
pub(super) struct Reporter<'a>(&'a (dyn Fn(Progress<'_>) -> ControlFlow<()> + Sync));

impl<'a> Reporter<'a> {
    pub(super) fn new(report: &'a (dyn Fn(Progress<'_>) -> ControlFlow<()> + Sync)) -> Self {
        Self(report)
    }

    /// Tells of a node that is begun.
    pub(super) fn begin(&self, node: &PlannedNode) -> Result<()> {
        self.report(Progress::Begin(node))
    }

    /// Tells of so many bytes of elements that are done.
    pub(super) fn done(&self, bytes: u128) -> Result<()> {
        self.report(Progress::Done(bytes))
    }

    fn report(&self, progress: Progress<'_>) -> Result<()> {
        match (self.0)(progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::new(ErrorKind::Cancelled, "cancelled by the caller")),
        }
    }
}
