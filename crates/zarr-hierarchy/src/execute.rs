//! Where the independent parts of a job run: the threads of a pool.

use zarr_store::{Job, Spawn, Store, run_on};
#[cfg(feature = "parallel")]
use zarr_store::{Reply, Request, answer, answers};

/// As many small things as are worth another thread.
#[cfg(feature = "parallel")]
const SHARE: usize = 32;

/// Runs forked jobs on the threads of a pool; a job that does not fork stays on the caller's thread.
/// Without the feature `parallel`, all jobs do.
#[derive(Clone, Copy, Debug)]
pub struct Pool {
    /// Whether many requests of one job are spread over the threads, too.
    #[cfg(feature = "parallel")]
    spreads_requests: bool,
}

impl Pool {
    /// For jobs that fork where there is much to do, such as reads and writes.
    #[must_use]
    pub fn of_forks() -> Self {
        Self {
            #[cfg(feature = "parallel")]
            spreads_requests: false,
        }
    }

    /// For jobs that make many requests at the same time: these are spread over the threads, too.
    #[must_use]
    pub fn of_requests() -> Self {
        Self {
            #[cfg(feature = "parallel")]
            spreads_requests: true,
        }
    }
}

impl Spawn for Pool {
    fn all<J: Job>(&self, store: &dyn Store, jobs: Vec<J>) -> Result<(), J::Error> {
        #[cfg(feature = "parallel")]
        {
            use rayon::prelude::*;
            let run = |job| run_on(self, store, job).map(drop);
            jobs.into_par_iter().with_max_len(1).try_for_each(run)
        }
        #[cfg(not(feature = "parallel"))]
        jobs.into_iter().try_for_each(|job| run_on(self, store, job).map(drop))
    }

    #[cfg(feature = "parallel")]
    fn answers(&self, store: &dyn Store, requests: Vec<Request>, replies: &mut Vec<Reply>) -> zarr_store::Result<()> {
        use rayon::prelude::*;
        if !self.spreads_requests || requests.len() < 2 * SHARE {
            return answers(store, requests, replies);
        }
        let answered = requests.into_par_iter().with_min_len(SHARE).map(|request| answer(store, request));
        replies.extend(answered.collect::<zarr_store::Result<Vec<Reply>>>()?);
        Ok(())
    }
}

/// Applies a function to many things, on several threads where there are enough of them.
pub fn map<T: Send, R: Send>(things: Vec<T>, each: impl Fn(T) -> R + Sync + Send) -> Vec<R> {
    #[cfg(feature = "parallel")]
    if things.len() >= 2 * SHARE {
        use rayon::prelude::*;
        return things.into_par_iter().with_min_len(SHARE).map(each).collect();
    }
    things.into_iter().map(each).collect()
}

/// Calls a function with each of the things, each of which is much to do, on several threads.
///
/// # Errors
/// The first error; things that were not begun until then are left out.
pub fn try_for_each<T: Send + Sync, E: Send>(
    things: &[T],
    each: impl Fn(&T) -> Result<(), E> + Sync + Send,
) -> Result<(), E> {
    #[cfg(feature = "parallel")]
    {
        use rayon::prelude::*;
        things.par_iter().with_max_len(1).try_for_each(each)
    }
    #[cfg(not(feature = "parallel"))]
    things.iter().try_for_each(each)
}

/// Runs a job that decodes and encodes nothing: a walk, the sizes of chunks.
///
/// # Errors
/// The errors of the job.
pub fn run_free<J: Job>(store: &dyn Store, job: J) -> Result<J::Output, J::Error> {
    run_on(&Pool::of_requests(), store, job)
}
