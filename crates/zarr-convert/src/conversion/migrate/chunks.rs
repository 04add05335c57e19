//! Chunks that only the old or only the new array of a node has.

use super::record::{NodeRecord, Record, Side};
use zarr_hierarchy::chunk_keys::ChunkKeys;
use zarr_hierarchy::{Error, Result};
use zarr_meta::StoredNode;
use zarr_store::{Key, Store};

/// Returns the keys of chunks that the array of `side` has and the array of the other side has not.
pub(super) fn own_chunks(store: &dyn Store, record: &Record, entry: &NodeRecord, side: Side) -> Result<Vec<Key>> {
    let at = |error: Error| error.at_path(entry.path());
    let Some((array, other)) = entry.arrays(side, record.from, record.to).map_err(at)? else { return Ok(Vec::new()) };
    chunks_without(store, &array, &other).map_err(at)
}

/// Returns the keys of the stored chunks of `array` that are not chunk keys of `other`.
pub(super) fn chunks_without(store: &dyn Store, array: &StoredNode, other: &StoredNode) -> Result<Vec<Key>> {
    let kept = ChunkKeys::new(other)?;
    let stored = ChunkKeys::new(array)?.stored(store)?;
    Ok(stored.into_iter().map(|(key, _)| key).filter(|key| kept.chunk_at(key).is_none()).collect())
}
