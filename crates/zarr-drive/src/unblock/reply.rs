//! One-shot channel from a future to a task on another thread.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use zarr_store::BoxFuture;

/// Creates a channel for one value.
pub(super) fn channel<T>() -> (Sender<T>, Reply<T>) {
    let slot =
        Arc::new(Slot(Mutex::new(State { value: None, is_over: false, waker: None, is_dropped: false, sender: None })));
    (Sender(Arc::clone(&slot)), Reply(slot))
}

struct Slot<T>(Mutex<State<T>>);

struct State<T> {
    value: Option<T>,
    /// Whether the sender was dropped.
    is_over: bool,
    waker: Option<Waker>,
    /// Whether the receiver was dropped.
    is_dropped: bool,
    sender: Option<Waker>,
}

impl<T> Slot<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sender of the value of a channel.
pub(super) struct Sender<T>(Arc<Slot<T>>);

impl<T> Sender<T> {
    /// Sends the output of the future that `make` creates. If the receiver is dropped, the future is dropped or not created.
    pub(super) async fn send_output(self, make: impl FnOnce() -> BoxFuture<'static, T>) {
        let mut make = Some(make);
        let mut future = None;
        let output = poll_fn(|context| {
            let mut state = self.0.lock();
            if state.is_dropped {
                return Poll::Ready(None);
            }
            state.sender = Some(context.waker().clone());
            drop(state);
            if let Some(make) = make.take() {
                future = Some(make());
            }
            match &mut future {
                Some(future) => future.as_mut().poll(context).map(Some),
                None => Poll::Ready(None),
            }
        })
        .await;
        self.0.lock().value = output;
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_over = true;
        let waker = state.waker.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }
}

/// Receiver of the value of a channel; its output is `None` if the sender was dropped without a value.
pub(super) struct Reply<T>(Arc<Slot<T>>);

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_dropped = true;
        let waker = state.sender.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }
}

impl<T> Future for Reply<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let mut state = self.0.lock();
        if state.is_over {
            return Poll::Ready(state.value.take());
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }
}
