//! Cache, as a single read uses it.

use super::shard::{Shard, ShardGeneration};
use crate::cache::{ArrayCache, CacheEntry, CacheKey, CachedContent, CachedIndex, Claim, Claimed};
use crate::core::ArrayCore;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zarr_codec::Split;
use zarr_grid::ChunkOverlap;
use zarr_store::Fetched;

/// Maximum size in bytes of reads that copy all cached chunks before they fork: the copy takes less time than waking a thread.
const SMALL: usize = 256 << 10;

/// State of a read that uses a cache.
#[derive(Debug)]
pub(crate) struct CachedRead<'a> {
    pub(super) cache: &'a ArrayCache,
    /// Whether the read is small enough to copy all cached chunks before it forks.
    pub(super) is_small: bool,
    /// Whether the cache may be the cause of an error of the read: cached content was used or found outdated, or more than the read needs
    /// was fetched in order to cache it.
    doubtful: AtomicBool,
    /// Whether the read waits for other reads that fetch chunks which it needs.
    joins: AtomicBool,
}

/// Result of a lookup of a chunk that was not found at first.
#[derive(Debug)]
pub(super) enum Turn {
    /// Another read has added the entry meanwhile.
    Found(Arc<CacheEntry>),
    /// The read itself is to fetch the chunk, with a claim unless another read has one for which it does not wait.
    Own(Option<Claim>),
    /// Another read fetches the chunk.
    Other(Arc<Claimed>),
}

impl<'a> CachedRead<'a> {
    /// Makes the state of a read of `size` bytes; `None` if the read is too large for the cache. `joins` says that the read may wait for
    /// other reads.
    pub(crate) fn new(cache: &'a ArrayCache, size: usize, joins: bool) -> Option<Self> {
        let fits = !cache.is_too_much(size as u64);
        let (doubtful, joins) = (AtomicBool::new(false), AtomicBool::new(joins));
        fits.then_some(Self { cache, is_small: size <= SMALL, doubtful, joins })
    }

    /// Makes the read fetch all further chunks itself, be they claimed by other reads or not.
    pub(super) fn stop_joining(&self) {
        self.joins.store(false, Ordering::Relaxed);
    }

    /// Claims a chunk that was not found in the cache, and counts the lookup.
    pub(super) fn turn(&self, key: &CacheKey, epoch: u64) -> Turn {
        let claim = match self.cache.claim(key, epoch) {
            Err(other) if self.joins.load(Ordering::Relaxed) => {
                self.cache.joins();
                return Turn::Other(other);
            }
            claim => claim.ok(),
        };
        // The read that had the claim may have ended between the lookup and the claim.
        if claim.is_some()
            && let Some(entry) = self.cache.find(key, epoch)
        {
            return Turn::Found(entry);
        }
        self.cache.missed(key);
        Turn::Own(claim)
    }

    /// Whether an error may come from cached content, so that the read is repeated without the cache.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.doubtful.load(Ordering::Relaxed)
    }

    /// Whether chunks, or inner chunks of `shard`, with `chunk_size` decoded bytes each are read through the cache.
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

    /// Invalidates the cache entry of an outdated chunk.
    pub(super) fn forget(&self, chunk: &[u64]) {
        self.cache.forget(chunk);
    }

    /// Looks a shard up, or claims it. An entry whose version has to be compared first counts as none.
    pub(super) fn shard_turn(&self, shard: Option<&Shard>, (key, epoch): &(CacheKey, u64)) -> Turn {
        let turn = self.cache.find(key, *epoch).map_or_else(|| self.turn(key, *epoch), Turn::Found);
        match turn {
            Turn::Found(_) if self.revalidates(shard) => Turn::Own(None),
            Turn::Found(entry) => {
                self.doubt();
                Turn::Found(entry)
            }
            turn => turn,
        }
    }

    /// Caches the index of a shard, or returns the present entry if it has the same version. The second value says whether the entry is in
    /// the cache.
    pub(super) fn keep_index(
        &self,
        (key, epoch): (CacheKey, u64),
        split: &Split,
        fetched: &Fetched,
    ) -> (Arc<CacheEntry>, bool) {
        let version = fetched.version.clone();
        let cached =
            self.cache.find_uncounted(&key, epoch).filter(|entry| version.is_some() && entry.version == version);
        if let Some(cached) = cached {
            return (cached, true);
        }
        let index = CachedIndex { index: Arc::clone(&split.index), size: fetched.size, owner: self.cache.new_owner() };
        let entry = Arc::new(CacheEntry { content: CachedContent::Index(index), version });
        // Without a version, nothing tells that inner chunks, which do not go through the cache then, are of another state.
        let inner = split.overlaps.cursor().overlap().map(|overlap| overlap.shape.clone()).unwrap_or_default();
        let is_checked = entry.version.is_some() || split.codecs.is_sharded(&inner);
        let is_taken = is_checked || !self.cache.is_too_much(split.codecs.decoded_size(&inner));
        let is_kept = is_taken && self.cache.keep(key, epoch, &entry);
        (entry, is_kept)
    }

    /// Returns the cache key of a chunk or inner chunk, and its current epoch.
    pub(super) fn key(&self, shard: Option<&Shard>, overlap: &ChunkOverlap) -> (CacheKey, u64) {
        match generation(shard) {
            None => self.cache.chunk(&overlap.index),
            Some(generation) => (CacheKey { owner: generation.owner, index: overlap.index.clone() }, 0),
        }
    }

    /// Whether the version has to be compared before a cache entry is used. Never for inner chunks, which belong to the index of their
    /// shard.
    pub(super) fn revalidates(&self, shard: Option<&Shard>) -> bool {
        generation(shard).is_none() && self.cache.revalidates()
    }

    pub(super) fn doubt(&self) {
        if !self.is_doubtful() {
            self.doubtful.store(true, Ordering::Relaxed);
        }
    }
}

/// Cached state of the shard whose inner chunks are read.
fn generation(shard: Option<&Shard>) -> Option<&ShardGeneration> {
    shard.and_then(|shard| shard.generation.as_ref())
}
