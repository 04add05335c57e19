//! Blocking code on top of async stores, as a future.

mod reply;

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use zarr_store::{
    AccessProfile, Answer, AsyncStore, Asynchronous, BoxFuture, Call, Capabilities, CopySource, Error, ErrorKind, Key,
    Location, Operation, Pinned, Result, Store, fallback,
};

use crate::AsyncAsSync;
use crate::waiting::FutureSet;

/// Runs `work`, blocking code, on a new thread. The returned future polls the requests of `work`; decoding, encoding and other computations
/// run on the new thread and on thread pools, never in the thread that polls.
///
/// `work` gets an [`Unblocker`], which wraps async stores as blocking stores. The futures of the async stores are polled inside of the
/// returned future, so that they find its runtime. If the returned future is dropped, requests in progress are dropped, and all later
/// requests fail, so that `work` ends soon. Code without requests can call [`Unblocker::is_awaited`] to end early.
///
/// # Errors
/// [`ErrorKind::Limit`] if the operating system cannot start a thread.
///
/// # Panics
/// If `work` panics.
///
/// # Example
/// ```
/// # use std::sync::Arc;
/// # use zarr_drive::*;
/// # use zarr_store::*;
/// # fn main() -> Result<()> {
/// let store: Arc<dyn AsyncStore> = Arc::new(SyncAsAsync::new(Arc::new(MemoryStore::new())));
/// let size = unblock(move |unblocker| {
///     let store = unblocker.store(&store);
///     let key = Key::new("a")?;
///     store.set_all(&key, b"12345")?;
///     store.size(&key)
/// });
/// assert_eq!(block_on(size)??, Some(5));
/// # Ok(())
/// # }
/// ```
pub async fn unblock<T: Send + 'static>(work: impl FnOnce(&Unblocker) -> T + Send + 'static) -> Result<T> {
    let exchange = Arc::new(Exchange::<T>::default());
    let requests = Arc::clone(&exchange.requests);
    let done = Ended(Arc::clone(&exchange));
    let span = crate::trace::Span::current();
    let run = move || {
        let outcome = catch_unwind(AssertUnwindSafe(|| span.within(|| work(&Unblocker(requests)))));
        done.end(outcome);
    };
    let spawned = std::thread::Builder::new().name("zarr-blocking".to_owned()).spawn(run);
    spawned.map_err(|error| Error::failed(&"a thread", Operation::Open, "/", ErrorKind::Limit, error))?;
    Requests { exchange, set: FutureSet::new() }.await
}

/// Wraps async stores as blocking stores for the code that [`unblock`] runs.
#[derive(Clone)]
pub struct Unblocker(Arc<Queue>);

impl fmt::Debug for Unblocker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unblocker")
    }
}

impl Unblocker {
    /// Returns whether the future of [`unblock`] exists. Code that makes no requests should end early if the future was dropped.
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        !self.0.lock().is_closed
    }

    /// Returns `store` as a blocking store, which works while the future of [`unblock`] is polled.
    #[must_use]
    pub fn store(&self, store: &Arc<dyn AsyncStore>) -> Arc<dyn Store> {
        let queue = Arc::clone(&self.0);
        Arc::new(AsyncAsSync::new(Arc::new(Sent { store: Arc::clone(store), queue })))
    }
}

/// Queue of request futures from the blocking code to the future that polls them.
#[derive(Default)]
struct Queue(Mutex<Queued>);

#[derive(Default)]
struct Queued {
    futures: Vec<BoxFuture<'static, ()>>,
    waker: Option<Waker>,
    /// Whether the future that polls the queue was dropped.
    is_closed: bool,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Queued> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds `future` to the queue; drops it if the queue is closed.
    fn push(&self, future: BoxFuture<'static, ()>) {
        let mut queued = self.lock();
        if queued.is_closed {
            drop(queued);
            return;
        }
        queued.futures.push(future);
        let waker = queued.waker.take();
        drop(queued);
        waker.into_iter().for_each(Waker::wake);
    }

    fn wake(&self) {
        let waker = self.lock().waker.take();
        waker.into_iter().for_each(Waker::wake);
    }
}

/// Result of the blocking code: its output, or the payload of its panic.
type Outcome<T> = Result<T, Box<dyn Any + Send>>;

struct Exchange<T> {
    requests: Arc<Queue>,
    outcome: Mutex<Option<Outcome<T>>>,
}

impl<T> Default for Exchange<T> {
    fn default() -> Self {
        Self { requests: Arc::default(), outcome: Mutex::default() }
    }
}

struct Ended<T>(Arc<Exchange<T>>);

impl<T> Ended<T> {
    fn end(self, outcome: Outcome<T>) {
        *self.0.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
        self.0.requests.wake();
    }
}

/// Future that polls the requests of the blocking code until the code ends.
struct Requests<T> {
    exchange: Arc<Exchange<T>>,
    set: FutureSet<'static, ()>,
}

impl<T> Future for Requests<T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        let this = self.get_mut();
        let mut queued = this.exchange.requests.lock();
        queued.waker = Some(context.waker().clone());
        std::mem::take(&mut queued.futures).into_iter().for_each(|future| this.set.push(future));
        drop(queued);
        while let Poll::Ready(Some(())) = this.set.poll_next(context) {}
        let outcome = this.exchange.outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
        match outcome {
            None => Poll::Pending,
            Some(Ok(output)) => Poll::Ready(Ok(output)),
            Some(Err(panic)) => resume_unwind(panic),
        }
    }
}

impl<T> Drop for Requests<T> {
    fn drop(&mut self) {
        let mut queued = self.exchange.requests.lock();
        queued.is_closed = true;
        let futures = std::mem::take(&mut queued.futures);
        drop(queued);
        drop(futures);
    }
}

/// Store whose request futures are added to a queue, and are polled by the future of [`unblock`].
struct Sent {
    store: Arc<dyn AsyncStore>,
    queue: Arc<Queue>,
}

impl fmt::Debug for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.store, f)
    }
}

impl fmt::Display for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl Sent {
    fn send<T: Send + 'static>(
        &self,
        operation: Operation,
        key: &str,
        request: impl FnOnce(Arc<dyn AsyncStore>) -> BoxFuture<'static, Result<T>> + Send + 'static,
    ) -> BoxFuture<'static, Result<T>> {
        let (sender, reply) = reply::channel();
        let store = Arc::clone(&self.store);
        self.queue.push(Box::pin(sender.send_output(move || request(store))));
        let (store, key) = (Arc::clone(&self.store), key.to_owned());
        Box::pin(async move {
            reply.await.unwrap_or_else(|| {
                let reason = "the future that the operation belongs to was dropped";
                Err(Error::failed(&store, operation, key, ErrorKind::Internal, reason))
            })
        })
    }
}

#[deny(clippy::missing_trait_methods)]
impl AsyncStore for Sent {
    fn call<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let call = match call {
                // These calls are made of simpler ones, so that only one value at a time is copied into a request.
                Call::GetInto { .. } | Call::SetMany { .. } | Call::CreateMany { .. } | Call::SetPartial { .. } => {
                    return fallback(Asynchronous(self), call).await;
                }
                call => call,
            };
            let (operation, name) = (call.operation(), call.name().to_owned());
            let Some(call) = call.into_owned() else { return Err(Error::OTHER_REPLY) };
            let answer = self.send(operation, &name, |store| Box::pin(async move { store.call(call).await })).await?;
            Ok(answer.map_pinned(|pinned| match pinned {
                Pinned::Async(store) => Pinned::Async(Arc::new(Self { store, queue: Arc::clone(&self.queue) })),
                pinned @ Pinned::Blocking(_) => pinned,
            }))
        })
    }

    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn access_profile(&self) -> AccessProfile {
        self.store.access_profile()
    }

    fn copy_source(&self, key: &Key) -> Option<CopySource> {
        self.store.copy_source(key)
    }

    fn location(&self, key: &Key) -> Option<Location> {
        self.store.location(key)
    }

    fn pause(&self, duration: Duration) -> BoxFuture<'_, ()> {
        let paused = self.send(Operation::Lock, "/", move |store| {
            Box::pin(async move {
                store.pause(duration).await;
                Ok(())
            })
        });
        Box::pin(async { drop(paused.await) })
    }

    fn take_warnings(&self) -> Vec<String> {
        self.store.take_warnings()
    }
}
