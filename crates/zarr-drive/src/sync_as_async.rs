//! Adapter from blocking stores to async stores.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use zarr_store::{
    AccessProfile, Answer, AsyncStore, BoxFuture, Call, Capabilities, CopySource, Key, Location, Pinned, Result, Store,
    sleep,
};

/// [`AsyncStore`] on top of a blocking store. Its operations block the thread that polls their futures.
///
/// This is suitable for values in memory, and for local files if short blocking is acceptable; it needs no runtime. If blocking is not
/// acceptable, poll the futures on threads that may block.
#[derive(Clone, Debug)]
pub struct SyncAsAsync(pub Arc<dyn Store>);

impl SyncAsAsync {
    /// Creates an [`AsyncStore`] on top of `store`.
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
    fn call<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            Ok(self.0.call(call)?.map_pinned(|pinned| match pinned {
                Pinned::Blocking(store) => Pinned::Async(Arc::new(Self(store))),
                pinned @ Pinned::Async(_) => pinned,
            }))
        })
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

    fn pause(&self, duration: Duration) -> BoxFuture<'_, ()> {
        Box::pin(sleep(duration))
    }

    fn take_warnings(&self) -> Vec<String> {
        self.0.take_warnings()
    }
}
