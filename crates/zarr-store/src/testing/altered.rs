//! A store that tests make otherwise.

use std::fmt;

use crate::{
    ByteRange, Capabilities, Coalesce, Fetched, GetOptions, Key, Listing, Lock, Placed, Precondition, Prefix, Result,
    SetOptions, Store, Version,
};

/// What answers a get instead of the store.
type Getter<S> = dyn Fn(&S, &Key, &[ByteRange], &mut Fetched) -> Result<bool> + Send + Sync;

/// Another store, of which a test wants something to be otherwise: how it answers gets, how it likes ranges merged.
///
/// # Example
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
/// use zarr_store::{Key, MemoryStore, Store, StoreExt, testing::Altered};
///
/// let gets = AtomicU64::new(0);
/// let store = Altered::new(MemoryStore::new()).getting(move |store, key, ranges, into| {
///     // Each second get finds nothing.
///     if gets.fetch_add(1, Relaxed) % 2 == 0 { store.get(key, ranges, into) } else { Ok(false) }
/// });
/// let key = Key::new("a")?;
/// store.set_all(&key, b"value")?;
/// assert!(store.get_all(&key)?.is_some());
/// assert!(store.get_all(&key)?.is_none());
/// # Ok::<(), zarr_store::Error>(())
/// ```
pub struct Altered<S> {
    store: S,
    get: Option<Box<Getter<S>>>,
    coalesce: Option<Coalesce>,
}

impl<S: Store> Altered<S> {
    /// As it is.
    #[must_use]
    pub fn new(store: S) -> Self {
        Self { store, get: None, coalesce: None }
    }

    /// With gets answered by `get`, those of whole values into the caller's memory as well. It is given the store that is altered.
    #[must_use]
    pub fn getting(
        self,
        get: impl Fn(&S, &Key, &[ByteRange], &mut Fetched) -> Result<bool> + Send + Sync + 'static,
    ) -> Self {
        Self { get: Some(Box::new(get)), ..self }
    }

    /// With another liking for merged ranges.
    #[must_use]
    pub fn liking(self, coalesce: Coalesce) -> Self {
        Self { coalesce: Some(coalesce), ..self }
    }

    /// The store that is altered.
    pub fn inner(&self) -> &S {
        &self.store
    }
}

impl<S: fmt::Display> fmt::Display for Altered<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl<S: fmt::Debug> fmt::Debug for Altered<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Altered").field(&self.store).finish()
    }
}

#[deny(clippy::missing_trait_methods)]
impl<S: Store> Store for Altered<S> {
    fn get(&self, key: &Key, ranges: &[ByteRange], into: &mut Fetched) -> Result<bool> {
        match &self.get {
            Some(get) => get(&self.store, key, ranges, into),
            None => self.store.get(key, ranges, into),
        }
    }

    fn get_with(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions, into: &mut Fetched) -> Result<bool> {
        if self.get.is_none() {
            return self.store.get_with(key, ranges, options, into);
        }
        let found = self.get(key, ranges, into)?;
        if found {
            options.check(self, key, into)?;
        }
        Ok(found)
    }

    fn get_into(&self, key: &Key, into: &mut [u8]) -> Result<Placed> {
        let Some(get) = &self.get else { return self.store.get_into(key, into) };
        let mut fetched = Fetched::new();
        if !get(&self.store, key, &[ByteRange::Full], &mut fetched)? {
            return Ok(Placed::Missing);
        }
        let value = fetched.part(0);
        into.iter_mut().zip(value).for_each(|(byte, &from)| *byte = from);
        Ok(Placed::Found(value.len() as u64))
    }

    fn set(&self, key: &Key, value: &[u8], when: &Precondition) -> Result<Version> {
        self.store.set(key, value, when)
    }

    fn set_with(&self, key: &Key, value: &[u8], options: &SetOptions) -> Result<Version> {
        self.store.set_with(key, value, options)
    }

    fn set_many(&self, values: &[(&Key, &[u8])]) -> Result<()> {
        self.store.set_many(values)
    }

    fn erase(&self, key: &Key) -> Result<()> {
        self.store.erase(key)
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<Listing> {
        self.store.list_dir(prefix)
    }

    fn size(&self, key: &Key) -> Result<Option<u64>> {
        self.store.size(key)
    }

    fn list_prefix(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        self.store.list_prefix(prefix)
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<()> {
        self.store.erase_prefix(prefix)
    }

    fn set_partial(&self, key: &Key, parts: &[(u64, &[u8])]) -> Result<()> {
        self.store.set_partial(key, parts)
    }

    fn rename_prefix(&self, from: &Prefix, to: &Prefix) -> Result<bool> {
        self.store.rename_prefix(from, to)
    }

    fn find_link(&self, prefix: &Prefix) -> Result<Option<String>> {
        self.store.find_link(prefix)
    }

    fn try_lock(&self, prefix: &Prefix) -> Result<Option<Lock>> {
        self.store.try_lock(prefix)
    }

    fn take_warnings(&self) -> Vec<String> {
        self.store.take_warnings()
    }

    fn flush(&self) -> Result<()> {
        self.store.flush()
    }

    fn barrier(&self) -> Result<()> {
        self.store.barrier()
    }

    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn coalesce(&self) -> Coalesce {
        self.coalesce.unwrap_or_else(|| self.store.coalesce())
    }
}
