//! The drivers of jobs on stores that do not block.
//!
//! ```text
//! Driver        which jobs can take a step, which wait for replies or for the jobs that they forked; the bounds of all that is under way
//!    │
//! held          gets of values in files, which wait for those that lie beside them
//!    │
//! answer        a request as gets, sets, listings of the store; parts: a get as several at the same time
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
