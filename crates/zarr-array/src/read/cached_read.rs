//! The cache as one read uses it.

use super::shard::{Shard, ShardGeneration};
use crate::cache::{ArrayCache, CacheEntry, CacheKey, CachedContent, CachedIndex};
use crate::core::ArrayCore;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zarr_codec::Split;
use zarr_grid::ChunkOverlap;
use zarr_store::Fetched;

/// Maximum size, in bytes, of reads that copy all that is cached before they fork: a copy takes less time than waking a thread.
const SMALL: usize = 256 << 10;

/// A read that goes through a cache.
#[derive(Debug)]
pub(crate) struct CachedRead<'a> {
    pub(super) cache: &'a ArrayCache,
    /// Whether it is small enough to copy all cached chunks before it forks.
    pub(super) is_small: bool,
    /// Cached content was used, or found to be outdated, or more than the read needs was fetched to be cached: if the read fails,
    /// that may be why.
    doubtful: AtomicBool,
}

impl<'a> CachedRead<'a> {
    /// Makes a read of `size` bytes; `None` if that is too much for the cache.
    pub(crate) fn new(cache: &'a ArrayCache, size: usize) -> Option<Self> {
        let fits = !cache.is_too_much(size as u64);
        fits.then(|| Self { cache, is_small: size <= SMALL, doubtful: AtomicBool::new(false) })
    }

    /// Whether a failure may come from cached content, so that the read is to be done again without it.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.doubtful.load(Ordering::Relaxed)
    }

    /// Whether chunks, or inner chunks of a shard, go through the cache.
    pub(super) fn takes(&self, core: &ArrayCore, shard: Option<&Shard>, chunk_size: u64) -> bool {
        let is_sharded = match shard.map(|shard| &shard.generation) {
            // The first chunk that is found without a cache tells where all chunks are.
            None if core.is_location_unknown() => return false,
            None => self.cache.sharded,
            Some(None) => return false,
            Some(Some(generation)) => generation.has_inner_shards,
        };
        is_sharded || !self.cache.is_too_much(chunk_size)
    }

    /// Drops a chunk that is outdated.
    pub(super) fn forget(&self, chunk: &[u64]) {
        self.cache.forget(chunk);
    }

    /// The entry of a shard, if no version is to be compared first.
    pub(super) fn find_shard(&self, shard: Option<&Shard>, overlap: &ChunkOverlap) -> Option<Arc<CacheEntry>> {
        let (key, epoch) = self.key(shard, overlap);
        let found = self.cache.find(&key, epoch).filter(|_| !self.revalidates(shard));
        found.inspect(|_| self.doubt())
    }

    /// Caches the index of a shard, or finds that the cached one is still the same.
    pub(super) fn keep_index(
        &self,
        (key, epoch): (CacheKey, u64),
        split: &Split,
        fetched: &Fetched,
    ) -> Arc<CacheEntry> {
        let version = fetched.version.clone();
        let cached = self.cache.find_again(&key, epoch).filter(|entry| version.is_some() && entry.version == version);
        cached.unwrap_or_else(|| {
            let index =
                CachedIndex { index: Arc::clone(&split.index), size: fetched.size, owner: self.cache.new_owner() };
            let entry = Arc::new(CacheEntry { content: CachedContent::Index(index), version });
            // Without a version, nothing tells that inner chunks, which do not go through the cache then, are of another state.
            let inner = split.overlaps.cursor().overlap().map(|overlap| overlap.shape.clone()).unwrap_or_default();
            let is_checked = entry.version.is_some() || split.codecs.is_sharded(&inner);
            if is_checked || !self.cache.is_too_much(split.codecs.decoded_size(&inner)) {
                self.cache.keep(key, epoch, &entry);
            }
            entry
        })
    }

    /// The key of a chunk in the cache, and its epoch now.
    pub(super) fn key(&self, shard: Option<&Shard>, overlap: &ChunkOverlap) -> (CacheKey, u64) {
        match generation(shard) {
            None => self.cache.chunk(&overlap.index),
            Some(generation) => (CacheKey { owner: generation.owner, index: overlap.index.clone() }, 0),
        }
    }

    /// Whether a version is to be compared first. Inner chunks are as new as the index of their shard.
    pub(super) fn revalidates(&self, shard: Option<&Shard>) -> bool {
        generation(shard).is_none() && self.cache.revalidates()
    }

    pub(super) fn doubt(&self) {
        if !self.is_doubtful() {
            self.doubtful.store(true, Ordering::Relaxed);
        }
    }
}

/// The cached state of a shard whose inner chunks are read.
fn generation(shard: Option<&Shard>) -> Option<&ShardGeneration> {
    shard.and_then(|shard| shard.generation.as_ref())
}
