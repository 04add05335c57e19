//! Stores that wrap another store, written once for blocking and async stores.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::below::{Asynchronous, Blocking, at_once};
use crate::{
    AccessProfile, Answer, AsyncStore, Below, BoxFuture, Call, Capabilities, CopySource, Key, Location, Pinned, Result,
    Store,
};

/// Bounds of every store, blocking or async: it is shared between threads, and has an address for messages.
pub trait StoreBase: Send + Sync + fmt::Debug + fmt::Display {}

impl<S: Send + Sync + fmt::Debug + fmt::Display + ?Sized> StoreBase for S {}

/// Store that wraps another store: [`answer`](Self::answer) changes the calls of the store below and their answers.
///
/// A wrapper is a [`Store`] if the store below is a [`Store`], and an [`AsyncStore`] if it is an [`AsyncStore`]. So the wrapper is written
/// once, as an async function; if the store below blocks, the function never waits.
///
/// # Example
/// ```
/// use std::borrow::Cow;
/// use std::fmt;
/// use std::sync::Arc;
/// use zarr_store::{Answer, Below, Call, Error, Key, MemoryStore, Operation, Result, Store, StoreBase, StoreExt, Wrapper};
///
/// /// Another store whose values are not erased.
/// #[derive(Debug)]
/// struct Keeping<S>(S);
///
/// impl<S: fmt::Display> fmt::Display for Keeping<S> {
///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
///         self.0.fmt(f)
///     }
/// }
///
/// impl<S: StoreBase> Wrapper for Keeping<S> {
///     type Below = S;
///     type Over<T: StoreBase + 'static> = Keeping<T>;
///
///     fn below(&self) -> &S {
///         &self.0
///     }
///
///     fn over<T: StoreBase + 'static>(&self, below: T) -> Keeping<T> {
///         Keeping(below)
///     }
///
///     async fn answer<'a, B: Below + 'a>(&'a self, below: B, call: Call<'a>) -> Result<Answer> {
///         if call.operation() == Operation::Erase {
///             return Err(Error::ReadOnly { store: self.to_string(), operation: Operation::Erase });
///         }
///         below.call(call).await
///     }
///
///     fn copied<'k>(&self, key: &'k Key) -> Option<Cow<'k, Key>> {
///         Some(Cow::Borrowed(key))
///     }
///
///     fn parent_over(&self, parent: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
///         Some(Arc::new(Keeping(parent)))
///     }
/// }
///
/// let store = Keeping(MemoryStore::new());
/// let key = Key::new("a")?;
/// store.set_all(&key, b"1")?;
/// assert!(store.erase(&key).is_err());
/// # Ok::<(), Error>(())
/// ```
pub trait Wrapper: StoreBase {
    /// Type of the wrapped store.
    type Below: StoreBase + ?Sized;

    /// Type of the same wrapper around another store.
    type Over<T: StoreBase + 'static>: Wrapper<Below = T> + 'static;

    /// Returns the wrapped store.
    fn below(&self) -> &Self::Below;

    /// Wraps another form of the store below in the same way: its async form, or a pinned store.
    fn over<T: StoreBase + 'static>(&self, below: T) -> Self::Over<T>;

    /// Answers a call, by calls of the store below.
    ///
    /// Every call of the store comes to this method. A wrapper that must treat some kinds of calls specially matches on every kind, without
    /// a `_`, so that a new kind cannot bypass it; [`Call::operation`], [`Call::is_change`] and [`Call::with_names`] match in this way. The
    /// answer to a [`Call::Pin`] has the store that is pinned below; the caller of this method wraps it.
    ///
    /// # Errors
    /// The errors of the store below and of the wrapper.
    fn answer<'a, B: Below + 'a>(
        &'a self,
        below: B,
        call: Call<'a>,
    ) -> impl Future<Output = Result<Answer>> + Send + 'a;

    /// Returns the key, in the store below, of the value at `key`, for [`Store::copy_source`]; `None` if a service must not copy the value.
    fn copied<'k>(&self, key: &'k Key) -> Option<Cow<'k, Key>>;

    /// The key below of a value, for [`Store::location`]: by default the one whose value may be copied. `None` if gets of it must not be made
    /// together with others.
    fn located<'k>(&self, key: &'k Key) -> Option<Cow<'k, Key>> {
        self.copied(key)
    }

    /// Returns the store that stands for the parent of the store below, for [`Store::parent`]; `None` if there is none.
    fn parent_over(&self, parent: Arc<dyn Store>) -> Option<Arc<dyn Store>>;

    /// Returns the capabilities of the wrapper; those of the store below by default.
    fn capabilities_over(&self, below: Capabilities) -> Capabilities {
        below
    }

    /// Returns the access profile of the wrapper; that of the store below by default.
    fn profile_over(&self, below: AccessProfile) -> AccessProfile {
        below
    }
}

#[deny(clippy::missing_trait_methods)]
impl<W: Wrapper> Store for W
where
    W::Below: Store,
{
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        let answer = at_once(self.answer(Blocking(self.below()), call))?;
        Ok(answer.map_pinned(|pinned| match pinned {
            Pinned::Blocking(store) => Pinned::Blocking(Arc::new(self.over(store))),
            pinned @ Pinned::Async(_) => pinned,
        }))
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities_over(self.below().capabilities())
    }

    fn access_profile(&self) -> AccessProfile {
        self.profile_over(self.below().access_profile())
    }

    fn copy_source(&self, key: &Key) -> Option<CopySource> {
        let key = self.copied(key)?;
        self.below().copy_source(&key)
    }

    fn location(&self, key: &Key) -> Option<Location> {
        let key = self.located(key)?;
        self.below().location(&key)
    }

    fn as_async(&self) -> Option<Arc<dyn AsyncStore>> {
        Some(Arc::new(self.over(self.below().as_async()?)))
    }

    fn parent(&self) -> Option<(Arc<dyn Store>, String)> {
        let (parent, name) = self.below().parent()?;
        Some((self.parent_over(parent)?, name))
    }

    fn take_warnings(&self) -> Vec<String> {
        self.below().take_warnings()
    }
}

#[deny(clippy::missing_trait_methods)]
impl<W: Wrapper> AsyncStore for W
where
    W::Below: AsyncStore,
{
    fn call<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Answer>> {
        let is_pin = matches!(call, Call::Pin { .. });
        let answer: BoxFuture<'a, _> = Box::pin(self.answer(Asynchronous(self.below()), call));
        if !is_pin {
            return answer;
        }
        Box::pin(async move {
            Ok(answer.await?.map_pinned(|pinned| match pinned {
                Pinned::Async(store) => Pinned::Async(Arc::new(self.over(store))),
                pinned @ Pinned::Blocking(_) => pinned,
            }))
        })
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities_over(self.below().capabilities())
    }

    fn access_profile(&self) -> AccessProfile {
        self.profile_over(self.below().access_profile())
    }

    fn copy_source(&self, key: &Key) -> Option<CopySource> {
        let key = self.copied(key)?;
        self.below().copy_source(&key)
    }

    fn location(&self, key: &Key) -> Option<Location> {
        let key = self.located(key)?;
        self.below().location(&key)
    }

    fn pause(&self, duration: Duration) -> BoxFuture<'_, ()> {
        self.below().pause(duration)
    }

    fn take_warnings(&self) -> Vec<String> {
        self.below().take_warnings()
    }
}

#[cfg(test)]
mod tests;
