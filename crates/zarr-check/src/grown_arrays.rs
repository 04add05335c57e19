//! Arrays that have grown since the check opened them: chunks outside of the known grid may belong to the new one.

use std::collections::HashMap;
use std::time::{Duration, Instant};
use zarr_hierarchy::chunk_keys::ChunkKeys;
use zarr_hierarchy::node::order;
use zarr_hierarchy::open_stored_node;
use zarr_meta::StoredNode;
use zarr_store::{Key, Store, StoreExt};

/// Time to wait for the lock of an array. An append holds the lock until the shape includes its chunks.
const PATIENCE: Duration = Duration::from_secs(10);
/// Number of chunks of an array that were outside of the grid even after the shape was read again, after which the shape is not read any
/// more.
const MAX_IN_VAIN: u32 = 64;

/// Pause between two tries to take a lock that another process holds.
const PAUSE: Duration = Duration::from_millis(20);

/// Newest grids of arrays that have chunks outside of the grid with which they were opened, by the numbers of the arrays.
#[derive(Debug)]
pub(crate) struct GrownArrays {
    arrays: HashMap<usize, GridLookup>,
    patience: Duration,
}

#[derive(Debug, Default)]
struct GridLookup {
    keys: Option<ChunkKeys>,
    in_vain: u32,
    /// Whether the lock was still held after the waiting time. The check then waits no more, and any chunk may belong to the append that
    /// holds the lock.
    is_held: bool,
}

impl Default for GrownArrays {
    fn default() -> Self {
        Self { arrays: HashMap::new(), patience: PATIENCE }
    }
}

impl GrownArrays {
    /// Whether `key`, a listed key, is the key of a chunk of the array `node` in its newest shape, or may become one by a running append.
    /// `number` is the number of the array.
    pub(crate) fn has(&mut self, store: &dyn Store, number: usize, node: Option<&StoredNode>, key: &Key) -> bool {
        let looked = self.arrays.entry(number).or_default();
        let has =
            |looked: &GridLookup| looked.is_held || looked.keys.as_ref().is_some_and(|it| it.chunk_at(key).is_some());
        if has(looked) || looked.in_vain >= MAX_IN_VAIN {
            return has(looked);
        }
        looked.is_held = node.is_some_and(|node| is_held(store, node, self.patience));
        looked.keys = node.and_then(|node| keys_now(store, node));
        let is_there = has(looked);
        looked.in_vain += u32::from(!is_there);
        is_there
    }
}

/// Whether another process holds the lock of an array for the whole of `patience`, as far as the locks of the store can tell.
fn is_held(store: &dyn Store, node: &StoredNode, patience: Duration) -> bool {
    let Ok(prefix) = order::lock_prefix(node) else { return false };
    let begun = Instant::now();
    // A store that refuses locks has none to wait for.
    while matches!(store.try_lock(&prefix), Ok(None)) {
        if begun.elapsed() >= patience {
            return true;
        }
        std::thread::sleep(PAUSE);
    }
    false
}

/// Returns the keys of the chunks of an array in its newest shape; `None` if the array cannot be opened.
fn keys_now(store: &dyn Store, node: &StoredNode) -> Option<ChunkKeys> {
    let now = open_stored_node(store, &node.path.to_string(), Some(node.dialect)).ok()?;
    ChunkKeys::new(&now).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use zarr_array::{Array, NewArray, Registry};
    use zarr_store::{MemoryStore, Prefix};

    #[test]
    fn no_chunk_is_outside_while_an_append_holds_the_lock() {
        let mut registry = Registry::default();
        registry.codecs.add(zarr_codec_bytes::BYTES);
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let new = NewArray::new(&[4], "int8").chunks(&[2]).codecs("bytes").unwrap();
        Array::create(&store, "/a", new, &Arc::new(registry)).unwrap();
        let node = open_stored_node(&*store, "/a", None).unwrap();
        let (inside, outside) = (Key::new("a/c/1").unwrap(), Key::new("a/c/2").unwrap());
        let grown = || GrownArrays { patience: Duration::from_millis(50), ..GrownArrays::default() };
        let has = |grown: &mut GrownArrays, key| grown.has(&*store, 0, Some(&node), key);
        let lock = store.try_lock(&Prefix::new("a/").unwrap()).unwrap().expect("nobody has it");
        let mut held = grown();
        let begun = Instant::now();
        assert!(has(&mut held, &outside) && has(&mut held, &inside));
        assert!(begun.elapsed() >= Duration::from_millis(50));
        drop(lock);
        // The check that has waited in vain waits no more.
        assert!(has(&mut held, &outside));
        let mut free = grown();
        assert!(!has(&mut free, &outside) && has(&mut free, &inside));
    }
}
