//! Operations on async stores, as methods.

use std::sync::Arc;

use bytes::Bytes;

use crate::durability::ALWAYS;
use crate::ext::size_of;
use crate::snapshot::NEWEST;
use crate::{
    AsyncStore, BoxFuture, ByteRange, Call, CallBytes, CallPieces, Copied, CopySource, Fetched, GetOptions, GotMany,
    Key, Listing, Lock, Prefix, Result, SetOptions, SetStream, SizeVisitor, ValueGet, Version,
};

/// Operations on an [`AsyncStore`], each a method that makes a [`Call`] and returns the output in its answer, and shorter forms of them,
/// like [`StoreExt`](crate::StoreExt) for a [`Store`](crate::Store).
pub trait AsyncStoreExt: AsyncStore {
    /// Returns the bytes of `ranges` of the value at `key`, one piece per range; `None` if the key does not exist. See
    /// [`crate::StoreExt::get`].
    fn get<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        options: &'a GetOptions,
    ) -> BoxFuture<'a, Result<Option<Fetched>>> {
        let answer = self.call(Call::get(key, ranges, options));
        Box::pin(async move { answer.await?.into_got() })
    }

    /// Gets several values; as [`crate::StoreExt::get_many`].
    fn get_many<'a>(&'a self, gets: Vec<ValueGet<'a>>) -> BoxFuture<'a, Result<GotMany>> {
        let answer = self.call(Call::get_many(gets));
        Box::pin(async move { answer.await?.into_got_many() })
    }

    /// Sets the value at `key` if the precondition of `options` holds, and returns its new version. See [`crate::StoreExt::set`].
    fn set<'a>(
        &'a self,
        key: &'a Key,
        value: Bytes,
        options: &'a SetOptions,
    ) -> BoxFuture<'a, Result<Option<Version>>> {
        let answer = self.call(Call::set(key, CallBytes::Owned(value), options));
        Box::pin(async move { answer.await?.into_version() })
    }

    /// Sets the value at `key` to the concatenated `pieces`. See [`crate::StoreExt::set_pieces`].
    fn set_pieces<'a>(
        &'a self,
        key: &'a Key,
        pieces: Vec<Bytes>,
        options: &'a SetOptions,
    ) -> BoxFuture<'a, Result<Option<Version>>> {
        let answer = self.call(Call::set_pieces(key, CallPieces::Owned(pieces), options));
        Box::pin(async move { answer.await?.into_version() })
    }

    /// Sets the value at `to` to a copy of a value in the same service. See [`crate::StoreExt::copy`].
    fn copy<'a>(&'a self, from: &'a CopySource, to: &'a Key) -> BoxFuture<'a, Result<Copied>> {
        let answer = self.call(Call::copy(from, to));
        Box::pin(async move { answer.await?.into_copied() })
    }

    /// Begins to set the value at `key` to pieces that follow one after another. See [`crate::StoreExt::begin_set`].
    fn begin_set<'a>(&'a self, key: &'a Key, head: u64, options: &'a SetOptions) -> BoxFuture<'a, Result<SetStream>> {
        let answer = self.call(Call::begin_set(key, head, options));
        Box::pin(async move { answer.await?.into_begun() })
    }

    /// Appends pieces to a value that is being set, after the previous step has ended. See [`crate::StoreExt::append_to_set`].
    fn append_to_set<'a>(
        &'a self,
        key: &'a Key,
        stream: &'a SetStream,
        pieces: Vec<Bytes>,
    ) -> BoxFuture<'a, Result<()>> {
        let answer = self.call(Call::append_to_set(key, stream, pieces));
        Box::pin(async move { answer.await?.into_done() })
    }

    /// Finishes the set of a value whose pieces are all appended. See [`crate::StoreExt::finish_set`].
    fn finish_set<'a>(
        &'a self,
        key: &'a Key,
        stream: &'a SetStream,
        head: Bytes,
    ) -> BoxFuture<'a, Result<Option<Version>>> {
        let answer = self.call(Call::finish_set(key, stream, head));
        Box::pin(async move { answer.await?.into_version() })
    }

    /// Removes `key`. See [`crate::StoreExt::erase`].
    fn erase<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<()>> {
        let answer = self.call(Call::erase(key));
        Box::pin(async move { answer.await?.into_done() })
    }

    /// Returns the keys and prefixes directly under `prefix`, sorted. See [`crate::StoreExt::list_dir`].
    fn list_dir<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Listing>> {
        let answer = self.call(Call::list_dir(prefix));
        Box::pin(async move { answer.await?.into_listing() })
    }

    /// Returns all keys under `prefix`, sorted. See [`crate::StoreExt::list_prefix`].
    fn list_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Vec<Key>>> {
        let answer = self.call(Call::list_prefix(prefix));
        Box::pin(async move { answer.await?.into_keys() })
    }

    /// Calls `visit` with each key under `prefix` and the size of its value in bytes. See [`crate::StoreExt::list_sizes`].
    fn list_sizes<'a>(&'a self, prefix: &'a Prefix, visit: &'a SizeVisitor) -> BoxFuture<'a, Result<()>> {
        let answer = self.call(Call::list_sizes(prefix, visit));
        Box::pin(async move { answer.await?.into_done() })
    }

    /// Removes all keys under `prefix`. See [`crate::StoreExt::erase_prefix`].
    fn erase_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<()>> {
        let answer = self.call(Call::erase_prefix(prefix));
        Box::pin(async move { answer.await?.into_done() })
    }

    /// Renames all keys under the prefix `from` at once, so that they begin with `to`. See [`crate::StoreExt::rename_prefix`].
    fn rename_prefix<'a>(&'a self, from: &'a Prefix, to: &'a Prefix) -> BoxFuture<'a, Result<bool>> {
        let answer = self.call(Call::rename_prefix(from, to));
        Box::pin(async move { answer.await?.into_bool() })
    }

    /// Exchanges the keys under the prefixes `a` and `b`. See [`crate::StoreExt::exchange_prefixes`].
    fn exchange_prefixes<'a>(&'a self, a: &'a Prefix, b: &'a Prefix) -> BoxFuture<'a, Result<bool>> {
        let answer = self.call(Call::exchange_prefixes(a, b));
        Box::pin(async move { answer.await?.into_bool() })
    }

    /// Returns a store in which `prefix` is pinned to the keys that are under it now; `None` if that is not possible. See
    /// [`crate::StoreExt::pin`].
    fn pin<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Option<Arc<dyn AsyncStore>>>> {
        let answer = self.call(Call::pin(prefix));
        Box::pin(async move { answer.await?.into_pinned_async() })
    }

    /// Returns whether the [pinned](Self::pin) prefix is still found under its name. See [`crate::StoreExt::is_in_place`].
    fn is_in_place(&self) -> BoxFuture<'_, Result<bool>> {
        let answer = self.call(Call::is_in_place());
        Box::pin(async move { answer.await?.into_bool() })
    }

    /// Takes the lock of `prefix`; `None` if another holds it. See [`crate::StoreExt::try_lock`].
    fn try_lock<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Option<Lock>>> {
        let answer = self.call(Call::try_lock(prefix));
        Box::pin(async move { answer.await?.into_lock() })
    }

    /// Makes all earlier writes durable. See [`crate::StoreExt::flush`].
    fn flush(&self) -> BoxFuture<'_, Result<()>> {
        let answer = self.call(Call::flush());
        Box::pin(async move { answer.await?.into_done() })
    }

    /// Orders earlier writes before later writes. See [`crate::StoreExt::barrier`].
    fn barrier(&self) -> BoxFuture<'_, Result<()>> {
        let answer = self.call(Call::barrier());
        Box::pin(async move { answer.await?.into_done() })
    }

    /// Returns the whole value at `key`; `None` if the key does not exist.
    fn get_all<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Option<Bytes>>> {
        Box::pin(async move { Ok(self.get_ranges(key, &[ByteRange::Full]).await?.map(Fetched::into_bytes)) })
    }

    /// Returns ranges of the newest state of the value at `key`; `None` if the key does not exist.
    fn get_ranges<'a>(&'a self, key: &'a Key, ranges: &'a [ByteRange]) -> BoxFuture<'a, Result<Option<Fetched>>> {
        Box::pin(async move {
            let fetched = self.get(key, ranges, &NEWEST).await?;
            Fetched::checked(&self, key, fetched, ranges.len(), &NEWEST)
        })
    }

    /// Returns the size in bytes of the value at `key`; `None` if the key does not exist. The value is not read.
    fn size<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Option<u64>>> {
        Box::pin(async move {
            let fetched = self.get_ranges(key, &[]).await?;
            fetched.map(|fetched| size_of(&self, key, &fetched)).transpose()
        })
    }

    /// Whether `key` exists.
    fn exists<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move { Ok(self.get_ranges(key, &[]).await?.is_some()) })
    }

    /// Sets the value at `key`, unconditionally.
    fn set_all<'a>(&'a self, key: &'a Key, value: Bytes) -> BoxFuture<'a, Result<Option<Version>>> {
        self.set(key, value, &ALWAYS)
    }
}

impl<S: AsyncStore + ?Sized> AsyncStoreExt for S {}
