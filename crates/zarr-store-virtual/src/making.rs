//! Threads on which chunks are made, for the store without blocking: making one waits for a file, and decodes.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use zarr_store::{Error, Result};

/// Maximum number of chunks of a store that are made at the same time, each on a thread.
const MOST: usize = 64;

type Work = Box<dyn FnOnce() + Send>;

/// Chunks that wait for a thread. Threads are started when they are needed, and end when no chunk waits.
#[derive(Default)]
pub(crate) struct Making(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    work: VecDeque<Work>,
    threads: usize,
}

/// Where the output of work comes.
struct Slot<T>(Mutex<Output<T>>);

enum Output<T> {
    Awaited(Option<Waker>),
    /// `None`: the work panicked.
    Ended(Option<T>),
}

impl<T> Slot<T> {
    fn lock(&self) -> MutexGuard<'_, Output<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reports the end of work, also if it panics.
struct Ending<T> {
    slot: Arc<Slot<T>>,
    output: Option<T>,
}

impl<T> Drop for Ending<T> {
    fn drop(&mut self) {
        let before = std::mem::replace(&mut *self.slot.lock(), Output::Ended(self.output.take()));
        if let Output::Awaited(Some(waker)) = before {
            waker.wake();
        }
    }
}

impl Making {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does work on a thread. Work that nobody awaits any longer is not begun.
    ///
    /// # Errors
    /// If the work panics.
    pub(crate) async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let slot = Arc::new(Slot(Mutex::new(Output::Awaited(None))));
        let of_work = Arc::clone(&slot);
        self.add(Box::new(move || {
            if Arc::strong_count(&of_work) > 1 {
                let mut ending = Ending { slot: of_work, output: None };
                ending.output = Some(work());
            }
        }));
        poll_fn(|context| match &mut *slot.lock() {
            Output::Awaited(waker) => {
                *waker = Some(context.waker().clone());
                Poll::Pending
            }
            Output::Ended(output) => {
                Poll::Ready(output.take().ok_or(Error::Job("the thread that made a chunk panicked")))
            }
        })
        .await
    }

    fn add(self: &Arc<Self>, work: Work) {
        let mut waiting = self.lock();
        waiting.work.push_back(work);
        if waiting.threads == MOST {
            return;
        }
        waiting.threads += 1;
        drop(waiting);
        let this = Arc::clone(self);
        let spawned = std::thread::Builder::new().name("zarr-making".to_owned()).spawn(move || this.work());
        // The system may refuse a thread: then those that there are do the work, or the caller.
        if spawned.is_err() {
            let mut waiting = self.lock();
            if waiting.threads > 1 {
                waiting.threads -= 1;
            } else {
                drop(waiting);
                self.work();
            }
        }
    }

    /// Does work until none waits.
    fn work(&self) {
        loop {
            let mut waiting = self.lock();
            let Some(work) = waiting.work.pop_front() else {
                waiting.threads -= 1;
                return;
            };
            drop(waiting);
            // Whoever awaits it is told of a panic.
            drop(catch_unwind(AssertUnwindSafe(work)));
        }
    }
}
