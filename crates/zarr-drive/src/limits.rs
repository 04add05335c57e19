//! How much of one operation may be under way.

use zarr_store::AccessProfile;

/// How much of one operation, such as the read of a region, may be under way at the same time on a store whose requests take long.
///
/// ```
/// use zarr_drive::Limits;
/// use zarr_store::AccessProfile;
/// let limits = Limits::of(&AccessProfile::REMOTE).bytes_in_flight(64 << 20);
/// assert_eq!((limits.requests, limits.bytes), (512, 64 << 20));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Number of requests that wait for an answer.
    pub requests: usize,
    /// Number of bytes that were asked for and are not yet decoded, or are encoded and not yet stored. A single step that needs more gets
    /// them when nothing else is under way. A value whose size is not known before counts with its [expected
    /// size](zarr_store::GetOptions::expected_size); after other values of the operation have come, it counts with the largest share of the
    /// expected size that one of these had, and a quarter more: compressed values are a fraction of what their codecs may make, and strings
    /// may be long. Values that are being encoded count with their elements. Of the parts of one range that comes in parts, half as many
    /// bytes are under way at once, and the range takes memory besides. The inner chunks of a large shard that is written count while they
    /// are appended to it.
    pub bytes: u64,
}

impl Limits {
    /// Returns the limits of the [profile](AccessProfile) of a store.
    #[must_use]
    pub const fn of(profile: &AccessProfile) -> Self {
        Self { requests: profile.concurrency, bytes: profile.bytes_in_flight }
    }

    /// Sets the maximum number of requests; 0 is taken for 1.
    #[must_use]
    pub const fn requests(self, requests: usize) -> Self {
        Self { requests, ..self }
    }

    /// Sets the maximum number of bytes under way.
    #[must_use]
    pub const fn bytes_in_flight(self, bytes: u64) -> Self {
        Self { bytes, ..self }
    }
}
