//! Buffers that each thread keeps between chunks.
//!
//! A fresh buffer costs page faults for every chunk; a kept one costs them once. Buffers are taken and given back, so
//! that nested uses (a shard in a shard) get different ones.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

/// Buffers kept per thread; more are freed.
const MAX_KEPT: usize = 8;
/// Larger buffers are not kept: chunks of this size make their page faults a small part of the work.
const MAX_SIZE: usize = 64 << 20;

thread_local! {
    static KEPT: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// A buffer of this thread's, given back when dropped.
///
/// It holds whatever its last user left; only its length counts as memory that need not be cleared again.
#[derive(Debug, Default)]
pub struct Scratch(Vec<u8>);

impl Scratch {
    /// A buffer, empty or used before.
    pub fn take() -> Self {
        Self(KEPT.with_borrow_mut(Vec::pop).unwrap_or_default())
    }

    /// A buffer with no content, to be appended to.
    pub fn empty() -> Self {
        let mut scratch = Self::take();
        scratch.0.clear();
        scratch
    }

    /// The first `size` bytes, of arbitrary content.
    ///
    /// # Errors
    /// [`crate::Error::Allocation`] if there is no memory for them.
    pub fn sized(&mut self, size: usize) -> Result<&mut [u8], crate::Error> {
        let missing = size.saturating_sub(self.0.len());
        self.0.try_reserve(missing).map_err(|_| crate::Error::Allocation { size: size as u64 })?;
        if missing > 0 {
            self.0.resize(size, 0);
        }
        self.0.get_mut(..size).ok_or(crate::Error::Allocation { size: size as u64 })
    }
}

impl Deref for Scratch {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.0
    }
}

impl DerefMut for Scratch {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let buffer = std::mem::take(&mut self.0);
        if buffer.capacity() > 0 && buffer.capacity() <= MAX_SIZE {
            // A thread that is ending has no place for it any more.
            let _ = KEPT.try_with(|kept| {
                let mut kept = kept.borrow_mut();
                if kept.len() < MAX_KEPT {
                    kept.push(buffer);
                }
            });
        }
    }
}
