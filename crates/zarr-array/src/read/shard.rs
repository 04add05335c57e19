//! Where the inner chunks of a shard are stored, whose index is known, and how many of them are asked for at once.

use crate::cache::{CacheEntry, CachedContent};
use crate::{Error, Result};
use std::ops::Range;
use std::sync::Arc;
use zarr_codec::{Error as CodecError, InnerChunkIndex, Pipeline, Split};
use zarr_grid::ChunkIndex;
use zarr_store::{Key, Snapshot, Version};

/// A shard whose index is known.
#[derive(Debug)]
pub(super) struct Shard {
    pub(super) key: Key,
    /// The chunk that the key is of: the shard, or the outermost one that it lies in.
    pub(super) chunk: ChunkIndex,
    /// The offset of the shard in the value of the key: not 0 if it lies in another shard.
    pub(super) start: u64,
    /// Its size in bytes, if known.
    pub(super) size: Option<u64>,
    /// The state of the value that its index was read from, if the store tells.
    pub(super) snapshot: Option<Snapshot>,
    /// The version that the value must have, of which its index was kept: each reply is to say so.
    pub(super) due: Option<Version>,
    pub(super) index: Arc<InnerChunkIndex>,
    /// The codecs of its inner chunks.
    pub(super) codecs: Arc<Pipeline>,
    /// The cached state of the shard, where it is read through a cache.
    pub(super) generation: Option<ShardGeneration>,
    /// No encoded inner chunk can have more bytes.
    pub(super) max_inner_size: u64,
}

/// One state of a shard in the cache.
#[derive(Clone, Debug)]
pub(super) struct ShardGeneration {
    /// The owner of its inner chunks in the cache.
    pub(super) owner: u64,
    /// Whether its inner chunks are shards.
    pub(super) has_inner_shards: bool,
}

impl ShardGeneration {
    /// The generation of the cached index that a shard is split by.
    pub(super) fn new(entry: &CacheEntry, split: &Split) -> Option<Self> {
        let CachedContent::Index(index) = &entry.content else { return None };
        let inner = split.overlaps.cursor().overlap().map(|overlap| overlap.shape.clone()).unwrap_or_default();
        Some(Self { owner: index.owner, has_inner_shards: split.codecs.is_sharded(&inner) })
    }
}

impl Shard {
    /// The byte range of an inner chunk in the value of the key; `None` if it is not stored.
    pub(super) fn find(&self, index: &[u64]) -> Result<Option<Range<u64>>> {
        let Some(range) = self.index.range(index)? else { return Ok(None) };
        if let Some(size) = self.size.filter(|&size| range.end > size) {
            let what = format!("inner chunk {index:?} at bytes {range:?} of a shard of {size} bytes");
            return Err(CodecError::ShardIndex { what }.into());
        }
        let len = range.end - range.start;
        if len > self.max_inner_size {
            let what = format!("inner chunk {index:?} has {len} bytes, expected at most {}", self.max_inner_size);
            return Err(CodecError::ShardIndex { what }.into());
        }
        match (self.start.checked_add(range.start), self.start.checked_add(range.end)) {
            (Some(start), Some(end)) => Ok(Some(start..end)),
            _ => Err(CodecError::ShardIndex { what: format!("inner chunk {index:?} at bytes {range:?}") }.into()),
        }
    }

    /// Adds the chunk and the key to an error.
    pub(super) fn locate(&self, error: Error) -> Error {
        error.at(|location| {
            location.chunk = Some(self.chunk.clone());
            location.key = Some(self.key.to_string());
        })
    }
}

/// Maximum number of encoded bytes that are asked for at once, unless a single inner chunk has more. The making of a group bounds its
/// decoded bytes only, and an index may say anything of the encoded ones.
const MAX_ASKED: u64 = 64 << 20;

/// Counts the encoded bytes of inner chunks that are to be asked for at once.
#[derive(Debug, Default)]
pub(super) struct AskedBytes(u64);

impl AskedBytes {
    /// Adds an inner chunk that lies at `window`. Says whether it may be asked for with the inner chunks before it.
    pub(super) fn add(&mut self, window: Option<&Range<u64>>) -> bool {
        let before = self.0;
        self.0 = before.saturating_add(window.map_or(0, |window| window.end - window.start));
        before == 0 || self.0 <= MAX_ASKED
    }
}

/// Divides items into groups of at most `max_len` that are asked for at once; `window` is the byte range of one in its shard.
pub(super) fn groups<T>(items: Vec<T>, max_len: usize, window: impl Fn(&T) -> Option<&Range<u64>>) -> Vec<Vec<T>> {
    let mut groups = Vec::new();
    let mut group = Vec::new();
    let mut asked = AskedBytes::default();
    for item in items {
        let joins = asked.add(window(&item)) && group.len() < max_len;
        if !joins && !group.is_empty() {
            groups.push(std::mem::take(&mut group));
            asked = AskedBytes::default();
            asked.add(window(&item));
        }
        group.push(item);
    }
    if !group.is_empty() {
        groups.push(group);
    }
    groups
}
