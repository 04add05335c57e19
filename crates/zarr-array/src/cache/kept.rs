//! A bounded map that many threads read at once.

use super::{Known, Place};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Parts with a lock each.
const PARTS: usize = 64;
/// What a thing that is kept takes beside its content, roughly: its place twice, the slot, counters and capacity that
/// maps hold in reserve.
const OVERHEAD: usize = 512;

/// Things by their places, bounded in bytes.
///
/// A clock for each part: what was used since the hand passed is passed over once. The hands of the parts take turns, so
/// that together they are one clock.
#[derive(Debug)]
pub(super) struct Kept {
    max_bytes: usize,
    /// Of all that is kept, and of what is about to be.
    bytes: AtomicUsize,
    /// The part whose hand moves next.
    turn: AtomicUsize,
    parts: Box<[RwLock<Part>]>,
}

#[derive(Debug, Default)]
struct Part {
    slots: HashMap<Place, usize>,
    ring: Vec<Slot>,
    hand: usize,
}

#[derive(Debug)]
struct Slot {
    place: Place,
    known: Arc<Known>,
    stamp: u64,
    cost: usize,
    used: AtomicBool,
}

impl Kept {
    pub(super) fn new(max_bytes: usize) -> Self {
        let parts = (0..PARTS).map(|_| RwLock::default()).collect();
        Self { max_bytes, bytes: AtomicUsize::new(0), turn: AtomicUsize::new(0), parts }
    }

    pub(super) fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// What is kept at a place with this stamp.
    pub(super) fn find(&self, place: &Place, stamp: u64) -> Option<Arc<Known>> {
        let part = self.read(number(place));
        let slot = part.ring.get(*part.slots.get(place)?).filter(|slot| slot.stamp == stamp)?;
        // Only the first to use it writes to memory that others read.
        if !slot.used.load(Ordering::Relaxed) {
            slot.used.store(true, Ordering::Relaxed);
        }
        Some(Arc::clone(&slot.known))
    }

    /// Keeps something of `cost` bytes instead of what was at its place, if there is room for it at all; else nothing is
    /// kept there.
    pub(super) fn keep(&self, place: Place, stamp: u64, known: &Arc<Known>, cost: usize) {
        let cost = cost.saturating_add(OVERHEAD);
        if cost > self.max_bytes || !self.make_room(cost) {
            return self.forget(&place);
        }
        let slot = |place| Slot { place, known: Arc::clone(known), stamp, cost, used: AtomicBool::new(false) };
        let mut part = self.write(number(&place));
        let Part { slots, ring, .. } = &mut *part;
        let old = match slots.entry(place) {
            Entry::Vacant(entry) => {
                ring.push(slot(entry.key().clone()));
                entry.insert(ring.len() - 1);
                None
            }
            Entry::Occupied(entry) => {
                let place = entry.key().clone();
                ring.get_mut(*entry.get()).map(|old| std::mem::replace(old, slot(place)))
            }
        };
        drop(part);
        if let Some(old) = old {
            self.bytes.fetch_sub(old.cost, Ordering::Relaxed);
        }
    }

    fn forget(&self, place: &Place) {
        let mut part = self.write(number(place));
        let old = part.slots.get(place).copied().map(|at| part.remove(at));
        drop(part);
        if let Some(old) = old {
            self.bytes.fetch_sub(old.cost, Ordering::Relaxed);
        }
    }

    /// Takes `cost` bytes of the bound, and drops what has to go for that. False if others take it all.
    fn make_room(&self, cost: usize) -> bool {
        self.bytes.fetch_add(cost, Ordering::Relaxed);
        let mut failed = 0;
        while self.bytes.load(Ordering::Relaxed) > self.max_bytes {
            let turn = self.turn.fetch_add(1, Ordering::Relaxed) % PARTS;
            // After a round everything counts as idle that is not used in this moment, after two rounds that as well.
            let dropped = self.write(turn).pop(failed >= 2 * PARTS);
            // It is freed here, after the lock.
            match dropped {
                Some(slot) => {
                    self.bytes.fetch_sub(slot.cost, Ordering::Relaxed);
                    failed = 0;
                }
                None if failed < 3 * PARTS => failed += 1,
                None => {
                    self.bytes.fetch_sub(cost, Ordering::Relaxed);
                    return false;
                }
            }
        }
        true
    }

    pub(super) fn clear(&self) {
        for number in 0..PARTS {
            let part = std::mem::take(&mut *self.write(number));
            self.bytes.fetch_sub(part.ring.iter().map(|slot| slot.cost).sum(), Ordering::Relaxed);
        }
    }

    fn read(&self, number: usize) -> RwLockReadGuard<'_, Part> {
        self.parts[number].read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, number: usize) -> RwLockWriteGuard<'_, Part> {
        self.parts[number].write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Part {
    /// Removes the next thing that was not used since the hand passed it (or the very next, if `any`); none if all were.
    fn pop(&mut self, any: bool) -> Option<Slot> {
        let (from_hand, before) = (self.hand..self.ring.len(), 0..self.hand.min(self.ring.len()));
        let ring = &mut self.ring;
        let mut is_idle = |&place: &usize| !std::mem::take(ring[place].used.get_mut()) || any;
        self.hand = from_hand.chain(before).find(&mut is_idle)?;
        Some(self.remove(self.hand))
    }

    /// Removes what is at this number of the ring.
    fn remove(&mut self, at: usize) -> Slot {
        let slot = self.ring.swap_remove(at);
        self.slots.remove(&slot.place);
        if let Some(moved) = self.ring.get(at) {
            // The last has taken its place.
            self.slots.insert(moved.place.clone(), at);
        }
        slot
    }
}

/// Which part a place belongs to. Neighbouring chunks belong to different ones.
fn number(place: &Place) -> usize {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = place.cell.iter().fold(place.owner, |mixed, &at| (mixed ^ at).wrapping_mul(ODD).rotate_left(29));
    (mixed.wrapping_mul(ODD) >> 32) as usize % PARTS
}
