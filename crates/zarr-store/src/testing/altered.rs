//! Store with changed behaviour, for tests.

use std::fmt;
use std::sync::Arc;

use crate::{
    AccessProfile, Answer, AsyncStore, ByteRange, Call, Capabilities, CopySource, Fetched, GetInto, Key, Location,
    Result, Store, fallback_blocking,
};

/// Function that answers a get in place of the store.
type Getter<S> = dyn Fn(&S, &Key, &[ByteRange]) -> Result<Option<Fetched>> + Send + Sync;

/// Store for tests that changes how another store answers gets, or its access profile.
///
/// # Example
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
/// use zarr_store::{Key, MemoryStore, StoreExt, testing::Altered};
///
/// let gets = AtomicU64::new(0);
/// let store = Altered::new(MemoryStore::new()).getting(move |store, key, ranges| {
///     // Each second get finds nothing.
///     if gets.fetch_add(1, Relaxed) % 2 == 0 { store.get_ranges(key, ranges) } else { Ok(None) }
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
    profile: Option<AccessProfile>,
}

impl<S: Store> Altered<S> {
    /// Wraps a store without changes.
    #[must_use]
    pub fn new(store: S) -> Self {
        Self { store, get: None, profile: None }
    }

    /// Sets the function that answers all gets; its first argument is the wrapped store.
    #[must_use]
    pub fn getting(
        self,
        get: impl Fn(&S, &Key, &[ByteRange]) -> Result<Option<Fetched>> + Send + Sync + 'static,
    ) -> Self {
        Self { get: Some(Box::new(get)), ..self }
    }

    /// Replaces the access profile.
    #[must_use]
    pub fn with_profile(self, profile: AccessProfile) -> Self {
        Self { profile: Some(profile), ..self }
    }

    /// Returns the wrapped store.
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
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        match (call, &self.get) {
            (Call::Get { key, ranges, options }, Some(get)) => {
                let mut fetched = get(&self.store, &key, &ranges)?;
                fetched.iter_mut().try_for_each(|fetched| options.check(self, &key, fetched))?;
                Ok(Answer::Got(fetched))
            }
            (Call::GetInto { key, into }, Some(get)) => {
                let fetched = get(&self.store, &key, &[ByteRange::Full])?;
                Ok(Answer::GotInto(fetched.map_or(GetInto::Missing, |fetched| {
                    let value = fetched.part(0);
                    into.iter_mut().zip(value).for_each(|(byte, &from)| *byte = from);
                    GetInto::Found(value.len() as u64)
                })))
            }
            (call @ Call::GetMany { .. }, Some(_)) => fallback_blocking(self, call),
            // Gets would not be answered by the function.
            (Call::Pin { .. }, _) => Ok(Answer::Pinned(None)),
            (call, _) => self.store.call(call),
        }
    }

    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn access_profile(&self) -> AccessProfile {
        self.profile.unwrap_or_else(|| self.store.access_profile())
    }

    /// Returns `None`: copies would bypass the function for gets.
    fn copy_source(&self, _key: &Key) -> Option<CopySource> {
        None
    }

    /// Gets would not be answered one by one.
    fn location(&self, _key: &Key) -> Option<Location> {
        None
    }

    /// Gets would not be answered by the function.
    fn as_async(&self) -> Option<Arc<dyn AsyncStore>> {
        None
    }

    fn parent(&self) -> Option<(Arc<dyn Store>, String)> {
        self.store.parent()
    }

    fn take_warnings(&self) -> Vec<String> {
        self.store.take_warnings()
    }
}
