//! A store that caches its reads.

mod value_cache;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use value_cache::{ValueCache, with_version};
use zarr_store::{
    Answer, Below, ByteRange, CacheCounts, Call, Error, Fetched, GetInto, GetOptions, GotMany, Key, Result, Store,
    StoreBase, ValueGet, Wrapper,
};

/// A store over another store, with a cache in memory of values, parts of values and missing keys.
///
/// It is meant for stores that no other process writes to, unless it [revalidates](Self::revalidating). Writes through it are visible
/// at once; writes of other processes only after the old value was evicted. A write whose [`Precondition`](zarr_store::Precondition)
/// fails invalidates its key, so that a retry reads the stored value.
///
/// Any range within a cached range is found. All cached parts of a value are of one state, if the store has versions. Parts that were
/// not used for long are evicted first. Threads that read different keys do not wait for each other. The cache stores nothing in
/// metadata.
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
    /// Cache, which the blocking and the asynchronous form of the store share.
    cache: Arc<ValueCache>,
    /// Whether the store is asked for the current version before a cached part is used.
    revalidates: bool,
}

impl<S> Cached<S> {
    /// Creates a cache of at most `max_bytes` bytes over `store`, including keys and the tables of the cache.
    #[must_use]
    pub fn new(store: S, max_bytes: usize) -> Self {
        Self { store, cache: Arc::new(ValueCache::new(max_bytes)), revalidates: false }
    }

    /// Creates a cache as [`new`](Self::new) does, but each get asks the store whether the value still has the version of the cached parts;
    /// if so, no bytes are transferred ([`GetOptions::if_none_match`]). For values that other processes write as well: each get costs a
    /// request, and sees their writes. Values without versions, and missing keys, are requested each time. So are values of Google Cloud
    /// Storage, and of servers without ETags, since these cannot omit the bytes of a known version.
    #[must_use]
    pub fn revalidating(store: S, max_bytes: usize) -> Self {
        Self { revalidates: true, ..Self::new(store, max_bytes) }
    }

    /// Sets the greatest size in bytes of parts that are cached, for instance to cache documents and indexes of shards but not chunks,
    /// which would evict them.
    #[must_use]
    pub fn parts_up_to(mut self, bytes: usize) -> Self {
        self.cache = Arc::new(ValueCache::new(self.cache.max_size()).parts_up_to(bytes));
        self
    }

    /// Returns the numbers of lookups of parts and missing keys since the cache was created.
    pub fn counts(&self) -> CacheCounts {
        self.cache.counts()
    }

    /// Returns the store below.
    pub fn inner(&self) -> &S {
        &self.store
    }

    /// Returns the number of cached bytes.
    pub fn cached_bytes(&self) -> usize {
        self.cache.size()
    }

    /// Empties the cache, so that writes of other processes become visible.
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

    /// Returns the cached reply to a get (`None` if there is none), and the options for asking the store (`None` if the cached reply can be
    /// used).
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

    /// Returns the reply to a get after the store was asked: the cached reply if the store says that the value still has its version.
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

    /// Returns the reply of the newest known state if that is the state that `options` require. Otherwise `None`: the store below has to be
    /// asked, since the cached parts may be of another state.
    fn of_required_state(
        &self,
        key: &Key,
        options: &GetOptions,
        mut newest: Result<Option<Fetched>>,
    ) -> Option<Result<Option<Fetched>>> {
        let is_required = match &mut newest {
            // A reply without a version may be of any state of the value.
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

impl<S: StoreBase> Cached<S> {
    async fn get<B: Below>(
        &self,
        below: B,
        key: &Key,
        ranges: &[ByteRange],
        options: &GetOptions,
    ) -> Result<Option<Fetched>> {
        let generation = self.cache.generation(key);
        let newest = match self.look_up(key, ranges) {
            (Some(cached), None) => Ok(cached),
            (cached, asked) => {
                let ranges_below = with_version(ranges, &below.access_profile());
                let asked = asked.unwrap_or_default();
                let answer = below.call(Call::get(key, &ranges_below, &asked)).await;
                self.replied(key, ranges, generation, cached, answer.and_then(Answer::into_got))
            }
        };
        match self.of_required_state(key, options, newest) {
            Some(reply) => reply,
            None => below.call(Call::get(key, ranges, options)).await?.into_got(),
        }
    }

    /// As [`get`](Self::get), of several values: the store is asked for those that are not cached together.
    async fn get_many<B: Below>(&self, below: B, gets: Vec<ValueGet<'_>>) -> Result<GotMany> {
        let mut begun = Vec::with_capacity(gets.len());
        let mut asked = Vec::new();
        for get in &gets {
            let generation = self.cache.generation(&get.key);
            let (cached, options) = self.look_up(&get.key, &get.ranges);
            if let Some(options) = &options {
                let ranges = with_version(&get.ranges, &below.access_profile());
                let (key, options) = (Cow::Borrowed(&*get.key), Cow::Owned(options.clone()));
                asked.push(ValueGet { key, ranges: Cow::Owned(ranges.into_owned()), options });
            }
            begun.push((generation, cached, options.is_some()));
        }
        let mut answers = Vec::new();
        if !asked.is_empty() {
            let expected = asked.len();
            answers = below.call(Call::GetMany { gets: asked }).await?.into_got_many()?;
            if answers.len() != expected {
                return Err(Error::Replies { found: answers.len(), expected });
            }
        }
        let mut answers = answers.into_iter();
        let mut got = GotMany::with_capacity(gets.len());
        for (ValueGet { key, ranges, options }, (generation, cached, is_asked)) in gets.iter().zip(begun) {
            let newest = match cached {
                Some(cached) if !is_asked => Ok(cached),
                cached => {
                    let answer = answers.next().unwrap_or(Err(Error::OTHER_REPLY));
                    self.replied(key, ranges, generation, cached, answer)
                }
            };
            got.push(match self.of_required_state(key, options, newest) {
                Some(reply) => reply,
                None => below.call(Call::get(key, ranges, options)).await.and_then(Answer::into_got),
            });
        }
        Ok(got)
    }
}

impl<S: StoreBase> Wrapper for Cached<S> {
    type Below = S;
    type Over<T: StoreBase + 'static> = Cached<T>;

    fn below(&self) -> &S {
        &self.store
    }

    fn over<T: StoreBase + 'static>(&self, below: T) -> Cached<T> {
        Cached { store: below, cache: Arc::clone(&self.cache), revalidates: self.revalidates }
    }

    async fn answer<'a, B: Below + 'a>(&'a self, below: B, call: Call<'a>) -> Result<Answer> {
        match call {
            Call::Get { key, ranges, options } => self.get(below, &key, &ranges, &options).await.map(Answer::Got),
            Call::GetMany { gets } => self.get_many(below, gets).await.map(Answer::GotMany),
            // The values that a get returns are cached.
            Call::GetInto { .. } => Ok(Answer::GotInto(GetInto::Declined)),
            // Not pinned: values are cached by their keys, not by what a key is resolved to.
            Call::Pin { .. } => Ok(Answer::Pinned(None)),
            Call::Set { ref key, .. }
            | Call::SetPieces { ref key, .. }
            | Call::FinishSet { ref key, .. }
            | Call::SetPartial { ref key, .. }
            | Call::Copy { to: ref key, .. }
            | Call::Erase { ref key } => {
                let key = Key::clone(key);
                let _guard = self.cache.invalidate_around(&key);
                below.call(call).await
            }
            Call::SetMany { ref values } | Call::CreateMany { ref values, .. } => {
                let keys: Vec<Key> = values.iter().map(|(key, _)| Key::clone(key)).collect();
                let _guard: Vec<_> = keys.iter().map(|key| self.cache.invalidate_around(key)).collect();
                below.call(call).await
            }
            Call::ErasePrefix { .. } | Call::RenamePrefix { .. } | Call::ExchangePrefixes { .. } => {
                let _guard = self.cache.invalidate_all_around();
                below.call(call).await
            }
            Call::BeginSet { .. }
            | Call::AppendToSet { .. }
            | Call::ListDir { .. }
            | Call::ListPrefix { .. }
            | Call::ListSizes { .. }
            | Call::FindLink { .. }
            | Call::Leftovers { .. }
            | Call::IsInPlace
            | Call::Lock { .. }
            | Call::Flush
            | Call::Barrier => below.call(call).await,
        }
    }

    fn copied<'k>(&self, key: &'k Key) -> Option<Cow<'k, Key>> {
        Some(Cow::Borrowed(key))
    }

    fn parent_over(&self, parent: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        Some(parent)
    }
}

#[cfg(test)]
mod tests;
