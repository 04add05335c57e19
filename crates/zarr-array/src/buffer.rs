//! Memory for outputs: zeroed by the operating system when it is first touched, and in large pages if possible.
#![cfg_attr(target_os = "linux", expect(unsafe_code))]

use crate::{Error, ErrorKind, Result};

/// Minimum size in bytes of an output for which large pages are requested. A smaller output has few page faults.
const LARGE: usize = 8 << 20;

/// Alignment in bytes of large buffers: a line of the CPU cache. Rows of an aligned buffer are more often whole lines, which can be written
/// past the cache.
const LINE: usize = 64;

/// Buffer of bytes that is aligned for every scalar type, zero at first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffer {
    words: Vec<[u64; 2]>,
    /// Number of bytes of `words` before the first byte of the buffer, so that a large buffer is aligned to a line of the CPU cache.
    skip: usize,
    len: usize,
}

impl Buffer {
    /// Allocates a buffer of `len` zero bytes. Bytes that are never touched cost nothing.
    pub(crate) fn zeroed(len: usize) -> Result<Self> {
        let room = if len < LARGE { len } else { len.saturating_add(LINE) };
        let words = room.div_ceil(size_of::<[u64; 2]>());
        // Zeroed memory cannot be asked for fallibly; whether there is that much can.
        Vec::<[u64; 2]>::new()
            .try_reserve_exact(words)
            .map_err(|_| Error::new(ErrorKind::Limit, format!("no memory for {len} bytes")))?;
        let words = vec![[0; 2]; words];
        // Memory is aligned to words, so this is a multiple of them.
        let skip = if len < LARGE { 0 } else { words.as_ptr().cast::<u8>().align_offset(LINE).min(LINE) };
        let mut buffer = Self { words, skip, len };
        advise_large(buffer.as_bytes_mut());
        Ok(buffer)
    }

    /// Returns a buffer of `len` bytes: in the same memory, with any content, if that suffices, else in new memory.
    pub(crate) fn resized(mut self, len: usize) -> Result<Self> {
        let room = (self.words.len() * size_of::<[u64; 2]>()).saturating_sub(self.skip);
        if len > room {
            drop(self);
            return Self::zeroed(len);
        }
        self.len = len;
        Ok(self)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        let (_, bytes) = bytemuck::cast_slice(&self.words).split_at(self.skip);
        bytes.split_at(self.len).0
    }

    pub(crate) fn as_bytes_mut(&mut self) -> &mut [u8] {
        let (_, bytes) = bytemuck::cast_slice_mut(&mut self.words).split_at_mut(self.skip);
        bytes.split_at_mut(self.len).0
    }
}

/// Asks the operating system to back large untouched memory with large pages: one fault per 2 MiB instead of per 4 KiB.
#[cfg(target_os = "linux")]
pub(crate) fn advise_large(bytes: &mut [u8]) {
    if bytes.len() < LARGE {
        return;
    }
    let page = rustix::param::page_size();
    let skip = bytes.as_ptr().align_offset(page);
    let len = bytes.len().saturating_sub(skip) & !(page - 1);
    let start = bytes.as_mut_ptr().wrapping_add(skip);
    // SAFETY: `start..start + len` are whole pages inside of `bytes`, which is borrowed exclusively, and the advice
    // changes neither content nor validity of memory. A refusal only means small pages.
    let _ = unsafe { rustix::mm::madvise(start.cast(), len, rustix::mm::Advice::LinuxHugepage) };
}

/// Does nothing: large pages are requested on Linux alone.
#[cfg(not(target_os = "linux"))]
pub(crate) fn advise_large(_bytes: &mut [u8]) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_aligned_and_of_the_size_asked_for() {
        for len in [0, 1, 15, 16, 17, LARGE + 3] {
            let mut buffer = Buffer::zeroed(len).unwrap();
            assert_eq!(buffer.as_bytes().len(), len);
            assert!(buffer.as_bytes().iter().all(|&byte| byte == 0));
            assert_eq!(buffer.as_bytes().as_ptr().align_offset(8), 0);
            if len >= LARGE {
                assert_eq!(buffer.as_bytes().as_ptr().align_offset(LINE), 0);
            }
            buffer.as_bytes_mut().fill(1);
            assert!(buffer.as_bytes().iter().all(|&byte| byte == 1));
            assert_eq!(buffer.clone().as_bytes(), buffer.as_bytes());
        }
        assert!(Buffer::zeroed(usize::MAX / 2).is_err());
    }

    #[test]
    fn memory_is_used_again_if_it_suffices() {
        let mut buffer = Buffer::default().resized(100).unwrap();
        let first = buffer.as_bytes().as_ptr();
        buffer.as_bytes_mut().fill(7);
        for len in [0, 3, 100] {
            buffer = buffer.resized(len).unwrap();
            assert_eq!((buffer.as_bytes().as_ptr(), buffer.as_bytes().len()), (first, len));
        }
        let larger = buffer.resized(LARGE + 5).unwrap();
        assert!(larger.as_bytes().len() == LARGE + 5 && larger.as_bytes().iter().all(|&byte| byte == 0));
    }
}
