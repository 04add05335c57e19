//! Jobs on stores, and who runs them: what a thread does while it waits for a store.
//!
//! An operation on a store is a [`Job`]. It makes requests, takes the replies and goes on; it does no I/O, and waits for nothing else. Most are
//! async functions, each a [`Script`]. The drivers here run the same jobs on stores that block and on stores that do not:
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
//! Most jobs are scripts. Reads and writes of chunks fork into very many parts, and are state machines. A job does no I/O, so that the
//! same one runs on every kind of store, can be stopped at each of its requests in tests, and can be asked what it would request. A
//! driver gives it as many replies as it made requests, or ends it: a lost reply is never taken for a value that is not there. If a
//! precondition fails, that is a reply as well, and the job decides what to do again.
//!
//! Drivers merge requests and make the spans of requests and steps, so that no store and no job does. Their bounds of requests and of
//! bytes hold for all of an operation. Bytes count from when they are asked for until they are decoded, and from when they are encoded
//! until they are stored; a job whose first step encodes says beforehand how many that will be.
//!
//! # While a thread waits
//! ```text
//!      a job:   step ──► requests ──► . . . ──► replies ──► step ──► requests ──► . . . ──► output
//!                                       │
//!   ┌───────────────────────────────────┴──────────────────────────────────────────────────────────┐
//!   │ blocking     run, run_on     is in the call of the store: one request at a time, or many on  │
//!   │                              the threads of a `Pool`, which run what a job forks into as well│
//!   │ overlapped   run, run_on     sleeps until one of many requests has its reply, or a step its  │
//!   │                              end. The pool takes the steps meanwhile, or the thread in `run` │
//!   │ in place     run_async       none waits: the future is pending, and the executor has the     │
//!   │                              thread. Steps run where it is polled, two before others' turn   │
//!   │ unblocked    unblock         a thread of its own runs blocking code and sleeps at each       │
//!   │                              request; the future polls the requests, as its executor does    │
//!   └──────────────────────────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! [`run_on`] is the blocking driver for stores whose requests are short: files, memory. A store whose requests take long says so by a form that
//! does not block ([`Store::as_async`](zarr_store::Store::as_async)), and `run_on` is the overlapped driver then. Both drivers without blocking
//! keep all jobs of an operation and their requests in one place. They begin jobs as long as the [bounds](Limits) of requests and of bytes allow
//! that, before they go on with replies, so that requests are under way while other values are decoded. They merge ranges of a value that lie
//! near each other, and get large ones in parts ([`DriverGet`] tells which gets these are); the blocking driver merges as well.
//!
//! A store may say that [values lie in files](zarr_store::Capabilities::locates). Gets of values that lie near each other in one file are then
//! made [together](zarr_store::Store::get_many), by one request within the same bounds of gaps and sizes: those of one job in the blocking
//! driver, those of all jobs of an operation in the others, which hold such gets back as long as more jobs can be begun.
//!
//! A thread of a pool does not wait for another of the same pool: where the overlapped driver is called on one, it takes steps itself while it
//! waits ([`Workers::includes_this_thread`]).
//!
//! Stores change sides by two bridges. [`AsyncAsSync`] makes a blocking store of one that does not block: the calling thread sleeps until the
//! future wakes it ([`block_on`]), and jobs are overlapped. [`SyncAsAsync`] makes one that does not block of a blocking store in name only: the
//! thread that polls is in the call.
//!
//! Two pauses are in `zarr-store`, since methods that a store may leave as they are need them: `Store::set_partial` sleeps between attempts, and
//! `AsyncStore::pause` lets a thread of its own wake the future.
//!
//! # Features
//! `parallel` (default): jobs that fork run on the threads of a [`Pool`], which are rayon's or [`Threads`] of their own. Without it, all runs on
//! the calling thread.
//!
//! `tracing`: requests and steps of jobs as spans of the crate `tracing`, for programs that subscribe to them. `request` (debug; `store`,
//! `operation`, `key`, `ranges`, `bytes`) is a request to a store, `wait` (trace) its wait for the [bound](Limits::requests), `step` (debug;
//! `job`) is work between requests: decoding, encoding. Their target is `zarr`. They show no value and no secret.

#![forbid(unsafe_code)]

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

pub use answer::{answer, answers};
pub use async_as_sync::AsyncAsSync;
pub use blocking::{Sequential, run, run_on};
pub use get_plan::DriverGet;
pub use job::{Job, Next};
pub use limits::Limits;
pub use pool::{Pool, map, run_free, try_for_each};
pub use script::{Io, Script};
pub use spawn::{Spawn, Workers};
pub use sync_as_async::SyncAsAsync;
#[cfg(feature = "parallel")]
pub use threads::Threads;
pub use unblock::{Unblocker, unblock};
pub use wait::{block_on, now};
pub use waiting::{for_each, run_async, run_async_with};
