//! One value on its way from a future to another task.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// The ends of a way that one value goes.
pub(super) fn channel<T>() -> (Sender<T>, Reply<T>) {
    let slot = Arc::new(Slot(Mutex::new(State { value: None, is_over: false, waker: None })));
    (Sender(Arc::clone(&slot)), Reply(slot))
}

struct Slot<T>(Mutex<State<T>>);

struct State<T> {
    value: Option<T>,
    /// The sender is gone.
    is_over: bool,
    waker: Option<Waker>,
}

impl<T> Slot<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends the value.
pub(super) struct Sender<T>(Arc<Slot<T>>);

impl<T> Sender<T> {
    pub(super) fn send(self, value: T) {
        self.0.lock().value = Some(value);
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

/// The value, once it has come; `None` if the sender was dropped without sending one.
pub(super) struct Reply<T>(Arc<Slot<T>>);

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
