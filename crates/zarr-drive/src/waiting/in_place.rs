//! The driver that takes steps where it is polled.

use std::future::poll_fn;
use std::task::Poll;

use zarr_store::{AsyncStore, Result};

use super::driver::Driver;
use super::permits::Permits;
use crate::work::{BoxedWork, Outcome, Stop, stalled};
use crate::{Job, Limits};

/// Number of steps after which other tasks of the executor have their turn.
const TURN: usize = 2;

/// Runs a job on a store. Requests run at the same time, of all forked jobs together as many as the
/// [concurrency](zarr_store::AccessProfile::concurrency) of the store.
///
/// Steps of jobs, such as decoding, run where the future is polled, and other tasks of the executor have their turn after every second.
///
/// # Errors
/// The job's own, and the store's.
pub async fn run_async<J: Job>(store: &dyn AsyncStore, job: J) -> Result<J::Output, J::Error> {
    run_async_with(store, job, Limits::of(&store.access_profile())).await
}

/// As [`run_async`], within bounds.
///
/// # Errors
/// The job's own, and the store's.
pub async fn run_async_with<J: Job>(store: &dyn AsyncStore, job: J, limits: Limits) -> Result<J::Output, J::Error> {
    let outcome = Outcome::new();
    let ended = drive(store, Box::new(outcome.root(job)), limits).await;
    outcome.result(ended)
}

async fn drive(store: &dyn AsyncStore, work: BoxedWork<'_>, limits: Limits) -> Result<(), Stop> {
    let permits = Permits::new(limits);
    let mut driver = Driver::new(store, &permits, limits, work);
    let mut steps = 0_usize;
    poll_fn(|context| {
        loop {
            if driver.has_ended() {
                return Poll::Ready(Ok(()));
            }
            // Requests begin when they are polled first: those of the last step do so before the next one.
            let came = driver.poll(context)?;
            if let Some(step) = driver.next_step() {
                driver.stepped(step.take())?;
                steps += 1;
                if steps.is_multiple_of(TURN) && !driver.has_ended() {
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
            } else if !came {
                return if driver.is_idle() { Poll::Ready(Err(stalled().into())) } else { Poll::Pending };
            }
        }
    })
    .await
}
