//! The keys under a prefix as a store, or in place of those under another.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use crate::{
    AsyncStore, BoxFuture, ByteRange, Copied, CopySource, Durability, Error, Fetched, GetInto, GetOptions, Key,
    Leftover, Listing, Lock, Prefix, Result, SetOptions, SetStream, SizeVisitor, Store, Version,
};

/// The keys under a prefix of another store, as a store of their own, or in place of those under another prefix of it.
#[derive(Clone, Debug)]
pub struct Prefixed<S> {
    store: S,
    prefix: Prefix,
    /// Under which prefix the keys are here; `None`: they are all keys of the store.
    place: Option<Prefix>,
}

impl<S> Prefixed<S> {
    /// The keys under `prefix` in `store`.
    #[must_use]
    pub fn new(store: S, prefix: Prefix) -> Self {
        Self { store, prefix, place: None }
    }

    /// All keys of `store`, but under `place` those that lie under `prefix` there. A list of a prefix above `place` has the names in `store`.
    #[must_use]
    pub fn in_place(store: S, prefix: Prefix, place: Prefix) -> Self {
        Self { store, prefix, place: Some(place) }
    }

    fn down(&self, key: &Key) -> Result<Key> {
        match &self.place {
            None => self.prefix.join(key.as_str()),
            Some(place) => place.strip(key).map_or_else(|| Ok(key.clone()), |rest| self.prefix.join(rest)),
        }
    }

    fn down_prefix(&self, prefix: &Prefix) -> Result<Prefix> {
        let Some(place) = &self.place else { return Ok(self.prefix.join_prefix(prefix)) };
        match prefix.as_str().strip_prefix(place.as_str()) {
            Some(rest) => Ok(self.prefix.join_prefix(&Prefix::new(rest)?)),
            None => Ok(prefix.clone()),
        }
    }

    /// The name of what lies under a prefix of this store; `None` if it lies under none.
    fn up<'t>(&self, below: &Prefix, found: &'t str) -> Option<Cow<'t, str>> {
        up(&self.prefix, self.place.as_ref(), below, found)
    }

    /// A visitor of keys of the store below, which gives them to another one by their names here.
    fn up_visitor(&self, below: &Prefix, visit: &SizeVisitor) -> SizeVisitor {
        let (prefix, place, below, visit) =
            (self.prefix.clone(), self.place.clone(), below.clone(), SizeVisitor::clone(visit));
        Arc::new(move |key: Key, size| {
            let key = up(&prefix, place.as_ref(), &below, key.as_str()).and_then(|key| Key::new(&key).ok());
            if let Some(key) = key {
                visit(key, size);
            }
        })
    }

    fn up_keys(&self, below: &Prefix, keys: &[Key]) -> Vec<Key> {
        keys.iter().filter_map(|key| Key::new(&self.up(below, key.as_str())?).ok()).collect()
    }

    fn up_listing(&self, below: &Prefix, listing: &Listing) -> Listing {
        let up = |prefix: &Prefix| Prefix::new(&self.up(below, prefix.as_str())?).ok();
        Listing { keys: self.up_keys(below, &listing.keys), prefixes: listing.prefixes.iter().filter_map(up).collect() }
    }
}

/// The name of what lies under a prefix of a store at `place`, or at its root; `None` if it lies under none.
fn up<'t>(prefix: &Prefix, place: Option<&Prefix>, below: &Prefix, found: &'t str) -> Option<Cow<'t, str>> {
    let rest = found.strip_prefix(prefix.as_str());
    let Some(place) = place else { return rest.map(Cow::from) };
    match rest.filter(|_| below.as_str().starts_with(place.as_str())) {
        Some(rest) => Some(format!("{place}{rest}").into()),
        None => Some(found.into()),
    }
}

impl<S: fmt::Display> Prefixed<S> {
    /// Replaces the key in an error by the caller's key.
    fn lift(&self, mut error: Error) -> Error {
        if let Error::Range { store, key, .. } | Error::Precondition { store, key, .. } = &mut error {
            *store = self.to_string();
            let below = self.place.clone().unwrap_or_else(Prefix::root);
            if let Some(Ok(known)) = self.up(&below, key.as_str()).map(|known| Key::new(&known)) {
                *key = known;
            }
        }
        error
    }
}

impl<S: fmt::Display> fmt::Display for Prefixed<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.is_some() {
            return self.store.fmt(f);
        }
        let store = self.store.to_string();
        let prefix = self.prefix.as_str().trim_end_matches('/');
        write!(f, "{store}{}{prefix}", if store.ends_with(['/', ':']) || prefix.is_empty() { "" } else { "/" })
    }
}

#[deny(clippy::missing_trait_methods)]
impl<S: Store> Store for Prefixed<S> {
    fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        self.store.get(&self.down(key)?, ranges, options).map_err(|error| self.lift(error))
    }

    fn get_into(&self, key: &Key, into: &mut [u8]) -> Result<GetInto> {
        self.store.get_into(&self.down(key)?, into).map_err(|error| self.lift(error))
    }

    fn set(&self, key: &Key, value: &[u8], options: &SetOptions) -> Result<Option<Version>> {
        self.store.set(&self.down(key)?, value, options).map_err(|error| self.lift(error))
    }

    fn set_pieces(&self, key: &Key, pieces: &[&[u8]], options: &SetOptions) -> Result<Option<Version>> {
        self.store.set_pieces(&self.down(key)?, pieces, options).map_err(|error| self.lift(error))
    }

    fn begin_set(&self, key: &Key, head: u64, options: &SetOptions) -> Result<SetStream> {
        self.store.begin_set(&self.down(key)?, head, options).map_err(|error| self.lift(error))
    }

    fn append_to_set(&self, key: &Key, stream: &SetStream, pieces: Vec<Bytes>) -> Result<()> {
        self.store.append_to_set(&self.down(key)?, stream, pieces).map_err(|error| self.lift(error))
    }

    fn finish_set(&self, key: &Key, stream: &SetStream, head: Bytes) -> Result<Option<Version>> {
        self.store.finish_set(&self.down(key)?, stream, head).map_err(|error| self.lift(error))
    }

    fn set_many(&self, values: &[(&Key, &[u8])]) -> Result<()> {
        let keys = values.iter().map(|(key, _)| self.down(key)).collect::<Result<Vec<_>>>()?;
        let values: Vec<_> = keys.iter().zip(values).map(|(key, (_, value))| (key, *value)).collect();
        self.store.set_many(&values).map_err(|error| self.lift(error))
    }

    fn create_many(&self, values: &[(&Key, &[u8])], durability: Durability) -> Result<()> {
        let keys = values.iter().map(|(key, _)| self.down(key)).collect::<Result<Vec<_>>>()?;
        let values: Vec<_> = keys.iter().zip(values).map(|(key, (_, value))| (key, *value)).collect();
        self.store.create_many(&values, durability).map_err(|error| self.lift(error))
    }

    fn copy_source(&self, key: &Key) -> Option<CopySource> {
        self.store.copy_source(&self.down(key).ok()?)
    }

    fn copy(&self, from: &CopySource, to: &Key) -> Result<Copied> {
        self.store.copy(from, &self.down(to)?)
    }

    fn erase(&self, key: &Key) -> Result<()> {
        self.store.erase(&self.down(key)?)
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<Listing> {
        self.store.list_dir(&self.down_prefix(prefix)?).map(|listing| self.up_listing(prefix, &listing))
    }

    fn list_prefix(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        let keys = self.store.list_prefix(&self.down_prefix(prefix)?)?;
        Ok(self.up_keys(prefix, &keys))
    }

    fn list_sizes(&self, prefix: &Prefix, visit: &SizeVisitor) -> Result<()> {
        self.store.list_sizes(&self.down_prefix(prefix)?, &self.up_visitor(prefix, visit))
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<()> {
        self.store.erase_prefix(&self.down_prefix(prefix)?)
    }

    fn set_partial(&self, key: &Key, parts: &[(u64, &[u8])]) -> Result<()> {
        self.store.set_partial(&self.down(key)?, parts).map_err(|error| self.lift(error))
    }

    fn rename_prefix(&self, from: &Prefix, to: &Prefix) -> Result<bool> {
        self.store.rename_prefix(&self.down_prefix(from)?, &self.down_prefix(to)?)
    }

    fn exchange_prefixes(&self, a: &Prefix, b: &Prefix) -> Result<bool> {
        self.store.exchange_prefixes(&self.down_prefix(a)?, &self.down_prefix(b)?)
    }

    fn as_async(&self) -> Option<Arc<dyn AsyncStore>> {
        let store = self.store.as_async()?;
        Some(Arc::new(Prefixed { store, prefix: self.prefix.clone(), place: self.place.clone() }))
    }

    fn find_link(&self, prefix: &Prefix) -> Result<Option<String>> {
        self.store.find_link(&self.down_prefix(prefix)?)
    }

    fn leftovers(&self, prefix: &Prefix, remove: bool) -> Result<Vec<Leftover>> {
        let found = self.store.leftovers(&self.down_prefix(prefix)?, remove)?;
        let up = |left: Leftover| {
            let path = left.path.strip_prefix(self.prefix.as_str())?.to_owned();
            Some(Leftover { path, ..left })
        };
        Ok(found.into_iter().filter_map(up).collect())
    }

    fn parent(&self) -> Option<(Arc<dyn Store>, String)> {
        self.place.as_ref().and_then(|_| self.store.parent())
    }

    fn pin(&self, prefix: &Prefix) -> Result<Option<Arc<dyn Store>>> {
        let Some(store) = self.store.pin(&self.down_prefix(prefix)?)? else { return Ok(None) };
        Ok(Some(Arc::new(Prefixed { store, prefix: self.prefix.clone(), place: self.place.clone() })))
    }

    fn try_lock(&self, prefix: &Prefix) -> Result<Option<Lock>> {
        self.store.try_lock(&self.down_prefix(prefix)?)
    }

    crate::delegate! { |this| this.store;
        is_in_place, take_warnings, flush, barrier, capabilities, access_profile
    }
}

#[deny(clippy::missing_trait_methods)]
impl<S: AsyncStore> AsyncStore for Prefixed<S> {
    fn get<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        options: &'a GetOptions,
    ) -> BoxFuture<'a, Result<Option<Fetched>>> {
        Box::pin(async move {
            let key = self.down(key)?;
            self.store.get(&key, ranges, options).await.map_err(|error| self.lift(error))
        })
    }

    fn set<'a>(
        &'a self,
        key: &'a Key,
        value: Bytes,
        options: &'a SetOptions,
    ) -> BoxFuture<'a, Result<Option<Version>>> {
        Box::pin(async move {
            let key = self.down(key)?;
            self.store.set(&key, value, options).await.map_err(|error| self.lift(error))
        })
    }

    fn set_pieces<'a>(
        &'a self,
        key: &'a Key,
        pieces: Vec<Bytes>,
        options: &'a SetOptions,
    ) -> BoxFuture<'a, Result<Option<Version>>> {
        Box::pin(async move {
            let key = self.down(key)?;
            self.store.set_pieces(&key, pieces, options).await.map_err(|error| self.lift(error))
        })
    }

    fn copy_source(&self, key: &Key) -> Option<CopySource> {
        self.store.copy_source(&self.down(key).ok()?)
    }

    fn copy<'a>(&'a self, from: &'a CopySource, to: &'a Key) -> BoxFuture<'a, Result<Copied>> {
        Box::pin(async move { self.store.copy(from, &self.down(to)?).await })
    }

    fn begin_set<'a>(&'a self, key: &'a Key, head: u64, options: &'a SetOptions) -> BoxFuture<'a, Result<SetStream>> {
        Box::pin(async move {
            let key = self.down(key)?;
            self.store.begin_set(&key, head, options).await.map_err(|error| self.lift(error))
        })
    }

    fn append_to_set<'a>(
        &'a self,
        key: &'a Key,
        stream: &'a SetStream,
        pieces: Vec<Bytes>,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let key = self.down(key)?;
            self.store.append_to_set(&key, stream, pieces).await.map_err(|error| self.lift(error))
        })
    }

    fn finish_set<'a>(
        &'a self,
        key: &'a Key,
        stream: &'a SetStream,
        head: Bytes,
    ) -> BoxFuture<'a, Result<Option<Version>>> {
        Box::pin(async move {
            let key = self.down(key)?;
            self.store.finish_set(&key, stream, head).await.map_err(|error| self.lift(error))
        })
    }

    fn erase<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.store.erase(&self.down(key)?).await })
    }

    fn list_dir<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Listing>> {
        Box::pin(async move {
            let listing = self.store.list_dir(&self.down_prefix(prefix)?).await?;
            Ok(self.up_listing(prefix, &listing))
        })
    }

    fn list_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Vec<Key>>> {
        Box::pin(async move {
            let keys = self.store.list_prefix(&self.down_prefix(prefix)?).await?;
            Ok(self.up_keys(prefix, &keys))
        })
    }

    fn list_sizes<'a>(&'a self, prefix: &'a Prefix, visit: &'a SizeVisitor) -> BoxFuture<'a, Result<()>> {
        Box::pin(
            async move { self.store.list_sizes(&self.down_prefix(prefix)?, &self.up_visitor(prefix, visit)).await },
        )
    }

    fn erase_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.store.erase_prefix(&self.down_prefix(prefix)?).await })
    }

    fn rename_prefix<'a>(&'a self, from: &'a Prefix, to: &'a Prefix) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move { self.store.rename_prefix(&self.down_prefix(from)?, &self.down_prefix(to)?).await })
    }

    fn exchange_prefixes<'a>(&'a self, a: &'a Prefix, b: &'a Prefix) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move { self.store.exchange_prefixes(&self.down_prefix(a)?, &self.down_prefix(b)?).await })
    }

    fn try_lock<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Option<Lock>>> {
        Box::pin(async move { self.store.try_lock(&self.down_prefix(prefix)?).await })
    }

    fn pin<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Option<Arc<dyn AsyncStore>>>> {
        Box::pin(async move {
            let Some(store) = self.store.pin(&self.down_prefix(prefix)?).await? else { return Ok(None) };
            let pinned = Prefixed { store, prefix: self.prefix.clone(), place: self.place.clone() };
            Ok(Some(Arc::new(pinned) as Arc<dyn AsyncStore>))
        })
    }

    crate::delegate_async! { |this| this.store;
        is_in_place, pause, take_warnings, flush, barrier, capabilities, access_profile
    }
}
