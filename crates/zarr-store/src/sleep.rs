//! Pauses without an async runtime.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

/// Waits for `duration`. A new thread wakes the future, so that no async runtime is needed: for rare pauses. Returns at once if the system
/// refuses a thread.
pub async fn sleep(duration: Duration) {
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
