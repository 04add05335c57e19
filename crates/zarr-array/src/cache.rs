//! Cache in memory of decoded chunks and of the indexes of shards.
//!
//! ```text
//! (array, chunk) ──► decoded elements, or that it is not stored
//!         └────────► index of a shard, an owner ──► (owner, inner chunk) ──► decoded elements, or a further index
//! ```
//!
//! The entry of an inner chunk is found only through the index with which it was read. So a dropped index makes all its inner chunks
//! unreachable, and parts of different states of a shard never mix. The entry of a chunk has the epoch in which its read began, and a write
//! begins a new epoch of the chunk. So a write need not search for entries, and a read that is overtaken by a write leaves no entry that is
//! found later.
//!
//! # Rules
//! - The key of a chunk is the array and its index, that of an inner chunk an owner, made when the index of its shard was read, and its
//!   number. The array is the store (the value behind its `Arc`, held weakly so that no other gets its address), the path, and all that
//!   decoding depends on: metadata, registry, checksums.
//! - A write holds a guard, which begins a new epoch of the chunk when it is dropped, also after a failure. Chunks of a node share a fixed
//!   number of epochs.
//! - If a read fails that used cached content, or fetched more than it needed in order to cache it, it is repeated without the cache,
//!   unless the store itself failed. So a cache is never the cause of an error.
//! - A read that is the first half of a partial write never goes through the cache.
//! - A small read does its lookups on the thread of the caller, before it forks. Nothing is locked while something is fetched or decoded.
//! - A read that misses a chunk which another read is fetching waits for its entry after the rest of its own chunks: see `claims`.
//!
//! Files are not held open from read to read: a value is replaced by renaming, so an open file would show an old state, and noticing that
//! costs about as much as opening the file again.

mod claims;
mod map;
mod nodes;
mod timer;

use crate::ArrayData;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use zarr_codec::InnerChunkIndex;
use zarr_grid::ChunkIndex;
use zarr_meta::NodePath;
use zarr_store::{CacheCounts, Version};

pub(crate) use claims::{Claim, Claimed};
use claims::{Claims, PATIENCE};
use map::CacheMap;
pub(crate) use nodes::{DecodeIdentity, InvalidationGuard, StoreId};
use nodes::{Node, Nodes};

/// Cache in memory of decoded chunks, decoded inner chunks and indexes of shards, bounded in bytes.
///
/// Reading parts of a cached chunk costs only a copy, and a chunk that several reads miss at the same time is fetched and decoded by one of
/// them, for which the others wait. If that read fails or is dropped, the others read the chunk themselves. An array uses a cache if it is
/// given one in [`Options::cache`](crate::Options::cache). A clone is the same cache, and arrays that are given clones share the bound. Any
/// number of threads read cached chunks at the same time without waiting for each other.
///
/// A chunk that a read meets is decoded as a whole and cached; the least recently used chunks make room. A read of more than half the
/// bound, and chunks that are larger than that, bypass the cache: they would only drive out the rest.
///
/// # Visibility of writes
/// Writes through arrays that have this cache and were opened from the same `Arc` of a store, blocking or async, are seen at once by all
/// such arrays. Other writes (by other processes, through other stores or arrays without the cache, by copying or erasing nodes) are seen
/// only after the old content was dropped, for example by [`clear`](Self::clear); or at once if the cache
/// [revalidates](Self::revalidating). A read never mixes an index of a shard with inner chunks of a later state of the same shard, if the
/// store tells versions.
///
/// ```
/// # use std::sync::Arc;
/// # use zarr_array::{Array, ChunkCache, NewArray, Options, Registry, Store};
/// # use zarr_store::{Counted, MemoryStore};
/// # let mut registry = Registry::default();
/// # registry.codecs.add(zarr_codec_bytes::BYTES);
/// # let registry = Arc::new(registry);
/// # let counted = Arc::new(Counted::new(MemoryStore::new()));
/// # let store: Arc<dyn Store> = Arc::clone(&counted) as _;
/// # let new = NewArray::new(&[100, 100], "int16").chunks(&[50, 50]).codecs(r#"["bytes"]"#)?;
/// # Array::create(&store, "/a", new, &registry)?.write(.., &[7i16; 10_000])?;
/// let cache = ChunkCache::new(256 << 20);
/// let array = Array::open(&store, "/a", &registry)?;
/// let array = array.with(array.options().clone().cache(cache.clone()))?;
/// # counted.take();
/// assert_eq!(array.read::<i16>((3, 5..8))?, [7; 3]);
/// assert_eq!(array.read::<i16>((40.., 1))?[..10], [7; 10]);
/// // One get for each chunk, and one at the end of each read for the document, whether the array is still there.
/// assert_eq!(counted.take().gets, 4);
/// # Ok::<(), zarr_array::Error>(())
/// ```
#[derive(Clone)]
pub struct ChunkCache(Arc<CacheState>);

struct CacheState {
    map: CacheMap,
    nodes: Nodes,
    /// Number of times that the cache was cleared, a part of every epoch.
    cleared: AtomicU64,
    next_owner: AtomicU64,
    revalidates: bool,
    claims: Claims,
    /// Number of lookups that waited for another read.
    joined: AtomicU64,
    /// Time for which reads wait for another read.
    patience: Duration,
}

impl ChunkCache {
    /// Makes a cache that holds at most `max_bytes` bytes, its lookup tables included.
    #[must_use]
    pub fn new(max_bytes: usize) -> Self {
        Self::with(max_bytes, false)
    }

    /// Makes a cache that holds at most `max_bytes` bytes and asks the store for the version of a cached chunk (or shard) at each read: one
    /// small request for each cached chunk. A chunk whose version has changed is read again. For data that others write to as well.
    ///
    /// A chunk is read each time if the store does not tell its version.
    #[must_use]
    pub fn revalidating(max_bytes: usize) -> Self {
        Self::with(max_bytes, true)
    }

    fn with(max_bytes: usize, revalidates: bool) -> Self {
        let (map, nodes) = (CacheMap::new(max_bytes), Nodes::default());
        let (cleared, next_owner, joined) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        let claims = Claims::default();
        Self(Arc::new(CacheState { map, nodes, cleared, next_owner, revalidates, claims, joined, patience: PATIENCE }))
    }

    /// Makes an empty cache like this one, whose reads wait for another read for `patience`.
    #[cfg(test)]
    pub(crate) fn with_patience(&self, patience: Duration) -> Self {
        let Self(made) = Self::with(self.max_bytes(), self.0.revalidates);
        Self(Arc::new(CacheState { patience, ..Arc::into_inner(made).expect("no clone of it") }))
    }

    /// Number of chunks that reads have claimed.
    #[cfg(test)]
    pub(crate) fn claimed(&self) -> usize {
        self.0.claims.len()
    }

    /// Maximum number of bytes that the cache holds.
    #[must_use]
    pub fn max_bytes(&self) -> usize {
        self.0.map.max_bytes()
    }

    /// Number of bytes that the cache holds now.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.0.map.bytes()
    }

    /// Returns the numbers of lookups of chunks, inner chunks and indexes of shards since the cache was created.
    ///
    /// ```
    /// # use zarr_array::ChunkCache;
    /// let counts = ChunkCache::new(256 << 20).counts();
    /// assert_eq!((counts.hits, counts.misses), (0, 0));
    /// ```
    #[must_use]
    pub fn counts(&self) -> CacheCounts {
        self.0.map.counts()
    }

    /// Returns the number of times that a read waited for another read, which was fetching and decoding the same chunk, since the cache was
    /// created. The lookup after that counts as a hit, if the other read succeeded.
    #[must_use]
    pub fn joined(&self) -> u64 {
        self.0.joined.load(Ordering::Relaxed)
    }

    /// Returns whether both are clones of one cache.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Removes all entries of the cache, so that later reads see writes of others.
    pub fn clear(&self) {
        self.0.cleared.fetch_add(1, Ordering::SeqCst);
        self.0.map.clear();
    }

    fn new_owner(&self) -> u64 {
        self.0.next_owner.fetch_add(1, Ordering::Relaxed)
    }
}

impl fmt::Debug for ChunkCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunkCache")
            .field("bytes", &self.bytes())
            .field("max_bytes", &self.max_bytes())
            .field("revalidates", &self.0.revalidates)
            .finish()
    }
}

/// Key of the cache entry of a chunk or inner chunk.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CacheKey {
    /// Number of the owner: an opened array for chunks, an index of a shard for inner chunks.
    pub(crate) owner: u64,
    pub(crate) index: ChunkIndex,
}

/// Cache entry of a chunk or inner chunk.
#[derive(Debug)]
pub(crate) struct CacheEntry {
    pub(crate) content: CachedContent,
    /// Version of the stored value of the chunk; `None` if the store does not report it.
    pub(crate) version: Option<Version>,
}

/// Content of a chunk or inner chunk in the cache.
#[derive(Debug)]
pub(crate) enum CachedContent {
    /// Chunk that is not stored.
    Missing,
    /// Index of the chunk, which is a shard.
    Index(CachedIndex),
    /// All decoded elements of the chunk.
    Elements(ArrayData),
}

/// Index of a shard in the cache.
#[derive(Debug)]
pub(crate) struct CachedIndex {
    pub(crate) index: Arc<InnerChunkIndex>,
    /// Size of the stored shard in bytes; `None` if the store does not report it.
    pub(crate) size: Option<u64>,
    /// Owner number of the cache keys of inner chunks that were read with this index.
    pub(crate) owner: u64,
}

impl CacheEntry {
    /// Size in bytes of the stored shard; `None` if the entry is not of a shard or the store does not report the size.
    pub(crate) fn size(&self) -> Option<u64> {
        if let CachedContent::Index(index) = &self.content { index.size } else { None }
    }

    fn cost(&self) -> usize {
        match &self.content {
            CachedContent::Missing => 0,
            CachedContent::Index(index) => index.index.size(),
            CachedContent::Elements(data) => {
                let heap = data.heap().map_or(0, |heap| usize::try_from(heap.size()).unwrap_or(usize::MAX));
                data.items().len().saturating_add(heap)
            }
        }
    }
}

/// Cache, and the node and owner number under which one opened array uses it.
#[derive(Debug)]
pub(crate) struct ArrayCache {
    cache: ChunkCache,
    node: Arc<Node>,
    owner: u64,
    /// Whether chunks of the array are shards.
    pub(crate) sharded: bool,
}

impl ArrayCache {
    /// Makes the view of `cache` for the array at `path` in `store`. `sharded` says that chunks of the array are shards.
    pub(crate) fn new(
        cache: ChunkCache,
        store: StoreId,
        path: &NodePath,
        identity: DecodeIdentity,
        sharded: bool,
    ) -> Self {
        let node = cache.0.nodes.node(store, path);
        let owner = node.owner(identity, || cache.new_owner());
        Self { cache, node, owner, sharded }
    }

    /// Store in which the array lies.
    pub(crate) fn store(&self) -> &StoreId {
        self.node.store()
    }

    /// Whether a read or a chunk of `bytes` bytes is too large for the cache and bypasses it.
    pub(crate) fn is_too_much(&self, bytes: u64) -> bool {
        bytes > self.cache.max_bytes() as u64 / 2
    }

    /// Whether the version of a chunk is compared with the store before a cache entry of the chunk is used.
    pub(crate) fn revalidates(&self) -> bool {
        self.cache.0.revalidates
    }

    /// Returns the cache key of a chunk and its current epoch. Callers get the epoch before they request the chunk from the store.
    pub(crate) fn chunk(&self, index: &[u64]) -> (CacheKey, u64) {
        let epoch = self.node.epoch(index).wrapping_add(self.cache.0.cleared.load(Ordering::SeqCst));
        (CacheKey { owner: self.owner, index: ChunkIndex::from_slice(index) }, epoch)
    }

    /// Looks a key up, and counts a hit. A miss is counted by [`missed`](Self::missed) when the store is asked.
    pub(crate) fn find(&self, key: &CacheKey, epoch: u64) -> Option<Arc<CacheEntry>> {
        self.cache.0.map.find(key, epoch)
    }

    /// Counts a lookup that found nothing.
    pub(crate) fn missed(&self, key: &CacheKey) {
        self.cache.0.map.missed(key);
    }

    /// Looks a key up without counting the lookup.
    pub(crate) fn find_uncounted(&self, key: &CacheKey, epoch: u64) -> Option<Arc<CacheEntry>> {
        self.cache.0.map.find_uncounted(key, epoch)
    }

    /// Claims a chunk that was not found for a read that begins in the epoch `epoch`, or returns the claim of another read.
    pub(crate) fn claim(&self, key: &CacheKey, epoch: u64) -> Result<Claim, Arc<Claimed>> {
        self.cache.claim(key, epoch)
    }

    /// Counts a lookup that waits for another read.
    pub(crate) fn joins(&self) {
        self.cache.0.joined.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a hit whose entry turned out to be outdated.
    pub(crate) fn found_outdated(&self) {
        self.cache.0.map.found_outdated();
    }

    /// Adds the entry of a chunk whose read began in the epoch `epoch`. Returns `false` if the cache has no room for it.
    pub(crate) fn keep(&self, key: CacheKey, epoch: u64, entry: &Arc<CacheEntry>) -> bool {
        self.cache.0.map.keep(key, epoch, entry, entry.cost())
    }

    /// Returns a new owner number, for the inner chunks of an index.
    pub(crate) fn new_owner(&self) -> u64 {
        self.cache.new_owner()
    }

    /// Invalidates the entry of a chunk.
    pub(crate) fn forget(&self, index: &[u64]) {
        self.node.invalidate(Some(index));
    }

    /// Returns a guard to hold while the chunk `index` (all chunks if `None`) is changed. When the guard is dropped, entries of the chunk
    /// become invalid.
    pub(crate) fn invalidation(&self, index: Option<&[u64]>) -> InvalidationGuard {
        InvalidationGuard::new(&self.node, index)
    }
}

#[cfg(test)]
mod tests;
