//! Pauses without an async runtime.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

/// State of a pause, which its thread shares with the future.
#[derive(Default)]
struct Pause {
    is_over: bool,
    /// Waker of the last poll.
    waker: Option<Waker>,
}

fn lock(pause: &Mutex<Pause>) -> MutexGuard<'_, Pause> {
    pause.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for `duration`. A new thread wakes the future, so that no async runtime is needed: for rare pauses. Returns at once if the system
/// refuses a thread.
pub async fn sleep(duration: Duration) {
    let mut thread = None;
    let pause = Arc::new(Mutex::new(Pause::default()));
    poll_fn(move |context| {
        let mut now = lock(&pause);
        if now.is_over {
            return Poll::Ready(());
        }
        // Another task may poll the future now than the one that did before.
        now.waker = Some(context.waker().clone());
        drop(now);
        if thread.is_none() {
            let pause = Arc::clone(&pause);
            thread = Some(std::thread::Builder::new().spawn(move || {
                std::thread::sleep(duration);
                let mut now = lock(&pause);
                now.is_over = true;
                let waker = now.waker.take();
                drop(now);
                waker.into_iter().for_each(Waker::wake);
            }));
        }
        // Without a thread there is no pause.
        if thread.as_ref().is_some_and(|spawned| spawned.is_err()) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::sync::mpsc::{Sender, channel};
    use std::task::{Context, Wake};

    struct Woken(Mutex<Sender<()>>);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.lock().unwrap().send(()).unwrap();
        }
    }

    /// The task that polled last is woken.
    #[test]
    fn a_pause_that_another_task_polls_wakes_that_task() {
        let (send, woken) = channel();
        let waker = Waker::from(Arc::new(Woken(Mutex::new(send))));
        let mut pause = pin!(sleep(Duration::from_millis(50)));
        let _ = pause.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        if pause.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
            woken.recv_timeout(Duration::from_secs(120)).unwrap();
            assert!(pause.as_mut().poll(&mut Context::from_waker(&waker)).is_ready());
        }
    }
}
