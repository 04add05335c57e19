//! Type-erased jobs, so that drivers are compiled once and not for each type of job.

use std::sync::{Mutex, PoisonError};

use zarr_store::{Error, Reply, Request, Result};

use crate::trace::Span;
use crate::{Job, Next};

/// Type-erased job, which stores its output and errors in an [`Outcome`].
pub(crate) trait Work<'j>: Send {
    /// Runs the next step of the job, in a tracing span below `span`.
    fn step(&mut self, replies: &mut Vec<Reply>, span: &Span) -> Turn<'j>;

    /// Returns [`Job::weight`] of the job.
    fn weight(&self) -> u64;

    /// Returns [`Job::destination`] of the job for the request number `request`.
    fn destination(&mut self, request: usize) -> Option<&mut [u8]>;
}

/// Boxed type-erased job.
pub(crate) type BoxedWork<'j> = Box<dyn Work<'j> + 'j>;

/// Type-erased [`Next`]: what a job does after a step.
pub(crate) enum Turn<'j> {
    Ask(Vec<Request>),
    FetchInto(Vec<Request>),
    Fork(Vec<BoxedWork<'j>>),
    /// The job has ended, and its output is in the [`Outcome`].
    Done,
    /// The job has failed, and its error is in the [`Outcome`].
    Failed,
}

/// Reason why a job ended without an output.
pub(crate) enum Stop {
    /// A step failed, and its error is in the [`Outcome`].
    Step,
    /// A request or the driver failed with this error.
    Driver(Error),
}

/// Returns the error of a driver that has no output and nothing left to do: a forked job did not run to its end.
pub(crate) fn stalled() -> Error {
    Error::Replies { found: 0, expected: 1 }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Driver(error)
    }
}

/// Output of a job, and the first error of a step of the job or of a job that it forked.
pub(crate) struct Outcome<J: Job> {
    output: Mutex<Option<J::Output>>,
    error: Mutex<Option<J::Error>>,
}

impl<J: Job> Outcome<J> {
    pub(crate) fn new() -> Self {
        Self { output: Mutex::new(None), error: Mutex::new(None) }
    }

    /// Wraps `job` as the root job of a driver.
    pub(crate) fn root(&self, job: J) -> Tracked<'_, J> {
        Tracked { job, outcome: self, is_root: true }
    }

    /// Returns the result of the root job; `ended` is the result of the driver.
    ///
    /// # Errors
    /// The error of a step, or of the driver.
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

/// Job with the [`Outcome`] in which its output or error is stored.
pub(crate) struct Tracked<'j, J: Job> {
    job: J,
    outcome: &'j Outcome<J>,
    /// Whether this is the root job, whose output is stored; outputs of forked jobs are dropped.
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
