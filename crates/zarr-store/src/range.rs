//! Which bytes of a value.

use std::fmt;
use std::ops::Range;

/// Which bytes of a value to get. Offsets and lengths are bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ByteRange {
    /// The whole value.
    Full,
    /// From `start` up to but without `end`; both within the value.
    Range(Range<u64>),
    /// From this offset, which is within the value or its end, to the end.
    From(u64),
    /// The last bytes, as many as this; the value has at least as many.
    Suffix(u64),
}

impl ByteRange {
    /// The offsets meant in a value of `size` bytes; `None` if the range is not wholly inside it.
    ///
    /// ```
    /// # use zarr_store::ByteRange;
    /// assert_eq!(ByteRange::Suffix(4).resolve(10), Some(6..10));
    /// assert_eq!(ByteRange::Suffix(4).resolve(3), None);
    /// assert_eq!(ByteRange::From(10).resolve(10), Some(10..10));
    /// ```
    #[must_use]
    pub fn resolve(&self, size: u64) -> Option<Range<u64>> {
        match self {
            Self::Full => Some(0..size),
            Self::Range(range) => (range.start <= range.end && range.end <= size).then(|| range.clone()),
            Self::From(start) => (*start <= size).then_some(*start..size),
            Self::Suffix(len) => size.checked_sub(*len).map(|start| start..size),
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
        }
    }
}
