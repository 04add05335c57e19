//! Sizes of encoded chunks, and the limits on decoding.

/// Number of bytes of an encoded chunk, as far as the metadata determines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Exactly this number of bytes.
    Exact(u64),
    /// At most this number of bytes.
    AtMost(u64),
    /// Number of bytes that depends on the data, such as the size of strings.
    Unknown,
}

impl Size {
    /// Returns the largest possible number of bytes; `limit` if the number is unknown.
    pub fn bound(self, limit: u64) -> u64 {
        match self {
            Self::Exact(size) | Self::AtMost(size) => size,
            Self::Unknown => limit,
        }
    }

    /// Returns the exact number of bytes; `None` if only a bound is known, or nothing.
    pub fn exact(self) -> Option<u64> {
        if let Self::Exact(size) = self { Some(size) } else { None }
    }

    /// Returns the size `f(size)` of a value that is derived from `size` bytes; a bound stays a bound. [`Unknown`](Self::Unknown) if `f`
    /// returns `None`, as on overflow.
    pub fn map(self, f: impl FnOnce(u64) -> Option<u64>) -> Self {
        match self {
            Self::Exact(size) => f(size).map_or(Self::Unknown, Self::Exact),
            Self::AtMost(size) => f(size).map_or(Self::Unknown, Self::AtMost),
            Self::Unknown => Self::Unknown,
        }
    }

    /// Returns the size of a compressed value that has at most `f(size)` bytes; [`Unknown`](Self::Unknown) if `f` returns `None`.
    pub fn at_most(self, f: impl FnOnce(u64) -> Option<u64>) -> Self {
        match self {
            Self::Exact(size) | Self::AtMost(size) => f(size).map_or(Self::Unknown, Self::AtMost),
            Self::Unknown => Self::Unknown,
        }
    }
}

/// Limits of the memory for one chunk, on the heap and on the stack. Exceeding a limit is an error, not an allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Largest number of bytes of a decoded chunk, and of the output of each codec while decoding. Default 4 GiB.
    pub max_chunk: u64,
    /// Largest number of bytes of the index of a shard. Default 256 MiB.
    pub max_index: u64,
    /// Largest depth of codecs nested in the configuration of other codecs, as of shards in shards. Default 8.
    pub max_nesting: u32,
    /// Largest number of codecs in one chain. Default 64; real arrays have up to six. Decoding recurses along the chain, so that this limit
    /// and [`max_nesting`](Self::max_nesting) bound its stack.
    pub max_codecs: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_chunk: 4 << 30, max_index: 256 << 20, max_nesting: 8, max_codecs: 64 }
    }
}
