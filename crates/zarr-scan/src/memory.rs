//! Division of memory among the threads that decode and the elements that are in memory at once.

use crate::parallel::processors;
use std::num::NonZeroUsize;
use zarr_array::Options;

/// Maximum number of bytes that are reserved for everything but elements.
pub const OVERHEAD: u64 = 16 << 20;

/// Memory that a pass over elements may use.
///
/// ```
/// use zarr_array::Options;
/// use zarr_scan::Memory;
///
/// let threads = Options::default().threads(std::num::NonZeroUsize::new(8));
/// let memory = Memory::new(160 << 20, [(&[1 << 20][..], 8)], &threads);
/// // What is no element takes 16 MiB, and a thread two chunks of 8 MiB.
/// assert_eq!((memory.bytes(), memory.for_thread()), (144 << 20, 16 << 20));
/// assert_eq!(memory.threads_in(64 << 20), 4);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    bytes: u64,
    for_thread: u64,
    wanted: usize,
}

impl Memory {
    /// Divides `memory` bytes. `chunks` are the shapes of what a thread decodes or encodes at once, each with the size of an element in
    /// bytes; a thread holds one of them at a time. The number of threads is that of the options.
    pub fn new<'s>(memory: u64, chunks: impl IntoIterator<Item = (&'s [u64], u64)>, options: &Options) -> Self {
        let size = |(shape, item)| u64::try_from(zarr_grid::total_size(shape, item)).unwrap_or(u64::MAX);
        let largest = chunks.into_iter().map(size).max().unwrap_or(0);
        Self {
            bytes: memory - OVERHEAD.min(memory / 4),
            // A thread holds a chunk encoded, and decoded where it reaches beyond the array or is read in part.
            for_thread: largest.saturating_mul(2).max(1),
            wanted: options.threads.unwrap_or_else(processors).get(),
        }
    }

    /// Returns the memory of which `bytes` bytes are for threads and elements: the argument of [`new`](Self::new).
    ///
    /// ```
    /// # use zarr_scan::Memory;
    /// assert_eq!((Memory::with_reserve(144 << 20), Memory::with_reserve(300)), (160 << 20, 401));
    /// ```
    pub fn with_reserve(bytes: u64) -> u64 {
        // A quarter of the whole is a third of the rest, rounded up.
        bytes.saturating_add(OVERHEAD.min(bytes / 3 + 1))
    }

    /// Number of bytes for threads and elements, without the reserve for everything else.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Number of bytes that one thread needs to decode or encode.
    pub fn for_thread(&self) -> u64 {
        self.for_thread
    }

    /// Number of threads for which `bytes` bytes suffice: at least 1, and at most the number of the options.
    pub fn threads_in(&self, bytes: u64) -> usize {
        usize::try_from(bytes / self.for_thread).unwrap_or(usize::MAX).clamp(1, self.wanted)
    }

    /// Returns the options with `threads` threads, if they ask for more.
    pub fn limit(&self, options: &Options, threads: usize) -> Options {
        match threads < self.wanted {
            true => options.clone().threads(NonZeroUsize::new(threads)),
            false => options.clone(),
        }
    }
}
