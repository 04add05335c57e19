//! Drivers of jobs on async stores.
//!
//! ```text
//! Driver        which jobs can take a step, which wait for replies or for the jobs that they forked; the limits of requests and bytes
//!    │
//! held          gets of values in files, which are delayed to be joined with gets of neighbouring values
//!    │
//! answer        a request as gets, sets, listings of the store; parts: a get as several concurrent gets
//!    │
//! in_place      steps run where the future is polled: needs neither threads nor a runtime
//! overlapped    steps run on the threads of a pool, while the caller's thread waits for replies
//! ```

mod answer;
mod driver;
mod future_set;
mod held;
mod in_place;
mod overlapped;
mod parts;
mod permits;

pub(crate) use future_set::FutureSet;
pub use future_set::for_each;
pub use in_place::{run_async, run_async_with};
pub(crate) use overlapped::run_overlapped;
