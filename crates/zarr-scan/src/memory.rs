//! Division of memory among the threads that decode and the elements that are in memory at once.

use crate::parallel::processors;
use std::num::NonZeroUsize;
use zarr_array::Options;
use zarr_store::AccessProfile;

/// Maximum number of bytes that are reserved for everything but elements.
pub const OVERHEAD: u64 = 16 << 20;

/// Maximum number of bytes that are reserved for values on their way to and from remote stores, as their access profiles recommend.
const IN_FLIGHT: u64 = AccessProfile::REMOTE.bytes_in_flight;

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
    /// Number of bytes for values on their way to and from remote stores; `None` if no store is remote.
    in_flight: Option<u64>,
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
            in_flight: None,
        }
    }

    /// Reserves memory for values on their way to and from stores if one of them `is_remote`: a quarter, and at most 128 MiB.
    ///
    /// ```
    /// # use zarr_scan::Memory;
    /// let memory = Memory::new(160 << 20, [(&[1 << 20][..], 8)], &Default::default()).with_requests(true);
    /// assert_eq!(memory.bytes(), 108 << 20);
    /// // Four reads at the same time share the rest.
    /// assert_eq!(memory.limit(&Default::default(), 1, 4).bytes_in_flight, Some(9 << 20));
    /// ```
    #[must_use]
    pub fn with_requests(self, is_remote: bool) -> Self {
        let in_flight = (self.bytes / 4).min(IN_FLIGHT);
        match is_remote {
            true => Self { bytes: self.bytes - in_flight, in_flight: Some(in_flight), ..self },
            false => self,
        }
    }

    /// Returns the memory of which `bytes` bytes are for threads and elements: the argument of [`new`](Self::new), with the share of
    /// [requests](Self::with_requests) if a store `is_remote`.
    ///
    /// ```
    /// # use zarr_scan::Memory;
    /// assert_eq!((Memory::with_reserve(144 << 20, false), Memory::with_reserve(300, false)), (160 << 20, 401));
    /// assert_eq!(Memory::with_reserve(144 << 20, true), (208 << 20) + 1);
    /// ```
    pub fn with_reserve(bytes: u64, is_remote: bool) -> u64 {
        // A quarter of the whole is a third of the rest, rounded up.
        let with = |bytes: u64, most: u64| bytes.saturating_add(most.min(bytes / 3 + 1));
        with(if is_remote { with(bytes, IN_FLIGHT) } else { bytes }, OVERHEAD)
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

    /// Returns the options for arrays of which `operations` reads and writes run at the same time: with `threads` threads, if they ask for
    /// more, and with an equal share of the [memory for requests](Self::with_requests).
    pub fn limit(&self, options: &Options, threads: usize, operations: usize) -> Options {
        let mut limited = options.clone();
        if threads < self.wanted {
            limited.threads = NonZeroUsize::new(threads);
        }
        if let Some(in_flight) = self.in_flight {
            let share = in_flight / (operations as u64).max(1);
            limited.bytes_in_flight = Some(options.bytes_in_flight.map_or(share, |bytes| bytes.min(share)));
        }
        limited
    }
}
