//! Arrays that have become larger since the check found them: chunks outside of the grids that it found may be theirs.

use crate::hierarchy::Hierarchy;
use std::collections::HashMap;
use std::time::{Duration, Instant};
use zarr_hierarchy::chunk_keys::ChunkKeys;
use zarr_hierarchy::node::order;
use zarr_hierarchy::open_stored_node;
use zarr_meta::StoredNode;
use zarr_store::{Key, Store, backoff};

/// For so long the lock of an array is waited for, which an append holds until the shape shows what it has written.
const PATIENCE: Duration = Duration::from_secs(10);
/// After so many chunks of an array that are outside all the same, its shape is not looked at again.
const MAX_IN_VAIN: u32 = 64;

/// The grids of such arrays, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Grown(HashMap<usize, Looked>);

#[derive(Debug, Default)]
struct Looked {
    keys: Option<ChunkKeys>,
    in_vain: u32,
    /// Whether the lock was waited for in vain: it is not waited for again.
    is_held: bool,
}

impl Grown {
    /// Whether the key of a chunk that was listed is one of the array as it is by now.
    pub(crate) fn has(&mut self, store: &dyn Store, hierarchy: &Hierarchy, number: usize, key: &Key) -> bool {
        let looked = self.0.entry(number).or_default();
        let has = |looked: &Looked| looked.keys.as_ref().is_some_and(|keys| keys.chunk_at(key).is_some());
        if has(looked) || looked.in_vain >= MAX_IN_VAIN {
            return has(looked);
        }
        looked.keys = hierarchy.nodes.get(number).and_then(|node| keys_now(store, node, &mut looked.is_held));
        let is_there = has(looked);
        looked.in_vain += u32::from(!is_there);
        is_there
    }
}

/// The keys of an array once no append is at work, as far as the locks of the store reach.
fn keys_now(store: &dyn Store, node: &StoredNode, is_held: &mut bool) -> Option<ChunkKeys> {
    let prefix = order::lock_prefix(node).ok()?;
    let (begun, mut attempt) = (Instant::now(), 0);
    // A store that refuses locks has none to wait for.
    while !*is_held && matches!(store.try_lock(&prefix), Ok(None)) {
        *is_held = begun.elapsed() > PATIENCE;
        attempt += 1;
        std::thread::sleep(backoff(attempt));
    }
    let now = open_stored_node(store, &node.path.to_string(), Some(node.dialect)).ok()?;
    ChunkKeys::new(&now).ok()
}
