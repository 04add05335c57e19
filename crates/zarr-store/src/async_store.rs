//! The contract for implementers of stores that do not block.

use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;

use crate::{
    AccessProfile, ByteRange, Capabilities, Fetched, GetOptions, Key, Listing, Lock, Precondition, Prefix, Result,
    SetOptions, Version,
};

/// A future on the heap.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// [`crate::Store`] for stores that do not block: the same contract, with futures. Needs no particular runtime.
///
/// Implementers check themselves with [`crate::testing::contract_async`].
pub trait AsyncStore: Send + Sync + fmt::Debug + fmt::Display {
    /// The bytes of each range of the value at `key`, or `None` if there is no such key; as [`crate::Store::get`].
    fn get<'a>(&'a self, key: &'a Key, ranges: &'a [ByteRange]) -> BoxFuture<'a, Result<Option<Vec<Bytes>>>>;

    /// As [`AsyncStore::get`], with the size and the version of the value. The default has no version: stores with versions
    /// implement this.
    fn fetch<'a>(&'a self, key: &'a Key, ranges: &'a [ByteRange]) -> BoxFuture<'a, Result<Option<Fetched>>> {
        Box::pin(async move {
            let Some(parts) = self.get(key, ranges).await? else { return Ok(None) };
            let mut fetched = Fetched::new();
            fetched.size = ranges.iter().zip(&parts).find_map(|(range, part)| range.whole_size(part));
            parts.into_iter().for_each(|part| fetched.push(part));
            Ok(Some(fetched))
        })
    }

    /// As [`AsyncStore::fetch`], of the state that `options` name; as [`crate::Store::get_with`].
    fn fetch_with<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        options: &'a GetOptions,
    ) -> BoxFuture<'a, Result<Option<Fetched>>> {
        let name = self.to_string();
        Box::pin(async move {
            let got = self.fetch(key, ranges).await;
            // A value that became shorter has another state.
            if got.as_ref().is_err_and(crate::Error::is_range) && options.if_match.is_some() {
                let Some(mut now) = self.fetch(key, &[ByteRange::First(0)]).await? else { return Ok(None) };
                options.check(&name, key, &mut now)?;
            }
            let mut fetched = got?;
            fetched.as_mut().map(|fetched| options.check(&name, key, fetched)).transpose()?;
            Ok(fetched)
        })
    }

    /// Replaces the value at `key` if `when` holds; as [`crate::Store::set`].
    fn set<'a>(&'a self, key: &'a Key, value: Bytes, when: &'a Precondition) -> BoxFuture<'a, Result<Version>>;

    /// As [`AsyncStore::set`], with the durability of `options`; as [`crate::Store::set_with`].
    fn set_with<'a>(&'a self, key: &'a Key, value: Bytes, options: &'a SetOptions) -> BoxFuture<'a, Result<Version>> {
        self.set(key, value, &options.when)
    }

    /// Removes `key`; as [`crate::Store::erase`].
    fn erase<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<()>>;

    /// The keys and prefixes directly under `prefix`, sorted; as [`crate::Store::list_dir`].
    fn list_dir<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Listing>>;

    /// The size in bytes of the value at `key`; as [`crate::Store::size`].
    fn size<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Option<u64>>> {
        Box::pin(async move {
            let parts = self.get(key, &[ByteRange::Full]).await?;
            Ok(parts.map(|parts| parts.iter().map(|part| part.len() as u64).sum()))
        })
    }

    /// All keys under `prefix`, sorted; as [`crate::Store::list_prefix`].
    fn list_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Vec<Key>>> {
        Box::pin(async move {
            let mut keys = Vec::new();
            let mut todo = vec![prefix.clone()];
            while let Some(prefix) = todo.pop() {
                let listing = self.list_dir(&prefix).await?;
                keys.extend(listing.keys);
                todo.extend(listing.prefixes);
            }
            keys.sort_unstable();
            Ok(keys)
        })
    }

    /// Removes all keys under `prefix`; as [`crate::Store::erase_prefix`].
    fn erase_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            for key in self.list_prefix(prefix).await? {
                self.erase(&key).await?;
            }
            Ok(())
        })
    }

    /// Renames all keys under a prefix at once; as [`crate::Store::rename_prefix`].
    fn rename_prefix<'a>(&'a self, from: &'a Prefix, to: &'a Prefix) -> BoxFuture<'a, Result<bool>> {
        let _ = (from, to);
        Box::pin(async { Ok(false) })
    }

    /// Takes the lock of a prefix; as [`crate::Store::try_lock`].
    fn try_lock<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Option<Lock>>> {
        let lock = Lock::in_process(&self.to_string(), prefix);
        Box::pin(async { Ok(lock) })
    }

    /// Waits before a retry. By default a new thread wakes the caller; a store that needs a runtime uses its timer.
    fn pause(&self, duration: Duration) -> BoxFuture<'_, ()> {
        Box::pin(crate::bridge::sleep(duration))
    }

    /// Warnings about the store for the user, each once; as [`crate::Store::take_warnings`].
    fn take_warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Makes all earlier writes durable; as [`crate::Store::flush`].
    fn flush(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async { Ok(()) })
    }

    /// Orders earlier writes before later ones; as [`crate::Store::barrier`].
    fn barrier(&self) -> BoxFuture<'_, Result<()>> {
        self.flush()
    }

    /// What the store supports.
    fn capabilities(&self) -> Capabilities;

    /// How values are best read and written.
    fn access_profile(&self) -> AccessProfile;
}
