//! The encode of a chunk in runs of its inner chunks, which can be encoded at the same time.
//!
//! ```text
//! split ─► encode(0..a), encode(a..b), ... on any threads ─► index, of the lengths of all
//! ```
//!
//! Nothing here uses a thread: whoever has some encodes the runs there.

use crate::{Error, View};
use std::fmt::Debug;
use std::ops::Range;

/// Inner chunks of a shard that are to be encoded: all of them, or those that a region meets.
///
/// The runs in order, with the index, are the bytes that the encode as a whole makes, however the inner chunks are divided into runs.
pub trait EncodeSplit: Send + Sync + Debug {
    /// How many inner chunks are encoded.
    fn count(&self) -> u64;

    /// Encodes a run of them, where `new` has the elements of the whole region. Inner chunks of `old`, the bytes that the split was
    /// made with, that the region does not meet are copied: those in front of the inner chunks of the run, and with the last run those
    /// behind it.
    ///
    /// # Errors
    /// As [`ArrayToBytes::encode`](crate::ArrayToBytes::encode) and [`ArrayToBytes::patch`](crate::ArrayToBytes::patch).
    fn encode(&self, run: Range<u64>, old: Option<&[u8]>, new: &View<'_>) -> Result<EncodedRun, Error>;

    /// How many bytes of the [index](Self::index) lie in front of the inner chunks: all, or none, and then it lies behind them.
    fn head(&self) -> u64;

    /// The index of inner chunks that were encoded in runs, of the [`lengths`](EncodedRun::lengths) of all runs in their order. It has as
    /// many bytes whatever the lengths are.
    ///
    /// # Errors
    /// [`Error::ShardIndex`] if these are not the lengths of all inner chunks, and the errors of the codecs of the index.
    fn index(&self, lengths: &[Option<u64>]) -> Result<Vec<u8>, Error>;
}

/// Inner chunks that follow each other, encoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EncodedRun {
    /// The bytes of all inner chunks.
    pub bytes: Vec<u8>,
    /// The number of bytes of each inner chunk, in C order; `None` for one that is not stored.
    pub lengths: Vec<Option<u64>>,
}

impl EncodedRun {
    /// A run of these bytes, which are inner chunks of these lengths.
    #[must_use]
    pub fn new(bytes: Vec<u8>, lengths: Vec<Option<u64>>) -> Self {
        Self { bytes, lengths }
    }
}
