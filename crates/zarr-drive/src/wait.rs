//! Waiting without a runtime.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

/// Polls a future on this thread until it is done, sleeping in between: for tests and for programs without a runtime.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let unpark = Unpark::this_thread();
    let waker = Waker::from(Arc::clone(&unpark));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => unpark.wait(),
        }
    }
}

/// The output of a future that waits for nothing, as those of blocking stores do: it is done when it is polled first. If it waits all the
/// same, so does this thread.
pub fn now<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => block_on(future),
    }
}

/// Wakes a thread that waits. Whatever else parks and unparks the thread, no wake is lost.
pub(crate) struct Unpark {
    thread: Thread,
    is_woken: AtomicBool,
}

impl Unpark {
    /// Returns a waker of the calling thread.
    pub(crate) fn this_thread() -> Arc<Self> {
        Arc::new(Self { thread: std::thread::current(), is_woken: AtomicBool::new(false) })
    }

    /// Waits, on the thread that this waker is of, for a wake since the last wait.
    pub(crate) fn wait(&self) {
        while !self.is_woken.swap(false, Ordering::AcqRel) {
            std::thread::park();
        }
    }
}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}
