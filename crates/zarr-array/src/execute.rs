//! Where the independent parts of a read or write run: the one place that uses threads.

use crate::core::ArrayCore;
use std::cell::RefCell;
use zarr_store::{Job, Scratch, Spawn, Store, run_in};

/// Runs forked jobs on the threads of a pool; a job that does not fork stays on the caller's thread.
#[derive(Clone, Copy, Debug)]
struct Pool;

thread_local! {
    /// Read buffers that the thread keeps from job to job. Nested forks take further ones.
    static SCRATCH: RefCell<Vec<Scratch>> = const { RefCell::new(Vec::new()) };
}

fn with_scratch<T>(work: impl FnOnce(&mut Scratch) -> T) -> T {
    let mut scratch = SCRATCH.with_borrow_mut(Vec::pop).unwrap_or_default();
    let done = work(&mut scratch);
    SCRATCH.with_borrow_mut(|kept| kept.push(scratch));
    done
}

impl Spawn for Pool {
    fn all<J: Job>(&self, store: &dyn Store, jobs: Vec<J>) -> Result<(), J::Error> {
        #[cfg(feature = "parallel")]
        {
            use rayon::prelude::*;
            let run = |job| with_scratch(|scratch| run_in(scratch, self, store, job).map(drop));
            jobs.into_par_iter().with_max_len(1).try_for_each(run)
        }
        #[cfg(not(feature = "parallel"))]
        jobs.into_iter().try_for_each(|job| with_scratch(|scratch| run_in(scratch, self, store, job).map(drop)))
    }
}

/// Runs a job of an array on a blocking store.
pub(crate) fn run<J: Job>(core: &ArrayCore, store: &dyn Store, job: J) -> Result<J::Output, J::Error> {
    let work = || with_scratch(|scratch| run_in(scratch, &Pool, store, job));
    #[cfg(feature = "parallel")]
    if let Some(pool) = core.pool() {
        return pool.install(work);
    }
    let _ = core;
    work()
}
