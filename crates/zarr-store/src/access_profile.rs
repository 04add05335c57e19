//! Access profile: how the values of a store are best read and written.

use std::ops::Range;

/// Where the values of a store are, which sets the cost of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoreKind {
    /// Values in the memory of the process. A request costs a lookup, and the store lends its bytes.
    Memory,
    /// Values in files of this machine. A request costs a few system calls, and copies bytes into the caller's memory.
    Local,
    /// Values behind a network. A request has a latency of milliseconds or more, and several requests at the same time are not slower than
    /// a single request.
    Remote,
}

/// Properties of a store that tell how its values are best read and written.
///
/// A store returns one of the constants, possibly with some values changed:
///
/// ```
/// use zarr_store::AccessProfile;
/// let profile = AccessProfile::REMOTE.concurrency(100);
/// assert_eq!((profile.concurrency, profile.max_gap), (100, 1 << 20));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AccessProfile {
    /// Location of the values. It determines how many chunks make one unit of work, and whether values are read into memory of the caller.
    pub kind: StoreKind,
    /// Approximate size in bytes of the pieces in which large uncompressed chunks are read one after another. `None`: all pieces are read
    /// at once.
    pub read_size: Option<u64>,
    /// Maximum number of bytes between two ranges of a value that are merged into one request.
    pub max_gap: u64,
    /// Maximum size in bytes of merged ranges. A single range may be longer. With 0, no ranges are merged.
    pub max_size: u64,
    /// Maximum number of concurrent requests of one operation in async drivers.
    pub concurrency: usize,
    /// Maximum number of bytes in flight of one operation in async drivers: bytes that are requested and not yet decoded, or encoded and
    /// not yet stored.
    pub bytes_in_flight: u64,
    /// Size in bytes of the parts in which large ranges are read concurrently: ranges of more than twice this size, and whole values that
    /// are [expected to be](crate::GetOptions::expected_size) so large. `None`: ranges are not split.
    pub part_size: Option<u64>,
    /// Whether a part of a value costs no more than its bytes and a request. `false` for stores that decode, or hash, the whole value for a
    /// part of it, as archives with compressed files and databases may.
    pub cheap_parts: bool,
}

/// Number of bytes in flight that allows 1.3 GB/s at a latency of 100 ms.
const BYTES_IN_FLIGHT: u64 = 128 << 20;

impl AccessProfile {
    /// Profile of values in memory: ranges are not merged, since each is lent without a copy.
    pub const MEMORY: Self = Self {
        kind: StoreKind::Memory,
        read_size: None,
        max_gap: 0,
        max_size: 0,
        concurrency: 32,
        bytes_in_flight: BYTES_IN_FLIGHT,
        part_size: None,
        cheap_parts: true,
    };

    /// Profile of files. A system call takes about as long as copying 16 KiB from the page cache. Pieces of 1 MiB fit in the larger caches
    /// of a core; each piece costs an opening of the file, so that pieces of 256 KiB take 20 % longer in total.
    pub const LOCAL: Self = Self {
        kind: StoreKind::Local,
        read_size: Some(1 << 20),
        max_gap: 16 << 10,
        max_size: 8 << 20,
        concurrency: 32,
        bytes_in_flight: BYTES_IN_FLIGHT,
        part_size: None,
        cheap_parts: true,
    };

    /// Profile of values behind a network: reading 1 MiB more takes less time than another request, 512 concurrent requests hide the
    /// latency for values of 64 KiB, and one connection has a fraction of the bandwidth, so that large values are read in parts.
    pub const REMOTE: Self = Self {
        kind: StoreKind::Remote,
        read_size: None,
        max_gap: 1 << 20,
        max_size: 16 << 20,
        concurrency: 512,
        bytes_in_flight: BYTES_IN_FLIGHT,
        part_size: Some(8 << 20),
        cheap_parts: true,
    };

    /// Sets [`read_size`](Self::read_size), in bytes.
    #[must_use]
    pub const fn read_size(self, read_size: Option<u64>) -> Self {
        Self { read_size, ..self }
    }

    /// Sets [`max_gap`](Self::max_gap) and [`max_size`](Self::max_size), in bytes.
    #[must_use]
    pub const fn merging(self, max_gap: u64, max_size: u64) -> Self {
        Self { max_gap, max_size, ..self }
    }

    /// Whether a range that begins at or after the start of `before` is read together with it, as [`max_gap`](Self::max_gap) and
    /// [`max_size`](Self::max_size) say.
    ///
    /// ```
    /// use zarr_store::AccessProfile;
    /// let profile = AccessProfile::REMOTE.merging(10, 100);
    /// assert!(profile.joins(&(0..50), &(60..90)));
    /// assert!(!profile.joins(&(0..50), &(61..90)) && !profile.joins(&(0..50), &(60..101)));
    /// ```
    #[must_use]
    pub const fn joins(&self, before: &Range<u64>, next: &Range<u64>) -> bool {
        if next.end <= before.end {
            return true;
        }
        next.start.saturating_sub(before.end) <= self.max_gap && next.end - before.start <= self.max_size
    }

    /// With this [`concurrency`](Self::concurrency).
    #[must_use]
    pub const fn concurrency(self, concurrency: usize) -> Self {
        Self { concurrency, ..self }
    }

    /// Sets [`bytes_in_flight`](Self::bytes_in_flight).
    #[must_use]
    pub const fn bytes_in_flight(self, bytes_in_flight: u64) -> Self {
        Self { bytes_in_flight, ..self }
    }

    /// Sets [`part_size`](Self::part_size), in bytes.
    #[must_use]
    pub const fn part_size(self, part_size: Option<u64>) -> Self {
        Self { part_size, ..self }
    }

    /// Sets [`cheap_parts`](Self::cheap_parts).
    #[must_use]
    pub const fn cheap_parts(self, cheap_parts: bool) -> Self {
        Self { cheap_parts, ..self }
    }
}
