//! Driver of jobs on blocking stores.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use zarr_store::{Result, Store};

use crate::answer::answer_into;
use crate::beside;
use crate::replies::check_replies;
use crate::trace::Span;
use crate::waiting::run_overlapped;
use crate::work::{BoxedWork, Outcome, Stop, Turn, Work, stalled};
use crate::{Job, Spawn};

/// Runs `job` on `store`, in the calling thread.
///
/// # Errors
/// The errors of the job and of the store.
pub fn run<J: Job>(store: &dyn Store, job: J) -> Result<J::Output, J::Error> {
    run_on(&Sequential, store, job)
}

/// Runs `job` on `store`; the jobs that it forks run as `spawn` decides.
///
/// If the store has an async form ([`Store::as_async`]), the calling thread waits for the replies to many concurrent requests, and all steps
/// of jobs run on the threads of `spawn`, within its [limits](Spawn::limits).
///
/// # Errors
/// The errors of the job and of the store.
pub fn run_on<J: Job>(spawn: &dyn Spawn, store: &dyn Store, job: J) -> Result<J::Output, J::Error> {
    let outcome = Outcome::new();
    let ended = match store.as_async() {
        Some(store) => run_overlapped(spawn, &*store, Box::new(outcome.root(job))),
        None => drive(spawn, store, &mut outcome.root(job)),
    };
    outcome.result(ended)
}

/// Runs the steps of a job in the calling thread until the job ends, and answers its requests.
fn drive(spawn: &dyn Spawn, store: &dyn Store, work: &mut dyn Work<'_>) -> Result<(), Stop> {
    let mut replies = Vec::new();
    loop {
        let turn = work.step(&mut replies, &Span::current());
        replies.clear();
        match turn {
            Turn::Done => return Ok(()),
            Turn::Failed => return Err(Stop::Step),
            Turn::Fork(works) => all(spawn, store, works)?,
            Turn::FetchInto(requests) => {
                let mut beside = beside::answers(store, &requests)?.into_iter();
                for (number, request) in requests.into_iter().enumerate() {
                    replies.push(match beside.next().flatten() {
                        Some(reply) => reply,
                        None => answer_into(store, request, work.destination(number))?,
                    });
                }
            }
            Turn::Ask(requests) => {
                let expected = requests.len();
                spawn.answers(store, requests, &mut replies)?;
                check_replies(replies.len(), expected)?;
            }
        }
    }
}

/// Runs forked jobs by `spawn` until all have ended.
fn all(spawn: &dyn Spawn, store: &dyn Store, works: Vec<BoxedWork<'_>>) -> Result<(), Stop> {
    let expected = works.len();
    let works: Vec<_> = works.into_iter().map(|work| Mutex::new(Some(work))).collect();
    let (ended, failed) = (AtomicUsize::new(0), Mutex::new(None));
    spawn.all(works.len(), &|number| {
        let work = works.get(number).and_then(|work| work.lock().unwrap_or_else(PoisonError::into_inner).take());
        let Some(mut work) = work else { return true };
        match drive(spawn, store, &mut *work) {
            Ok(()) => {
                ended.fetch_add(1, Ordering::Relaxed);
                true
            }
            Err(stop) => {
                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(stop);
                false
            }
        }
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(stop) => Err(stop),
        // A call was skipped or panicked, and `spawn` did not report it.
        None if ended.into_inner() < expected => Err(stalled().into()),
        None => Ok(()),
    }
}

/// Runs forked jobs one after another in the calling thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sequential;

impl Spawn for Sequential {}
