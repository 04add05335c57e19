//! Ranges of the bytes of a value.

use std::fmt;
use std::ops::Range;

/// The bytes of a value to get. Offsets and lengths are in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ByteRange {
    /// The whole value.
    Full,
    /// The bytes from offset `start` up to but without offset `end`; both offsets are within the value.
    Range(Range<u64>),
    /// The bytes from this offset to the end of the value; the offset is within the value or its end.
    From(u64),
    /// The last bytes of the value, this number of them; the value has at least as many.
    Suffix(u64),
    /// The first bytes of the value, this number of them, or all of them where the value has fewer: the whole value, but with a bound on
    /// the memory that it takes.
    First(u64),
}

impl ByteRange {
    /// The offsets meant in a value of `size` bytes; `None` if the range is not wholly inside it.
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

    /// The size of a value of which this range has these bytes, if they are all of it.
    #[must_use]
    pub fn whole_size(&self, bytes: &[u8]) -> Option<u64> {
        let len = bytes.len() as u64;
        match self {
            Self::Full => Some(len),
            Self::First(most) => (len < *most).then_some(len),
            Self::Range(_) | Self::From(_) | Self::Suffix(_) => None,
        }
    }

    /// The range as offsets if they do not depend on the size of the value.
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
