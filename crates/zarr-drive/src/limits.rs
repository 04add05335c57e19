//! Limits of the concurrent requests and bytes of an operation.

use zarr_store::AccessProfile;

/// Limits of one operation, such as the read of a region, on a store with concurrent requests.
///
/// ```
/// use zarr_drive::InFlightLimits;
/// use zarr_store::AccessProfile;
/// let limits = InFlightLimits::of(&AccessProfile::REMOTE).bytes_in_flight(64 << 20);
/// assert_eq!((limits.requests, limits.bytes), (512, 64 << 20));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InFlightLimits {
    /// Maximum number of requests without a reply.
    pub requests: usize,
    /// Maximum number of bytes that are requested and not yet decoded, or encoded and not yet stored.
    ///
    /// - A single step that needs more bytes waits until nothing else is in progress.
    /// - A value of unknown size counts with its [expected size](zarr_store::GetOptions::expected_size). As soon as other values of the
    ///   operation have come, it counts with the expected size times the largest ratio of actual to expected size among them, and a quarter
    ///   more. The ratio is often small, since compressed values are smaller than the maximum that their codecs can produce.
    /// - A value that is being encoded counts with the size of its elements.
    /// - A large range that is read in parts uses at most half of the limit for concurrent parts, since the whole range takes memory as well.
    /// - The inner chunks of a large shard that is being written count while they are appended to it.
    pub bytes: u64,
}

impl InFlightLimits {
    /// Returns the limits that the access profile of a store recommends.
    #[must_use]
    pub const fn of(profile: &AccessProfile) -> Self {
        Self { requests: profile.concurrency, bytes: profile.bytes_in_flight }
    }

    /// Sets the maximum number of requests without a reply; 0 counts as 1.
    #[must_use]
    pub const fn requests(self, requests: usize) -> Self {
        Self { requests, ..self }
    }

    /// Sets the maximum number of [bytes](Self::bytes) in progress.
    #[must_use]
    pub const fn bytes_in_flight(self, bytes: u64) -> Self {
        Self { bytes, ..self }
    }
}
