//! Jobs: state machines that use a store but do no I/O. A [`Script`](crate::Script) wraps an async function as a job.

use zarr_store::{Error, Reply, Request};

/// State machine that uses a store but does no I/O: each step takes the replies to its last requests and returns its next requests.
///
/// ```text
/// step([]) ──► Ask(requests) ──► step(replies) ──► Fork(jobs) ──► step([]) ──► Done(output)
/// ```
///
/// [`crate::run`] and [`crate::run_async`] drive the same jobs. A failed request ends the job with the error of the request. Only a failed
/// precondition is a reply ([`Reply::Conflict`]).
pub trait Job: Send + Sized {
    /// Result of the job.
    type Output: Send;
    /// Error of the job, to which errors of the store are converted.
    type Error: From<Error> + Send;

    /// Runs the next step. `replies` has the replies to the last requests in the order of the requests; it is empty in the first step and
    /// after a fork. The job may take replies out of `replies`; the driver reuses the memory of those that it leaves.
    ///
    /// # Errors
    /// An error ends the job.
    fn step(&mut self, replies: &mut Vec<Reply>) -> Result<Next<Self>, Self::Error>;

    /// Returns the approximate number of bytes that the first step allocates for its requests, such as an encoded value. The [limit of
    /// bytes](crate::InFlightLimits::bytes) bounds the sum for all first steps that run concurrently.
    fn weight(&self) -> u64 {
        0
    }

    /// Returns the name of the job in tracing spans.
    fn name(&self) -> &'static str {
        std::any::type_name::<Self>()
    }

    /// Returns the memory into which the value of request number `request` of [`Next::FetchInto`] can be read. Its length is the expected
    /// size of the value. `None` if the driver must allocate the memory.
    fn destination(&mut self, request: usize) -> Option<&mut [u8]> {
        let _ = request;
        None
    }
}

/// Result of a step of a job: what the job does next.
#[derive(Debug)]
pub enum Next<J: Job> {
    /// The job waits for replies to these requests.
    Ask(Vec<Request>),
    /// The job waits for replies to these requests, and has a [destination](Job::destination) for some of the values. A driver may read a
    /// value into its destination and reply with [`Reply::Received`], or reply in the same way as to [`Next::Ask`].
    FetchInto(Vec<Request>),
    /// The job waits until these jobs, which are independent of each other, have ended.
    Fork(Vec<J>),
    /// The job has ended with this output.
    Done(J::Output),
}
