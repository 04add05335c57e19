//! Cache of values that are loaded when they are needed, with a maximum total size.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zarr_store::Result;

use super::Way;

/// Cache of values that are loaded when they are needed. If several callers of the same [`Way`] need a value at the same time, one caller
/// loads it and the others wait.
///
/// A caller that blocks never waits for a caller that does not block, since the same thread may have to poll that caller. A value may thus
/// be loaded twice.
pub struct LoadCache<K, V> {
    max_bytes: usize,
    size: fn(&V) -> usize,
    slots: Mutex<Slots<K, V>>,
}

struct Slots<K, V> {
    by_id: HashMap<K, Slot<V>>,
    /// Counter of searches and insertions, by which [`Slot::used`] is set.
    turn: u64,
    /// Total size of all values in the cache, as `LoadCache::size` counts it.
    bytes: usize,
}

struct Slot<V> {
    value: Option<Arc<V>>,
    /// Locks that a caller holds while it loads the value: the second for callers that block, the first for callers that do not.
    loading: [Arc<futures::lock::Mutex<()>>; 2],
    /// Value of [`Slots::turn`] when the value was used last.
    used: u64,
}

impl<V> Default for Slot<V> {
    fn default() -> Self {
        Self { value: None, loading: Default::default(), used: 0 }
    }
}

impl<K: Copy + Eq + Hash, V> LoadCache<K, V> {
    /// Creates a cache that keeps values of at most `max_bytes` bytes in total. `size` returns the number of bytes of a value.
    #[must_use]
    pub fn new(max_bytes: usize, size: fn(&V) -> usize) -> Self {
        Self { max_bytes, size, slots: Mutex::new(Slots { by_id: HashMap::new(), turn: 0, bytes: 0 }) }
    }

    /// Returns the value with this id, which `load` loads if it is not in the cache.
    ///
    /// # Errors
    /// The errors of `load`. An error is not kept: the next call for the same id loads the value again.
    pub async fn get(&self, way: Way, id: K, load: impl Future<Output = Result<V>>) -> Result<Arc<V>> {
        let loading = match self.look(way, id) {
            Ok(value) => return Ok(value),
            Err(loading) => loading,
        };
        // The slot is removed also if the future is dropped before it ends.
        let _unfinished = Unfinished { cache: self, id };
        let _held = loading.lock().await;
        if let Ok(value) = self.look(way, id) {
            return Ok(value);
        }
        let value = Arc::new(load.await?);
        self.keep(id, &value);
        Ok(value)
    }

    /// Returns the value of this id if it is in the cache.
    pub fn known(&self, id: K) -> Option<Arc<V>> {
        let mut slots = self.slots();
        slots.turn += 1;
        let turn = slots.turn;
        let slot = slots.by_id.get_mut(&id)?;
        slot.used = turn;
        slot.value.clone()
    }

    fn slots(&self) -> MutexGuard<'_, Slots<K, V>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look(&self, way: Way, id: K) -> Result<Arc<V>, Arc<futures::lock::Mutex<()>>> {
        let mut slots = self.slots();
        slots.turn += 1;
        let turn = slots.turn;
        let slot = slots.by_id.entry(id).or_default();
        slot.used = turn;
        slot.value.clone().ok_or_else(|| Arc::clone(&slot.loading[usize::from(way == Way::Blocking)]))
    }

    /// Puts a value into the cache, and drops the least recently used values if the cache is too large. A value that is larger than
    /// `max_bytes` stays until the next value is put.
    fn keep(&self, id: K, value: &Arc<V>) {
        let mut slots = self.slots();
        slots.turn += 1;
        let turn = slots.turn;
        let slot = slots.by_id.entry(id).or_default();
        slot.used = turn;
        let before = slot.value.replace(Arc::clone(value));
        slots.bytes = slots.bytes - before.map_or(0, |before| (self.size)(&before)) + (self.size)(value);
        while slots.bytes > self.max_bytes {
            let others = slots.by_id.iter().filter(|(other, slot)| **other != id && slot.value.is_some());
            let Some(oldest) = others.min_by_key(|(_, slot)| slot.used).map(|(other, _)| *other) else { return };
            if let Some(dropped) = slots.by_id.remove(&oldest).and_then(|slot| slot.value) {
                slots.bytes -= (self.size)(&dropped);
            }
        }
    }
}

impl<K, V> fmt::Debug for LoadCache<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadCache").field("max_bytes", &self.max_bytes).finish_non_exhaustive()
    }
}

/// Removes a slot when its loading ends and it has no value. Callers that wait hold the lock of the slot, and load the value themselves.
struct Unfinished<'a, K: Copy + Eq + Hash, V> {
    cache: &'a LoadCache<K, V>,
    id: K,
}

impl<K: Copy + Eq + Hash, V> Drop for Unfinished<'_, K, V> {
    fn drop(&mut self) {
        let mut slots = self.cache.slots();
        if slots.by_id.get(&self.id).is_some_and(|slot| slot.value.is_none()) {
            slots.by_id.remove(&self.id);
        }
    }
}

#[cfg(test)]
mod tests;
