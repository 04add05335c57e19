//! Progress of an operation, and cancelling by the function that is called with the progress.

use crate::{Error, ErrorKind, Result};
use std::ops::ControlFlow;

/// Result of a function that receives progress reports: `()` to continue, or [`ControlFlow`], which can cancel the operation.
///
/// A cancelled operation ends with [`ErrorKind::Cancelled`], in the same state as after an error of the store.
pub trait IntoFlow {
    /// Converts the result to [`ControlFlow`]; [`ControlFlow::Break`] cancels.
    fn into_flow(self) -> ControlFlow<()>;

    /// Converts the result to an error if it cancels the operation.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`] for [`ControlFlow::Break`].
    fn into_result(self) -> Result<()>
    where
        Self: Sized,
    {
        match self.into_flow() {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::new(ErrorKind::Cancelled, "cancelled by the caller")),
        }
    }
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

/// Progress report of an erasure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EraseProgress {
    /// The keys of the node are known, and none is erased yet. The value is their number, in which a prefix that is erased by one request
    /// counts as one key.
    Begin(u64),
    /// Keys were erased; the value is their number since the last report. There is a report for every 512 keys or fewer.
    Done(u64),
}
