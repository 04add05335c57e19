//! Implementations for pointers: a pointer to a store is a store.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use crate::{
    AccessProfile, Answer, AsyncStore, Below, BoxFuture, Call, Capabilities, CopySource, Key, Location, Result, Store,
    StoreBase, Wrapper,
};

#[deny(clippy::missing_trait_methods)]
impl<S: Store + ?Sized> Store for Arc<S> {
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        (**self).call(call)
    }

    fn capabilities(&self) -> Capabilities {
        (**self).capabilities()
    }

    fn access_profile(&self) -> AccessProfile {
        (**self).access_profile()
    }

    fn copy_source(&self, key: &Key) -> Option<CopySource> {
        (**self).copy_source(key)
    }

    fn location(&self, key: &Key) -> Option<Location> {
        (**self).location(key)
    }

    fn as_async(&self) -> Option<Arc<dyn AsyncStore>> {
        (**self).as_async()
    }

    fn parent(&self) -> Option<(Arc<dyn Store>, String)> {
        (**self).parent()
    }

    fn take_warnings(&self) -> Vec<String> {
        (**self).take_warnings()
    }
}

#[deny(clippy::missing_trait_methods)]
impl<S: AsyncStore + ?Sized> AsyncStore for Arc<S> {
    fn call<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Answer>> {
        (**self).call(call)
    }

    fn capabilities(&self) -> Capabilities {
        (**self).capabilities()
    }

    fn access_profile(&self) -> AccessProfile {
        (**self).access_profile()
    }

    fn copy_source(&self, key: &Key) -> Option<CopySource> {
        (**self).copy_source(key)
    }

    fn location(&self, key: &Key) -> Option<Location> {
        (**self).location(key)
    }

    fn pause(&self, duration: Duration) -> BoxFuture<'_, ()> {
        (**self).pause(duration)
    }

    fn take_warnings(&self) -> Vec<String> {
        (**self).take_warnings()
    }
}

/// Implements [`Wrapper`] for references and boxes, which forward every call.
macro_rules! pass_on {
    ($($pointer:ty),*) => {$(
        impl<S: StoreBase + ?Sized> Wrapper for $pointer {
            type Below = S;
            type Over<T: StoreBase + 'static> = Box<T>;

            fn below(&self) -> &S {
                self
            }

            fn over<T: StoreBase + 'static>(&self, below: T) -> Box<T> {
                Box::new(below)
            }

            async fn answer<'a, B: Below + 'a>(&'a self, below: B, call: Call<'a>) -> Result<Answer> {
                below.call(call).await
            }

            fn copied<'k>(&self, key: &'k Key) -> Option<Cow<'k, Key>> {
                Some(Cow::Borrowed(key))
            }

            fn parent_over(&self, parent: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
                Some(parent)
            }
        }
    )*};
}

pass_on!(&S, Box<S>);
