//! State that the tasks of a store share.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use zarr_store_runtime::Sizes;

use crate::cache::Cache;
use crate::requests::Requests;

/// State that the tasks of a store share.
pub(crate) struct Site {
    pub(crate) requests: Requests,
    pub(crate) missing_403: bool,
    pub(crate) max_value: u64,
    pub(crate) concurrency: usize,
    /// A request for a part was answered with all.
    pub(crate) whole_only: AtomicBool,
    pub(crate) cache: Cache,
    /// Number of times in a row that the server refused a range from the end of a value.
    pub(crate) suffix_refusals: AtomicU32,
    /// The sizes of values, where it does not know such ranges.
    pub(crate) sizes: Sizes,
}

/// So often a server may fail at a range from the end by chance.
const BY_CHANCE: u32 = 1;

impl Site {
    /// Whether the server does not know ranges.
    pub(crate) fn whole_only(&self) -> bool {
        self.whole_only.load(Ordering::Relaxed)
    }

    /// Whether the server does not know ranges from the end of a value.
    pub(crate) fn no_suffix(&self) -> bool {
        self.suffix_refusals.load(Ordering::Relaxed) > BY_CHANCE
    }

    /// A range from the end of a value was refused, and its answer says for good.
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
