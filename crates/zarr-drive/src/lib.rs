//! Jobs on stores, and drivers that run jobs: on blocking and on async stores, in one or many threads.
//!
//! An operation on a store is a [`Job`]: it makes requests and takes the replies, but does no I/O and waits for nothing else. Most jobs are
//! async functions, wrapped in a [`Script`]. The drivers of this crate run the same jobs on blocking and on async stores:
//!
//! ```
//! use zarr_drive::{Io, Script, SyncAsAsync, block_on, run, run_async};
//! use zarr_store::{Error, Key, MemoryStore, Request, StoreExt};
//!
//! /// How many of these keys are there.
//! async fn count(io: &Io, keys: Vec<Key>) -> Result<usize, Error> {
//!     let values = io.get(keys.into_iter().map(Request::get).collect()).await?;
//!     Ok(values.iter().flatten().count())
//! }
//!
//! let store = std::sync::Arc::new(MemoryStore::new());
//! let keys = vec![Key::new("a")?, Key::new("b")?];
//! store.set_all(&keys[0], b"1")?;
//! let job = |keys| Script::new(|io| async move { count(&io, keys).await });
//! assert_eq!(run(&*store, job(keys.clone()))?, 1);
//! let waiting = SyncAsAsync::new(store);
//! assert_eq!(block_on(run_async(&waiting, job(keys)))?, 1);
//! # Ok::<(), Error>(())
//! ```
//!
//! # Jobs
//! Most jobs are scripts. Reads and writes of chunks fork into very many jobs, and are written as state machines. A job does no I/O.
//! Therefore the same job runs on every kind of store, and tests can stop a job at each request and inspect its requests. A driver gives a
//! job as many replies as the job made requests, or ends the job with an error: a lost reply is never taken for a missing value. A failed
//! precondition is a reply as well, and the job decides whether to retry.
//!
//! Drivers merge requests and create the tracing spans of requests and steps; stores and jobs do neither. The limits of requests and of
//! bytes hold for a whole operation. Bytes count from the request until they are decoded, and from encoding until they are stored. A job
//! whose first step encodes tells the driver the number of bytes before ([`Job::weight`]).
//!
//! # Drivers: what a thread does while a request has no reply
//! ```text
//!      a job:   step ──► requests ──► . . . ──► replies ──► step ──► requests ──► . . . ──► output
//!                                       │
//!   ┌───────────────────────────────────┴──────────────────────────────────────────────────────────┐
//!   │ blocking     run, run_on     is in the call of the store: one request at a time, or many on  │
//!   │                              the threads of a `Pool`, which run what a job forks into as well│
//!   │ overlapped   run, run_on     sleeps until one of many requests has its reply, or a step has  │
//!   │                              ended. Meanwhile the pool runs steps; in `run`, the thread does │
//!   │ in place     run_async       does not wait: the future is pending, and the executor runs     │
//!   │                              other tasks. Steps run where the future is polled               │
//!   │ unblocked    unblock         a new thread runs blocking code and sleeps at each request;     │
//!   │                              the future polls the requests                                   │
//!   └──────────────────────────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! [`run_on`] is the blocking driver for stores with short requests, such as files and memory. A store with long requests has an async form
//! ([`Store::as_async`](zarr_store::Store::as_async)), for which `run_on` is the overlapped driver. The overlapped driver and `run_async` have
//! one state for all jobs of an operation and their requests. They start jobs as long as the [limits](InFlightLimits) of requests and of bytes allow,
//! before they run steps with replies, so that requests are in progress while other values are decoded. They merge neighbouring ranges of a
//! value, and get large ranges in parts ([`DriverGet`] lists the gets of a driver); the blocking driver merges as well.
//!
//! A store may have [locations of values in files](zarr_store::Capabilities::locates). Gets of values that lie near each other in one file are
//! then joined to one [call of the store](zarr_store::StoreExt::get_many), within the same limits of gaps and sizes. The blocking driver joins the
//! gets of one job. The other drivers join the gets of all jobs of an operation, and delay such gets as long as more jobs can be started.
//!
//! A thread of a pool must not wait for another thread of the same pool. If the overlapped driver is called in a thread of its pool, the thread
//! runs steps itself while it waits ([`Workers::includes_this_thread`]).
//!
//! Two adapters convert stores. [`AsyncAsSync`] makes a blocking store of an async store: the calling thread sleeps until the future wakes it
//! ([`block_on`]), and jobs run overlapped. [`SyncAsAsync`] makes an async store of a blocking store, whose futures block the thread that polls
//! them.
//!
//! Two more places wait, in answers to calls that stores do not give themselves (`zarr-store`): `StoreExt::set_partial` sleeps between
//! attempts, and `AsyncStore::pause` has a thread that wakes the future.
//!
//! [`Ahead`] runs whole operations, such as the reads of a loop, on threads of its own before their results are taken.
//!
//! # Features
//! `parallel` (default): forked jobs run on the threads of a [`Pool`], which are those of rayon or own [`Threads`]. Without this feature,
//! everything runs in the calling thread.
//!
//! `tracing`: requests and steps of jobs create spans of the crate `tracing`. `request` (debug; `store`, `operation`, `key`, `ranges`, `bytes`)
//! is a request to a store, `wait` (trace) is its wait for the [limit of requests](InFlightLimits::requests), and `step` (debug; `job`) is work between
//! requests, such as decoding and encoding. The target of all spans is `zarr`. They contain no values and no secrets.

#![forbid(unsafe_code)]

mod ahead;
mod answer;
mod async_as_sync;
mod beside;
mod blocking;
mod coalesce;
mod get_plan;
mod job;
mod limits;
mod pool;
mod replies;
mod script;
mod spawn;
mod sync_as_async;
pub mod testing;
#[cfg(feature = "parallel")]
mod threads;
mod trace;
mod unblock;
mod wait;
mod waiting;
mod work;

pub use ahead::Ahead;
pub use answer::{answer, answers};
pub use async_as_sync::AsyncAsSync;
pub use blocking::{Sequential, run, run_on};
pub use get_plan::DriverGet;
pub use job::{Job, Next};
pub use limits::InFlightLimits;
pub use pool::{Pool, is_pool_thread, map, run_free, try_for_each};
pub use script::{Io, Script};
pub use spawn::{Spawn, Workers};
pub use sync_as_async::SyncAsAsync;
#[cfg(feature = "parallel")]
pub use threads::Threads;
pub use unblock::{Unblocker, unblock};
pub use wait::{block_on, now};
pub use waiting::{for_each, run_async, run_async_with};
