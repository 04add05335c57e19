//! Where the independent parts of a read or write run.

use crate::Error;
use crate::core::ArrayCore;
use std::num::NonZeroUsize;
#[cfg(feature = "parallel")]
use zarr_drive::Threads;
use zarr_drive::{Job, Limits, Pool, Spawn, run_on};
use zarr_store::{AccessProfile, Store};

/// Does work where an array's decoding runs.
///
/// # Errors
/// If the system has no threads for it.
pub(crate) fn within<T: Send>(core: &ArrayCore, work: impl FnOnce() -> T + Send) -> Result<T, Error> {
    #[cfg(feature = "parallel")]
    if let Some(threads) = core.threads()? {
        return threads.run(work).ok_or_else(|| Error::internal("a pool of threads did not work"));
    }
    let _ = core;
    Ok(work())
}

/// Runs a job of an array on a blocking store.
pub(crate) fn run<J: Job<Error = Error>>(core: &ArrayCore, store: &dyn Store, job: J) -> Result<J::Output, J::Error> {
    let pool = pool(core)?;
    // A thread that waits for requests is none of those that decode.
    if store.as_async().is_some() {
        return run_on(&pool, store, job);
    }
    within(core, || run_on(&pool, store, job))?
}

/// How much of one operation on an array may be under way on a store with this profile.
pub(crate) fn limits(core: &ArrayCore, profile: &AccessProfile) -> Limits {
    in_flight(core, Pool::default()).limits(profile)
}

/// How many threads decode and encode for an array.
pub(crate) fn threads(core: &ArrayCore) -> usize {
    #[cfg(feature = "parallel")]
    let threads = core.options.threads.map_or_else(Threads::count_of_caller, NonZeroUsize::get);
    #[cfg(not(feature = "parallel"))]
    let threads = {
        let _ = core;
        1
    };
    threads
}

/// Where jobs of an array run.
fn pool(core: &ArrayCore) -> Result<Pool, Error> {
    let pool = in_flight(core, Pool::of_forks());
    #[cfg(feature = "parallel")]
    let pool = pool.of_threads(core.threads()?.cloned());
    Ok(pool)
}

/// A pool within the bounds of an array's options.
fn in_flight(core: &ArrayCore, pool: Pool) -> Pool {
    let options = &core.options;
    pool.in_flight(options.requests_in_flight.map(NonZeroUsize::get), options.bytes_in_flight)
}
