//! Shares of memory that threads take while they hold values.

use std::sync::{Condvar, Mutex, PoisonError};
use zarr_scan::lock;

/// Memory of which threads take shares.
pub(super) struct Shares {
    all: u64,
    free: Mutex<u64>,
    returned: Condvar,
}

/// Share of memory, which goes back when it is dropped.
pub(super) struct Share<'a> {
    of: &'a Shares,
    bytes: u64,
}

impl Shares {
    pub(super) fn new(bytes: u64) -> Self {
        Self { all: bytes, free: Mutex::new(bytes), returned: Condvar::new() }
    }

    /// Takes `bytes` bytes; if the memory has fewer, takes all of it. Waits until they are free. A thread that has a share must not take
    /// another.
    pub(super) fn take(&self, bytes: u64) -> Share<'_> {
        let bytes = bytes.min(self.all);
        let mut free = lock(&self.free);
        while *free < bytes {
            free = self.returned.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= bytes;
        Share { of: self, bytes }
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        *lock(&self.of.free) += self.bytes;
        self.of.returned.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn threads_hold_no_more_than_the_memory() {
        let (shares, held) = (Shares::new(10), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for number in 0..8_u64 {
                let (shares, held) = (&shares, &held);
                scope.spawn(move || {
                    for round in 0..200 {
                        let bytes = (number + round) % 13;
                        let share = shares.take(bytes);
                        assert_eq!(share.bytes, bytes.min(10));
                        let before = held.fetch_add(share.bytes, Ordering::SeqCst);
                        assert!(before + share.bytes <= 10, "{before}");
                        std::thread::yield_now();
                        held.fetch_sub(share.bytes, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(*lock(&shares.free), 10);
    }
}
