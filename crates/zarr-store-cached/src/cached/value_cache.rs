//! Cache of values, parts of values and missing keys, limited in bytes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::mem::size_of;
use std::ops::Range;

use bytes::Bytes;

use zarr_store::{AccessProfile, Bounded, ByteRange, CacheCounts, Evict, Fetched, Key, Ring, Slot, StoreKind, Version};

/// Cache of values, parts of values, and keys that are missing in the store.
///
/// A value that is read while it is written may be of the state before the write. So a write increments the generation of its key
/// before and after, and the result of a read is only cached if the generation has not changed since the read began.
#[derive(Debug)]
pub(super) struct ValueCache {
    parts: Bounded<Part>,
    /// Greatest size in bytes of a piece that is cached.
    max_piece: usize,
}

#[derive(Debug, Default)]
struct Part {
    values: HashMap<Key, Value>,
    /// Pieces by key and offset.
    pieces: Ring<PieceKey, Bytes>,
    /// Generation of all keys in this part of the cache: a write may prevent that a read of another key is cached.
    generation: u64,
}

/// Key of a value, and offset of a piece in it.
type PieceKey = (Key, u64);

/// Cached pieces of one state of a value.
#[derive(Debug)]
struct Value {
    /// State of the value; `None` if the key does not exist.
    state: Option<State>,
    /// Ranges of the pieces, sorted. No range is inside another, so their ends are sorted as well. There is always at least one range; if
    /// no bytes are cached, it is empty.
    pieces: Vec<Range<u64>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    version: Option<Version>,
    size: Option<u64>,
}

/// Guard that invalidates a key (`None`: all keys) once more when it is dropped.
#[derive(Debug)]
pub(super) struct InvalidationGuard<'a> {
    cache: &'a ValueCache,
    key: Option<&'a Key>,
}

impl Drop for InvalidationGuard<'_> {
    fn drop(&mut self) {
        self.cache.invalidate(self.key);
    }
}

impl ValueCache {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { parts: Bounded::new(max_bytes), max_piece: usize::MAX }
    }

    /// Sets the greatest size in bytes of a cached piece.
    pub(super) fn parts_up_to(self, max_piece: usize) -> Self {
        Self { max_piece, ..self }
    }

    /// Returns the greatest number of cached bytes.
    pub(super) fn max_size(&self) -> usize {
        self.parts.max_bytes()
    }

    pub(super) fn counts(&self) -> CacheCounts {
        self.parts.counts()
    }

    /// Counts a cached reply that turned out to be outdated.
    pub(super) fn found_outdated(&self) {
        self.parts.found_outdated();
    }

    /// Returns the number of cached bytes.
    pub(super) fn size(&self) -> usize {
        self.parts.bytes()
    }

    /// Returns the reply to a get if all its ranges are cached (or, without ranges, the size); `None` if the store has to be asked.
    pub(super) fn get(&self, key: &Key, ranges: &[ByteRange]) -> Option<Option<Fetched>> {
        let found = self.find(key, ranges);
        self.parts.looked_up(hash(key), found.is_some());
        found
    }

    fn find(&self, key: &Key, ranges: &[ByteRange]) -> Option<Option<Fetched>> {
        let part = self.parts.read(hash(key));
        let value = part.values.get(key)?;
        let Some(found) = &value.state else {
            // This get counts as a use of the entry.
            part.pieces.get(&(key.clone(), 0), |_| true)?;
            return Some(None);
        };
        if ranges.is_empty() && found.size.is_none() {
            return None;
        }
        let mut fetched = Fetched::new();
        for range in ranges {
            let (start, at) = value.locate(range, found.size)?;
            fetched.push(part.pieces.get(&(key.clone(), start), |_| true)?.slice(at));
        }
        (fetched.size, fetched.version) = (found.size, found.version.clone());
        Some(Some(fetched))
    }

    /// Returns the generation of a key. A read takes it before it asks the store.
    pub(super) fn generation(&self, key: &Key) -> u64 {
        self.parts.read(hash(key)).generation
    }

    /// Caches the result of a get that began in this generation.
    pub(super) fn insert(&self, key: &Key, ranges: &[ByteRange], fetched: Option<&Fetched>, generation: u64) {
        let found = fetched.map(|fetched| State {
            version: fetched.version.clone(),
            size: fetched.size.or_else(|| whole_size(ranges, fetched)),
        });
        let size = found.as_ref().and_then(|found| found.size);
        let mut pieces: Vec<(u64, Bytes)> = Vec::new();
        let mut has_large = false;
        for (index, range) in ranges.iter().enumerate() {
            let (Some(fetched), Some(at)) = (fetched, resolved(range, size)) else { continue };
            let bytes = fetched.part(index);
            if bytes.len() as u64 != at.end - at.start {
                continue;
            }
            if bytes.len() > self.max_piece {
                has_large = true;
                continue;
            }
            // A lent part would hold all of a larger value in memory.
            let is_all = size == Some(bytes.len() as u64);
            pieces.push((at.start, if is_all { fetched.to_bytes(index) } else { Bytes::copy_from_slice(bytes) }));
        }
        if pieces.is_empty() && !has_large {
            pieces.push((0, Bytes::new()));
        }
        for (start, bytes) in pieces {
            let cost = cost(key, &bytes);
            if !self.parts.make_room(cost) {
                continue;
            }
            let mut part = self.parts.write(hash(key));
            let freed = if part.generation == generation { part.add(key, found.as_ref(), start, bytes) } else { cost };
            drop(part);
            self.parts.release(freed);
        }
    }

    /// Invalidates a key now, and again when the guard is dropped.
    pub(super) fn invalidate_around<'a>(&'a self, key: &'a Key) -> InvalidationGuard<'a> {
        self.invalidate(Some(key));
        InvalidationGuard { cache: self, key: Some(key) }
    }

    /// Invalidates all keys now, and again when the guard is dropped.
    pub(super) fn invalidate_all_around(&self) -> InvalidationGuard<'_> {
        self.invalidate(None);
        InvalidationGuard { cache: self, key: None }
    }

    /// Removes everything from the cache.
    pub(super) fn clear(&self) {
        self.invalidate(None);
    }

    fn invalidate(&self, key: Option<&Key>) {
        if let Some(key) = key {
            let mut part = self.parts.write(hash(key));
            part.generation += 1;
            let freed = part.remove(key);
            drop(part);
            self.parts.release(freed);
            return;
        }
        for mut part in self.parts.all() {
            part.generation += 1;
            part.values.clear();
            let gone = part.pieces.take();
            drop(part);
            self.parts.release(gone.iter().map(|slot| slot.cost).sum());
        }
    }
}

fn hash(key: &Key) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

impl Part {
    /// Adds a piece of a value, and returns the cost in bytes of the pieces that it replaces. Removes all pieces of another state.
    fn add(&mut self, key: &Key, found: Option<&State>, start: u64, bytes: Bytes) -> usize {
        let mut freed = 0;
        if self.values.get(key).is_some_and(|value| !value.is_of(found)) {
            freed += self.remove(key);
        }
        let value =
            self.values.entry(key.clone()).or_insert_with(|| Value { state: found.cloned(), pieces: Vec::new() });
        value.add_size(found);
        let end = start + bytes.len() as u64;
        // Pieces that begin later and end earlier are inside of it.
        let first = value.pieces.partition_point(|piece| piece.start < start);
        let inside = value.pieces[first..].partition_point(|piece| piece.end <= end);
        for piece in value.pieces.drain(first..first + inside) {
            freed += self.pieces.remove(&(key.clone(), piece.start)).map_or(0, |slot| slot.cost);
        }
        let before = first.checked_sub(1).and_then(|before| value.pieces.get(before));
        let around = value.pieces.get(first).filter(|piece| piece.start == start);
        let cost = cost(key, &bytes);
        if before.into_iter().chain(around).any(|piece| piece.end >= end) {
            // The new piece lies inside of an existing piece.
            return freed + cost;
        }
        value.pieces.insert(first, start..end);
        freed + self.pieces.insert((key.clone(), start), bytes, cost).map_or(0, |old| old.cost)
    }

    /// Removes all pieces of a key, and returns their cost in bytes.
    fn remove(&mut self, key: &Key) -> usize {
        let Some(value) = self.values.remove(key) else { return 0 };
        let pieces = value.pieces.iter().filter_map(|piece| self.pieces.remove(&(key.clone(), piece.start)));
        pieces.map(|slot| slot.cost).sum()
    }
}

impl Evict for Part {
    type Evicted = Slot<PieceKey, Bytes>;

    fn evict(&mut self, any: bool) -> Option<(usize, Self::Evicted)> {
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
    /// Returns whether `found` is the same state of the value. Without versions, sizes must not differ.
    fn is_of(&self, found: Option<&State>) -> bool {
        match (&self.state, found) {
            (Some(known), Some(found)) => {
                known.version == found.version
                    && (known.size == found.size || known.size.is_none() || found.size.is_none())
            }
            (None, None) => true,
            _ => false,
        }
    }

    fn add_size(&mut self, found: Option<&State>) {
        if let (Some(known), Some(found)) = (&mut self.state, found) {
            known.size = known.size.or(found.size);
        }
    }

    /// Returns the offset of the piece that contains a range, and the range in that piece; `None` if it is not cached.
    fn locate(&self, range: &ByteRange, size: Option<u64>) -> Option<(u64, Range<usize>)> {
        let at = resolved(range, size).filter(|at| at.start <= at.end)?;
        // Of the pieces that begin no later, the last one ends last.
        let index = self.pieces.partition_point(|piece| piece.start <= at.start).checked_sub(1)?;
        let piece = self.pieces.get(index).filter(|piece| at.end <= piece.end)?;
        let within = |position: u64| usize::try_from(position - piece.start).ok();
        Some((piece.start, within(at.start)?..within(at.end)?))
    }
}

/// Returns the memory for a piece in bytes: its contents, its entries in all maps, and the entry of its value as if it were the only piece.
fn cost(key: &Key, bytes: &Bytes) -> usize {
    let slot = size_of::<Slot<PieceKey, Bytes>>() + size_of::<(PieceKey, usize)>() + size_of::<Range<u64>>();
    bytes.len() + slot + size_of::<Value>() + key.as_str().len()
}

/// Returns the bytes of a range; `None` if they depend on an unknown size.
fn resolved(range: &ByteRange, size: Option<u64>) -> Option<Range<u64>> {
    match (range.bounded(), size) {
        (Some(range), _) => Some(range.clone()),
        (None, Some(size)) => range.resolve(size),
        (None, None) => None,
    }
}

/// Returns the size of a value if a get has returned all of it; otherwise `None`.
fn whole_size(ranges: &[ByteRange], fetched: &Fetched) -> Option<u64> {
    ranges.iter().zip(fetched.parts()).find_map(|(range, part)| range.whole_size(part))
}

/// Returns the ranges; for local stores with an additional empty range that needs the size of the value. Local stores then return the
/// version with the size, which they otherwise omit, since each costs a system call.
pub(super) fn with_version<'r>(ranges: &'r [ByteRange], profile: &AccessProfile) -> Cow<'r, [ByteRange]> {
    if profile.kind != StoreKind::Local || ranges.is_empty() || ranges.iter().any(|range| range.bounded().is_none()) {
        return Cow::Borrowed(ranges);
    }
    ranges.iter().cloned().chain([ByteRange::Suffix(0)]).collect()
}
