//! Where the independent parts of a read or write run: the one place that uses threads.

use crate::Error;
#[cfg(feature = "parallel")]
use crate::ErrorKind;
use crate::core::ArrayCore;
use std::cell::RefCell;
#[cfg(feature = "parallel")]
use std::collections::BTreeMap;
#[cfg(feature = "parallel")]
use std::num::NonZeroUsize;
#[cfg(feature = "parallel")]
use std::sync::{Arc, Mutex, PoisonError, Weak};
use zarr_store::{Job, Scratch, Spawn, Store, run_in};
#[cfg(feature = "parallel")]
use zarr_store::{Reply, Request};

/// As many small things as are worth another thread.
#[cfg(feature = "parallel")]
const SHARE: usize = 32;

/// Runs forked jobs on the threads of a pool; a job that does not fork stays on the caller's thread.
#[derive(Clone, Copy, Debug)]
struct Pool {
    /// Whether many requests of one job are spread over the threads, too. Reads and writes fork before they ask.
    #[cfg(feature = "parallel")]
    spreads_requests: bool,
}

/// As many read buffers a thread keeps: forks nest only as deep as shards do.
const MAX_SCRATCH: usize = 4;

thread_local! {
    /// Read buffers that the thread keeps from job to job. Nested forks take further ones.
    static SCRATCH: RefCell<Vec<Scratch>> = const { RefCell::new(Vec::new()) };
}

fn with_scratch<T>(work: impl FnOnce(&mut Scratch) -> T) -> T {
    let mut scratch = SCRATCH.with_borrow_mut(Vec::pop).unwrap_or_default();
    let done = work(&mut scratch);
    SCRATCH.with_borrow_mut(|kept| {
        if kept.len() < MAX_SCRATCH {
            kept.push(scratch);
        }
    });
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

    #[cfg(feature = "parallel")]
    fn answers(
        &self,
        scratch: &mut Scratch,
        store: &dyn Store,
        requests: Vec<Request>,
        replies: &mut Vec<Reply>,
    ) -> zarr_store::Result<()> {
        use rayon::prelude::*;
        if !self.spreads_requests || requests.len() < 2 * SHARE {
            return scratch.answers(store, requests, replies);
        }
        let answer = |request| with_scratch(|scratch| scratch.answer(store, request));
        let answers: Vec<Reply> =
            requests.into_par_iter().with_min_len(SHARE).map(answer).collect::<zarr_store::Result<_>>()?;
        replies.extend(answers);
        Ok(())
    }
}

/// Applies a function to many things, on several threads where there are enough of them.
pub(crate) fn map<T: Send, R: Send>(things: Vec<T>, each: impl Fn(T) -> R + Sync + Send) -> Vec<R> {
    #[cfg(feature = "parallel")]
    if things.len() >= 2 * SHARE {
        use rayon::prelude::*;
        return things.into_par_iter().with_min_len(SHARE).map(each).collect();
    }
    things.into_iter().map(each).collect()
}

/// Runs a job that decodes and encodes nothing: a walk, the sizes of chunks.
pub(crate) fn run_free<J: Job>(store: &dyn Store, job: J) -> Result<J::Output, J::Error> {
    let pool = Pool {
        #[cfg(feature = "parallel")]
        spreads_requests: true,
    };
    with_scratch(|scratch| run_in(scratch, &pool, store, job))
}

/// The pool of so many threads, which all arrays share that ask for as many.
#[cfg(feature = "parallel")]
pub(crate) fn pool(threads: NonZeroUsize) -> crate::Result<Arc<rayon::ThreadPool>> {
    static POOLS: Mutex<BTreeMap<NonZeroUsize, Weak<rayon::ThreadPool>>> = Mutex::new(BTreeMap::new());
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = pools.get(&threads).and_then(Weak::upgrade) {
        return Ok(pool);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.get()).build().map_err(|error| {
        Error::new(ErrorKind::Limit, format!("{threads} threads, which the system does not give: {error}"))
    })?;
    let pool = Arc::new(pool);
    pools.insert(threads, Arc::downgrade(&pool));
    Ok(pool)
}

/// Does work where an array's decoding runs.
///
/// # Errors
/// If the system has no threads for it.
pub(crate) fn within<T: Send>(core: &ArrayCore, work: impl FnOnce() -> T + Send) -> Result<T, Error> {
    #[cfg(feature = "parallel")]
    if let Some(pool) = core.pool()? {
        return Ok(pool.install(work));
    }
    let _ = core;
    Ok(work())
}

/// Runs a job of an array on a blocking store.
pub(crate) fn run<J: Job<Error = Error>>(core: &ArrayCore, store: &dyn Store, job: J) -> Result<J::Output, J::Error> {
    let pool = Pool {
        #[cfg(feature = "parallel")]
        spreads_requests: false,
    };
    within(core, || with_scratch(|scratch| run_in(scratch, &pool, store, job)))?
}
