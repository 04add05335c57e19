//! Buffers that each thread reuses for chunk after chunk.

use std::ops::{Deref, DerefMut};
use zarr_bytes::{BufferUse, keep_buffer, take_buffer};

/// Byte buffer of the current thread, which keeps the memory for the next use when the buffer is dropped.
#[derive(Debug)]
pub struct Scratch {
    buffer: Vec<u8>,
    usage: BufferUse,
}

impl Scratch {
    /// Returns a buffer to overwrite, with the length and bytes of its last use.
    pub fn take() -> Self {
        Self { buffer: take_buffer(BufferUse::Overwrite), usage: BufferUse::Overwrite }
    }

    /// Returns an empty buffer to append to.
    pub fn empty() -> Self {
        Self { buffer: take_buffer(BufferUse::Append), usage: BufferUse::Append }
    }

    /// Returns the first `size` bytes of the buffer, which grows as needed; the content is arbitrary.
    ///
    /// # Errors
    /// [`crate::Error::Allocation`] if memory for the bytes cannot be allocated.
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
    /// Returns a buffer without memory; a buffer that the thread keeps is not used.
    fn default() -> Self {
        Self { buffer: Vec::new(), usage: BufferUse::Overwrite }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        keep_buffer(self.usage, std::mem::take(&mut self.buffer));
    }
}
