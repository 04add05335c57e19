//! What the tasks of a store share.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::cache::Cache;
use crate::requests::Requests;

/// What the tasks of a store share.
pub(crate) struct Site {
    pub(crate) requests: Requests,
    pub(crate) missing_403: bool,
    pub(crate) max_value: u64,
    pub(crate) concurrency: usize,
    /// A request for a part was answered with all.
    pub(crate) whole_only: AtomicBool,
    pub(crate) cache: Cache,
}

impl Site {
    /// Whether the server does not know ranges.
    pub(crate) fn whole_only(&self) -> bool {
        self.whole_only.load(Ordering::Relaxed)
    }

    pub(crate) fn found_whole(&self) {
        self.whole_only.store(true, Ordering::Relaxed);
    }
}
