//! Shards whose index is known: byte ranges of their inner chunks, and groups of inner chunks that are requested together.

use crate::cache::{CacheEntry, CachedContent};
use crate::{Error, Result};
use std::ops::Range;
use std::sync::Arc;
use zarr_codec::{Error as CodecError, InnerChunkIndex, Pipeline, Split};
use zarr_grid::ChunkIndex;
use zarr_store::{Key, Snapshot, Version};

/// Shard whose index is known.
#[derive(Debug)]
pub(super) struct Shard {
    pub(super) key: Key,
    /// Index of the chunk of the array whose key is `key`: the shard, or the outermost shard in which it lies.
    pub(super) chunk: ChunkIndex,
    /// Offset of the shard in the value of `key`: not 0 if the shard lies in another shard.
    pub(super) start: u64,
    /// Size of the shard in bytes, if known.
    pub(super) size: Option<u64>,
    /// Snapshot of the value from which the index was read; `None` if the store does not tell.
    pub(super) snapshot: Option<Snapshot>,
    /// Version that the value must have if the index is a retained one: each reply must have this version.
    pub(super) due: Option<Version>,
    pub(super) index: Arc<InnerChunkIndex>,
    /// Codecs of the inner chunks.
    pub(super) codecs: Arc<Pipeline>,
    /// Cached state of the shard; `None` if the shard is not read through a cache.
    pub(super) generation: Option<ShardGeneration>,
    /// Maximum number of bytes of an encoded inner chunk.
    pub(super) max_inner_size: u64,
}

/// Cached state of a shard: its inner chunks belong to the cached index by the owner number.
#[derive(Clone, Debug)]
pub(super) struct ShardGeneration {
    /// Owner number of the inner chunks in the cache.
    pub(super) owner: u64,
    /// Whether the inner chunks are shards.
    pub(super) has_inner_shards: bool,
}

impl ShardGeneration {
    /// Makes the state for the cached index in `entry`; `None` if `entry` has no index.
    pub(super) fn new(entry: &CacheEntry, split: &Split) -> Option<Self> {
        let CachedContent::Index(index) = &entry.content else { return None };
        let inner = split.overlaps.cursor().overlap().map(|overlap| overlap.shape.clone()).unwrap_or_default();
        Some(Self { owner: index.owner, has_inner_shards: split.codecs.is_sharded(&inner) })
    }
}

impl Shard {
    /// Byte range of the inner chunk at `index` in the value of `key`; `None` if it is not stored.
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

    /// Adds the chunk and its key to an error.
    pub(super) fn locate(&self, error: Error) -> Error {
        error.at(|location| {
            location.chunk = Some(self.chunk.clone());
            location.key = Some(self.key.to_string());
        })
    }
}

/// Maximum number of encoded bytes that one request of inner chunks gets, unless a single inner chunk has more. Groups are bounded only by
/// decoded bytes, and an index may name any number of encoded bytes.
const MAX_ASKED: u64 = 64 << 20;

/// Counter of the encoded bytes of inner chunks that are requested together.
#[derive(Debug, Default)]
pub(super) struct AskedBytes(u64);

impl AskedBytes {
    /// Adds an inner chunk with the byte range `window`. Returns whether it may be requested together with the inner chunks before it.
    pub(super) fn add(&mut self, window: Option<&Range<u64>>) -> bool {
        let before = self.0;
        self.0 = before.saturating_add(window.map_or(0, |window| window.end - window.start));
        before == 0 || self.0 <= MAX_ASKED
    }
}

/// Divides items into groups that are requested together, of at most `max_len` items. `window` returns the byte range of an item in its
/// shard.
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
