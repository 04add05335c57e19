//! The encode of a chunk in runs of its inner chunks, which can be encoded at the same time.
//!
//! ```text
//! split ─► encode(0..a), encode(a..b), ... on any threads ─► join ─► the value, in pieces
//! ```
//!
//! Nothing here uses a thread: whoever has some encodes the runs there.

use crate::{Error, View};
use std::fmt::Debug;
use std::ops::Range;

/// Inner chunks of a shard that are to be encoded: all of them, or those that a region meets.
///
/// The joined runs are the bytes that the encode as a whole makes, however the inner chunks are divided into runs.
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

    /// The encoded chunk in pieces that follow each other, of runs that together are all inner chunks, in order.
    ///
    /// # Errors
    /// [`Error::ShardIndex`] if the runs are not all inner chunks, and the errors of the codecs of the index.
    fn join(&self, runs: Vec<EncodedRun>) -> Result<Vec<Vec<u8>>, Error>;
}

/// Inner chunks that follow each other, encoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EncodedRun {
    /// The bytes of all.
    pub bytes: Vec<u8>,
    /// The number of bytes of each, in C order; `None` for one that is not stored.
    pub lengths: Vec<Option<u64>>,
}

impl EncodedRun {
    /// Of these bytes, which are inner chunks of these lengths.
    #[must_use]
    pub fn new(bytes: Vec<u8>, lengths: Vec<Option<u64>>) -> Self {
        Self { bytes, lengths }
    }
}
