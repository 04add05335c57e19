//! Sizes of encoded chunks, and the limits on decoding.

/// The number of bytes that a codec makes of a chunk, as far as metadata tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Exactly this number of bytes.
    Exact(u64),
    /// At most this number of bytes.
    AtMost(u64),
    /// Number of bytes that depends on the data: strings.
    Unknown,
}

impl Size {
    /// The most bytes there can be, or `limit` where that is not known.
    pub fn bound(self, limit: u64) -> u64 {
        match self {
            Self::Exact(size) | Self::AtMost(size) => size,
            Self::Unknown => limit,
        }
    }

    /// The exact number, if known.
    pub fn exact(self) -> Option<u64> {
        if let Self::Exact(size) = self { Some(size) } else { None }
    }

    /// The size of something that is `f(size)` bytes for `size` bytes of this; unknown on overflow.
    pub fn map(self, f: impl FnOnce(u64) -> Option<u64>) -> Self {
        match self {
            Self::Exact(size) => f(size).map_or(Self::Unknown, Self::Exact),
            Self::AtMost(size) => f(size).map_or(Self::Unknown, Self::AtMost),
            Self::Unknown => Self::Unknown,
        }
    }

    /// The size of a compressed form that is at most `f(size)` bytes.
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
    /// Bytes of a decoded chunk, and of each stage on the way to it. Default 4 GiB.
    pub max_chunk: u64,
    /// Bytes of a shard's index. Default 256 MiB.
    pub max_index: u64,
    /// How deep codecs may lie in the configuration of others: shards in shards. Default 8.
    pub max_nesting: u32,
    /// How many codecs one chain may have. Default 64, where arrays have up to six. A chain is gone down by calls, so that this
    /// and [`max_nesting`](Self::max_nesting) bound the stack that decoding takes.
    pub max_codecs: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_chunk: 4 << 30, max_index: 256 << 20, max_nesting: 8, max_codecs: 64 }
    }
}
