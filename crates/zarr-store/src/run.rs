//! The blocking driver of jobs.

use crate::answer::{answer_into, check_replies};
use crate::drive::run_overlapped;
use crate::trace::Span;
use crate::{Job, Next, Result, Spawn, Store};

/// Runs a job on a store, on this thread.
///
/// # Errors
/// The job's own, and the store's.
pub fn run<J: Job>(store: &dyn Store, job: J) -> Result<J::Output, J::Error> {
    run_on(&Sequential, store, job)
}

/// Runs a job on a store, and its forks as `spawn` does.
///
/// On a store that has a form [without blocking](Store::as_async), this thread waits for the replies to many requests, and all steps of
/// jobs run on the threads of `spawn`, within its [limits](Spawn::limits).
///
/// # Errors
/// The job's own, and the store's.
pub fn run_on<S: Spawn, J: Job>(spawn: &S, store: &dyn Store, mut job: J) -> Result<J::Output, J::Error> {
    if let Some(store) = store.as_async() {
        return run_overlapped(spawn, &*store, job);
    }
    let mut replies = Vec::new();
    loop {
        let next = Span::current().step::<J>().within(|| job.step(&replies));
        replies.clear();
        match next? {
            Next::Done(output) => return Ok(output),
            Next::Fork(jobs) => spawn.all(store, jobs)?,
            Next::FetchInto(requests) => {
                for (number, request) in requests.into_iter().enumerate() {
                    replies.push(answer_into(store, request, job.destination(number))?);
                }
            }
            Next::Ask(requests) => {
                let expected = requests.len();
                spawn.answers(store, requests, &mut replies)?;
                check_replies(replies.len(), expected)?;
            }
        }
    }
}

/// Runs jobs one after another on this thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sequential;

impl Spawn for Sequential {
    fn all<J: Job>(&self, store: &dyn Store, jobs: Vec<J>) -> Result<(), J::Error> {
        jobs.into_iter().try_for_each(|job| run_on(self, store, job).map(drop))
    }
}

#[cfg(test)]
mod tests;
