//! What was read and decoded, kept in memory: decoded chunks and the indexes of shards.
//!
//! ```text
//! (array, chunk) ──► decoded elements, or that it is not stored
//!         └────────► index of a shard: a state ──► (state, inner chunk) ──► decoded elements, or a further index
//! ```
//!
//! What lies in a shard is found only by way of the index that it was read with, so an index that is dropped takes all
//! that came from it along, and parts of different states of a shard never mix. What is kept of a chunk carries the stamp
//! of when its read began; a write gives the chunk another stamp. So nothing is searched for when something is written,
//! and a read that is overtaken by a write leaves nothing behind that is found later.

mod kept;
mod nodes;

use crate::ArrayData;
use crate::core::ArrayCore;
use crate::read::splits;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zarr_codec::SubchunkIndex;
use zarr_grid::ChunkIndex;
use zarr_store::Version;

use kept::Kept;
pub(crate) use nodes::{Changing, StoreId};
use nodes::{Node, Nodes};

/// Decoded chunks, decoded inner chunks and indexes of shards, kept in memory within a bound.
///
/// Reading parts of the same chunks again then costs a copy. Off unless it is given to an array in
/// [`Options::cache`](crate::Options::cache); a clone is the same cache, and arrays that are given clones share the bound.
/// Any number of threads read at the same time without waiting for each other.
///
/// A chunk that a read meets is decoded as a whole and kept, what was not used for longest makes room. A read of more
/// than half the bound, and chunks that are larger than that, go by the cache: they would only drive out the rest.
///
/// # What is seen
/// Writes through arrays that have this cache and were opened from the same `Arc` of a store are seen at once, whether
/// they are blocking or not, by all of them. What is written otherwise (by other processes, through other stores or
/// arrays without the cache, by copying or erasing nodes) is seen only when the old content was dropped, for which there
/// is [`clear`](Self::clear); or at once if the cache [revalidates](Self::revalidating). In no case does a read mix an
/// index of a shard with inner chunks of a later state of the same shard, where the store tells versions.
///
/// ```
/// # use std::sync::Arc;
/// # use zarr_array::{Array, ChunkCache, NewArray, Options, Registry, Store};
/// # use zarr_store::{Counted, MemoryStore};
/// # let mut registry = Registry::default();
/// # registry.codecs.add(zarr_codec_bytes::ENTRY);
/// # let registry = Arc::new(registry);
/// # let counted = Arc::new(Counted::new(MemoryStore::new()));
/// # let store: Arc<dyn Store> = Arc::clone(&counted) as _;
/// # let new = NewArray::new(&[100, 100], "int16").chunks(&[50, 50]).codecs_text(r#"["bytes"]"#)?;
/// # Array::create(&store, "/a", new, &registry)?.write(.., &[7i16; 10_000])?;
/// let cache = ChunkCache::new(256 << 20);
/// let array = Array::open(&store, "/a", &registry)?;
/// let array = array.with(Options { cache: Some(cache.clone()), ..array.options().clone() })?;
/// # counted.take();
/// assert_eq!(array.read::<i16>((3, 5..8))?, [7; 3]);
/// assert_eq!(array.read::<i16>((40.., 1))?[..10], [7; 10]);
/// // One get for each chunk.
/// assert_eq!(counted.take().gets, 2);
/// # Ok::<(), zarr_array::Error>(())
/// ```
#[derive(Clone)]
pub struct ChunkCache(Arc<Shared>);

struct Shared {
    kept: Kept,
    nodes: Nodes,
    /// How often all was dropped: a part of every stamp.
    cleared: AtomicU64,
    next_owner: AtomicU64,
    revalidates: bool,
}

impl ChunkCache {
    /// A cache that holds at most `max_bytes` bytes, what it takes to find them included.
    #[must_use]
    pub fn new(max_bytes: usize) -> Self {
        Self::with(max_bytes, false)
    }

    /// As [`new`](Self::new), but asks the store for the version of a chunk (or shard) at each read of it, and reads it again if
    /// that has changed: one small request for each chunk that is kept. For data that others write to as well.
    ///
    /// What a store does not tell the version of is read each time.
    #[must_use]
    pub fn revalidating(max_bytes: usize) -> Self {
        Self::with(max_bytes, true)
    }

    fn with(max_bytes: usize, revalidates: bool) -> Self {
        let (kept, nodes) = (Kept::new(max_bytes), Nodes::default());
        let (cleared, next_owner) = (AtomicU64::new(0), AtomicU64::new(0));
        Self(Arc::new(Shared { kept, nodes, cleared, next_owner, revalidates }))
    }

    /// Most bytes that are held.
    #[must_use]
    pub fn max_bytes(&self) -> usize {
        self.0.kept.max_bytes()
    }

    /// How many bytes are held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.0.kept.bytes()
    }

    /// Drops everything, so that what others wrote is seen.
    pub fn clear(&self) {
        self.0.cleared.fetch_add(1, Ordering::SeqCst);
        self.0.kept.clear();
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

/// Which chunk or inner chunk.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    /// An array as it is decoded, or a state of a shard.
    pub(crate) owner: u64,
    /// Where in it.
    pub(crate) cell: ChunkIndex,
}

/// What is known of a chunk or inner chunk.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) content: Content,
    /// Of the value, where the store told it.
    pub(crate) version: Option<Version>,
}

/// What a chunk or inner chunk holds.
#[derive(Debug)]
pub(crate) enum Content {
    /// It is not stored.
    Absent,
    /// It is a shard.
    Shard(KnownShard),
    /// All of its elements.
    Elements(ArrayData),
}

/// A shard whose index is known.
#[derive(Debug)]
pub(crate) struct KnownShard {
    pub(crate) index: Arc<SubchunkIndex>,
    /// Bytes of the value, where the store told them.
    pub(crate) size: Option<u64>,
    /// Owns what was read by this index.
    pub(crate) state: u64,
}

impl Known {
    /// The size of the value, if it is a shard and the store told it.
    pub(crate) fn size(&self) -> Option<u64> {
        if let Content::Shard(shard) = &self.content { shard.size } else { None }
    }

    fn cost(&self) -> usize {
        match &self.content {
            Content::Absent => 0,
            Content::Shard(shard) => shard.index.size(),
            Content::Elements(data) => {
                let heap = data.heap().map_or(0, |heap| usize::try_from(heap.size()).unwrap_or(usize::MAX));
                data.items().len().saturating_add(heap)
            }
        }
    }
}

/// A cache as an opened array uses it.
#[derive(Debug)]
pub(crate) struct ArrayCache {
    cache: ChunkCache,
    node: Arc<Node>,
    owner: u64,
    /// Whether chunks are shards.
    pub(crate) sharded: bool,
}

impl ArrayCache {
    /// The cache that the array's options name, if any.
    pub(crate) fn of(core: &ArrayCore, store: StoreId) -> Option<Self> {
        let cache = core.options.cache.clone()?;
        let node = cache.0.nodes.node(store, core.path());
        let owner = node.owner(core, || cache.new_owner());
        let sharded = splits(&core.codecs, &core.grid.largest_chunk_shape());
        Some(Self { cache, node, owner, sharded })
    }

    /// The same for other metadata of the node.
    pub(crate) fn reopened(&self, core: &ArrayCore) -> Option<Self> {
        Self::of(core, self.node.store().clone())
    }

    /// A read of so many bytes goes by the cache, and so does a chunk.
    pub(crate) fn is_too_much(&self, bytes: u64) -> bool {
        bytes > self.cache.max_bytes() as u64 / 2
    }

    /// Whether a version is to be compared before what is kept of a chunk is used.
    pub(crate) fn revalidates(&self) -> bool {
        self.cache.0.revalidates
    }

    /// Where a chunk is kept, and the stamp that it has now: to be known before it is asked for.
    pub(crate) fn chunk(&self, index: &[u64]) -> (Place, u64) {
        let stamp = self.node.stamp(index).wrapping_add(self.cache.0.cleared.load(Ordering::SeqCst));
        (Place { owner: self.owner, cell: ChunkIndex::from_slice(index) }, stamp)
    }

    pub(crate) fn find(&self, place: &Place, stamp: u64) -> Option<Arc<Known>> {
        self.cache.0.kept.find(place, stamp)
    }

    /// Keeps what was found out since the chunk had this stamp.
    pub(crate) fn keep(&self, place: Place, stamp: u64, known: &Arc<Known>) {
        self.cache.0.kept.keep(place, stamp, known, known.cost());
    }

    /// An owner for what will be read by an index.
    pub(crate) fn new_state(&self) -> u64 {
        self.cache.new_owner()
    }

    /// What is kept of a chunk is not found any more.
    pub(crate) fn forget(&self, index: &[u64]) {
        self.node.touch(Some(index));
    }

    /// To be held while a chunk (all if `None`) is changed; what is kept of it when this is dropped is not found any more.
    pub(crate) fn changing(&self, index: Option<&[u64]>) -> Changing {
        Changing::new(&self.node, index)
    }
}

#[cfg(test)]
mod tests;
