//! Waiting without a runtime.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

/// Ends after a time. A thread of its own waits, so that no runtime is needed: for pauses that are seldom.
pub(crate) async fn sleep(duration: Duration) {
    let mut thread = None;
    let done = Arc::new(AtomicBool::new(false));
    poll_fn(move |context| {
        if done.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        if thread.is_none() {
            let (waker, done) = (context.waker().clone(), Arc::clone(&done));
            thread = Some(std::thread::Builder::new().spawn(move || {
                std::thread::sleep(duration);
                done.store(true, Ordering::Release);
                waker.wake();
            }));
        }
        // Without a thread there is no pause.
        if thread.as_ref().is_some_and(|spawned| spawned.is_err()) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

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

/// Wakes a thread that waits. Whatever else parks and unparks the thread, no wake is lost.
pub(crate) struct Unpark {
    thread: Thread,
    is_woken: AtomicBool,
}

impl Unpark {
    /// Of the calling thread.
    pub(crate) fn this_thread() -> Arc<Self> {
        Arc::new(Self { thread: std::thread::current(), is_woken: AtomicBool::new(false) })
    }

    /// Waits for a wake since the last wait: on the thread that this is of.
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
