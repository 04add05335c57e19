//! Indexes of shards that an opened array over a slow store retains. An element in a shard whose index is known takes one request.
//!
//! A retained index is used only by gets of the newest state, whose replies tell that its version is the version of the index. If the
//! version differs, the reply is not used, and the shard is read again. No get would request an inner chunk that is not stored by the
//! index, so that no reply would tell whether it is still not stored: then the index is read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use zarr_codec::{Access, InnerChunkIndex, Pipeline, Split};
use zarr_grid::{ChunkIndex, Region};
use zarr_store::{Fetched, Version};

/// Maximum number of bytes of the retained indexes of an array.
const MAX_BYTES: usize = 16 << 20;
/// Approximate number of bytes of an entry besides its index.
const ENTRY: usize = 160;
/// Maximum number of inner chunks of a read that uses a retained index. A read of more inner chunks gets the index again, which costs
/// little in comparison.
const MAX_INNER_CHUNKS: u64 = 64;

/// Retained indexes of shards, by their chunks.
#[derive(Debug, Default)]
pub(crate) struct KeptIndexes(Mutex<Generations>);

/// Retained indexes in two generations: `young` were used recently, and `old` are dropped when `young` is full.
#[derive(Debug, Default)]
struct Generations {
    young: HashMap<ChunkIndex, Arc<KeptIndex>>,
    young_bytes: usize,
    old: HashMap<ChunkIndex, Arc<KeptIndex>>,
}

/// Retained index of a shard.
#[derive(Debug)]
pub(crate) struct KeptIndex {
    pub(crate) index: Arc<InnerChunkIndex>,
    /// Size of the shard in bytes; `None` if the store does not tell.
    pub(crate) size: Option<u64>,
    /// Version of the stored shard to which the index belongs.
    pub(crate) version: Version,
}

impl KeptIndex {
    fn cost(&self) -> usize {
        self.index.size().saturating_add(ENTRY)
    }

    /// Whether all inner chunks that `regions` meet, in a shard of `shape`, are stored by this index, and are at most [`MAX_INNER_CHUNKS`].
    pub(crate) fn has_all<'r>(
        &self,
        codecs: &Pipeline,
        shape: &[u64],
        access: &Access,
        regions: impl IntoIterator<Item = &'r Region>,
    ) -> bool {
        let mut left = MAX_INNER_CHUNKS;
        regions.into_iter().all(|region| {
            let split = codecs.partial(shape, region, access).and_then(|decode| decode.split_by(&self.index));
            let Some(Split { overlaps, .. }) = split else { return false };
            let Some(rest) = left.checked_sub(overlaps.len()) else { return false };
            left = rest;
            overlaps.iter().all(|overlap| matches!(self.index.range(&overlap.index), Ok(Some(_))))
        })
    }
}

impl KeptIndexes {
    fn with<T>(&self, work: impl FnOnce(&mut Generations) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn find(&self, chunk: &[u64]) -> Option<Arc<KeptIndex>> {
        self.with(|generations| {
            if let Some(found) = generations.young.get(chunk) {
                return Some(Arc::clone(found));
            }
            let (chunk, found) = generations.old.remove_entry(chunk)?;
            generations.add(chunk, Arc::clone(&found));
            Some(found)
        })
    }

    /// Retains the index of a shard that came with the reply `fetched`, if the store tells versions.
    pub(crate) fn keep(&self, chunk: &ChunkIndex, index: &Arc<InnerChunkIndex>, fetched: &Fetched) {
        let Some(version) = fetched.version.clone() else { return };
        let kept = Arc::new(KeptIndex { index: Arc::clone(index), size: fetched.size, version });
        if kept.cost() <= MAX_BYTES / 2 {
            self.with(|generations| generations.add(chunk.clone(), kept));
        }
    }

    /// Drops the index of a shard that was changed; all indexes if `chunk` is `None`.
    pub(crate) fn forget(&self, chunk: Option<&[u64]>) {
        self.with(|generations| match chunk {
            None => *generations = Generations::default(),
            Some(chunk) => {
                if let Some(found) = generations.young.remove(chunk) {
                    generations.young_bytes = generations.young_bytes.saturating_sub(found.cost());
                }
                generations.old.remove(chunk);
            }
        });
    }
}

impl Generations {
    fn add(&mut self, chunk: ChunkIndex, kept: Arc<KeptIndex>) {
        if self.young_bytes.saturating_add(kept.cost()) > MAX_BYTES / 2 {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.old.remove(&chunk);
        self.young_bytes = self.young_bytes.saturating_add(kept.cost());
        if let Some(before) = self.young.insert(chunk, kept) {
            self.young_bytes = self.young_bytes.saturating_sub(before.cost());
        }
    }
}

#[cfg(test)]
mod tests;
