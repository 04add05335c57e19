//! Buffers that each thread stores for reuse: those of codecs, of replies, and of values to be set.
//!
//! New memory costs a page fault for every 4 KiB, about as much time as filling it. Callers own a buffer between [`take_buffer`] and
//! [`keep_buffer`], so that nested uses (a shard in a shard) have different buffers.

use std::cell::RefCell;
use std::thread::LocalKey;

/// Use of a buffer. Buffers of the two uses are stored separately: a buffer to overwrite is not cleared again, and a buffer to append to
/// has length 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferUse {
    /// The bytes of the buffer are overwritten. The buffer has the length and the bytes that its last user left.
    Overwrite,
    /// Bytes are appended to the buffer, which is empty.
    Append,
}

/// Greatest number of buffers of each use that a thread stores: more than the number of requests of one job that are answered at once.
const MAX_COUNT: usize = 128;
/// Greatest number of bytes of all buffers of each use that a thread stores.
const MAX_SIZE: usize = 64 << 20;

thread_local! {
    static OVERWRITE: RefCell<KeptBuffers> = const { RefCell::new(KeptBuffers::NONE) };
    static APPEND: RefCell<KeptBuffers> = const { RefCell::new(KeptBuffers::NONE) };
}

/// Buffers of one use, the largest last. The largest buffer is taken first: a small buffer, such as one of a document, would have to grow
/// again and again while large buffers for chunks stay unused.
struct KeptBuffers {
    buffers: Vec<Vec<u8>>,
    /// Capacity of all buffers in bytes.
    size: usize,
}

impl KeptBuffers {
    const NONE: Self = Self { buffers: Vec::new(), size: 0 };

    fn of(usage: BufferUse) -> &'static LocalKey<RefCell<Self>> {
        match usage {
            BufferUse::Overwrite => &OVERWRITE,
            BufferUse::Append => &APPEND,
        }
    }
}

/// Takes the largest buffer that the thread stores, and the one stored last of several with that size. Returns a new buffer without memory
/// if the thread stores none.
#[must_use]
pub fn take_buffer(usage: BufferUse) -> Vec<u8> {
    KeptBuffers::of(usage).with_borrow_mut(|kept| {
        let buffer = kept.buffers.pop().unwrap_or_default();
        kept.size -= buffer.capacity();
        buffer
    })
}

/// Stores a buffer for the next [`take_buffer`] on this thread, or frees it if the thread stores enough.
pub fn keep_buffer(usage: BufferUse, mut buffer: Vec<u8>) {
    if buffer.capacity() == 0 {
        return;
    }
    if usage == BufferUse::Append {
        buffer.clear();
    }
    // A thread that is ending keeps nothing.
    let _ = KeptBuffers::of(usage).try_with(|kept| {
        let mut kept = kept.borrow_mut();
        if kept.buffers.len() < MAX_COUNT && buffer.capacity() <= MAX_SIZE - kept.size {
            kept.size += buffer.capacity();
            let larger = kept.buffers.iter().rev().take_while(|other| other.capacity() > buffer.capacity()).count();
            let at = kept.buffers.len() - larger;
            kept.buffers.insert(at, buffer);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes all buffers of the thread, and returns their capacities.
    fn drain(usage: BufferUse) -> Vec<usize> {
        let taken = std::iter::from_fn(|| Some(take_buffer(usage).capacity()).filter(|capacity| *capacity > 0));
        taken.collect()
    }

    #[test]
    fn a_buffer_is_kept_for_the_same_use() {
        for (usage, len) in [(BufferUse::Overwrite, 1000), (BufferUse::Append, 0)] {
            let buffer = vec![1_u8; 1000];
            let address = buffer.as_ptr();
            keep_buffer(usage, buffer);
            let kept = take_buffer(usage);
            assert_eq!((kept.as_ptr(), kept.len()), (address, len));
        }
        keep_buffer(BufferUse::Append, vec![1; 10]);
        assert_eq!(take_buffer(BufferUse::Overwrite).capacity(), 0);
        assert_eq!(drain(BufferUse::Append), [10]);
    }

    #[test]
    fn the_largest_buffer_is_taken_first() {
        [5, 1000, 30, 1000, 7].into_iter().for_each(|len| keep_buffer(BufferUse::Append, Vec::with_capacity(len)));
        assert_eq!(drain(BufferUse::Append), [1000, 1000, 30, 7, 5]);
        let [first, last] = [0, 1].map(|_| Vec::with_capacity(10));
        let in_the_cache = last.as_ptr();
        keep_buffer(BufferUse::Append, first);
        keep_buffer(BufferUse::Append, last);
        let taken = take_buffer(BufferUse::Append);
        assert_eq!(taken.as_ptr(), in_the_cache);
        drain(BufferUse::Append);
    }

    #[test]
    fn kept_memory_is_bounded() {
        const HALF: usize = MAX_SIZE / 2;
        keep_buffer(BufferUse::Overwrite, Vec::with_capacity(MAX_SIZE + 1));
        assert_eq!(drain(BufferUse::Overwrite), []);
        (0..3).for_each(|_| keep_buffer(BufferUse::Append, Vec::with_capacity(HALF)));
        assert_eq!(drain(BufferUse::Append), [HALF, HALF]);
        (0..2 * MAX_COUNT).for_each(|_| keep_buffer(BufferUse::Append, vec![0; 8]));
        assert_eq!(drain(BufferUse::Append).len(), MAX_COUNT);
    }
}
