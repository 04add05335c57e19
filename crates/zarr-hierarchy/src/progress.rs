//! The progress of an operation, and how a function that is told of it cancels.

use crate::{Error, ErrorKind, Result};
use std::ops::ControlFlow;

/// The result of a function that takes progress reports: nothing, or [`ControlFlow`], by which it cancels.
///
/// A cancelled operation ends with [`ErrorKind::Cancelled`], in the state that an error of a store leaves.
pub trait IntoFlow {
    /// [`ControlFlow::Break`] to cancel.
    fn into_flow(self) -> ControlFlow<()>;

    /// The error of a cancelled operation.
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

/// An event of a running erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EraseProgress {
    /// The keys of the node are known, and none of them is erased yet: the number of keys, where keys that vanish with a prefix at once
    /// count as one.
    Begin(u64),
    /// Number of the keys that were erased since the last event. For many keys there is a report for each 512 or less.
    Done(u64),
}
