//! Jobs that get wrong replies, as from a broken driver.

use std::fmt::Display;

use zarr_store::Reply;

use crate::{Job, Next};

/// Job that passes correct replies to another job in the first `right` steps with replies, and later replies of a wrong kind. The other job
/// must fail then.
#[derive(Debug)]
pub struct WrongReplies<J> {
    job: J,
    right: usize,
}

impl<J> WrongReplies<J> {
    /// Wraps `job`, which gets correct replies in its first `right` steps with replies.
    pub fn new(job: J, right: usize) -> Self {
        Self { job, right }
    }
}

impl<J: Job> Job for WrongReplies<J> {
    type Output = J::Output;
    type Error = J::Error;

    fn step(&mut self, replies: &mut Vec<Reply>) -> Result<Next<Self>, J::Error> {
        let next = if replies.is_empty() || self.right > 0 {
            self.right -= usize::from(!replies.is_empty());
            self.job.step(replies)?
        } else {
            self.job.step(&mut replies.iter().map(|_| Reply::Renamed(true)).collect())?
        };
        Ok(match next {
            Next::Ask(requests) | Next::FetchInto(requests) => Next::Ask(requests),
            Next::Fork(jobs) => Next::Fork(jobs.into_iter().map(|job| Self { job, right: self.right }).collect()),
            Next::Done(output) => Next::Done(output),
        })
    }
}

/// Calls `attempt` with 0, 1, 2.. as the number of steps with correct replies until it succeeds.
///
/// # Panics
/// If `attempt` fails with an error that is not `expected`, fails 100 times, or succeeds with fewer than `least` correct replies.
pub fn succeeds_with_right_replies<T, E: Display>(
    least: usize,
    attempt: impl Fn(usize) -> Result<T, E>,
    expected: impl Fn(&E) -> bool,
) {
    let enough = (0..100).find(|&right| match attempt(right) {
        Ok(_) => true,
        Err(error) => {
            assert!(expected(&error), "{right} right replies: {error}");
            false
        }
    });
    assert!(
        enough.is_some_and(|enough| enough >= least),
        "done after {enough:?} right replies, expected at least {least}"
    );
}
