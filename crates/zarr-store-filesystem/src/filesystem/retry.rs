//! Trying again while others change the same directories.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use zarr_store::backoff;

/// How often an operation is tried again at once.
const AT_ONCE: u32 = 8;

/// How long it is tried again after that. Many threads that set and erase in one directory can take it from each other
/// any number of times, most of all when there are more of them than processors; so time is the bound, not a count.
const PATIENCE: Duration = Duration::from_secs(10);

/// The attempts of an operation whose directory others remove meanwhile.
#[derive(Debug, Default)]
pub(super) struct Retry {
    attempts: u32,
    /// When the first pause began.
    since: Option<Instant>,
}

impl Retry {
    /// Whether the operation is tried for at least the second time.
    pub(super) fn has_begun(&self) -> bool {
        self.attempts > 0
    }

    /// Whether to try again; waits first if others seem to keep the directory busy. Not if the root of the store is gone: nobody
    /// makes it again.
    pub(super) fn again(&mut self, root: &Path) -> bool {
        self.attempts = self.attempts.saturating_add(1);
        if self.attempts <= AT_ONCE {
            return true;
        }
        if self.since.is_none() && !root.is_dir() {
            return false;
        }
        if self.since.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
            return false;
        }
        thread::sleep(backoff(self.attempts - AT_ONCE));
        true
    }
}
