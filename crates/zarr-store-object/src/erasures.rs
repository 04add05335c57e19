//! Keys that wait to be erased together.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use object_store::path::Path;
use tokio::sync::oneshot;
use zarr_store::{Key, Result};

/// Keys that are to be erased, of operations that were called at the same time.
#[derive(Debug, Default)]
pub(crate) struct Erasures {
    waiting: Mutex<Vec<Waiting>>,
    /// The service refuses requests that name several keys.
    refused: AtomicBool,
}

/// A key that is to be erased.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) key: Key,
    pub(crate) path: Path,
    /// Gets the outcome; closed if nobody waits for it any more.
    pub(crate) done: oneshot::Sender<Result<()>>,
}

impl Erasures {
    pub(crate) fn waiting(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the service refuses requests that name several keys.
    pub(crate) fn are_refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed)
    }

    /// Notes that it does.
    pub(crate) fn refuse(&self) {
        self.refused.store(true, Ordering::Relaxed);
    }
}
