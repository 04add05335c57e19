//! Keys that wait to be erased together.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use object_store::path::Path;
use tokio::sync::oneshot;
use zarr_store::{Key, Result};

/// Keys to be erased by operations that were called at the same time.
#[derive(Debug, Default)]
pub(crate) struct Erasures {
    waiting: Mutex<Vec<Waiting>>,
    /// Whether the service refuses requests that name several keys.
    refused: AtomicBool,
}

/// Key that waits to be erased.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) key: Key,
    pub(crate) path: Path,
    /// Receives the outcome; closed if the caller has dropped the operation.
    pub(crate) done: oneshot::Sender<Result<()>>,
}

impl Erasures {
    pub(crate) fn waiting(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the service refuses requests that name several keys.
    pub(crate) fn are_refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed)
    }

    /// Records that the service refuses requests that name several keys.
    pub(crate) fn refuse(&self) {
        self.refused.store(true, Ordering::Relaxed);
    }
}
