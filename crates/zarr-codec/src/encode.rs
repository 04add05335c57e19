//! Encoding of a shard in runs of inner chunks, which can be encoded at the same time.
//!
//! ```text
//! split ─► encode(0..a), encode(a..b), ... on any threads ─► index, of the lengths of all
//! ```
//!
//! This crate starts no threads: the caller encodes the runs on its own threads.

use crate::{Error, View};
use std::fmt::Debug;
use std::ops::Range;

/// Encoding of a shard that is divided into runs of inner chunks: of all inner chunks, or of those that a region meets.
///
/// The bytes of the runs in order, with the index, are those that one encoding of the whole shard makes, however the inner chunks are
/// divided into runs.
pub trait EncodeSplit: Send + Sync + Debug {
    /// Returns the number of inner chunks to encode.
    fn count(&self) -> u64;

    /// Encodes the inner chunks numbered `run`; `new` has the elements of the whole region. Inner chunks of the old shard `old` that the
    /// region does not meet are copied: each run copies the untouched inner chunks in front of its own, and the last run also copies the
    /// untouched inner chunks behind its own.
    ///
    /// # Errors
    /// The errors of [`ArrayToBytes::encode`](crate::ArrayToBytes::encode) and [`ArrayToBytes::patch`](crate::ArrayToBytes::patch).
    fn encode(&self, run: Range<u64>, old: Option<&[u8]>, new: &View<'_>) -> Result<EncodedRun, Error>;

    /// Returns the number of bytes of the [index](Self::index) in front of the inner chunks: the size of the index, or 0 if the index
    /// follows the inner chunks.
    fn head(&self) -> u64;

    /// Returns the encoded index of the shard. `lengths` are the [`lengths`](EncodedRun::lengths) of all runs, concatenated in order. The
    /// size of the index does not depend on them.
    ///
    /// # Errors
    /// [`Error::ShardIndex`] if `lengths` are not the lengths of all inner chunks, and the errors of the codecs of the index.
    fn index(&self, lengths: &[Option<u64>]) -> Result<Vec<u8>, Error>;
}

/// Encoded bytes of consecutive inner chunks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EncodedRun {
    /// Encoded bytes of the inner chunks, concatenated.
    pub bytes: Vec<u8>,
    /// Number of bytes of each inner chunk, in C order; `None` for an inner chunk that is not stored.
    pub lengths: Vec<Option<u64>>,
}

impl EncodedRun {
    /// Returns a run with the concatenated `bytes` of inner chunks and their `lengths`.
    #[must_use]
    pub fn new(bytes: Vec<u8>, lengths: Vec<Option<u64>>) -> Self {
        Self { bytes, lengths }
    }
}
