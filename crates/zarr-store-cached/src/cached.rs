//! A store that caches its reads.

mod value_cache;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use value_cache::{ValueCache, with_version};
use zarr_store::{
    AccessProfile, AsyncStore, AsyncStoreExt, BoxFuture, ByteRange, Capabilities, Fetched, GetInto, GetOptions, Key,
    Listing, Lock, Prefix, Result, SetOptions, Store, StoreExt, Version,
};

/// Another store, with a cache in memory of values, parts of values and missing keys.
///
/// It is meant for stores that nobody else writes to. Writes through it are seen at once, writes of others only when
/// the old value was evicted. A write whose [`Precondition`](zarr_store::Precondition) fails invalidates its key, so
/// that a retry reads the stored value.
///
/// Any part of a cached range is found. All cached parts of a value are of one state, if the store has versions. Parts
/// not used for long are evicted first. Threads that read different keys do not wait for each other. Nothing of the
/// cache is in metadata.
///
/// # Example
/// ```
/// use zarr_store::{Counted, Key, MemoryStore, StoreExt};
/// use zarr_store_cached::Cached;
///
/// let store = Cached::new(Counted::new(MemoryStore::new()), 1 << 20);
/// let key = Key::new("a/c/0")?;
/// store.set_all(&key, b"chunk")?;
/// assert_eq!(store.get_all(&key)?, store.get_all(&key)?);
/// assert_eq!(store.inner().counts().gets, 1);
/// # Ok::<(), zarr_store::Error>(())
/// ```
#[derive(Debug)]
pub struct Cached<S> {
    store: S,
    /// Shared with the form that does not block.
    cache: Arc<ValueCache>,
}

impl<S> Cached<S> {
    /// A cache of at most `max_bytes` bytes over `store`, keys and the tables of the cache included.
    #[must_use]
    pub fn new(store: S, max_bytes: usize) -> Self {
        Self { store, cache: Arc::new(ValueCache::new(max_bytes)) }
    }

    /// The store below.
    pub fn inner(&self) -> &S {
        &self.store
    }

    /// How many bytes are cached.
    pub fn cached_bytes(&self) -> usize {
        self.cache.size()
    }

    /// Empties the cache, so that writes of others are seen.
    pub fn clear(&self) {
        self.cache.clear();
    }
}

impl<S: fmt::Display> Cached<S> {
    /// Caches the reply to a get that began in this generation.
    fn insert(
        &self,
        key: &Key,
        ranges: &[ByteRange],
        generation: u64,
        reply: Result<Option<Fetched>>,
    ) -> Result<Option<Fetched>> {
        let mut fetched = reply?;
        fetched.iter_mut().for_each(|fetched| fetched.truncate(ranges.len()));
        self.cache.insert(key, ranges, fetched.as_ref(), generation);
        Ok(fetched)
    }

    /// The reply of the newest state, as far as is known, where that is the state that `options` require. Else `None`, and the store
    /// below has to be asked, since the cached parts may be of another state.
    fn of_required_state(
        &self,
        key: &Key,
        options: &GetOptions,
        mut newest: Result<Option<Fetched>>,
    ) -> Option<Result<Option<Fetched>>> {
        let is_required = match &mut newest {
            // A reply without a version may be of any state.
            Ok(Some(fetched)) if options.if_match.is_some() && fetched.version.is_none() => false,
            Ok(Some(fetched)) => options.check(self, key, fetched).is_ok(),
            Err(error) => options.is_default() || !error.is_range(),
            Ok(None) => true,
        };
        if !is_required {
            drop(self.cache.invalidate_around(key));
        }
        is_required.then_some(newest)
    }
}

impl<S: fmt::Display> fmt::Display for Cached<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

#[deny(clippy::missing_trait_methods)]
impl<S: Store> Store for Cached<S> {
    fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        let newest = match self.cache.get(key, ranges) {
            Some(cached) => Ok(cached),
            None => {
                let generation = self.cache.generation(key);
                let ranges_below = with_version(ranges, &self.store.access_profile());
                self.insert(key, ranges, generation, self.store.get_ranges(key, &ranges_below))
            }
        };
        match self.of_required_state(key, options, newest) {
            Some(reply) => reply,
            None => self.store.get(key, ranges, options),
        }
    }

    /// Declined: the values that [`Store::get`] returns are cached.
    fn get_into(&self, _key: &Key, _into: &mut [u8]) -> Result<GetInto> {
        Ok(GetInto::Declined)
    }

    fn as_async(&self) -> Option<Arc<dyn AsyncStore>> {
        Some(Arc::new(Cached { store: self.store.as_async()?, cache: Arc::clone(&self.cache) }))
    }

    fn set(&self, key: &Key, value: &[u8], options: &SetOptions) -> Result<Option<Version>> {
        let _guard = self.cache.invalidate_around(key);
        self.store.set(key, value, options)
    }

    fn set_many(&self, values: &[(&Key, &[u8])]) -> Result<()> {
        let _guard: Vec<_> = values.iter().map(|(key, _)| self.cache.invalidate_around(key)).collect();
        self.store.set_many(values)
    }

    fn erase(&self, key: &Key) -> Result<()> {
        let _guard = self.cache.invalidate_around(key);
        self.store.erase(key)
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<()> {
        let _guard = self.cache.invalidate_all_around();
        self.store.erase_prefix(prefix)
    }

    fn set_partial(&self, key: &Key, parts: &[(u64, &[u8])]) -> Result<()> {
        let _guard = self.cache.invalidate_around(key);
        self.store.set_partial(key, parts)
    }

    fn rename_prefix(&self, from: &Prefix, to: &Prefix) -> Result<bool> {
        let _guard = self.cache.invalidate_all_around();
        self.store.rename_prefix(from, to)
    }

    zarr_store::delegate! { |this| this.store;
        list_dir, list_prefix, find_link, parent, try_lock, take_warnings, flush, barrier, capabilities,
        access_profile
    }
}

#[deny(clippy::missing_trait_methods)]
impl<S: AsyncStore> AsyncStore for Cached<S> {
    fn get<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        options: &'a GetOptions,
    ) -> BoxFuture<'a, Result<Option<Fetched>>> {
        Box::pin(async move {
            let newest = match self.cache.get(key, ranges) {
                Some(cached) => Ok(cached),
                None => {
                    let generation = self.cache.generation(key);
                    let ranges_below = with_version(ranges, &self.store.access_profile());
                    let reply = self.store.get_ranges(key, &ranges_below).await;
                    self.insert(key, ranges, generation, reply)
                }
            };
            match self.of_required_state(key, options, newest) {
                Some(reply) => reply,
                None => self.store.get(key, ranges, options).await,
            }
        })
    }

    fn set<'a>(
        &'a self,
        key: &'a Key,
        value: Bytes,
        options: &'a SetOptions,
    ) -> BoxFuture<'a, Result<Option<Version>>> {
        Box::pin(async move {
            let _guard = self.cache.invalidate_around(key);
            self.store.set(key, value, options).await
        })
    }

    fn erase<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let _guard = self.cache.invalidate_around(key);
            self.store.erase(key).await
        })
    }

    fn list_dir<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Listing>> {
        self.store.list_dir(prefix)
    }

    fn list_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Vec<Key>>> {
        self.store.list_prefix(prefix)
    }

    fn erase_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let _guard = self.cache.invalidate_all_around();
            self.store.erase_prefix(prefix).await
        })
    }

    fn rename_prefix<'a>(&'a self, from: &'a Prefix, to: &'a Prefix) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            let _guard = self.cache.invalidate_all_around();
            self.store.rename_prefix(from, to).await
        })
    }

    fn try_lock<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Option<Lock>>> {
        self.store.try_lock(prefix)
    }

    fn pause(&self, duration: Duration) -> BoxFuture<'_, ()> {
        self.store.pause(duration)
    }

    fn take_warnings(&self) -> Vec<String> {
        self.store.take_warnings()
    }

    fn flush(&self) -> BoxFuture<'_, Result<()>> {
        self.store.flush()
    }

    fn barrier(&self) -> BoxFuture<'_, Result<()>> {
        self.store.barrier()
    }

    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn access_profile(&self) -> AccessProfile {
        self.store.access_profile()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::Arc;
    use zarr_store::{Counted, Error, MemoryStore, Precondition, SyncAsAsync, block_on, testing};

    fn key(text: &str) -> Key {
        Key::new(text).expect("a key")
    }

    #[test]
    fn keeps_the_contract() {
        for max_bytes in [0, 300, 1 << 20] {
            testing::contract(&Cached::new(MemoryStore::new(), max_bytes));
            block_on(testing::contract_async(&Cached::new(SyncAsAsync(Arc::new(MemoryStore::new())), max_bytes)));
        }
    }

    #[test]
    fn cached_parts_are_not_read_again() {
        let store = Cached::new(Counted::new(MemoryStore::new()), 1 << 20);
        let (a, none) = (key("a"), key("none"));
        store.set_all(&a, b"0123456789").expect("set");
        let get = |ranges: &[ByteRange]| {
            let fetched = store.get_ranges(&a, ranges).expect("get").expect("there");
            fetched.parts().map(<[u8]>::to_vec).collect::<Vec<_>>()
        };
        let parts = [ByteRange::Suffix(2), ByteRange::Range(1..3)];
        for _ in 0..3 {
            assert_eq!(get(&parts), [b"89", b"12"]);
            assert_eq!(store.get_all(&none).expect("get"), None);
        }
        assert_eq!(store.inner().take().gets, 2);
        // Any part of a cached range is found.
        assert_eq!(get(&[ByteRange::Range(2..3), ByteRange::From(9), ByteRange::Range(1..1)]), [&b"2"[..], b"9", b""]);
        assert_eq!(store.inner().take().gets, 0);
        // Pieces that touch are not put together.
        get(&[ByteRange::Range(3..8)]);
        get(&[ByteRange::Range(2..8)]);
        get(&[ByteRange::Full]);
        assert_eq!(store.inner().take().gets, 3);
        assert_eq!(
            get(&[ByteRange::From(7), ByteRange::Full, ByteRange::Range(0..0)]),
            [&b"789"[..], b"0123456789", b""]
        );
        assert_eq!((store.size(&a).expect("size"), store.size(&none).expect("size")), (Some(10), None));
        assert_eq!(store.inner().take().gets, 0);
        assert!(matches!(store.get_ranges(&a, &[ByteRange::Suffix(11)]), Err(Error::Range { .. })));
        store.clear();
        assert_eq!(store.cached_bytes(), 0);
    }

    #[test]
    fn used_values_stay() {
        let store = Cached::new(Counted::new(MemoryStore::new()), 100_000);
        let value = |range| store.get_ranges(&key("often"), &[range]).expect("get").expect("there").part(0).len();
        store.set_all(&key("often"), &[7; 1000]).expect("set");
        assert_eq!((value(ByteRange::Range(0..100)), value(ByteRange::Range(500..600))), (100, 100));
        for other in 0..2000 {
            let other = key(&format!("k{other}"));
            store.set_all(&other, &[0; 500]).expect("set");
            store.get_all(&other).expect("get");
            store.inner().take();
            assert_eq!((value(ByteRange::Range(10..90)), value(ByteRange::Range(500..600))), (80, 100));
            assert_eq!(store.inner().take().gets, 0, "{other}");
        }
        assert!(store.cached_bytes() > 80_000);
    }

    #[test]
    fn pieces_of_two_states_do_not_mix() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = zarr_store_filesystem::FilesystemStore::create(folder.path()).expect("a store");
        let memory = MemoryStore::new();
        let stores: [&dyn Store; 2] = [&files, &memory];
        for inner in stores {
            let store = Cached::new(inner, 1 << 20);
            let a = key("a");
            let get = |ranges: &[ByteRange]| {
                let fetched = store.get_ranges(&a, ranges).expect("get").expect("there");
                fetched.parts().flatten().copied().collect::<Vec<_>>()
            };
            inner.set_all(&a, b"0000").expect("set");
            assert_eq!(get(&[ByteRange::Range(0..1)]), b"0");
            assert_eq!(get(&[ByteRange::Suffix(1)]), b"0");
            inner.set_all(&a, b"1111").expect("set");
            // Cached parts of the old state stay, but nothing is added to them.
            assert_eq!(get(&[ByteRange::Range(0..1), ByteRange::Range(3..4)]), b"00");
            assert_eq!(get(&[ByteRange::Range(1..2)]), b"1");
            assert_eq!(get(&[ByteRange::Range(0..1), ByteRange::Range(3..4)]), b"11");
        }
    }

    #[test]
    fn many_threads_read_and_write() {
        let store = Cached::new(MemoryStore::new(), 20_000);
        std::thread::scope(|scope| {
            for thread in 0..8_u64 {
                let store = &store;
                scope.spawn(move || {
                    let key = key(&format!("k{}", thread / 2));
                    for round in 0..300_u64 {
                        if round % 7 == 0 {
                            store.set_all(&key, &[(round % 251) as u8; 500]).expect("set");
                        }
                        let at = round * 31 % 400;
                        let ranges = [ByteRange::Range(at..at + 100), ByteRange::Suffix(100)];
                        if let Some(fetched) = store.get_ranges(&key, &ranges).expect("get") {
                            let bytes: Vec<u8> = fetched.parts().flatten().copied().collect();
                            assert!(bytes.len() == 200 && bytes.iter().all(|byte| *byte == bytes[0]), "{bytes:?}");
                        }
                    }
                });
            }
        });
        assert!(store.cached_bytes() <= 20_000);
        store.clear();
        assert_eq!(store.cached_bytes(), 0);
    }

    #[test]
    fn a_failed_write_drops_the_cached_value() {
        let inner = MemoryStore::new();
        let store = Cached::new(&inner, 1 << 20);
        let a = key("a");
        store.set_all(&a, b"old").expect("set");
        let version = |store: &dyn Store| {
            let fetched = store.get_ranges(&a, &[ByteRange::Full]).expect("get").expect("there");
            Precondition::Version(fetched.version.expect("a version"))
        };
        let stale = version(&store);
        inner.set_all(&a, b"of others").expect("set");
        assert_eq!(version(&store), stale);
        assert!(matches!(store.set_if(&a, b"mine", &stale), Err(Error::Precondition { .. })));
        store.set_if(&a, b"mine", &version(&store)).expect("set");
        assert_eq!(store.get_all(&a).expect("get").as_deref(), Some(&b"mine"[..]));
    }

    proptest! {
        #[test]
        fn is_like_the_store_below_and_stays_small(
            steps in proptest::collection::vec((0_u8..6, 0_usize..4, 0_usize..200), 1..60),
            max_bytes in 0_usize..1500,
        ) {
            let (store, plain) = (Cached::new(MemoryStore::new(), max_bytes), MemoryStore::new());
            for (verb, name, len) in steps {
                let key = key(&format!("k{name}"));
                let value = vec![len as u8; len];
                match verb {
                    0 => drop((store.set_all(&key, &value).unwrap(), plain.set_all(&key, &value).unwrap())),
                    1 => { store.erase(&key).unwrap(); plain.erase(&key).unwrap(); }
                    2 => {
                        let parts = [(len as u64, &b"xy"[..])];
                        store.set_partial(&key, &parts).unwrap();
                        plain.set_partial(&key, &parts).unwrap();
                    }
                    3 => prop_assert_eq!(store.size(&key).unwrap(), plain.size(&key).unwrap()),
                    4 => {
                        let len = len as u64;
                        let ranges = [ByteRange::Range(len / 3..len / 2), ByteRange::From(len / 4), ByteRange::Suffix(len / 5)];
                        let ranges = ranges.map(|range| (key.clone(), range));
                        match (store.get_partial_values(&ranges), plain.get_partial_values(&ranges)) {
                            (Ok(a), Ok(b)) => prop_assert_eq!(a, b),
                            (a, b) => prop_assert!(a.is_err() && b.is_err()),
                        }
                    }
                    _ => prop_assert_eq!(store.get_all(&key).unwrap(), plain.get_all(&key).unwrap()),
                }
                prop_assert!(store.cached_bytes() <= max_bytes);
            }
        }
    }
}
