//! Store of values in memory.

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use bytes::Bytes;

use crate::pieces::join_pieces;
use crate::{
    AccessProfile, Answer, ByteRange, Call, Capabilities, Fetched, GetInto, GetOptions, Key, Listing, Lock,
    Precondition, Prefix, Result, SizeVisitor, Snapshot, Store, Version, fallback_blocking,
};

/// Number of maps that the keys are distributed over, so that threads seldom wait for each other.
const SHARDS: usize = 32;

/// Store of values in memory, which are lent to readers without a copy.
///
/// # Example
/// ```
/// use zarr_store::{Key, MemoryStore, StoreExt};
/// let store = MemoryStore::new();
/// store.set_all(&Key::new("zarr.json")?, b"{}")?;
/// assert_eq!(store.get_all(&Key::new("zarr.json")?)?.as_deref(), Some(&b"{}"[..]));
/// # Ok::<(), zarr_store::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct MemoryStore {
    shards: [RwLock<BTreeMap<Key, Value>>; SHARDS],
    hasher: RandomState,
    /// Number of values that were ever set; the source of versions.
    clock: AtomicU64,
}

#[derive(Debug)]
struct Value {
    bytes: Bytes,
    version: u64,
}

impl MemoryStore {
    /// Returns an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the value at `key` without copying `bytes`, if `when` holds.
    ///
    /// # Errors
    /// [`crate::Error::Precondition`] if `when` does not hold.
    pub fn set_bytes(&self, key: &Key, bytes: Bytes, when: &Precondition) -> Result<Version> {
        let mut shard = self.write(key);
        if *when != Precondition::None {
            when.check(self, key, shard.get(key).map(|value| name(value.version)).as_ref())?;
        }
        let version = self.clock.fetch_add(1, Ordering::Relaxed);
        shard.insert(key.clone(), Value { bytes, version });
        Ok(name(version))
    }

    /// Returns the number of the map that has `key`.
    fn number(&self, key: &Key) -> usize {
        let hash = self.hasher.hash_one(key);
        usize::try_from(hash % SHARDS as u64).unwrap_or(0)
    }

    fn shard(&self, key: &Key) -> &RwLock<BTreeMap<Key, Value>> {
        &self.shards[self.number(key)]
    }

    // A panic of another thread cannot leave a map half changed: every change is one call of the map.
    fn read(&self, key: &Key) -> RwLockReadGuard<'_, BTreeMap<Key, Value>> {
        self.shard(key).read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, key: &Key) -> RwLockWriteGuard<'_, BTreeMap<Key, Value>> {
        self.shard(key).write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns ranges of a value, of the state that a snapshot holds, or of the newest one.
    fn find(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        // The snapshot holds the state in memory.
        let named =
            options.if_match.as_ref().and_then(|state| Some((state.handle::<Bytes>()?, state.version().cloned())));
        let (bytes, version) = match named {
            Some((bytes, version)) => (bytes.clone(), version),
            None => match self.read(key).get(key) {
                Some(value) => (value.bytes.clone(), Some(name(value.version))),
                None => return Ok(None),
            },
        };
        let snapshot = options.snapshot.then(|| Snapshot::of_handle(version.clone(), Arc::new(bytes.clone())));
        let mut fetched = Fetched::of_value(self, key, bytes, version, ranges, options)?;
        fetched.snapshot = snapshot;
        Ok(Some(fetched))
    }

    /// Returns the keys and prefixes directly under `prefix`, sorted.
    fn directly_under(&self, prefix: &Prefix) -> Listing {
        let mut listing = Listing::default();
        for shard in &self.shards {
            let shard = shard.read().unwrap_or_else(PoisonError::into_inner);
            listing.add_directly_under(prefix, |from| {
                shard.range::<str, _>((from, Bound::Unbounded)).next().map(|(key, _)| key)
            });
            // Deduplicated per map, since most prefixes have keys in all maps.
            listing.prefixes.sort();
            listing.prefixes.dedup();
        }
        listing.keys.sort_unstable();
        listing
    }

    /// Returns all keys under `prefix`, sorted.
    fn keys_under(&self, prefix: &Prefix) -> Vec<Key> {
        let mut keys = Vec::new();
        for shard in &self.shards {
            let shard = shard.read().unwrap_or_else(PoisonError::into_inner);
            let under = shard.range::<str, _>((Bound::Included(prefix.as_str()), Bound::Unbounded));
            keys.extend(under.map(|(key, _)| key).take_while(|key| prefix.contains(key)).cloned());
        }
        keys.sort_unstable();
        keys
    }

    /// Passes all keys under `prefix` to `visit`, with the sizes of their values.
    fn visit_under(&self, prefix: &Prefix, visit: &SizeVisitor) {
        for shard in &self.shards {
            let shard = shard.read().unwrap_or_else(PoisonError::into_inner);
            let under = shard.range::<str, _>((Bound::Included(prefix.as_str()), Bound::Unbounded));
            for (key, value) in under.take_while(|(key, _)| prefix.contains(key)) {
                visit(key.clone(), value.bytes.len() as u64);
            }
        }
    }

    /// Exchanges the keys under `a` and `b`; `false` if one has none, or one prefix contains the other.
    fn exchange(&self, a: &Prefix, b: &Prefix) -> Result<bool> {
        if a.as_str().starts_with(b.as_str()) || b.as_str().starts_with(a.as_str()) {
            return Ok(false);
        }
        // All maps are locked, so that nobody sees some keys renamed and others not.
        let mut shards: Vec<_> =
            self.shards.iter().map(|shard| shard.write().unwrap_or_else(PoisonError::into_inner)).collect();
        let (mut moved, mut any) = (Vec::new(), [false; 2]);
        for shard in &shards {
            for (at, (from, to)) in [(a, b), (b, a)].into_iter().enumerate() {
                let under = shard.range::<str, _>((Bound::Included(from.as_str()), Bound::Unbounded));
                for (key, _) in under.take_while(|(key, _)| from.contains(key)) {
                    any[at] = true;
                    moved.push((key.clone(), to.join(from.strip(key).unwrap_or_default())?));
                }
            }
        }
        if any != [true; 2] {
            return Ok(false);
        }
        let taken: Vec<_> = moved
            .into_iter()
            .filter_map(|(from, to)| Some((to, shards.get_mut(self.number(&from))?.remove(&from)?)))
            .collect();
        for (key, value) in taken {
            if let Some(shard) = shards.get_mut(self.number(&key)) {
                shard.insert(key, value);
            }
        }
        Ok(true)
    }

    /// Takes the lock of `prefix`; `None` if another thread holds it.
    fn lock(&self, prefix: &Prefix) -> Option<Lock> {
        // All stores in memory have the same address, so the pointer is added.
        let lock = Lock::in_process(&format_args!("{self}{:p}", &raw const self.clock), prefix);
        // No other process reaches the memory of this one.
        lock.map(Lock::between_processes)
    }
}

fn name(version: u64) -> Version {
    Version::new(&version.to_string())
}

impl fmt::Display for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("memory:")
    }
}

impl MemoryStore {
    /// Answers a call that is no get.
    #[inline(never)]
    fn other(&self, call: Call<'_>) -> Result<Answer> {
        Ok(match call {
            Call::Set { key, value, options } => {
                Answer::Set(Some(self.set_bytes(&key, Bytes::copy_from_slice(&value), &options.when)?))
            }
            Call::SetPieces { key, pieces, options } => {
                Answer::Set(Some(self.set_bytes(&key, join_pieces(&pieces.slices())?.into(), &options.when)?))
            }
            Call::Erase { key } => {
                self.write(&key).remove(&*key);
                Answer::Done
            }
            Call::ListDir { prefix } => Answer::Listing(self.directly_under(&prefix)),
            Call::ListPrefix { prefix } => Answer::Keys(self.keys_under(&prefix)),
            Call::ListSizes { prefix, visit } => {
                self.visit_under(&prefix, &visit);
                Answer::Done
            }
            Call::ExchangePrefixes { a, b } => Answer::Is(self.exchange(&a, &b)?),
            Call::Lock { prefix } => Answer::Locked(self.lock(&prefix)),
            call => return fallback_blocking(self, call),
        })
    }
}

impl Store for MemoryStore {
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        // Reads of single elements make these two calls: apart, they need no room for the values of the others.
        match call {
            Call::Get { key, ranges, options } => Ok(Answer::Got(self.find(&key, &ranges, &options)?)),
            Call::GetInto { .. } => Ok(Answer::GotInto(GetInto::Declined)),
            call => self.other(call),
        }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::none().write(true).list(true).suffix_ranges(true).conditional(true).exchanges(true).streams(true)
    }

    fn access_profile(&self) -> AccessProfile {
        AccessProfile::MEMORY
    }
}
