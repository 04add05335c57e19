//! Map of cache entries that is bounded in bytes and that many threads read at the same time.

use super::{CacheEntry, CacheKey};
use std::sync::Arc;
use zarr_store::{Bounded, CacheCounts, Ring};

/// Approximate number of bytes of an entry beside its content: its key twice, the slot, counters, and the reserve of maps.
const OVERHEAD: usize = 512;

/// Map of cache entries by their keys, bounded in bytes.
#[derive(Debug)]
pub(super) struct CacheMap(Bounded<Ring<CacheKey, AtEpoch>>);

/// Cache entry, and the epoch in which its read began.
#[derive(Debug)]
struct AtEpoch {
    entry: Arc<CacheEntry>,
    epoch: u64,
}

impl CacheMap {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self(Bounded::new(max_bytes))
    }

    pub(super) fn max_bytes(&self) -> usize {
        self.0.max_bytes()
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// Returns the entry of `key` if the read of the entry began in the epoch `epoch`, and counts a hit.
    pub(super) fn find(&self, key: &CacheKey, epoch: u64) -> Option<Arc<CacheEntry>> {
        let found = self.find_uncounted(key, epoch)?;
        self.0.looked_up(hash(key), true);
        Some(found)
    }

    /// Counts a lookup that found nothing, for which the store is asked.
    pub(super) fn missed(&self, key: &CacheKey) {
        self.0.looked_up(hash(key), false);
    }

    /// Returns the entry of `key`, as [`find`](Self::find) does, but does not count the lookup.
    pub(super) fn find_uncounted(&self, key: &CacheKey, epoch: u64) -> Option<Arc<CacheEntry>> {
        let part = self.0.read(hash(key));
        part.get(key, |cached| cached.epoch == epoch).map(|cached| Arc::clone(&cached.entry))
    }

    /// Counts a hit whose entry turned out to be outdated.
    pub(super) fn found_outdated(&self) {
        self.0.found_outdated();
    }

    pub(super) fn counts(&self) -> CacheCounts {
        self.0.counts()
    }

    /// Sets the entry of `key`, whose content has `cost` bytes. If there is no room for the entry, removes the old entry of `key`, and
    /// returns `false`.
    pub(super) fn keep(&self, key: CacheKey, epoch: u64, entry: &Arc<CacheEntry>, cost: usize) -> bool {
        let cost = cost.saturating_add(OVERHEAD);
        let has_room = self.0.make_room(cost);
        let old = if has_room {
            let at_epoch = AtEpoch { entry: Arc::clone(entry), epoch };
            self.0.write(hash(&key)).insert(key, at_epoch, cost)
        } else {
            self.0.write(hash(&key)).remove(&key)
        };
        if let Some(old) = old {
            self.0.release(old.cost);
        }
        has_room
    }

    pub(super) fn clear(&self) {
        for mut part in self.0.all() {
            let gone = part.take();
            drop(part);
            self.0.release(gone.iter().map(|slot| slot.cost).sum());
        }
    }
}

/// Hash of a key. Keys of neighbouring chunks get to different parts of the map.
fn hash(key: &CacheKey) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = key.index.iter().fold(key.owner, |mixed, &at| (mixed ^ at).wrapping_mul(ODD).rotate_left(29));
    mixed.wrapping_mul(ODD) >> 32
}
