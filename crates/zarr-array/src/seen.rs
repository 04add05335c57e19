//! Time of the last look at the document of an array.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Time in nanoseconds at which the document of an array was last seen to be as it was opened; 0 for never.
#[derive(Debug, Default)]
pub(crate) struct Seen(AtomicU64);

/// Origin of the times in [`Seen`]; a time at the origin counts as 1, since 0 stands for never.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

fn since_start(time: Instant) -> u64 {
    u64::try_from(time.saturating_duration_since(*START).as_nanos()).unwrap_or(u64::MAX).max(1)
}

impl Seen {
    pub(crate) fn now() -> Self {
        Self(AtomicU64::new(since_start(Instant::now())))
    }

    /// Copies the time.
    pub(crate) fn same(&self) -> Self {
        Self(AtomicU64::new(self.0.load(Ordering::Relaxed)))
    }

    /// Notes a look at the document that began at `begun`.
    pub(crate) fn set(&self, begun: Instant) {
        self.0.fetch_max(since_start(begun), Ordering::Relaxed);
    }

    pub(crate) fn is_older_than(&self, interval: Duration) -> bool {
        let seen = self.0.load(Ordering::Relaxed);
        seen == 0 || Duration::from_nanos(since_start(Instant::now()).saturating_sub(seen)) >= interval
    }
}
