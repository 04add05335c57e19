//! How the values of a store are best read and written.

use std::ops::Range;

/// Where the values of a store are, which sets the cost of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoreKind {
    /// In the memory of the process. A request costs a lookup, and the store lends its bytes.
    Memory,
    /// In files of this machine. A request costs a few system calls, and copies bytes into the caller's memory.
    Local,
    /// Behind a network. A request has a latency of milliseconds or more, and several at the same time are not slower than one.
    Remote,
}

/// How the values of a store are best read and written.
///
/// A store returns one of the constants, with other values where it differs:
///
/// ```
/// use zarr_store::AccessProfile;
/// let profile = AccessProfile::REMOTE.concurrency(100);
/// assert_eq!((profile.concurrency, profile.max_gap), (100, 1 << 20));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AccessProfile {
    /// Where the values are. It decides how many chunks make one unit of work, and whether values are read into memory of the caller.
    pub kind: StoreKind,
    /// Size of the pieces that large uncompressed chunks are read in one after another, in bytes, about. `None`: all pieces at once.
    pub read_size: Option<u64>,
    /// Maximum number of bytes between ranges of a value that are read as one.
    pub max_gap: u64,
    /// Size, in bytes, beyond which ranges are not merged; a longer range stays as it is. With 0 none are merged.
    pub max_size: u64,
    /// Number of requests of one operation that the drivers that do not block have under way at once.
    pub concurrency: usize,
    /// Number of bytes of one operation that the drivers that do not block have under way at once: bytes that were asked for and are not
    /// yet decoded, or are encoded and not yet stored.
    pub bytes_in_flight: u64,
    /// Ranges of more than twice this size are read in parts of it, at the same time, and so are whole values that are [expected to
    /// be](crate::GetOptions::expected_size) so large. `None`: never.
    pub part_size: Option<u64>,
}

/// Enough for 1.3 GB/s at a latency of 100 ms.
const BYTES_IN_FLIGHT: u64 = 128 << 20;

impl AccessProfile {
    /// Profile of values in memory: no range is merged, since each is lent as it is.
    pub const MEMORY: Self = Self {
        kind: StoreKind::Memory,
        read_size: None,
        max_gap: 0,
        max_size: 0,
        concurrency: 32,
        bytes_in_flight: BYTES_IN_FLIGHT,
        part_size: None,
    };

    /// Profile of files. A system call takes about as long as copying 16 KiB from the page cache. Pieces of 1 MiB stay in the larger caches
    /// of a core, and each costs an opening: pieces of a quarter cost 20 % more in all.
    pub const LOCAL: Self = Self {
        kind: StoreKind::Local,
        read_size: Some(1 << 20),
        max_gap: 16 << 10,
        max_size: 8 << 20,
        concurrency: 32,
        bytes_in_flight: BYTES_IN_FLIGHT,
        part_size: None,
    };

    /// Profile of values behind a network: to read 1 MiB more takes less time than another request, 512 requests hide the latency of values
    /// of 64 KiB, and one connection gives a fraction of the bandwidth, so that large values come faster in parts.
    pub const REMOTE: Self = Self {
        kind: StoreKind::Remote,
        read_size: None,
        max_gap: 1 << 20,
        max_size: 16 << 20,
        concurrency: 512,
        bytes_in_flight: BYTES_IN_FLIGHT,
        part_size: Some(8 << 20),
    };

    /// With this [`read_size`](Self::read_size) in bytes.
    #[must_use]
    pub const fn read_size(self, read_size: Option<u64>) -> Self {
        Self { read_size, ..self }
    }

    /// With this [`max_gap`](Self::max_gap) and [`max_size`](Self::max_size) in bytes.
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

    /// With this [`bytes_in_flight`](Self::bytes_in_flight).
    #[must_use]
    pub const fn bytes_in_flight(self, bytes_in_flight: u64) -> Self {
        Self { bytes_in_flight, ..self }
    }

    /// With this [`part_size`](Self::part_size) in bytes.
    #[must_use]
    pub const fn part_size(self, part_size: Option<u64>) -> Self {
        Self { part_size, ..self }
    }
}
