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

    /// Takes `bytes` bytes, but all of the memory if it is smaller. Waits until they are free; a thread that has a share must not take another.
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
