//! Entries of caches, bounded in bytes.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Number of parts of a cache; each part has its own lock.
const PARTS: usize = 64;

/// Entries of a cache that many threads use. They are distributed over parts that have their own locks, and together have a bounded number
/// of bytes.
///
/// The type of the parts defines the entries and their lookup; [`Ring`] is one.
///
/// # Example
/// ```
/// use zarr_store::{Bounded, Ring};
///
/// let cache = Bounded::<Ring<u64, String>>::new(1000);
/// let cost = 100;
/// if cache.make_room(cost) {
///     let old = cache.write(7).insert(7, "seven".to_owned(), cost);
///     assert!(old.is_none());
/// }
/// assert_eq!(cache.read(7).get(&7, |_| true).map(String::as_str), Some("seven"));
/// assert_eq!(cache.bytes(), 100);
/// ```
#[derive(Debug)]
pub struct Bounded<P> {
    max_bytes: usize,
    /// Number of bytes of all entries, and of entries that are about to be inserted.
    bytes: AtomicUsize,
    /// Number of the part that evicts an entry next.
    turn: AtomicUsize,
    parts: Box<[Part<P>]>,
    outdated: AtomicU64,
}

/// Part of a cache with counters of its lookups: threads that use different parts do not share counters.
#[derive(Debug, Default)]
struct Part<P> {
    entries: RwLock<P>,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// Numbers of lookups in a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheCounts {
    /// Number of lookups that found an entry.
    pub hits: u64,
    /// Number of lookups that found no entry, so that the store was asked.
    pub misses: u64,
    /// Number of hits in a cache that revalidates whose entries turned out to be outdated, so that the store was asked.
    pub outdated: u64,
}

/// Part of a [`Bounded`]: a collection that can evict entries.
pub trait Evict: Default {
    /// Type of an evicted entry, which is dropped after the lock is released.
    type Evicted;

    /// Removes an entry that was not used recently, or the next entry if `any`, and returns the number of bytes that become free. `None` if
    /// there is no such entry.
    fn evict(&mut self, any: bool) -> Option<(usize, Self::Evicted)>;
}

impl<P: Evict> Bounded<P> {
    /// Returns empty parts that together hold at most `max_bytes` bytes.
    #[must_use]
    pub fn new(max_bytes: usize) -> Self {
        let parts = (0..PARTS).map(|_| Part::default()).collect();
        Self { max_bytes, bytes: AtomicUsize::new(0), turn: AtomicUsize::new(0), parts, outdated: AtomicU64::new(0) }
    }

    /// Returns the maximum number of bytes of all entries.
    pub fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// Returns the number of bytes of all entries, and of entries that are about to be inserted.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    fn part(&self, hash: u64) -> &Part<P> {
        &self.parts[hash as usize % PARTS]
    }

    /// Counts a lookup in the part for `hash`; `found` tells hits from misses.
    pub fn looked_up(&self, hash: u64, found: bool) {
        let part = self.part(hash);
        if found { &part.hits } else { &part.misses }.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a hit whose entry turned out to be outdated.
    pub fn found_outdated(&self) {
        self.outdated.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the numbers of lookups that were counted.
    pub fn counts(&self) -> CacheCounts {
        let sum = |count: fn(&Part<P>) -> &AtomicU64| {
            self.parts.iter().map(|part| count(part).load(Ordering::Relaxed)).sum::<u64>()
        };
        CacheCounts {
            hits: sum(|part| &part.hits),
            misses: sum(|part| &part.misses),
            outdated: self.outdated.load(Ordering::Relaxed),
        }
    }

    /// Locks the part for `hash` for reading.
    pub fn read(&self, hash: u64) -> RwLockReadGuard<'_, P> {
        self.part(hash).entries.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the part for `hash` for writing. The bytes of entries that the caller removes must be [released](Self::release).
    pub fn write(&self, hash: u64) -> RwLockWriteGuard<'_, P> {
        self.part(hash).entries.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Iterates over all parts, each locked for writing.
    pub fn all(&self) -> impl Iterator<Item = RwLockWriteGuard<'_, P>> {
        self.parts.iter().map(|part| part.entries.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reserves `bytes` within the bound, and evicts entries of the parts in turn as needed. Returns `false`, with nothing reserved, if
    /// `bytes` exceed the bound, or if other threads reserve all of it.
    #[must_use]
    pub fn make_room(&self, bytes: usize) -> bool {
        if bytes > self.max_bytes {
            return false;
        }
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        let mut failed = 0;
        while self.bytes() > self.max_bytes {
            let turn = self.turn.fetch_add(1, Ordering::Relaxed);
            // After one round without an idle entry, all entries that are not used in this moment are idle; after two rounds any entry
            // is evicted.
            let evicted = self.write(turn as u64).evict(failed >= 2 * PARTS);
            match evicted {
                Some((freed, _evicted)) => {
                    self.release(freed);
                    failed = 0;
                }
                None if failed < 3 * PARTS => failed += 1,
                None => {
                    self.release(bytes);
                    return false;
                }
            }
        }
        true
    }

    /// Releases the bytes of entries that were removed.
    pub fn release(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Values by their keys, which are evicted by the clock algorithm: a hand passes over the values in a circle, and spares a value once if it
/// was used since the hand passed it last.
#[derive(Debug)]
pub struct Ring<K, V> {
    indices: HashMap<K, usize>,
    slots: Vec<Slot<K, V>>,
    hand: usize,
}

/// Value of a [`Ring`], with its key and cost.
#[derive(Debug)]
pub struct Slot<K, V> {
    /// Key of the value.
    pub key: K,
    /// Value under the key.
    pub value: V,
    /// Number of bytes that the value counts for.
    pub cost: usize,
    used: AtomicBool,
}

impl<K, V> Default for Ring<K, V> {
    fn default() -> Self {
        Self { indices: HashMap::new(), slots: Vec::new(), hand: 0 }
    }
}

impl<K: Clone + Eq + Hash, V> Ring<K, V> {
    /// Returns the value under `key` if `wanted` returns `true` for it. This counts as a use.
    pub fn get(&self, key: &K, wanted: impl FnOnce(&V) -> bool) -> Option<&V> {
        let slot = self.slots.get(*self.indices.get(key)?).filter(|slot| wanted(&slot.value))?;
        // Only the first use writes to memory that other threads read.
        if !slot.used.load(Ordering::Relaxed) {
            slot.used.store(true, Ordering::Relaxed);
        }
        Some(&slot.value)
    }

    /// Inserts a value of `cost` bytes, and returns the value that it replaces.
    #[must_use]
    pub fn insert(&mut self, key: K, value: V, cost: usize) -> Option<Slot<K, V>> {
        let slot = |key| Slot { key, value, cost, used: AtomicBool::new(false) };
        match self.indices.entry(key) {
            Entry::Vacant(entry) => {
                self.slots.push(slot(entry.key().clone()));
                entry.insert(self.slots.len() - 1);
                None
            }
            Entry::Occupied(entry) => {
                let key = entry.key().clone();
                self.slots.get_mut(*entry.get()).map(|old| std::mem::replace(old, slot(key)))
            }
        }
    }

    /// Removes the value under `key`, and returns it.
    pub fn remove(&mut self, key: &K) -> Option<Slot<K, V>> {
        self.indices.get(key).copied().map(|index| self.remove_at(index))
    }

    /// Removes all values, and returns them.
    pub fn take(&mut self) -> Vec<Slot<K, V>> {
        std::mem::take(self).slots
    }

    /// Removes the next value that was not used since the hand passed it; the next value in any case if `any`. `None` if there is no such
    /// value.
    pub fn next_idle(&mut self, any: bool) -> Option<Slot<K, V>> {
        let (from_hand, before) = (self.hand..self.slots.len(), 0..self.hand.min(self.slots.len()));
        let slots = &mut self.slots;
        let mut is_idle = |&index: &usize| !std::mem::take(slots[index].used.get_mut()) || any;
        self.hand = from_hand.chain(before).find(&mut is_idle)?;
        Some(self.remove_at(self.hand))
    }

    fn remove_at(&mut self, index: usize) -> Slot<K, V> {
        let slot = self.slots.swap_remove(index);
        self.indices.remove(&slot.key);
        if let Some(moved) = self.slots.get(index) {
            // The last slot is at this index now.
            self.indices.insert(moved.key.clone(), index);
        }
        slot
    }
}

impl<K: Clone + Eq + Hash, V> Evict for Ring<K, V> {
    type Evicted = Slot<K, V>;

    fn evict(&mut self, any: bool) -> Option<(usize, Slot<K, V>)> {
        self.next_idle(any).map(|slot| (slot.cost, slot))
    }
}
