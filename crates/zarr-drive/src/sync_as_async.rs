//! Blocking stores as stores that do not block.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use zarr_store::{
    AccessProfile, Answer, AsyncStore, BoxFuture, Call, Capabilities, CopySource, Key, Location, Pinned, Result, Store,
    sleep,
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

    zarr_store::async_methods_by_call! {}
}
