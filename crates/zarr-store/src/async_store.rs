//! The contract for implementers of stores that do not block.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::capabilities::{check_writable, refuse};
use crate::pieces::join_pieces;
use crate::set_stream::Collected;
use crate::sleep::sleep;
use crate::snapshot::NEWEST;
use crate::{
    AccessProfile, ByteRange, Capabilities, Copied, CopySource, Error, Fetched, GetOptions, Key, Listing, Lock,
    Operation, Prefix, Result, SetOptions, SetStream, SizeVisitor, Version,
};

/// A future on the heap.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// [`crate::Store`] for stores that do not block: the same contract, with futures. Needs no particular runtime.
///
/// Implementers check themselves with [`crate::testing::contract_async`]. Shorter forms are in [`crate::AsyncStoreExt`].
pub trait AsyncStore: Send + Sync + fmt::Debug + fmt::Display {
    /// The bytes of ranges of the value at `key`; as [`crate::Store::get`].
    fn get<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        options: &'a GetOptions,
    ) -> BoxFuture<'a, Result<Option<Fetched>>>;

    /// The capabilities of the store.
    fn capabilities(&self) -> Capabilities;

    /// How values are best read and written.
    fn access_profile(&self) -> AccessProfile;

    /// Sets the value at `key`; as [`crate::Store::set`].
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

    /// Sets the value at `key` to pieces, one behind the other; as [`crate::Store::set_pieces`].
    fn set_pieces<'a>(
        &'a self,
        key: &'a Key,
        pieces: Vec<Bytes>,
        options: &'a SetOptions,
    ) -> BoxFuture<'a, Result<Option<Version>>> {
        Box::pin(async move { self.set(key, join_pieces(&pieces)?.into(), options).await })
    }

    /// Where the value at `key` lies; as [`crate::Store::copy_source`].
    fn copy_source(&self, key: &Key) -> Option<CopySource> {
        let _ = key;
        None
    }

    /// Sets the value at `to` to one in the same service; as [`crate::Store::copy`].
    fn copy<'a>(&'a self, from: &'a CopySource, to: &'a Key) -> BoxFuture<'a, Result<Copied>> {
        let _ = (from, to);
        Box::pin(async { Ok(Copied::Declined) })
    }

    /// Begins to set the value at `key` to pieces that come one after another; as [`crate::Store::begin_set`].
    fn begin_set<'a>(&'a self, key: &'a Key, head: u64, options: &'a SetOptions) -> BoxFuture<'a, Result<SetStream>> {
        let _ = key;
        let writable = check_writable(&self.to_string(), self.capabilities(), Operation::Set);
        Box::pin(async move { writable.map(|()| Collected::stream(head, options)) })
    }

    /// Appends pieces to a value that is being set, when the step before has ended; as [`crate::Store::append_to_set`].
    fn append_to_set<'a>(
        &'a self,
        key: &'a Key,
        stream: &'a SetStream,
        pieces: Vec<Bytes>,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { Collected::append(&self.to_string(), key, stream, pieces) })
    }

    /// Sets the value of which all pieces are appended; as [`crate::Store::finish_set`].
    fn finish_set<'a>(
        &'a self,
        key: &'a Key,
        stream: &'a SetStream,
        head: Bytes,
    ) -> BoxFuture<'a, Result<Option<Version>>> {
        Box::pin(async move {
            let (pieces, options) = Collected::finish(&self.to_string(), key, stream, head)?;
            self.set_pieces(key, pieces, options).await
        })
    }

    /// Removes `key`; as [`crate::Store::erase`].
    fn erase<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<()>> {
        let _ = key;
        let refused = refuse(&self.to_string(), Operation::Erase);
        Box::pin(async { refused })
    }

    /// The keys and prefixes directly under `prefix`, sorted; as [`crate::Store::list_dir`].
    fn list_dir<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Listing>> {
        let _ = prefix;
        let store = self.to_string();
        Box::pin(async { Err(Error::Unsupported { store, operation: Operation::List }) })
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

    /// Gives `visit` each key under `prefix` with the bytes of its value; as [`crate::Store::list_sizes`].
    fn list_sizes<'a>(&'a self, prefix: &'a Prefix, visit: &'a SizeVisitor) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            for key in self.list_prefix(prefix).await? {
                let fetched = self.get(&key, &[], &NEWEST).await?;
                let fetched = Fetched::checked(&self, &key, fetched, 0, &NEWEST)?;
                if let Some(size) = fetched.and_then(|fetched| fetched.size) {
                    visit(key, size);
                }
            }
            Ok(())
        })
    }

    /// Removes all keys under `prefix`; as [`crate::Store::erase_prefix`].
    fn erase_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            check_writable(&self.to_string(), self.capabilities(), Operation::Erase)?;
            for key in self.list_prefix(prefix).await? {
                self.erase(&key).await?;
            }
            Ok(())
        })
    }

    /// Renames all keys under a prefix at once; as [`crate::Store::rename_prefix`].
    fn rename_prefix<'a>(&'a self, from: &'a Prefix, to: &'a Prefix) -> BoxFuture<'a, Result<bool>> {
        let _ = (from, to);
        let writable = check_writable(&self.to_string(), self.capabilities(), Operation::Set);
        Box::pin(async { writable.map(|()| false) })
    }

    /// Exchanges the keys under two prefixes; as [`crate::Store::exchange_prefixes`].
    fn exchange_prefixes<'a>(&'a self, a: &'a Prefix, b: &'a Prefix) -> BoxFuture<'a, Result<bool>> {
        let _ = (a, b);
        let writable = check_writable(&self.to_string(), self.capabilities(), Operation::Set);
        Box::pin(async { writable.map(|()| false) })
    }

    /// The same store, in which what lies under `prefix` is what lies there now; as [`crate::Store::pin`].
    fn pin<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Option<Arc<dyn AsyncStore>>>> {
        let _ = prefix;
        Box::pin(async { Ok(None) })
    }

    /// Whether what this store was [pinned](Self::pin) to still has its name; as [`crate::Store::is_in_place`].
    fn is_in_place(&self) -> BoxFuture<'_, Result<bool>> {
        Box::pin(async { Ok(true) })
    }

    /// Takes the lock of a prefix; as [`crate::Store::try_lock`].
    fn try_lock<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Option<Lock>>> {
        let lock = Lock::in_process(&self.to_string(), prefix);
        Box::pin(async { Ok(lock) })
    }

    /// Waits before a retry. By default a new thread wakes the caller; a store that needs a runtime uses its timer.
    fn pause(&self, duration: Duration) -> BoxFuture<'_, ()> {
        Box::pin(sleep(duration))
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
        if self.capabilities().appears_at_flush { Box::pin(async { Ok(()) }) } else { self.flush() }
    }
}
