//! Zip files in stores that do not block.

use std::fmt;
use std::sync::Arc;

use zarr_store::{
    AccessProfile, Answer, AsyncStore, Asynchronous, BoxFuture, ByteRange, Call, Capabilities, Fetched, GetOptions,
    Key, Result, fallback,
};

use super::opened::{self, Archive};
use super::opening::Opening;
use super::plan;

/// A read-only store of the entries of a zip file that is a value of a store that does not block; the counterpart of
/// [`ZipStore`](crate::ZipStore).
///
/// # Example
/// ```
/// use std::sync::Arc;
/// use zarr_drive::{SyncAsAsync, block_on};
/// use zarr_store::{AsyncStoreExt, Key, MemoryStore, Prefix, StoreExt};
/// use zarr_store_zip::AsyncZipStore;
///
/// let below = MemoryStore::new();
/// let key = Key::new("x.zarr.zip")?;
/// // The end record of a zip file without entries.
/// below.set_all(&key, &[&b"PK\x05\x06"[..], &[0; 18]].concat())?;
/// let below = Arc::new(SyncAsAsync::new(Arc::new(below)));
/// block_on(async {
///     let store = AsyncZipStore::open(below, key).await?;
///     assert_eq!(store.list_prefix(&Prefix::root()).await?, []);
///     Ok::<(), zarr_store::Error>(())
/// })?;
/// # Ok::<(), zarr_store::Error>(())
/// ```
pub struct AsyncZipStore {
    store: Arc<dyn AsyncStore>,
    key: Key,
    archive: Archive,
}

impl AsyncZipStore {
    /// Opens the store in the zip file that is the value at `key` of another store.
    ///
    /// # Errors
    /// The errors of [`ZipStore::over`](crate::ZipStore::over).
    pub async fn open(store: Arc<dyn AsyncStore>, key: Key) -> Result<Self> {
        let name = opened::name(&store, &key);
        match plan::run_async(&*store, &key, Opening::new()).await {
            Ok(opened) => {
                let archive = Archive::new(name, opened, Some(store.access_profile()));
                Ok(Self { store, key, archive })
            }
            Err(fault) => Err(opened::opening_failed(fault, name)),
        }
    }
}

impl fmt::Display for AsyncZipStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.archive.fmt(f)
    }
}

impl fmt::Debug for AsyncZipStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncZipStore")
            .field("name", &self.to_string())
            .field("entries", &self.archive.entries.len())
            .finish_non_exhaustive()
    }
}

impl AsyncZipStore {
    /// Returns ranges of a value; `None` if the key does not exist.
    async fn read(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        let Some(entry) = self.archive.entries.find(key) else { return Ok(None) };
        let fetched = match self.archive.begin(entry, ranges)? {
            Some(getting) => plan::run_async(&*self.store, &self.key, getting)
                .await
                .map_err(|fault| self.archive.fail(fault, key))?,
            None => Fetched::new(),
        };
        self.archive.end(entry, fetched, options).map(Some)
    }
}

impl AsyncStore for AsyncZipStore {
    fn call<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            Ok(match call {
                Call::Get { key, ranges, options } => Answer::Got(self.read(&key, &ranges, &options).await?),
                Call::ListDir { prefix } => Answer::Listing(self.archive.entries.list_dir(&prefix)),
                Call::ListPrefix { prefix } => Answer::Keys(self.archive.entries.list_prefix(&prefix)),
                Call::ListSizes { prefix, visit } => {
                    self.archive.entries.visit_sizes(&prefix, &visit);
                    Answer::Done
                }
                call => return fallback(Asynchronous(self), call).await,
            })
        })
    }

    fn capabilities(&self) -> Capabilities {
        opened::CAPABILITIES
    }

    fn access_profile(&self) -> AccessProfile {
        self.archive.profile
    }

    fn pause(&self, duration: std::time::Duration) -> BoxFuture<'_, ()> {
        self.store.pause(duration)
    }

    fn take_warnings(&self) -> Vec<String> {
        self.store.take_warnings()
    }
}
