//! What is kept of a store, bounded in bytes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::mem::size_of;
use std::ops::Range;

use bytes::Bytes;

use crate::{Bounded, ByteRange, Coalesce, Evict, Fetched, Key, Ring, Slot, Version};

/// Values, parts of values, and keys that are not there.
///
/// A value that is read while it is written may be of before the write. So a write bumps the generation of its key, before and
/// after, and what was read is kept only if that is still the one in which the read began.
#[derive(Debug)]
pub(super) struct Kept(Bounded<Part>);

#[derive(Debug, Default)]
struct Part {
    values: HashMap<Key, Value>,
    /// Pieces, by the key and where they begin.
    pieces: Ring<Place, Bytes>,
    /// Keys of a part share it: a write may keep a read of another key from being kept.
    generation: u64,
}

/// Where a piece begins.
type Place = (Key, u64);

/// What is known of one state of a value.
#[derive(Debug)]
struct Value {
    /// `None`: there is no such key.
    found: Option<Found>,
    /// Where pieces are. Sorted, none inside of another, so that ends are sorted as well. Never without any: where no bytes are
    /// known, one of none.
    pieces: Vec<Range<u64>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    version: Option<Version>,
    size: Option<u64>,
}

/// Forgets what is kept of a key, or of all, once more when it is dropped.
#[derive(Debug)]
pub(super) struct Forget<'a> {
    kept: &'a Kept,
    key: Option<&'a Key>,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.kept.forget(self.key);
    }
}

impl Kept {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self(Bounded::new(max_bytes))
    }

    /// How many bytes are kept.
    pub(super) fn size(&self) -> usize {
        self.0.bytes()
    }

    /// What is known of these ranges, in `into`: whether the key is there. `None` if the store has to be asked.
    pub(super) fn find(&self, key: &Key, ranges: &[ByteRange], into: &mut Fetched) -> Option<bool> {
        let part = self.0.read(hash(key));
        let value = part.values.get(key)?;
        let places: Vec<_> = match &value.found {
            // Nothing is to be had of it, but it was asked for.
            None => vec![(0, 0..0)],
            Some(found) => ranges.iter().map(|range| value.place(range, found.size)).collect::<Option<_>>()?,
        };
        into.clear();
        for (start, at) in places {
            into.push(part.pieces.get(&(key.clone(), start), |_| true)?.slice(at));
        }
        let Some(found) = &value.found else {
            into.clear();
            return Some(false);
        };
        (into.size, into.version) = (found.size, found.version.clone());
        Some(true)
    }

    /// The size of a value, or that there is none, as far as is known.
    pub(super) fn size_of(&self, key: &Key) -> Option<Option<u64>> {
        match &self.0.read(hash(key)).values.get(key)?.found {
            None => Some(None),
            Some(found) => found.size.map(Some),
        }
    }

    /// The generation of a key, to be known before its value is asked for.
    pub(super) fn begin(&self, key: &Key) -> u64 {
        self.0.read(hash(key)).generation
    }

    /// Keeps what a get brought that began in the generation `begun`.
    pub(super) fn keep(&self, key: &Key, ranges: &[ByteRange], fetched: Option<&Fetched>, begun: u64) {
        let found = fetched.map(|fetched| Found {
            version: fetched.version.clone(),
            size: fetched.size.or_else(|| whole_size(ranges, fetched)),
        });
        let size = found.as_ref().and_then(|found| found.size);
        let mut pieces: Vec<(u64, Bytes)> = Vec::new();
        for (place, range) in ranges.iter().enumerate() {
            let (Some(fetched), Some(at)) = (fetched, resolved(range, size)) else { continue };
            let bytes = fetched.part(place);
            if bytes.len() as u64 != at.end - at.start {
                continue;
            }
            // A part that is lent may keep all of a larger value in memory.
            let is_all = size == Some(bytes.len() as u64);
            pieces.push((at.start, if is_all { fetched.to_bytes(place) } else { Bytes::copy_from_slice(bytes) }));
        }
        if pieces.is_empty() {
            pieces.push((0, Bytes::new()));
        }
        for (start, bytes) in pieces {
            let cost = cost(key, &bytes);
            if !self.0.make_room(cost) {
                continue;
            }
            let mut part = self.0.write(hash(key));
            let freed = if part.generation == begun { part.add(key, found.as_ref(), start, bytes) } else { cost };
            drop(part);
            self.0.release(freed);
        }
    }

    /// Forgets what is known of a key now, and again when the answer is dropped.
    pub(super) fn forget_around<'a>(&'a self, key: &'a Key) -> Forget<'a> {
        self.forget(Some(key));
        Forget { kept: self, key: Some(key) }
    }

    /// The same for all keys.
    pub(super) fn forget_all_around(&self) -> Forget<'_> {
        self.forget(None);
        Forget { kept: self, key: None }
    }

    /// Forgets everything.
    pub(super) fn forget_all(&self) {
        self.forget(None);
    }

    fn forget(&self, key: Option<&Key>) {
        if let Some(key) = key {
            let mut part = self.0.write(hash(key));
            part.generation += 1;
            let freed = part.remove(key);
            drop(part);
            self.0.release(freed);
            return;
        }
        for mut part in self.0.all() {
            part.generation += 1;
            part.values.clear();
            let gone = part.pieces.take();
            drop(part);
            self.0.release(gone.iter().map(|slot| slot.cost).sum());
        }
    }
}

fn hash(key: &Key) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

impl Part {
    /// Adds a piece of a value, and gives the bytes of what it takes the place of. Of another state of the value nothing is left.
    fn add(&mut self, key: &Key, found: Option<&Found>, start: u64, bytes: Bytes) -> usize {
        let mut freed = 0;
        if self.values.get(key).is_some_and(|value| !value.is_of(found)) {
            freed += self.remove(key);
        }
        let value =
            self.values.entry(key.clone()).or_insert_with(|| Value { found: found.cloned(), pieces: Vec::new() });
        value.learn(found);
        let end = start + bytes.len() as u64;
        // Those that begin later and end earlier are inside of it.
        let first = value.pieces.partition_point(|piece| piece.start < start);
        let inside = value.pieces[first..].partition_point(|piece| piece.end <= end);
        for piece in value.pieces.drain(first..first + inside) {
            freed += self.pieces.remove(&(key.clone(), piece.start)).map_or(0, |slot| slot.cost);
        }
        let before = first.checked_sub(1).and_then(|before| value.pieces.get(before));
        let around = value.pieces.get(first).filter(|piece| piece.start == start);
        let cost = cost(key, &bytes);
        if before.into_iter().chain(around).any(|piece| piece.end >= end) {
            // It is inside of another one.
            return freed + cost;
        }
        value.pieces.insert(first, start..end);
        freed + self.pieces.insert((key.clone(), start), bytes, cost).map_or(0, |old| old.cost)
    }

    /// Removes what is known of a key, and gives its bytes.
    fn remove(&mut self, key: &Key) -> usize {
        let Some(value) = self.values.remove(key) else { return 0 };
        let pieces = value.pieces.iter().filter_map(|piece| self.pieces.remove(&(key.clone(), piece.start)));
        pieces.map(|slot| slot.cost).sum()
    }
}

impl Evict for Part {
    type Gone = Slot<Place, Bytes>;

    fn evict(&mut self, any: bool) -> Option<(usize, Self::Gone)> {
        let slot = self.pieces.next_idle(any)?;
        let (key, start) = &slot.key;
        if let Some(value) = self.values.get_mut(key) {
            value.pieces.retain(|piece| piece.start != *start);
            if value.pieces.is_empty() {
                self.values.remove(key);
            }
        }
        Some((slot.cost, slot))
    }
}

impl Value {
    /// Whether this is the same state of the value. Where a store tells no versions, what was not written to is.
    fn is_of(&self, found: Option<&Found>) -> bool {
        match (&self.found, found) {
            (Some(known), Some(found)) => {
                known.version == found.version
                    && (known.size == found.size || known.size.is_none() || found.size.is_none())
            }
            (None, None) => true,
            _ => false,
        }
    }

    fn learn(&mut self, found: Option<&Found>) {
        if let (Some(known), Some(found)) = (&mut self.found, found) {
            known.size = known.size.or(found.size);
        }
    }

    /// Where the piece begins that a range is in, and where in it that is.
    fn place(&self, range: &ByteRange, size: Option<u64>) -> Option<(u64, Range<usize>)> {
        let at = resolved(range, size).filter(|at| at.start <= at.end)?;
        // Of those that begin no later, the last is the one that ends last.
        let place = self.pieces.partition_point(|piece| piece.start <= at.start).checked_sub(1)?;
        let piece = self.pieces.get(place).filter(|piece| at.end <= piece.end)?;
        let within = |position: u64| usize::try_from(position - piece.start).ok();
        Some((piece.start, within(at.start)?..within(at.end)?))
    }
}

/// What a piece takes: its bytes, its places in all maps, and the value as if it were the only one.
fn cost(key: &Key, bytes: &Bytes) -> usize {
    let slot = size_of::<Slot<Place, Bytes>>() + size_of::<(Place, usize)>() + size_of::<Range<u64>>();
    bytes.len() + slot + size_of::<Value>() + key.as_str().len()
}

/// Where a range is in a value; `None` if that depends on a size that is not known.
fn resolved(range: &ByteRange, size: Option<u64>) -> Option<Range<u64>> {
    match (range.bounded(), size) {
        (Some(range), _) => Some(range.clone()),
        (None, Some(size)) => range.resolve(size),
        (None, None) => None,
    }
}

/// The size of a value of which a get brought everything.
fn whole_size(ranges: &[ByteRange], fetched: &Fetched) -> Option<u64> {
    ranges.iter().zip(fetched.parts()).find_map(|(range, part)| range.whole_size(part))
}

/// The ranges, and where requests are cheap one more that has no bytes, but is resolved only with the size of the value: local
/// stores then tell its version as well, which they leave out where that would cost a system call.
pub(super) fn with_version<'r>(ranges: &'r [ByteRange], how: &Coalesce) -> Cow<'r, [ByteRange]> {
    if how.slab.is_none() || ranges.is_empty() || ranges.iter().any(|range| range.bounded().is_none()) {
        return Cow::Borrowed(ranges);
    }
    ranges.iter().cloned().chain([ByteRange::Suffix(0)]).collect()
}
