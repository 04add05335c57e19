//! Stores that wrap another, written once for the form that blocks and the one without blocking.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::below::{Asynchronous, Blocking, at_once};
use crate::{
    AccessProfile, Answer, AsyncStore, Below, BoxFuture, Call, Capabilities, CopySource, Key, Location, Pinned, Result,
    Store,
};

/// Properties of every store, whether it blocks or not: it is shared between threads, and has an address for messages.
pub trait StoreBase: Send + Sync + fmt::Debug + fmt::Display {}

impl<S: Send + Sync + fmt::Debug + fmt::Display + ?Sized> StoreBase for S {}

/// A store that wraps another one: [`answer`](Self::answer) changes what the store below is asked, and its answers.
///
/// It is a [`Store`] if the store below is one, and an [`AsyncStore`] if that is one. So its rule is written once, as an async function;
/// where the store below blocks, nothing in it waits.
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
    /// The store below.
    type Below: StoreBase + ?Sized;

    /// The same wrapper over another store.
    type Over<T: StoreBase + 'static>: Wrapper<Below = T> + 'static;

    /// The store below.
    fn below(&self) -> &Self::Below;

    /// The same wrapper over another form of the store below: the one without blocking, or one that is pinned.
    fn over<T: StoreBase + 'static>(&self, below: T) -> Self::Over<T>;

    /// Answers a call, by calls on the store below.
    ///
    /// Every call comes here. A wrapper that is there to hold for some of them names each kind, without a `_`, so that a new one cannot
    /// pass it by; [`Call::operation`], [`Call::is_change`] and [`Call::with_names`] do so as well. The answer to a [`Call::Pin`] has the
    /// store that is pinned below: it is wrapped where it is returned.
    ///
    /// # Errors
    /// The errors of the store below, and those of the wrapper.
    fn answer<'a, B: Below + 'a>(
        &'a self,
        below: B,
        call: Call<'a>,
    ) -> impl Future<Output = Result<Answer>> + Send + 'a;

    /// The key below of a value, for [`Store::copy_source`]; `None` if a service must not copy it.
    fn copied<'k>(&self, key: &'k Key) -> Option<Cow<'k, Key>>;

    /// The key below of a value, for [`Store::location`]: by default the one whose value may be copied. `None` if gets of it must not be made
    /// together with others.
    fn located<'k>(&self, key: &'k Key) -> Option<Cow<'k, Key>> {
        self.copied(key)
    }

    /// Returns the store that stands for the parent of the store below, for [`Store::parent`]; `None` if there is none.
    fn parent_over(&self, parent: Arc<dyn Store>) -> Option<Arc<dyn Store>>;

    /// The capabilities, of those of the store below: the same by default.
    fn capabilities_over(&self, below: Capabilities) -> Capabilities {
        below
    }

    /// How values are best read and written, of the profile of the store below: the same by default.
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

    crate::methods_by_call! {}
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

    crate::async_methods_by_call! {}
}

#[cfg(test)]
mod tests;
