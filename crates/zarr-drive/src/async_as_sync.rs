//! Adapter from async stores to blocking stores.

use std::fmt;
use std::sync::Arc;

use zarr_store::{
    AccessProfile, Answer, AsyncStore, Call, Capabilities, CopySource, GetInto, Key, Location, Pinned, Result, Store,
};

use crate::block_on;

/// Blocking store on top of an [`AsyncStore`]: each operation blocks the calling thread, while jobs make many requests concurrently.
///
/// Futures of the store are polled on the calling thread, and this project's stores need no particular runtime. The futures of another
/// store may work on the threads of a runtime only, such as those of tokio: its caller wraps it in a store that spawns each future on
/// the runtime first, since `AsyncAsSync` does not.
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
    /// Creates a blocking store on top of `store`.
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

#[deny(clippy::missing_trait_methods)]
impl Store for AsyncAsSync {
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        if let Call::GetInto { .. } = call {
            // A copy costs little beside the request.
            return Ok(Answer::GotInto(GetInto::Declined));
        }
        Ok(block_on(self.0.call(call))?.map_pinned(|pinned| match pinned {
            Pinned::Async(store) => Pinned::Blocking(Arc::new(Self(store))),
            pinned @ Pinned::Blocking(_) => pinned,
        }))
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn access_profile(&self) -> AccessProfile {
        self.0.access_profile()
    }

    fn copy_source(&self, key: &Key) -> Option<CopySource> {
        self.0.copy_source(key)
    }

    fn location(&self, key: &Key) -> Option<Location> {
        self.0.location(key)
    }

    fn as_async(&self) -> Option<Arc<dyn AsyncStore>> {
        Some(Arc::clone(&self.0))
    }

    fn parent(&self) -> Option<(Arc<dyn Store>, String)> {
        None
    }

    fn take_warnings(&self) -> Vec<String> {
        self.0.take_warnings()
    }
}
