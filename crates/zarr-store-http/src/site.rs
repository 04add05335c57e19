//! State that the tasks of an HTTP store share.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use zarr_store_runtime::Sizes;

use crate::cache::Cache;
use crate::requests::Requests;

/// State that the tasks of an HTTP store share.
pub(crate) struct Site {
    pub(crate) requests: Requests,
    pub(crate) missing_403: bool,
    pub(crate) max_value: u64,
    pub(crate) concurrency: usize,
    /// Whether a request for a part was answered with the whole value.
    pub(crate) whole_only: AtomicBool,
    pub(crate) cache: Cache,
    /// Number of consecutive refusals of ranges from the end of a value.
    pub(crate) suffix_refusals: AtomicU32,
    /// Sizes of values, for a server that does not support ranges from the end.
    pub(crate) sizes: Sizes,
}

/// Greatest number of consecutive refusals of ranges from the end that count as accidental.
const BY_CHANCE: u32 = 1;

impl Site {
    /// Returns whether the server does not support ranges.
    pub(crate) fn whole_only(&self) -> bool {
        self.whole_only.load(Ordering::Relaxed)
    }

    /// Returns whether the server does not support ranges from the end of a value.
    pub(crate) fn no_suffix(&self) -> bool {
        self.suffix_refusals.load(Ordering::Relaxed) > BY_CHANCE
    }

    /// Records a refused range from the end of a value. `for_good` says whether the response states that such ranges are not supported.
    pub(crate) fn suffix_refused(&self, for_good: bool) {
        self.suffix_refusals.fetch_add(if for_good { 1 + BY_CHANCE } else { 1 }, Ordering::Relaxed);
    }

    pub(crate) fn suffix_answered(&self) {
        self.suffix_refusals.store(0, Ordering::Relaxed);
    }

    pub(crate) fn found_whole(&self) {
        self.whole_only.store(true, Ordering::Relaxed);
    }
}
