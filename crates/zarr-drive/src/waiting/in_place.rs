//! Driver that runs steps where its future is polled.

use std::future::poll_fn;
use std::task::Poll;

use zarr_store::{AsyncStore, Result};

use super::driver::Driver;
use super::permits::Permits;
use crate::work::{BoxedWork, Outcome, Stop, stalled};
use crate::{InFlightLimits, Job};

/// Number of steps after which the driver yields to other tasks of the executor.
const TURN: usize = 2;

/// Runs `job` on `store`. Requests of the job and of all jobs that it forks are concurrent, up to the
/// [concurrency](zarr_store::AccessProfile::concurrency) of the store.
///
/// Steps of jobs, such as decoding, run where the future is polled. The future yields to other tasks of the executor after every second
/// step.
///
/// # Errors
/// The errors of the job and of the store.
pub async fn run_async<J: Job>(store: &dyn AsyncStore, job: J) -> Result<J::Output, J::Error> {
    run_async_with(store, job, InFlightLimits::of(&store.access_profile())).await
}

/// Runs `job` on `store` as [`run_async`] does, within `limits`.
///
/// # Errors
/// The errors of the job and of the store.
pub async fn run_async_with<J: Job>(
    store: &dyn AsyncStore,
    job: J,
    limits: InFlightLimits,
) -> Result<J::Output, J::Error> {
    let outcome = Outcome::new();
    let ended = drive(store, Box::new(outcome.root(job)), limits).await;
    outcome.result(ended)
}

async fn drive(store: &dyn AsyncStore, work: BoxedWork<'_>, limits: InFlightLimits) -> Result<(), Stop> {
    let permits = Permits::new(limits);
    let mut driver = Driver::new(store, &permits, limits, work);
    let mut steps = 0_usize;
    poll_fn(|context| {
        loop {
            if driver.has_ended() {
                return Poll::Ready(Ok(()));
            }
            // Requests begin at their first poll: those of the last step begin before the next step.
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
