//! Blocking of a thread until a future is ready, without a runtime.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

/// Polls `future` in the calling thread until it is ready; the thread sleeps between polls. For tests and programs without a runtime.
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

/// Returns the output of a future that is ready when it is first polled, such as those of blocking stores. If the future is not ready,
/// blocks the calling thread as [`block_on`] does.
pub fn now<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => block_on(future),
    }
}

/// Waker of a waiting thread. No wake is lost, even if other code parks and unparks the thread.
pub(crate) struct Unpark {
    thread: Thread,
    is_woken: AtomicBool,
}

impl Unpark {
    /// Returns a waker of the calling thread.
    pub(crate) fn this_thread() -> Arc<Self> {
        Arc::new(Self { thread: std::thread::current(), is_woken: AtomicBool::new(false) })
    }

    /// Blocks until there was a wake since the last call. Must be called by the thread that created this waker.
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
