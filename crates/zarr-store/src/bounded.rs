//! What caches keep, bounded in bytes.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Parts with a lock each.
const PARTS: usize = 64;

/// Things that are kept in parts with a lock each, which together hold a bounded number of bytes: for caches that many threads use.
///
/// What is kept, and how it is found, is up to the parts; they may be [`Ring`]s.
///
/// # Example
/// ```
/// use zarr_store::{Bounded, Ring};
///
/// let kept = Bounded::<Ring<u64, String>>::new(1000);
/// let cost = 100;
/// if kept.make_room(cost) {
///     let old = kept.write(7).insert(7, "seven".to_owned(), cost);
///     assert!(old.is_none());
/// }
/// assert_eq!(kept.read(7).get(&7, |_| true).map(String::as_str), Some("seven"));
/// assert_eq!(kept.bytes(), 100);
/// ```
#[derive(Debug)]
pub struct Bounded<P> {
    max_bytes: usize,
    /// Of all that is kept, and of what is about to be.
    bytes: AtomicUsize,
    /// The part that gives something up next.
    turn: AtomicUsize,
    parts: Box<[RwLock<P>]>,
}

/// A part of a [`Bounded`].
pub trait Evict: Default {
    /// What goes: it is dropped after the lock.
    type Gone;

    /// Removes something that was not used lately, or anything if `any`, and says how many bytes that frees. `None` if there is nothing
    /// of the kind.
    fn evict(&mut self, any: bool) -> Option<(usize, Self::Gone)>;
}

impl<P: Evict> Bounded<P> {
    /// Empty parts that together may hold so many bytes.
    #[must_use]
    pub fn new(max_bytes: usize) -> Self {
        let parts = (0..PARTS).map(|_| RwLock::default()).collect();
        Self { max_bytes, bytes: AtomicUsize::new(0), turn: AtomicUsize::new(0), parts }
    }

    /// Most bytes that are held.
    pub fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// How many bytes are held.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The part that things of this hash are in, to be looked at.
    pub fn read(&self, hash: u64) -> RwLockReadGuard<'_, P> {
        self.parts[hash as usize % PARTS].read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The part that things of this hash are in, to be changed. Bytes that go have to be told to [`release`](Self::release).
    pub fn write(&self, hash: u64) -> RwLockWriteGuard<'_, P> {
        self.parts[hash as usize % PARTS].write().unwrap_or_else(PoisonError::into_inner)
    }

    /// All parts, one after the other, to be changed.
    pub fn all(&self) -> impl Iterator<Item = RwLockWriteGuard<'_, P>> {
        self.parts.iter().map(|part| part.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes `bytes` of the bound, and lets parts in turn give up what has to go for that. False if others take it all, or it is more
    /// than the bound: then nothing is taken.
    #[must_use]
    pub fn make_room(&self, bytes: usize) -> bool {
        if bytes > self.max_bytes {
            return false;
        }
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        let mut failed = 0;
        while self.bytes() > self.max_bytes {
            let turn = self.turn.fetch_add(1, Ordering::Relaxed);
            // After a round everything counts as idle that is not used in this moment, after two rounds that as well.
            let gone = self.write(turn as u64).evict(failed >= 2 * PARTS);
            match gone {
                Some((freed, _gone)) => {
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

    /// Gives back bytes of the bound: what they were taken for is gone.
    pub fn release(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Values by their keys, with a hand that goes round: a value that was used since it passed is passed over once.
#[derive(Debug)]
pub struct Ring<K, V> {
    places: HashMap<K, usize>,
    slots: Vec<Slot<K, V>>,
    hand: usize,
}

/// A value of a [`Ring`].
#[derive(Debug)]
pub struct Slot<K, V> {
    /// Its key.
    pub key: K,
    /// The value.
    pub value: V,
    /// The bytes that it takes.
    pub cost: usize,
    used: AtomicBool,
}

impl<K, V> Default for Ring<K, V> {
    fn default() -> Self {
        Self { places: HashMap::new(), slots: Vec::new(), hand: 0 }
    }
}

impl<K: Clone + Eq + Hash, V> Ring<K, V> {
    /// The value of a key, which thereby is used, if it is the one `wanted`.
    pub fn get(&self, key: &K, wanted: impl FnOnce(&V) -> bool) -> Option<&V> {
        let slot = self.slots.get(*self.places.get(key)?).filter(|slot| wanted(&slot.value))?;
        // Only the first to use it writes to memory that others read.
        if !slot.used.load(Ordering::Relaxed) {
            slot.used.store(true, Ordering::Relaxed);
        }
        Some(&slot.value)
    }

    /// Keeps a value of `cost` bytes. Gives the one whose place it takes.
    #[must_use]
    pub fn insert(&mut self, key: K, value: V, cost: usize) -> Option<Slot<K, V>> {
        let slot = |key| Slot { key, value, cost, used: AtomicBool::new(false) };
        match self.places.entry(key) {
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

    /// Removes the value of a key.
    pub fn remove(&mut self, key: &K) -> Option<Slot<K, V>> {
        self.places.get(key).copied().map(|place| self.remove_at(place))
    }

    /// Removes everything.
    pub fn take(&mut self) -> Vec<Slot<K, V>> {
        std::mem::take(self).slots
    }

    /// Removes the next value that was not used since the hand passed it (or the very next, if `any`); none if all were.
    pub fn next_idle(&mut self, any: bool) -> Option<Slot<K, V>> {
        let (from_hand, before) = (self.hand..self.slots.len(), 0..self.hand.min(self.slots.len()));
        let slots = &mut self.slots;
        let mut is_idle = |&place: &usize| !std::mem::take(slots[place].used.get_mut()) || any;
        self.hand = from_hand.chain(before).find(&mut is_idle)?;
        Some(self.remove_at(self.hand))
    }

    fn remove_at(&mut self, place: usize) -> Slot<K, V> {
        let slot = self.slots.swap_remove(place);
        self.places.remove(&slot.key);
        if let Some(moved) = self.slots.get(place) {
            // The last has taken its place.
            self.places.insert(moved.key.clone(), place);
        }
        slot
    }
}

impl<K: Clone + Eq + Hash, V> Evict for Ring<K, V> {
    type Gone = Slot<K, V>;

    fn evict(&mut self, any: bool) -> Option<(usize, Slot<K, V>)> {
        self.next_idle(any).map(|slot| (slot.cost, slot))
    }
}
