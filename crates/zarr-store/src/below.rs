//! The two forms of a store, for code that is written once for both.

use std::fmt;
use std::future::ready;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::{AccessProfile, Answer, AsyncStore, BoxFuture, Call, Capabilities, Error, Result, Store};

/// A store that is asked, in the form that blocks or in the one without blocking: for a [`Wrapper`](crate::Wrapper), which is written once
/// for both. In the form that blocks, the store is asked when the future is made.
pub trait Below: Copy + Send + Sync + fmt::Display {
    /// Answers a call.
    fn call<'c>(self, call: Call<'c>) -> Answering<'c>
    where
        Self: 'c;

    /// The capabilities of the store.
    fn capabilities(self) -> Capabilities;

    /// How values are best read and written.
    fn access_profile(self) -> AccessProfile;

    /// Waits before a retry.
    fn pause<'c>(self, duration: Duration) -> BoxFuture<'c, ()>
    where
        Self: 'c;
}

/// The answer of a [`Below`] to a call, as a future.
pub struct Answering<'c>(Form<'c>);

enum Form<'c> {
    /// The store blocked until it answered.
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

/// A store that blocks.
pub struct Blocking<'s, S: ?Sized>(pub &'s S);

/// A store without blocking.
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

/// The output of a future that asks a store that blocks, and waits for nothing else.
pub(crate) fn at_once(future: impl Future<Output = Result<Answer>>) -> Result<Answer> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => Err(Error::Job("a store that wraps one that blocks waited for something else")),
    }
}
