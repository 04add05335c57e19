//! Threads that make chunks for the store that does not block: the maker of a chunk waits for files and decodes.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use zarr_store::{Error, Result};

/// Maximum number of chunks of a store that are made at the same time, each on its own thread.
const MOST: usize = 64;

type Work = Box<dyn FnOnce() + Send>;

/// Queue of chunks that wait for a thread. Threads are started when a chunk is added, and end when the queue is empty.
#[derive(Default)]
pub(crate) struct Making(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    work: VecDeque<Work>,
    threads: usize,
}

/// Place where a thread puts the output of work.
struct Slot<T>(Mutex<Output<T>>);

enum Output<T> {
    Awaited(Option<Waker>),
    /// Output of the work; `None` if the work panicked.
    Ended(Option<T>),
}

impl<T> Slot<T> {
    fn lock(&self) -> MutexGuard<'_, Output<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Puts the output of work into its slot when it is dropped, also if the work panics.
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

    /// Runs `work` on a thread, and returns its output. If the future is dropped before the work begins, the work is skipped.
    ///
    /// # Errors
    /// [`Error::Job`] if the work panics.
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
        // If the system refuses a thread, threads that run already do the work, or the caller if there are none.
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

    /// Does work from the queue until the queue is empty.
    fn work(&self) {
        loop {
            let mut waiting = self.lock();
            let Some(work) = waiting.work.pop_front() else {
                waiting.threads -= 1;
                return;
            };
            drop(waiting);
            // The future that awaits the work reports the panic.
            drop(catch_unwind(AssertUnwindSafe(work)));
        }
    }
}
