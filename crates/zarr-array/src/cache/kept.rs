//! A bounded map that many threads read at once.

use super::{Known, Place};
use std::sync::Arc;
use zarr_store::{Bounded, Ring};

/// What a thing that is kept takes beside its content, roughly: its place twice, the slot, counters and capacity that
/// maps hold in reserve.
const OVERHEAD: usize = 512;

/// Things by their places, bounded in bytes.
#[derive(Debug)]
pub(super) struct Kept(Bounded<Ring<Place, Stamped>>);

/// What is known, and the stamp that its place had.
#[derive(Debug)]
struct Stamped {
    known: Arc<Known>,
    stamp: u64,
}

impl Kept {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self(Bounded::new(max_bytes))
    }

    pub(super) fn max_bytes(&self) -> usize {
        self.0.max_bytes()
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// What is kept at a place with this stamp.
    pub(super) fn find(&self, place: &Place, stamp: u64) -> Option<Arc<Known>> {
        let part = self.0.read(hash(place));
        part.get(place, |kept| kept.stamp == stamp).map(|kept| Arc::clone(&kept.known))
    }

    /// Keeps something of `cost` bytes instead of what was at its place, if there is room for it at all; else nothing is
    /// kept there.
    pub(super) fn keep(&self, place: Place, stamp: u64, known: &Arc<Known>, cost: usize) {
        let cost = cost.saturating_add(OVERHEAD);
        let old = if self.0.make_room(cost) {
            let stamped = Stamped { known: Arc::clone(known), stamp };
            self.0.write(hash(&place)).insert(place, stamped, cost)
        } else {
            self.0.write(hash(&place)).remove(&place)
        };
        if let Some(old) = old {
            self.0.release(old.cost);
        }
    }

    pub(super) fn clear(&self) {
        for mut part in self.0.all() {
            let gone = part.take();
            drop(part);
            self.0.release(gone.iter().map(|slot| slot.cost).sum());
        }
    }
}

/// Neighbouring chunks belong to different parts.
fn hash(place: &Place) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = place.cell.iter().fold(place.owner, |mixed, &at| (mixed ^ at).wrapping_mul(ODD).rotate_left(29));
    mixed.wrapping_mul(ODD) >> 32
}
