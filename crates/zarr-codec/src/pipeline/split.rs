//! Encoding of shards in runs of inner chunks.

use super::Pipeline;
use crate::{EncodeSplit, EncodedRun, Error, View};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;
use zarr_grid::Region;

impl Pipeline {
    /// Splits an encode of a shard into runs of inner chunks that can be encoded at the same time: an encode of the whole chunk if `region`
    /// is the whole chunk and `old` is `None`, a [`patch`](Self::patch) of `region` otherwise. `None` if the chunk can only be encoded as a
    /// whole: it is no shard, or bytes-to-bytes codecs follow the sharding codec.
    ///
    /// # Errors
    /// Errors of decoding if `old` is not an encoded chunk.
    pub fn split_encode(
        &self,
        old: Option<&[u8]>,
        shape: &[u64],
        region: &Region,
    ) -> Option<Result<Box<dyn EncodeSplit>, Error>> {
        if !self.bytes.is_empty() {
            return None;
        }
        let (shape, order) = self.permutation(shape)?;
        let to_bytes = Arc::clone(&self.to_bytes);
        let Some(order) = order else { return to_bytes.split_encode(old, &shape, region) };
        let inner = to_bytes.split_encode(old, &shape, &region.permuted(&order))?;
        Some(inner.map(|inner| Box::new(TurnedSplit { order, inner }) as Box<dyn EncodeSplit>))
    }
}

/// Split encode of a shard behind transpose codecs: only the axes of the view are permuted, no byte is moved.
#[derive(Debug)]
struct TurnedSplit {
    order: SmallVec<[usize; 6]>,
    inner: Box<dyn EncodeSplit>,
}

impl EncodeSplit for TurnedSplit {
    fn count(&self) -> u64 {
        self.inner.count()
    }

    fn encode(&self, run: Range<u64>, old: Option<&[u8]>, new: &View<'_>) -> Result<EncodedRun, Error> {
        self.inner.encode(run, old, &new.clone().permuted(&self.order))
    }

    fn head(&self) -> u64 {
        self.inner.head()
    }

    fn index(&self, lengths: &[Option<u64>]) -> Result<Vec<u8>, Error> {
        self.inner.index(lengths)
    }
}
