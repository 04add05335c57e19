//! The keys under a prefix as a store.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use crate::{
    AsyncStore, BoxFuture, ByteRange, Copied, CopySource, Error, Fetched, GetInto, GetOptions, Key, Listing, Lock,
    Prefix, Result, SetOptions, SetStream, Store, Version,
};

/// The keys under a prefix of another store, as a store of their own.
#[derive(Clone, Debug)]
pub struct Prefixed<S> {
    store: S,
    prefix: Prefix,
}

impl<S> Prefixed<S> {
    /// The keys under `prefix` in `store`.
    #[must_use]
    pub fn new(store: S, prefix: Prefix) -> Self {
        Self { store, prefix }
    }

    fn down(&self, key: &Key) -> Result<Key> {
        self.prefix.join(key.as_str())
    }

    fn up(&self, key: &Key) -> Option<Key> {
        Key::new(self.prefix.strip(key)?).ok()
    }

    fn up_prefix(&self, prefix: &Prefix) -> Option<Prefix> {
        Prefix::new(prefix.as_str().strip_prefix(self.prefix.as_str())?).ok()
    }

    fn up_listing(&self, listing: &Listing) -> Listing {
        Listing {
            keys: listing.keys.iter().filter_map(|key| self.up(key)).collect(),
            prefixes: listing.prefixes.iter().filter_map(|prefix| self.up_prefix(prefix)).collect(),
        }
    }
}

impl<S: fmt::Display> Prefixed<S> {
    /// Replaces the key in an error by the caller's key.
    fn lift(&self, error: Error) -> Error {
        match error {
            Error::Range { key, range, size, .. } => {
                Error::Range { store: self.to_string(), key: self.up(&key).unwrap_or(key), range, size }
            }
            Error::Precondition { key, expected, found, .. } => {
                Error::Precondition { store: self.to_string(), key: self.up(&key).unwrap_or(key), expected, found }
            }
            error => error,
        }
    }
}

impl<S: fmt::Display> fmt::Display for Prefixed<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
        self.store.list_dir(&self.prefix.join_prefix(prefix)).map(|listing| self.up_listing(&listing))
    }

    fn list_prefix(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        let keys = self.store.list_prefix(&self.prefix.join_prefix(prefix))?;
        Ok(keys.iter().filter_map(|key| self.up(key)).collect())
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<()> {
        self.store.erase_prefix(&self.prefix.join_prefix(prefix))
    }

    fn set_partial(&self, key: &Key, parts: &[(u64, &[u8])]) -> Result<()> {
        self.store.set_partial(&self.down(key)?, parts).map_err(|error| self.lift(error))
    }

    fn rename_prefix(&self, from: &Prefix, to: &Prefix) -> Result<bool> {
        self.store.rename_prefix(&self.prefix.join_prefix(from), &self.prefix.join_prefix(to))
    }

    fn exchange_prefixes(&self, a: &Prefix, b: &Prefix) -> Result<bool> {
        self.store.exchange_prefixes(&self.prefix.join_prefix(a), &self.prefix.join_prefix(b))
    }

    fn as_async(&self) -> Option<Arc<dyn AsyncStore>> {
        let store = self.store.as_async()?;
        Some(Arc::new(Prefixed { store, prefix: self.prefix.clone() }))
    }

    fn find_link(&self, prefix: &Prefix) -> Result<Option<String>> {
        self.store.find_link(&self.prefix.join_prefix(prefix))
    }

    fn parent(&self) -> Option<(Arc<dyn Store>, String)> {
        None
    }

    fn try_lock(&self, prefix: &Prefix) -> Result<Option<Lock>> {
        self.store.try_lock(&self.prefix.join_prefix(prefix))
    }

    crate::delegate! { |this| this.store;
        take_warnings, flush, barrier, capabilities, access_profile
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
            let listing = self.store.list_dir(&self.prefix.join_prefix(prefix)).await?;
            Ok(self.up_listing(&listing))
        })
    }

    fn list_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Vec<Key>>> {
        Box::pin(async move {
            let keys = self.store.list_prefix(&self.prefix.join_prefix(prefix)).await?;
            Ok(keys.iter().filter_map(|key| self.up(key)).collect())
        })
    }

    fn erase_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.store.erase_prefix(&self.prefix.join_prefix(prefix)).await })
    }

    fn rename_prefix<'a>(&'a self, from: &'a Prefix, to: &'a Prefix) -> BoxFuture<'a, Result<bool>> {
        Box::pin(
            async move { self.store.rename_prefix(&self.prefix.join_prefix(from), &self.prefix.join_prefix(to)).await },
        )
    }

    fn exchange_prefixes<'a>(&'a self, a: &'a Prefix, b: &'a Prefix) -> BoxFuture<'a, Result<bool>> {
        Box::pin(
            async move { self.store.exchange_prefixes(&self.prefix.join_prefix(a), &self.prefix.join_prefix(b)).await },
        )
    }

    fn try_lock<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Option<Lock>>> {
        Box::pin(async move { self.store.try_lock(&self.prefix.join_prefix(prefix)).await })
    }

    crate::delegate_async! { |this| this.store;
        pause, take_warnings, flush, barrier, capabilities, access_profile
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MemoryStore, StoreExt, SyncAsAsync, block_on, testing};

    #[test]
    fn keeps_the_contract_without_blocking() {
        let inner: Arc<dyn AsyncStore> = Arc::new(SyncAsAsync::new(Arc::new(MemoryStore::new())));
        block_on(testing::contract_async(&Prefixed::new(inner, Prefix::new("a/").expect("a prefix"))));
    }

    #[test]
    fn keeps_the_contract_and_touches_nothing_else() {
        let inner = MemoryStore::new();
        let neighbour = Key::new("ab/c").expect("a key");
        inner.set_all(&neighbour, b"mine").expect("set");
        testing::contract(&Prefixed::new(&inner, Prefix::new("a/").expect("a prefix")));
        assert_eq!(inner.list().expect("list"), [neighbour]);
    }

    #[test]
    fn is_named_by_where_it_is() {
        let store = Prefixed::new(MemoryStore::new(), Prefix::new("a/b/").expect("a prefix"));
        assert_eq!(store.to_string(), "memory:a/b");
        let key = Key::new("x").expect("a key");
        store.set_all(&key, b"12").expect("set");
        let error = store.get_ranges(&key, &[ByteRange::Range(1..3)]).expect_err("too long");
        assert_eq!(error.to_string(), "memory:a/b: key x: found 2 bytes, expected bytes 1..3");
    }
}
