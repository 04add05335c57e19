//! Memory for buffers that are made here: aligned to 8 bytes, as Arrow recommends.

use crate::{Error, ErrorKind, Result};

/// Bytes that are aligned to 8 bytes, zero at first.
#[derive(Debug, Default)]
pub(crate) struct Words {
    words: Vec<u64>,
    len: usize,
}

impl Words {
    /// Allocates `len` zero bytes.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if there is no memory for them.
    pub(crate) fn zeroed(len: usize) -> Result<Self> {
        let count = len.div_ceil(size_of::<u64>());
        let mut words = Vec::new();
        words.try_reserve_exact(count).map_err(|_| no_memory(len))?;
        words.resize(count, 0);
        Ok(Self { words, len })
    }

    /// Allocates zero bytes for `count` items of `size` bytes each.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if there is no memory for them.
    pub(crate) fn items(count: usize, size: usize) -> Result<Self> {
        Self::zeroed(count.checked_mul(size).ok_or_else(|| no_memory(usize::MAX))?)
    }

    /// Copies bytes.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if there is no memory for them.
    pub(crate) fn copy(bytes: &[u8]) -> Result<Self> {
        let mut words = Self::zeroed(bytes.len())?;
        words.bytes_mut().copy_from_slice(bytes);
        Ok(words)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.words).split_at(self.len).0
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.words).split_at_mut(self.len).0
    }
}

pub(crate) fn no_memory(len: usize) -> Error {
    Error::new(ErrorKind::Limit, format!("no memory for {len} bytes"))
}
