//! Contract for implementers of async stores.

use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use crate::sleep::sleep;
use crate::{AccessProfile, Answer, Call, Capabilities, CopySource, Key, Location, Result};

/// Boxed future that is `Send`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Async store: the contract of [`crate::Store`], with futures. An async store needs no particular runtime.
///
/// Implementers check themselves with [`crate::testing::contract_async`]. Callers use the methods of [`crate::AsyncStoreExt`].
pub trait AsyncStore: Send + Sync + fmt::Debug + fmt::Display {
    /// Answers a call; as [`crate::Store::call`]. Calls that the store has no better way for are passed to [`fallback`](crate::fallback),
    /// with [`Asynchronous(self)`](crate::Asynchronous).
    fn call<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Answer>>;

    /// Where the value at `key` lies in a file; as [`crate::Store::location`].
    fn location(&self, key: &Key) -> Option<Location> {
        let _ = key;
        None
    }

    /// The capabilities of the store.
    fn capabilities(&self) -> Capabilities;

    /// Returns the access profile of the store: how its values are best read and written.
    fn access_profile(&self) -> AccessProfile;

    /// Returns the location of the value at `key` in a storage service; `None` for stores without copies. See
    /// [`crate::Store::copy_source`].
    fn copy_source(&self, key: &Key) -> Option<CopySource> {
        let _ = key;
        None
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
}
