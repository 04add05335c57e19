//! Blocking and async stores behind one trait, for code that is written once for both.

use std::fmt;
use std::future::ready;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::{AccessProfile, Answer, AsyncStore, BoxFuture, Call, Capabilities, Error, Result, Store};

/// Store that a [`Wrapper`](crate::Wrapper) calls, in blocking or async form: a wrapper is written once for both. A blocking store is
/// called when the future is created.
pub trait Below: Copy + Send + Sync + fmt::Display {
    /// Calls the store, and returns a future of the answer.
    fn call<'c>(self, call: Call<'c>) -> Answering<'c>
    where
        Self: 'c;

    /// Returns the capabilities of the store.
    fn capabilities(self) -> Capabilities;

    /// Returns the access profile of the store.
    fn access_profile(self) -> AccessProfile;

    /// Waits for `duration` before a retry.
    fn pause<'c>(self, duration: Duration) -> BoxFuture<'c, ()>
    where
        Self: 'c;
}

/// Future of the answer of a [`Below`] to a call.
pub struct Answering<'c>(Form<'c>);

enum Form<'c> {
    /// Answer of a blocking store, which was called already; `None` after the future was awaited.
    Now(Option<Result<Answer>>),
    Later(BoxFuture<'c, Result<Answer>>),
}

impl Future for Answering<'_> {
    type Output = Result<Answer>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<Answer>> {
        match &mut self.get_mut().0 {
            Form::Now(answer) => Poll::Ready(answer.take().unwrap_or(Err(Error::Job("an answer was awaited twice")))),
            Form::Later(answer) => answer.as_mut().poll(context),
        }
    }
}

/// Blocking store, in the form of a [`Below`].
pub struct Blocking<'s, S: ?Sized>(pub &'s S);

/// Async store, in the form of a [`Below`].
pub struct Asynchronous<'s, S: ?Sized>(pub &'s S);

macro_rules! reference {
    ($($form:ident),*) => {$(
        impl<S: ?Sized> Clone for $form<'_, S> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<S: ?Sized> Copy for $form<'_, S> {}

        impl<S: fmt::Display + ?Sized> fmt::Display for $form<'_, S> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

reference!(Blocking, Asynchronous);

impl<S: Store + ?Sized> Below for Blocking<'_, S> {
    fn call<'c>(self, call: Call<'c>) -> Answering<'c>
    where
        Self: 'c,
    {
        Answering(Form::Now(Some(self.0.call(call))))
    }

    fn capabilities(self) -> Capabilities {
        self.0.capabilities()
    }

    fn access_profile(self) -> AccessProfile {
        self.0.access_profile()
    }

    fn pause<'c>(self, duration: Duration) -> BoxFuture<'c, ()>
    where
        Self: 'c,
    {
        std::thread::sleep(duration);
        Box::pin(ready(()))
    }
}

impl<S: AsyncStore + ?Sized> Below for Asynchronous<'_, S> {
    fn call<'c>(self, call: Call<'c>) -> Answering<'c>
    where
        Self: 'c,
    {
        Answering(Form::Later(self.0.call(call)))
    }

    fn capabilities(self) -> Capabilities {
        self.0.capabilities()
    }

    fn access_profile(self) -> AccessProfile {
        self.0.access_profile()
    }

    fn pause<'c>(self, duration: Duration) -> BoxFuture<'c, ()>
    where
        Self: 'c,
    {
        self.0.pause(duration)
    }
}

/// Returns the output of a future that awaits only calls of a blocking store, which are ready at once.
pub(crate) fn at_once(future: impl Future<Output = Result<Answer>>) -> Result<Answer> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => Err(Error::Job("a store that wraps one that blocks waited for something else")),
    }
}
