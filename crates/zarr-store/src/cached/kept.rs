//! What is kept of a store, bounded in bytes.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash, Hasher};
use std::mem::size_of;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use crate::{ByteRange, Fetched, Key, Version};

/// Parts with a lock each, which keys are spread over.
const PARTS: usize = 64;

/// Values, parts of values, and keys that are not there.
///
/// A value that is read while it is written may be of before the write. So a write bumps the generation of its key, before and
/// after, and what was read is kept only if that is still the one in which the read began.
#[derive(Debug)]
pub(super) struct Kept {
    max_bytes: usize,
    /// Of all parts, and of what is about to be kept.
    size: AtomicUsize,
    /// The part that drops something next.
    turn: AtomicUsize,
    parts: Box<[Mutex<Part>]>,
}

#[derive(Debug, Default)]
struct Part {
    values: HashMap<Key, Value>,
    /// Pieces by when they were used last: the key, and where the piece begins.
    by_age: BTreeMap<u64, (Key, u64)>,
    now: u64,
    /// Keys of a part share it: a write may keep a read of another key from being kept.
    generation: u64,
}

/// What is known of one state of a value.
#[derive(Debug)]
struct Value {
    /// `None`: there is no such key.
    found: Option<Found>,
    /// Sorted, none inside of another, so that ends are sorted as well. Never without any: where no bytes are known, one of none.
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    version: Option<Version>,
    size: Option<u64>,
}

#[derive(Debug)]
struct Piece {
    start: u64,
    bytes: Bytes,
    used: u64,
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
        let parts = (0..PARTS).map(|_| Mutex::default()).collect();
        Self { max_bytes, size: AtomicUsize::new(0), turn: AtomicUsize::new(0), parts }
    }

    /// How many bytes are kept.
    pub(super) fn size(&self) -> usize {
        self.size.load(Ordering::Relaxed)
    }

    /// What is known of these ranges, in `into`: whether the key is there. `None` if the store has to be asked.
    pub(super) fn find(&self, key: &Key, ranges: &[ByteRange], into: &mut Fetched) -> Option<bool> {
        let mut part = self.part(key);
        let Part { values, by_age, now, .. } = &mut *part;
        let value = values.get_mut(key)?;
        let places = match &value.found {
            // Nothing is to be had of it, but it was asked for.
            None => vec![(0, 0..0)],
            Some(found) => ranges.iter().map(|range| value.place(range, found.size)).collect::<Option<_>>()?,
        };
        into.clear();
        for (place, at) in places {
            let Some(piece) = value.pieces.get_mut(place) else { continue };
            *now += 1;
            by_age.remove(&piece.used);
            piece.used = *now;
            by_age.insert(*now, (key.clone(), piece.start));
            into.push(piece.bytes.slice(at));
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
        match &self.part(key).values.get(key)?.found {
            None => Some(None),
            Some(found) => found.size.map(Some),
        }
    }

    /// The generation of a key, to be known before its value is asked for.
    pub(super) fn begin(&self, key: &Key) -> u64 {
        self.part(key).generation
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
            if cost > self.max_bytes || !self.make_room(cost) {
                continue;
            }
            let mut part = self.part(key);
            let freed = if part.generation == begun { part.add(key, found.as_ref(), start, bytes) } else { cost };
            drop(part);
            self.size.fetch_sub(freed, Ordering::Relaxed);
        }
    }

    /// Takes `cost` bytes of the bound, and drops what was used longest ago, of each part in turn. False if others take it all.
    fn make_room(&self, cost: usize) -> bool {
        self.size.fetch_add(cost, Ordering::Relaxed);
        let mut empty = 0;
        while self.size() > self.max_bytes {
            let turn = self.turn.fetch_add(1, Ordering::Relaxed) % PARTS;
            match lock(&self.parts[turn]).pop_oldest() {
                Some(freed) => {
                    self.size.fetch_sub(freed, Ordering::Relaxed);
                    empty = 0;
                }
                None if empty < PARTS => empty += 1,
                None => {
                    self.size.fetch_sub(cost, Ordering::Relaxed);
                    return false;
                }
            }
        }
        true
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
            let mut part = self.part(key);
            part.generation += 1;
            let freed = part.remove(key);
            self.size.fetch_sub(freed, Ordering::Relaxed);
            return;
        }
        for part in &self.parts {
            let mut part = lock(part);
            part.generation += 1;
            let freed: usize = part.values.iter().map(|(key, value)| value.cost(key)).sum();
            part.values.clear();
            part.by_age.clear();
            self.size.fetch_sub(freed, Ordering::Relaxed);
        }
    }

    fn part(&self, key: &Key) -> MutexGuard<'_, Part> {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        lock(&self.parts[hasher.finish() as usize % PARTS])
    }
}

fn lock(part: &Mutex<Part>) -> MutexGuard<'_, Part> {
    part.lock().unwrap_or_else(PoisonError::into_inner)
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
        let inside = value.pieces[first..].partition_point(|piece| piece.end() <= end);
        for piece in value.pieces.drain(first..first + inside) {
            self.by_age.remove(&piece.used);
            freed += cost(key, &piece.bytes);
        }
        let before = first.checked_sub(1).and_then(|before| value.pieces.get(before));
        let around = value.pieces.get(first).filter(|piece| piece.start == start);
        if before.into_iter().chain(around).any(|piece| piece.end() >= end) {
            // It is inside of another one.
            return freed + cost(key, &bytes);
        }
        self.now += 1;
        self.by_age.insert(self.now, (key.clone(), start));
        value.pieces.insert(first, Piece { start, bytes, used: self.now });
        freed
    }

    /// Removes what is known of a key, and gives its bytes.
    fn remove(&mut self, key: &Key) -> usize {
        let Some(value) = self.values.remove(key) else { return 0 };
        value.pieces.iter().for_each(|piece| drop(self.by_age.remove(&piece.used)));
        value.cost(key)
    }

    /// Removes the piece that was used longest ago, and gives its bytes.
    fn pop_oldest(&mut self) -> Option<usize> {
        let (_, (key, start)) = self.by_age.pop_first()?;
        let value = self.values.get_mut(&key)?;
        let place = value.pieces.binary_search_by_key(&start, |piece| piece.start).ok()?;
        let freed = cost(&key, &value.pieces.remove(place).bytes);
        if value.pieces.is_empty() {
            self.values.remove(&key);
        }
        Some(freed)
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

    /// The piece that a range is in, and where in it.
    fn place(&self, range: &ByteRange, size: Option<u64>) -> Option<(usize, Range<usize>)> {
        let at = resolved(range, size).filter(|at| at.start <= at.end)?;
        // Of those that begin no later, the last is the one that ends last.
        let place = self.pieces.partition_point(|piece| piece.start <= at.start).checked_sub(1)?;
        let piece = self.pieces.get(place).filter(|piece| at.end <= piece.end())?;
        let within = |position: u64| usize::try_from(position - piece.start).ok();
        Some((place, within(at.start)?..within(at.end)?))
    }

    fn cost(&self, key: &Key) -> usize {
        self.pieces.iter().map(|piece| cost(key, &piece.bytes)).sum()
    }
}

impl Piece {
    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

/// What a piece takes: its bytes, its places in both maps, and the value as if it were the only one.
fn cost(key: &Key, bytes: &Bytes) -> usize {
    bytes.len() + size_of::<Piece>() + size_of::<Value>() + 2 * (key.as_str().len() + size_of::<(Key, u64)>())
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
    let whole = ranges.iter().position(|range| *range == ByteRange::Full)?;
    Some(fetched.part(whole).len() as u64)
}
