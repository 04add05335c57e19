//! Blocking stores as stores that do not block.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use zarr_store::{
    AccessProfile, AsyncStore, BoxFuture, ByteRange, Capabilities, Copied, CopySource, Fetched, GetOptions, Key,
    Listing, Lock, Prefix, Result, SetOptions, SetStream, SizeVisitor, Store, Version, sleep,
};

/// A blocking store as an [`AsyncStore`]. Its operations run on the thread that polls.
///
/// That is right for values in memory and for local files where a short wait is accepted; it needs no runtime. Where a
/// wait is not accepted, poll it on threads that may block.
#[derive(Clone, Debug)]
pub struct SyncAsAsync(pub Arc<dyn Store>);

impl SyncAsAsync {
    /// `store` as an [`AsyncStore`].
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self(store)
    }
}

impl fmt::Display for SyncAsAsync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[deny(clippy::missing_trait_methods)]
impl AsyncStore for SyncAsAsync {
    fn get<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        options: &'a GetOptions,
    ) -> BoxFuture<'a, Result<Option<Fetched>>> {
        Box::pin(async move { self.0.get(key, ranges, options) })
    }

    fn set<'a>(
        &'a self,
        key: &'a Key,
        value: Bytes,
        options: &'a SetOptions,
    ) -> BoxFuture<'a, Result<Option<Version>>> {
        Box::pin(async move { self.0.set(key, &value, options) })
    }

    fn set_pieces<'a>(
        &'a self,
        key: &'a Key,
        pieces: Vec<Bytes>,
        options: &'a SetOptions,
    ) -> BoxFuture<'a, Result<Option<Version>>> {
        Box::pin(async move {
            let pieces: Vec<&[u8]> = pieces.iter().map(|piece| &**piece).collect();
            self.0.set_pieces(key, &pieces, options)
        })
    }

    fn copy_source(&self, key: &Key) -> Option<CopySource> {
        self.0.copy_source(key)
    }

    fn copy<'a>(&'a self, from: &'a CopySource, to: &'a Key) -> BoxFuture<'a, Result<Copied>> {
        Box::pin(async move { self.0.copy(from, to) })
    }

    fn begin_set<'a>(&'a self, key: &'a Key, head: u64, options: &'a SetOptions) -> BoxFuture<'a, Result<SetStream>> {
        Box::pin(async move { self.0.begin_set(key, head, options) })
    }

    fn append_to_set<'a>(
        &'a self,
        key: &'a Key,
        stream: &'a SetStream,
        pieces: Vec<Bytes>,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.0.append_to_set(key, stream, pieces) })
    }

    fn finish_set<'a>(
        &'a self,
        key: &'a Key,
        stream: &'a SetStream,
        head: Bytes,
    ) -> BoxFuture<'a, Result<Option<Version>>> {
        Box::pin(async move { self.0.finish_set(key, stream, head) })
    }

    fn erase<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.0.erase(key) })
    }

    fn list_dir<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Listing>> {
        Box::pin(async move { self.0.list_dir(prefix) })
    }

    fn list_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Vec<Key>>> {
        Box::pin(async move { self.0.list_prefix(prefix) })
    }

    fn list_sizes<'a>(&'a self, prefix: &'a Prefix, visit: &'a SizeVisitor) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.0.list_sizes(prefix, visit) })
    }

    fn erase_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.0.erase_prefix(prefix) })
    }

    fn rename_prefix<'a>(&'a self, from: &'a Prefix, to: &'a Prefix) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move { self.0.rename_prefix(from, to) })
    }

    fn exchange_prefixes<'a>(&'a self, a: &'a Prefix, b: &'a Prefix) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move { self.0.exchange_prefixes(a, b) })
    }

    fn pin<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Option<Arc<dyn AsyncStore>>>> {
        Box::pin(async move {
            let pinned = self.0.pin(prefix)?;
            Ok(pinned.map(|pinned| Arc::new(Self(pinned)) as Arc<dyn AsyncStore>))
        })
    }

    fn is_in_place(&self) -> BoxFuture<'_, Result<bool>> {
        Box::pin(async move { self.0.is_in_place() })
    }

    fn try_lock<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, Result<Option<Lock>>> {
        Box::pin(async move { self.0.try_lock(prefix) })
    }

    fn pause(&self, duration: Duration) -> BoxFuture<'_, ()> {
        Box::pin(sleep(duration))
    }

    fn take_warnings(&self) -> Vec<String> {
        self.0.take_warnings()
    }

    fn flush(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move { self.0.flush() })
    }

    fn barrier(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move { self.0.barrier() })
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn access_profile(&self) -> AccessProfile {
        self.0.access_profile()
    }
}
