//! Async store that waits before calls, for tests.

use std::fmt;
use std::sync::Arc;

use crate::{AccessProfile, Answer, AsyncStore, Asynchronous, BoxFuture, Call, Capabilities, Result, Store, fallback};

/// Function that returns the future that is awaited before a call.
type Wait = dyn for<'c> Fn(&Call<'c>) -> BoxFuture<'static, ()> + Send + Sync;

/// Async store for tests over a blocking store, whose calls wait for a future first.
///
/// [`Call::Get`], [`Call::Set`], [`Call::Erase`], [`Call::ListDir`], [`Call::ListPrefix`] and [`Call::Lock`] wait, and are then passed to
/// the blocking store. All other calls, also kinds that do not exist yet, are answered by these as [`fallback`] does.
///
/// # Example
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use zarr_store::{AsyncStoreExt, Call, Key, MemoryStore, sleep, testing::Delayed};
///
/// // Gets take a while.
/// let store = Delayed::new(Arc::new(MemoryStore::new()), |call| match call {
///     Call::Get { .. } => Box::pin(sleep(Duration::from_millis(1))),
///     _ => Box::pin(async {}),
/// });
/// let key = Key::new("a")?;
/// let _get = store.get_all(&key);
/// # Ok::<(), zarr_store::Error>(())
/// ```
#[derive(Clone)]
pub struct Delayed {
    store: Arc<dyn Store>,
    wait: Arc<Wait>,
}

impl Delayed {
    /// Wraps a blocking store. `wait` returns the future that is awaited before a call.
    #[must_use]
    pub fn new(
        store: Arc<dyn Store>,
        wait: impl for<'c> Fn(&Call<'c>) -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) -> Self {
        Self { store, wait: Arc::new(wait) }
    }
}

impl fmt::Display for Delayed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl fmt::Debug for Delayed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Delayed").field(&self.store).finish()
    }
}

impl AsyncStore for Delayed {
    fn call<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            match call {
                call @ (Call::Get { .. }
                | Call::Set { .. }
                | Call::Erase { .. }
                | Call::ListDir { .. }
                | Call::ListPrefix { .. }
                | Call::Lock { .. }) => {
                    let wait = (self.wait)(&call);
                    wait.await;
                    self.store.call(call)
                }
                call => fallback(Asynchronous(self), call).await,
            }
        })
    }

    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn access_profile(&self) -> AccessProfile {
        self.store.access_profile()
    }

    fn take_warnings(&self) -> Vec<String> {
        self.store.take_warnings()
    }
}
