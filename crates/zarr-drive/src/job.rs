//! Jobs: state machines that need a store and do no I/O themselves. A [`Script`](crate::Script) makes one of an async function.

use zarr_store::{Error, Reply, Request};

/// A state machine that needs a store and does no I/O itself: each step takes replies and returns the next requests.
///
/// ```text
/// step([]) ──► Ask(requests) ──► step(replies) ──► Fork(jobs) ──► step([]) ──► Done(output)
/// ```
///
/// [`crate::run`] and [`crate::run_async`] drive the same jobs. A request that fails ends the job with its error;
/// only a failed precondition is a reply ([`Reply::Conflict`]).
pub trait Job: Send + Sized {
    /// The result.
    type Output: Send;
    /// The error. Errors of the store are converted to it.
    type Error: From<Error> + Send;

    /// Takes the replies to the last requests, in their order (none at first and after a fork), and returns the next step. It may keep
    /// them; the driver uses the memory of those that it leaves again.
    ///
    /// # Errors
    /// An error ends the job.
    fn step(&mut self, replies: &mut Vec<Reply>) -> Result<Next<Self>, Self::Error>;

    /// About how many bytes its first step makes for its requests, such as an encoded value. No more of these steps are under way at the
    /// same time than the [bound of bytes](crate::Limits::bytes) allows.
    fn weight(&self) -> u64 {
        0
    }

    /// The name by which its steps are traced.
    fn name(&self) -> &'static str {
        std::any::type_name::<Self>()
    }

    /// The memory for the value of request number `request` of [`Next::FetchInto`], as long as the value should be; `None` if the
    /// driver is to provide the memory.
    fn destination(&mut self, request: usize) -> Option<&mut [u8]> {
        let _ = request;
        None
    }
}

/// The next step of a job.
#[derive(Debug)]
pub enum Next<J: Job> {
    /// The job needs replies to these requests.
    Ask(Vec<Request>),
    /// As `Ask`, where the job has a [destination](Job::destination) for some of the values. A driver may read such a value into its
    /// destination and reply with [`Reply::Received`], or reply as to `Ask`.
    FetchInto(Vec<Request>),
    /// The job needs that these jobs have run, which are independent of each other.
    Fork(Vec<J>),
    /// The job has ended with this output.
    Done(J::Output),
}
