//! Retries while other processes change the same directories.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use zarr_store::backoff;

/// Number of retries without a pause.
const AT_ONCE: u32 = 8;

/// Time for further retries. Many threads that set and erase in one directory can remove it from each other any number of times, above all
/// if they outnumber the processors; so the limit is a time and not a count.
const PATIENCE: Duration = Duration::from_secs(10);

/// Attempts of an operation whose directory other processes remove meanwhile.
#[derive(Debug, Default)]
pub(super) struct Retry {
    attempts: u32,
    /// Time of the first pause.
    since: Option<Instant>,
}

impl Retry {
    /// Returns whether the operation was tried before.
    pub(super) fn has_begun(&self) -> bool {
        self.attempts > 0
    }

    /// Returns whether to try again, after a pause if other processes seem to keep the directory busy. False if the root of the store is
    /// gone, since no operation creates it again.
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
