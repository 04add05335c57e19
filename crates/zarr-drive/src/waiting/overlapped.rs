//! Driver that runs steps on the threads of a pool, while the calling thread waits for replies.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};

use zarr_store::{AsyncStore, Error, Result};

use super::driver::{Driver, Step, Stepped};
use super::permits::Permits;
use crate::wait::Unpark;
use crate::work::{BoxedWork, Stop, stalled};
use crate::{Spawn, Workers};

/// Runs the job `work` on an async store: steps on the threads of `spawn`, requests in the calling thread.
///
/// # Errors
/// The error of a step or of the store.
pub(crate) fn run_overlapped(spawn: &dyn Spawn, store: &dyn AsyncStore, work: BoxedWork<'_>) -> Result<(), Stop> {
    let limits = spawn.limits(&store.access_profile());
    let permits = Permits::new(limits);
    let unpark = Unpark::this_thread();
    let steps =
        Steps { todo: Mutex::default(), taken: Mutex::default(), waker: Waker::from(Arc::clone(&unpark)), unpark };
    let mut driver = Some(Driver::new(store, &permits, limits, work));
    let mut ended = Err(stalled().into());
    spawn.with_workers(&mut |workers| {
        if let Some(driver) = driver.take() {
            ended = drive(driver, &steps, workers);
            // Steps that remain after an error are not needed.
            steps.todo().clear();
        }
    });
    ended
}

fn drive<'t, 'j>(mut driver: Driver<'_, 'j>, steps: &'t Steps<'j>, workers: &dyn Workers<'t>) -> Result<(), Stop> {
    let mut context = Context::from_waker(&steps.waker);
    // Twice the number of threads, so that a thread finds its next step at once.
    let most = 2 * workers.count();
    let mut handed = 0;
    loop {
        let mut went_on = false;
        for taken in steps.taken_since() {
            handed -= 1;
            driver.stepped(taken.ok_or_else(panicked)?)?;
            went_on = true;
        }
        if driver.has_ended() {
            return Ok(());
        }
        went_on |= driver.poll(&mut context)?;
        while handed < most
            && let Some(step) = driver.next_step()
        {
            handed += 1;
            steps.add(step);
            workers.run(Box::new(|| {
                steps.take_one();
            }));
            went_on = true;
        }
        // If this thread belongs to the pool, it may be the only free thread.
        if went_on || (workers.includes_this_thread() && steps.take_one()) {
            continue;
        }
        if handed == 0 && driver.is_idle() {
            return Err(stalled().into());
        }
        steps.unpark.wait();
    }
}

/// Returns the error for a step that panicked. The caller does not see the error, since the pool resumes the panic.
fn panicked() -> Error {
    stalled()
}

/// Queues of steps between the driver and the pool.
struct Steps<'j> {
    todo: Mutex<VecDeque<Step<'j>>>,
    /// Results of steps that were run; `None` for a step that panicked.
    taken: Mutex<Vec<Option<Stepped<'j>>>>,
    waker: Waker,
    unpark: Arc<Unpark>,
}

impl<'j> Steps<'j> {
    /// Queues a step to run. First steps of jobs go before other steps, so that their requests do not wait until other values are decoded.
    fn add(&self, step: Step<'j>) {
        let mut todo = self.todo();
        let before = if step.begins() { todo.iter().take_while(|step| step.begins()).count() } else { todo.len() };
        todo.insert(before, step);
    }

    fn todo(&self) -> MutexGuard<'_, VecDeque<Step<'j>>> {
        self.todo.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn taken_since(&self) -> Vec<Option<Stepped<'j>>> {
        std::mem::take(&mut *self.taken.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Runs the next queued step. Returns `false` if the queue is empty.
    fn take_one(&self) -> bool {
        let Some(step) = self.todo().pop_front() else { return false };
        let mut ended = Ended { steps: self, taken: None };
        ended.taken = Some(step.take());
        true
    }
}

/// Guard that reports the result of a step to the driver, also if the step panics.
struct Ended<'t, 'j> {
    steps: &'t Steps<'j>,
    taken: Option<Stepped<'j>>,
}

impl Drop for Ended<'_, '_> {
    fn drop(&mut self) {
        self.steps.taken.lock().unwrap_or_else(PoisonError::into_inner).push(self.taken.take());
        self.steps.waker.wake_by_ref();
    }
}
