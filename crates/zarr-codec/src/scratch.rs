//! Buffers that each thread keeps between chunks.

use std::ops::{Deref, DerefMut};
use zarr_bytes::{BufferUse, keep_buffer, take_buffer};

/// A buffer of this thread, which keeps it when it is dropped.
#[derive(Debug)]
pub struct Scratch {
    buffer: Vec<u8>,
    usage: BufferUse,
}

impl Scratch {
    /// A buffer with the length and the bytes that its last user left, to be overwritten.
    pub fn take() -> Self {
        Self { buffer: take_buffer(BufferUse::Overwrite), usage: BufferUse::Overwrite }
    }

    /// A buffer without bytes, to be appended to.
    pub fn empty() -> Self {
        Self { buffer: take_buffer(BufferUse::Append), usage: BufferUse::Append }
    }

    /// The first `size` bytes, of arbitrary content.
    ///
    /// # Errors
    /// [`crate::Error::Allocation`] if there is no memory for them.
    pub fn sized(&mut self, size: usize) -> Result<&mut [u8], crate::Error> {
        let missing = size.saturating_sub(self.buffer.len());
        self.buffer.try_reserve(missing).map_err(|_| crate::Error::Allocation { size: size as u64 })?;
        if missing > 0 {
            self.buffer.resize(size, 0);
        }
        self.buffer.get_mut(..size).ok_or(crate::Error::Allocation { size: size as u64 })
    }
}

impl Deref for Scratch {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.buffer
    }
}

impl DerefMut for Scratch {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }
}

impl Default for Scratch {
    /// A buffer without memory, whatever the thread keeps.
    fn default() -> Self {
        Self { buffer: Vec::new(), usage: BufferUse::Overwrite }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        keep_buffer(self.usage, std::mem::take(&mut self.buffer));
    }
}
