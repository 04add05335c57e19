//! Contract for implementers of async stores.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::below::Asynchronous;
use crate::capabilities::refuse;
use crate::sleep::sleep;
use crate::{
    AccessProfile, Answer, ByteRange, Call, CallPieces, Capabilities, Copied, CopySource, Error, Fetched, GetOptions,
    GotMany, Key, Listing, Location, Lock, Operation, Pinned, Prefix, Result, SetOptions, SetStream, SizeVisitor,
    ValueGet, Version, fallback,
};

/// Boxed future that is `Send`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Async store: the contract of [`crate::Store`], with futures. An async store needs no particular runtime.
///
/// Implementers check themselves with [`crate::testing::contract_async`]. Shorter forms are in [`crate::AsyncStoreExt`].
pub trait AsyncStore: Send + Sync + fmt::Debug + fmt::Display {
    /// Returns the bytes of `ranges` of the value at `key`, one piece per range; `None` if the key does not exist. See
    /// [`crate::Store::get`].
    fn get<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        options: &'a GetOptions,
    ) -> BoxFuture<'a, Result<Option<Fetched>>>;

    /// Gets several values; as [`crate::Store::get_many`].
    fn get_many<'a>(&'a self, gets: Vec<ValueGet<'a>>) -> BoxFuture<'a, Result<GotMany>> {
        Box::pin(async move { fallback(Asynchronous(self), Call::get_many(gets)).await?.into_got_many() })
    }

    /// Where the value at `key` lies in a file; as [`crate::Store::location`].
    fn location(&self, key: &Key) -> Option<Location> {
        let _ = key;
        None
    }

    /// The capabilities of the store.
    fn capabilities(&self) -> Capabilities;

    /// Returns the access profile of the store: how its values are best read and written.
    fn access_profile(&self) -> AccessProfile;

    /// Sets the value at `key` if the precondition of `options` holds, and returns its new version. See [`crate::Store::set`].
    fn set<'a>(
        &'a self,
        key: &'a Key,
        value: Bytes,
        options: &'a SetOptions,
    ) -> BoxFuture<'a, Result<Option<Version>>> {
        let _ = (key, value, options);
        let refused = refuse(&self.to_string(), Operation::Set);
        Box::pin(async { refused })
    }

    /// Sets the value at `key` to the concatenated `pieces`. See [`crate::Store::set_pieces`].
    fn set_pieces<'a>(
        &'a self,
        key: &'a Key,
        pieces: Vec<Bytes>,
        options: &'a SetOptions,
    ) -> BoxFuture<'a, Result<Option<Version>>> {
        let call = Call::set_pieces(key, CallPieces::Owned(pieces), options);
        Box::pin(async move { fallback(Asynchronous(self), call).await?.into_version() })
    }

    /// Returns the location of the value at `key` in a storage service; `None` for stores without copies. See
    /// [`crate::Store::copy_source`].
    fn copy_source(&self, key: &Key) -> Option<CopySource> {
        let _ = key;
        None
    }

    /// Sets the value at `to` to a copy of a value in the same service. See [`crate::Store::copy`].
    fn copy<'a>(&'a self, from: &'a CopySource, to: &'a Key) -> BoxFuture<'a, Result<Copied>> {
        let _ = (from, to);
        Box::pin(async { Ok(Copied::Declined) })
    }

    /// Begins to set the value at `key` to pieces that follow one after another. See [`crate::Store::begin_set`].
    fn begin_set<'a>(&'a self, key: &'a Key, head: u64, options: &'a SetOptions) -> BoxFuture<'a, Result<SetStream>> {
        let call = Call::begin_set(key, head, options);
        Box::pin(async move { fallback(Asynchronous(self), call).await?.into_begun() })
    }

    /// Appends pieces to a value that is being set, after the previous step has ended. See [`crate::Store::append_to_set`].
    fn append_to_set<'a>(
        &'a self,
        key: &'a Key,
        stream: &'a SetStream,
        pieces: Vec<Bytes>,
    ) -> BoxFuture<'a, Result<()>> {
        let call = Call::append_to_set(key, stream, pieces);
        Box::pin(async move { fallback(Asynchronous(self), call).await?.into_done() })
    }

    /// Finishes the set of a value whose pieces are all appended. See [`crate::Store::finish_set`].
    fn finish_set<'a>(
        &'a self,
        key: &'a Key,
        stream: &'a SetStream,
        head: Bytes,
    ) -> BoxFuture<'a, Result<Option<Version>>> {
        let call = Call::finish_set(key, stream, head);
        Box::pin(async move { fallback(Asynchronous(self), call).await?.into_version() })
    }

    /// Removes `key`. See [`crate::Store::erase`].
    fn erase<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<()>> {
        let _ = key;
        let refused = refuse(&self.to_string(), Operation::Erase);
        Box::pin(async { refused })
    }

    /// Returns the keys and prefixes directly under `prefix`, sorted. See [`crate::Store::list_dir`].
    fn list_dir<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Listing>> {
        let _ = prefix;
        let store = self.to_string();
        Box::pin(async { Err(Error::Unsupported { store, operation: Operation::List }) })
    }

    /// Returns all keys under `prefix`, sorted. See [`crate::Store::list_prefix`].
    fn list_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Vec<Key>>> {
        let call = Call::list_prefix(prefix);
        Box::pin(async move { fallback(Asynchronous(self), call).await?.into_keys() })
    }

    /// Calls `visit` with each key under `prefix` and the size of its value in bytes. See [`crate::Store::list_sizes`].
    fn list_sizes<'a>(&'a self, prefix: &'a Prefix, visit: &'a SizeVisitor) -> BoxFuture<'a, Result<()>> {
        let call = Call::list_sizes(prefix, visit);
        Box::pin(async move { fallback(Asynchronous(self), call).await?.into_done() })
    }

    /// Removes all keys under `prefix`. See [`crate::Store::erase_prefix`].
    fn erase_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<()>> {
        let call = Call::erase_prefix(prefix);
        Box::pin(async move { fallback(Asynchronous(self), call).await?.into_done() })
    }

    /// Renames all keys under the prefix `from` at once, so that they begin with `to`. See [`crate::Store::rename_prefix`].
    fn rename_prefix<'a>(&'a self, from: &'a Prefix, to: &'a Prefix) -> BoxFuture<'a, Result<bool>> {
        let call = Call::rename_prefix(from, to);
        Box::pin(async move { fallback(Asynchronous(self), call).await?.into_bool() })
    }

    /// Exchanges the keys under the prefixes `a` and `b`. See [`crate::Store::exchange_prefixes`].
    fn exchange_prefixes<'a>(&'a self, a: &'a Prefix, b: &'a Prefix) -> BoxFuture<'a, Result<bool>> {
        let call = Call::exchange_prefixes(a, b);
        Box::pin(async move { fallback(Asynchronous(self), call).await?.into_bool() })
    }

    /// Returns a store in which `prefix` is pinned to the keys that are under it now; `None` if that is not possible. See
    /// [`crate::Store::pin`].
    fn pin<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Option<Arc<dyn AsyncStore>>>> {
        let _ = prefix;
        Box::pin(async { Ok(None) })
    }

    /// Returns whether the [pinned](Self::pin) prefix is still found under its name. See [`crate::Store::is_in_place`].
    fn is_in_place(&self) -> BoxFuture<'_, Result<bool>> {
        Box::pin(async { Ok(true) })
    }

    /// Takes the lock of `prefix`; `None` if another holds it. See [`crate::Store::try_lock`].
    fn try_lock<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Option<Lock>>> {
        let lock = Lock::in_process(&self.to_string(), prefix);
        Box::pin(async { Ok(lock) })
    }

    /// Waits for `duration` before a retry. By default a new thread wakes the caller; a store that needs a runtime uses the timer of the
    /// runtime.
    fn pause(&self, duration: Duration) -> BoxFuture<'_, ()> {
        Box::pin(sleep(duration))
    }

    /// Returns warnings about the store for the user, each once. See [`crate::Store::take_warnings`].
    fn take_warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Makes all earlier writes durable. See [`crate::Store::flush`].
    fn flush(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async { Ok(()) })
    }

    /// Orders earlier writes before later writes. See [`crate::Store::barrier`].
    fn barrier(&self) -> BoxFuture<'_, Result<()>> {
        if self.capabilities().appears_at_flush { Box::pin(async { Ok(()) }) } else { self.flush() }
    }

    /// Answers a call by the method of the same name. Calls without such a method get the default answer of [`fallback`]. See
    /// [`crate::Store::call`].
    fn call<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            Ok(match call {
                Call::Get { key, ranges, options } => Answer::Got(self.get(&key, &ranges, &options).await?),
                Call::GetMany { gets } => Answer::GotMany(self.get_many(gets).await?),
                Call::Set { key, value, options } => Answer::Set(self.set(&key, value.into_bytes(), &options).await?),
                Call::SetPieces { key, pieces, options } => {
                    Answer::Set(self.set_pieces(&key, pieces.into_bytes(), &options).await?)
                }
                Call::BeginSet { key, head, options } => Answer::Begun(self.begin_set(&key, head, &options).await?),
                Call::AppendToSet { key, stream, pieces } => done(self.append_to_set(&key, &stream, pieces)).await?,
                Call::FinishSet { key, stream, head } => Answer::Set(self.finish_set(&key, &stream, head).await?),
                Call::Copy { from, to } => Answer::Copied(self.copy(&from, &to).await?),
                Call::Erase { key } => done(self.erase(&key)).await?,
                Call::ErasePrefix { prefix } => done(self.erase_prefix(&prefix)).await?,
                Call::RenamePrefix { from, to } => Answer::Is(self.rename_prefix(&from, &to).await?),
                Call::ExchangePrefixes { a, b } => Answer::Is(self.exchange_prefixes(&a, &b).await?),
                Call::ListDir { prefix } => Answer::Listing(self.list_dir(&prefix).await?),
                Call::ListPrefix { prefix } => Answer::Keys(self.list_prefix(&prefix).await?),
                Call::ListSizes { prefix, visit } => done(self.list_sizes(&prefix, &visit)).await?,
                Call::Pin { prefix } => Answer::Pinned(self.pin(&prefix).await?.map(Pinned::Async)),
                Call::IsInPlace => Answer::Is(self.is_in_place().await?),
                Call::Lock { prefix } => Answer::Locked(self.try_lock(&prefix).await?),
                Call::Flush => done(self.flush()).await?,
                Call::Barrier => done(self.barrier()).await?,
                call @ (Call::GetInto { .. }
                | Call::SetMany { .. }
                | Call::CreateMany { .. }
                | Call::SetPartial { .. }
                | Call::FindLink { .. }
                | Call::Leftovers { .. }) => fallback(Asynchronous(self), call).await?,
            })
        })
    }
}

async fn done(future: BoxFuture<'_, Result<()>>) -> Result<Answer> {
    future.await.map(|()| Answer::Done)
}
