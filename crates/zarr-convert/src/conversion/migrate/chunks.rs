//! The chunks that a node has on one side alone.

use super::record::{NodeRecord, Record, Side};
use zarr_hierarchy::chunk_keys::ChunkKeys;
use zarr_hierarchy::{Error, Result};
use zarr_meta::StoredNode;
use zarr_store::{Key, Store};

/// The keys of chunks that a node has on one side and not on the other.
pub(super) fn own_chunks(store: &dyn Store, record: &Record, entry: &NodeRecord, side: Side) -> Result<Vec<Key>> {
    let at = |error: Error| error.at_path(entry.path());
    let Some((array, other)) = entry.arrays(side, record.from, record.to).map_err(at)? else { return Ok(Vec::new()) };
    chunks_without(store, &array, &other).map_err(at)
}

/// The keys of the chunks of an array except those that another array has, too.
pub(super) fn chunks_without(store: &dyn Store, array: &StoredNode, other: &StoredNode) -> Result<Vec<Key>> {
    let kept = ChunkKeys::new(other)?;
    let stored = ChunkKeys::new(array)?.stored(store)?;
    Ok(stored.into_iter().map(|(key, _)| key).filter(|key| kept.chunk_at(key).is_none()).collect())
}
