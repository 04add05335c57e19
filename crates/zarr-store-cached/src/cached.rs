//! A store that caches its reads.

mod value_cache;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use value_cache::{ValueCache, with_version};
use zarr_store::{
    AccessProfile, AsyncStore, BoxFuture, ByteRange, CacheCounts, Capabilities, Copied, CopySource, Durability,
    Fetched, GetInto, GetOptions, Key, Listing, Lock, Prefix, Result, SetOptions, SetStream, SizeVisitor, Store,
    Version,
};

/// Another store, with a cache in memory of values, parts of values and missing keys.
///
/// It is meant for stores that nobody else writes to, unless it [revalidates](Self::revalidating). Writes through it are seen at once,
/// writes of others only when the old value was evicted. A write whose [`Precondition`](zarr_store::Precondition) fails invalidates its key, so
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
    /// Whether the store is asked for the version before a cached part is used.
    revalidates: bool,
}

impl<S> Cached<S> {
    /// A cache of at most `max_bytes` bytes over `store`, keys and the tables of the cache included.
    #[must_use]
    pub fn new(store: S, max_bytes: usize) -> Self {
        Self { store, cache: Arc::new(ValueCache::new(max_bytes)), revalidates: false }
    }

    /// As [`new`](Self::new), but each get asks the store whether the value still has the version of the cached parts, and gets no bytes
    /// if it has ([`GetOptions::if_none_match`]). For values that others write to as well: each get costs a request, and sees their
    /// writes. Values without versions, and missing keys, are asked for each time; so are values of Google Cloud Storage, and of servers that
    /// name no ETag, since they cannot leave out bytes of a known version.
    #[must_use]
    pub fn revalidating(store: S, max_bytes: usize) -> Self {
        Self { revalidates: true, ..Self::new(store, max_bytes) }
    }

    /// Caches parts of at most so many bytes: documents and indexes of shards, and not the chunks, which would evict them.
    #[must_use]
    pub fn parts_up_to(mut self, bytes: usize) -> Self {
        self.cache = Arc::new(ValueCache::new(self.cache.max_size()).parts_up_to(bytes));
        self
    }

    /// The lookups of parts and of missing keys since it was made.
    pub fn counts(&self) -> CacheCounts {
        self.cache.counts()
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

    /// The cached reply to a get, and how the store is to be asked; without that, the reply is good.
    fn look_up(&self, key: &Key, ranges: &[ByteRange]) -> (Option<Option<Fetched>>, Option<GetOptions>) {
        match self.cache.get(key, ranges) {
            Some(found) if !self.revalidates => (Some(found), None),
            Some(Some(found)) => {
                let known = found.version.clone().map_or_else(GetOptions::default, GetOptions::if_none_match);
                (Some(Some(found)), Some(known))
            }
            _ => (None, Some(GetOptions::default())),
        }
    }

    /// The reply to a get after the store was asked: the cached one, if the store says that the value is of that version.
    fn replied(
        &self,
        key: &Key,
        ranges: &[ByteRange],
        generation: u64,
        cached: Option<Option<Fetched>>,
        reply: Result<Option<Fetched>>,
    ) -> Result<Option<Fetched>> {
        match (reply, cached) {
            (Ok(Some(reply)), Some(cached)) if reply.is_unchanged() => Ok(cached),
            (reply, cached) => {
                let version = |fetched: &Option<Fetched>| fetched.as_ref().and_then(|fetched| fetched.version.clone());
                if let (Ok(reply), Some(cached)) = (&reply, &cached)
                    && version(reply) != version(cached)
                {
                    self.cache.found_outdated();
                }
                self.insert(key, ranges, generation, reply)
            }
        }
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
        let generation = self.cache.generation(key);
        let newest = match self.look_up(key, ranges) {
            (Some(cached), None) => Ok(cached),
            (cached, asked) => {
                let ranges_below = with_version(ranges, &self.store.access_profile());
                let reply = self.store.get(key, &ranges_below, &asked.unwrap_or_default());
                self.replied(key, ranges, generation, cached, reply)
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
        let (cache, revalidates) = (Arc::clone(&self.cache), self.revalidates);
        Some(Arc::new(Cached { store: self.store.as_async()?, cache, revalidates }))
    }

    fn set(&self, key: &Key, value: &[u8], options: &SetOptions) -> Result<Option<Version>> {
        let _guard = self.cache.invalidate_around(key);
        self.store.set(key, value, options)
    }

    fn set_pieces(&self, key: &Key, pieces: &[&[u8]], options: &SetOptions) -> Result<Option<Version>> {
        let _guard = self.cache.invalidate_around(key);
        self.store.set_pieces(key, pieces, options)
    }

    fn finish_set(&self, key: &Key, stream: &SetStream, head: Bytes) -> Result<Option<Version>> {
        let _guard = self.cache.invalidate_around(key);
        self.store.finish_set(key, stream, head)
    }

    fn set_many(&self, values: &[(&Key, &[u8])]) -> Result<()> {
        let _guard: Vec<_> = values.iter().map(|(key, _)| self.cache.invalidate_around(key)).collect();
        self.store.set_many(values)
    }

    fn create_many(&self, values: &[(&Key, &[u8])], durability: Durability) -> Result<()> {
        let _guard: Vec<_> = values.iter().map(|(key, _)| self.cache.invalidate_around(key)).collect();
        self.store.create_many(values, durability)
    }

    fn copy(&self, from: &CopySource, to: &Key) -> Result<Copied> {
        let _guard = self.cache.invalidate_around(to);
        self.store.copy(from, to)
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

    fn exchange_prefixes(&self, a: &Prefix, b: &Prefix) -> Result<bool> {
        let _guard = self.cache.invalidate_all_around();
        self.store.exchange_prefixes(a, b)
    }

    /// Values are cached by their keys, whatever these stand for.
    fn pin(&self, _prefix: &Prefix) -> Result<Option<Arc<dyn Store>>> {
        Ok(None)
    }

    zarr_store::delegate! { |this| this.store;
        begin_set, append_to_set, copy_source, list_dir, list_prefix, list_sizes, find_link, leftovers, parent,
        is_in_place, try_lock, take_warnings, flush, barrier, capabilities, access_profile
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
            let generation = self.cache.generation(key);
            let newest = match self.look_up(key, ranges) {
                (Some(cached), None) => Ok(cached),
                (cached, asked) => {
                    let ranges_below = with_version(ranges, &self.store.access_profile());
                    let reply = self.store.get(key, &ranges_below, &asked.unwrap_or_default()).await;
                    self.replied(key, ranges, generation, cached, reply)
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

    fn set_pieces<'a>(
        &'a self,
        key: &'a Key,
        pieces: Vec<Bytes>,
        options: &'a SetOptions,
    ) -> BoxFuture<'a, Result<Option<Version>>> {
        Box::pin(async move {
            let _guard = self.cache.invalidate_around(key);
            self.store.set_pieces(key, pieces, options).await
        })
    }

    fn copy_source(&self, key: &Key) -> Option<CopySource> {
        self.store.copy_source(key)
    }

    fn copy<'a>(&'a self, from: &'a CopySource, to: &'a Key) -> BoxFuture<'a, Result<Copied>> {
        Box::pin(async move {
            let _guard = self.cache.invalidate_around(to);
            self.store.copy(from, to).await
        })
    }

    fn begin_set<'a>(&'a self, key: &'a Key, head: u64, options: &'a SetOptions) -> BoxFuture<'a, Result<SetStream>> {
        self.store.begin_set(key, head, options)
    }

    fn append_to_set<'a>(
        &'a self,
        key: &'a Key,
        stream: &'a SetStream,
        pieces: Vec<Bytes>,
    ) -> BoxFuture<'a, Result<()>> {
        self.store.append_to_set(key, stream, pieces)
    }

    fn finish_set<'a>(
        &'a self,
        key: &'a Key,
        stream: &'a SetStream,
        head: Bytes,
    ) -> BoxFuture<'a, Result<Option<Version>>> {
        Box::pin(async move {
            let _guard = self.cache.invalidate_around(key);
            self.store.finish_set(key, stream, head).await
        })
    }

    fn erase<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let _guard = self.cache.invalidate_around(key);
            self.store.erase(key).await
        })
    }

    /// Values are cached by their keys, whatever these stand for.
    fn pin<'a>(&'a self, _prefix: &'a Prefix) -> BoxFuture<'a, Result<Option<Arc<dyn AsyncStore>>>> {
        Box::pin(async { Ok(None) })
    }

    fn is_in_place(&self) -> BoxFuture<'_, Result<bool>> {
        self.store.is_in_place()
    }

    fn list_dir<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Listing>> {
        self.store.list_dir(prefix)
    }

    fn list_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Vec<Key>>> {
        self.store.list_prefix(prefix)
    }

    fn list_sizes<'a>(&'a self, prefix: &'a Prefix, visit: &'a SizeVisitor) -> BoxFuture<'a, Result<()>> {
        self.store.list_sizes(prefix, visit)
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

    fn exchange_prefixes<'a>(&'a self, a: &'a Prefix, b: &'a Prefix) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            let _guard = self.cache.invalidate_all_around();
            self.store.exchange_prefixes(a, b).await
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
mod tests;
