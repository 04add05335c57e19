//! Stores that do not block as blocking stores.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use zarr_store::{
    AccessProfile, AsyncStore, ByteRange, Capabilities, Copied, CopySource, Fetched, GetInto, GetOptions, Key, Listing,
    Lock, Prefix, Result, SetOptions, SetStream, SizeVisitor, Store, Version,
};

use crate::block_on;

/// An [`AsyncStore`] as a blocking store: each operation waits on the calling thread, and jobs have many requests under way.
///
/// Futures of the store are polled on the calling thread. Those of this project's stores need no particular runtime. A store whose
/// futures do is wrapped in one that spawns them on its runtime.
///
/// ```
/// use std::sync::Arc;
/// use zarr_drive::{AsyncAsSync, SyncAsAsync};
/// use zarr_store::{Key, MemoryStore, StoreExt};
/// let store = AsyncAsSync::new(Arc::new(SyncAsAsync::new(Arc::new(MemoryStore::new()))));
/// store.set_all(&Key::new("a/c/0")?, b"chunk")?;
/// assert_eq!(store.get_all(&Key::new("a/c/0")?)?.as_deref(), Some(&b"chunk"[..]));
/// # Ok::<(), zarr_store::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct AsyncAsSync(Arc<dyn AsyncStore>);

impl AsyncAsSync {
    /// `store` as a blocking store.
    #[must_use]
    pub fn new(store: Arc<dyn AsyncStore>) -> Self {
        Self(store)
    }
}

impl fmt::Display for AsyncAsSync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Store for AsyncAsSync {
    fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        block_on(self.0.get(key, ranges, options))
    }

    /// Declined: a copy costs little beside the request.
    fn get_into(&self, _key: &Key, _into: &mut [u8]) -> Result<GetInto> {
        Ok(GetInto::Declined)
    }

    fn set(&self, key: &Key, value: &[u8], options: &SetOptions) -> Result<Option<Version>> {
        block_on(self.0.set(key, Bytes::copy_from_slice(value), options))
    }

    fn set_pieces(&self, key: &Key, pieces: &[&[u8]], options: &SetOptions) -> Result<Option<Version>> {
        let pieces = pieces.iter().map(|piece| Bytes::copy_from_slice(piece)).collect();
        block_on(self.0.set_pieces(key, pieces, options))
    }

    fn copy_source(&self, key: &Key) -> Option<CopySource> {
        self.0.copy_source(key)
    }

    fn copy(&self, from: &CopySource, to: &Key) -> Result<Copied> {
        block_on(self.0.copy(from, to))
    }

    fn begin_set(&self, key: &Key, head: u64, options: &SetOptions) -> Result<SetStream> {
        block_on(self.0.begin_set(key, head, options))
    }

    fn append_to_set(&self, key: &Key, stream: &SetStream, pieces: Vec<Bytes>) -> Result<()> {
        block_on(self.0.append_to_set(key, stream, pieces))
    }

    fn finish_set(&self, key: &Key, stream: &SetStream, head: Bytes) -> Result<Option<Version>> {
        block_on(self.0.finish_set(key, stream, head))
    }

    fn erase(&self, key: &Key) -> Result<()> {
        block_on(self.0.erase(key))
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<Listing> {
        block_on(self.0.list_dir(prefix))
    }

    fn list_prefix(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        block_on(self.0.list_prefix(prefix))
    }

    fn list_sizes(&self, prefix: &Prefix, visit: &SizeVisitor) -> Result<()> {
        block_on(self.0.list_sizes(prefix, visit))
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<()> {
        block_on(self.0.erase_prefix(prefix))
    }

    fn rename_prefix(&self, from: &Prefix, to: &Prefix) -> Result<bool> {
        block_on(self.0.rename_prefix(from, to))
    }

    fn exchange_prefixes(&self, a: &Prefix, b: &Prefix) -> Result<bool> {
        block_on(self.0.exchange_prefixes(a, b))
    }

    fn as_async(&self) -> Option<Arc<dyn AsyncStore>> {
        Some(Arc::clone(&self.0))
    }

    fn pin(&self, prefix: &Prefix) -> Result<Option<Arc<dyn Store>>> {
        let pinned = block_on(self.0.pin(prefix))?;
        Ok(pinned.map(|pinned| Arc::new(Self(pinned)) as Arc<dyn Store>))
    }

    fn is_in_place(&self) -> Result<bool> {
        block_on(self.0.is_in_place())
    }

    fn try_lock(&self, prefix: &Prefix) -> Result<Option<Lock>> {
        block_on(self.0.try_lock(prefix))
    }

    fn take_warnings(&self) -> Vec<String> {
        self.0.take_warnings()
    }

    fn flush(&self) -> Result<()> {
        block_on(self.0.flush())
    }

    fn barrier(&self) -> Result<()> {
        block_on(self.0.barrier())
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn access_profile(&self) -> AccessProfile {
        self.0.access_profile()
    }
}
