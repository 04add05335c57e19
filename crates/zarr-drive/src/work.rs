//! Jobs without their types: drivers take these, so that they are compiled once and not for each type of job.

use std::sync::{Mutex, PoisonError};

use zarr_store::{Error, Reply, Request, Result};

use crate::trace::Span;
use crate::{Job, Next};

/// A job whose output and error go to its [`Outcome`].
pub(crate) trait Work<'j>: Send {
    /// Takes a step of the job, in a span below `span`.
    fn step(&mut self, replies: &mut Vec<Reply>, span: &Span) -> Turn<'j>;

    /// [`Job::weight`].
    fn weight(&self) -> u64;

    /// [`Job::destination`].
    fn destination(&mut self, request: usize) -> Option<&mut [u8]>;
}

/// A job without its type, on the heap.
pub(crate) type BoxedWork<'j> = Box<dyn Work<'j> + 'j>;

/// [`Next`] without the type of the job.
pub(crate) enum Turn<'j> {
    Ask(Vec<Request>),
    FetchInto(Vec<Request>),
    Fork(Vec<BoxedWork<'j>>),
    /// The job has ended.
    Done,
    /// The job has failed.
    Failed,
}

/// Why a job has ended without an output.
pub(crate) enum Stop {
    /// A step failed; the [`Outcome`] has its error.
    Step,
    /// A request failed, or the driver.
    Driver(Error),
}

/// The error of a driver that has nothing to do and no output: a forked job did not run, or not to its end.
pub(crate) fn stalled() -> Error {
    Error::Replies { found: 0, expected: 1 }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Driver(error)
    }
}

/// The output of a job, and the first error of a step of it or of a job that it forked.
pub(crate) struct Outcome<J: Job> {
    output: Mutex<Option<J::Output>>,
    error: Mutex<Option<J::Error>>,
}

impl<J: Job> Outcome<J> {
    pub(crate) fn new() -> Self {
        Self { output: Mutex::new(None), error: Mutex::new(None) }
    }

    /// The job, for a driver.
    pub(crate) fn root(&self, job: J) -> Tracked<'_, J> {
        Tracked { job, outcome: self, is_root: true }
    }

    /// The result of the job, as the driver ended.
    ///
    /// # Errors
    /// That of a step, or of the driver.
    pub(crate) fn result(self, ended: Result<(), Stop>) -> Result<J::Output, J::Error> {
        match ended {
            Ok(()) => taken(self.output).ok_or_else(|| stalled().into()),
            Err(Stop::Step) => Err(taken(self.error).unwrap_or_else(|| stalled().into())),
            Err(Stop::Driver(error)) => Err(error.into()),
        }
    }
}

fn taken<T>(slot: Mutex<Option<T>>) -> Option<T> {
    slot.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// A job and where its output or error goes.
pub(crate) struct Tracked<'j, J: Job> {
    job: J,
    outcome: &'j Outcome<J>,
    /// Whether its output is wanted: that of no forked job is.
    is_root: bool,
}

impl<'j, J: Job + 'j> Work<'j> for Tracked<'j, J> {
    fn step(&mut self, replies: &mut Vec<Reply>, span: &Span) -> Turn<'j> {
        match span.step(self.job.name()).within(|| self.job.step(replies)) {
            Ok(Next::Ask(requests)) => Turn::Ask(requests),
            Ok(Next::FetchInto(requests)) => Turn::FetchInto(requests),
            Ok(Next::Fork(jobs)) => {
                let outcome = self.outcome;
                let boxed = |job| -> BoxedWork<'j> { Box::new(Self { job, outcome, is_root: false }) };
                Turn::Fork(jobs.into_iter().map(boxed).collect())
            }
            Ok(Next::Done(output)) => {
                if self.is_root {
                    *self.outcome.output.lock().unwrap_or_else(PoisonError::into_inner) = Some(output);
                }
                Turn::Done
            }
            Err(error) => {
                self.outcome.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                Turn::Failed
            }
        }
    }

    fn weight(&self) -> u64 {
        self.job.weight()
    }

    fn destination(&mut self, request: usize) -> Option<&mut [u8]> {
        self.job.destination(request)
    }
}
