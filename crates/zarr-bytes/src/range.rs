//! Ranges of the bytes of a value.

use std::fmt;
use std::ops::Range;

/// Range of the bytes of a value to get. Offsets and lengths are in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ByteRange {
    /// The whole value.
    Full,
    /// Bytes from offset `start` up to, but without, offset `end`. Both offsets must be within the value or at its end.
    Range(Range<u64>),
    /// Bytes from this offset to the end of the value. The offset must be within the value or at its end.
    From(u64),
    /// The last bytes of the value, given by their number. The value must have at least this number of bytes.
    Suffix(u64),
    /// The first bytes of the value, given by their number; all bytes if the value has fewer. This limits the memory for a value of unknown
    /// size.
    First(u64),
}

impl ByteRange {
    /// Returns the offsets of the range in a value of `size` bytes; `None` if the range is not wholly inside the value.
    ///
    /// ```
    /// # use zarr_bytes::ByteRange;
    /// assert_eq!(ByteRange::Suffix(4).resolve(10), Some(6..10));
    /// assert_eq!(ByteRange::Suffix(4).resolve(3), None);
    /// assert_eq!(ByteRange::From(10).resolve(10), Some(10..10));
    /// assert_eq!(ByteRange::First(4).resolve(3), Some(0..3));
    /// ```
    #[must_use]
    pub fn resolve(&self, size: u64) -> Option<Range<u64>> {
        match self {
            Self::Full => Some(0..size),
            Self::Range(range) => (range.start <= range.end && range.end <= size).then(|| range.clone()),
            Self::From(start) => (*start <= size).then_some(*start..size),
            Self::Suffix(len) => size.checked_sub(*len).map(|start| start..size),
            Self::First(len) => Some(0..size.min(*len)),
        }
    }

    /// Returns the size of the value if `bytes`, the result of this range, are known to be the whole value.
    #[must_use]
    pub fn whole_size(&self, bytes: &[u8]) -> Option<u64> {
        let len = bytes.len() as u64;
        match self {
            Self::Full => Some(len),
            Self::First(most) => (len < *most).then_some(len),
            Self::Range(_) | Self::From(_) | Self::Suffix(_) => None,
        }
    }

    /// Returns the range as offsets, if these do not depend on the size of the value.
    #[must_use]
    pub fn bounded(&self) -> Option<&Range<u64>> {
        match self {
            Self::Range(range) => Some(range),
            _ => None,
        }
    }
}

impl From<Range<u64>> for ByteRange {
    fn from(range: Range<u64>) -> Self {
        Self::Range(range)
    }
}

impl fmt::Display for ByteRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("all bytes"),
            Self::Range(range) => write!(f, "bytes {}..{}", range.start, range.end),
            Self::From(start) => write!(f, "bytes {start}.."),
            Self::Suffix(len) => write!(f, "the last {len} bytes"),
            Self::First(len) => write!(f, "the first {len} bytes"),
        }
    }
}
