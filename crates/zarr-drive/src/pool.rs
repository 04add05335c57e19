//! Thread pools for the independent parts of jobs.

use crate::{InFlightLimits, Job, Spawn, run_on};
use zarr_store::{AccessProfile, Store};
#[cfg(feature = "parallel")]
use {
    crate::{Threads, Workers, answer, answers},
    std::sync::{Mutex, PoisonError},
    zarr_store::{Reply, Request},
};

/// Minimum number of small items for which another thread is used.
#[cfg(feature = "parallel")]
const SHARE: usize = 32;

/// Runs forked jobs on the threads of a pool; a job that does not fork stays in the calling thread.
///
/// On an async store, the calling thread waits for replies, and all steps run on the threads of the pool. Without the feature `parallel`,
/// everything runs in the calling thread.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    /// Whether the requests of a single job are distributed over the threads if there are many.
    #[cfg(feature = "parallel")]
    spreads_requests: bool,
    /// Threads that run the steps of jobs on async stores; `None` for the rayon pool to which the calling thread belongs, or else the
    /// global rayon pool. On a blocking store, forked jobs run in the rayon pool to which the calling thread belongs.
    #[cfg(feature = "parallel")]
    threads: Option<Threads>,
    requests: Option<usize>,
    bytes: Option<u64>,
}

impl Pool {
    /// Creates a pool for jobs that fork when they have much to do, such as reads and writes.
    #[must_use]
    pub fn of_forks() -> Self {
        Self::default()
    }

    /// Creates a pool for jobs that make many requests in one step; the requests are distributed over the threads as well.
    #[must_use]
    pub fn of_requests() -> Self {
        Self {
            #[cfg(feature = "parallel")]
            spreads_requests: true,
            ..Self::default()
        }
    }

    /// Sets the threads that run steps on async stores; `None` for the rayon pool to which the calling thread belongs, or else the global
    /// rayon pool. On a blocking store the caller enters the pool itself, by [`Threads::run`](crate::Threads::run).
    #[cfg(feature = "parallel")]
    #[must_use]
    pub fn of_threads(self, threads: Option<Threads>) -> Self {
        Self { threads, ..self }
    }

    /// Sets the maximum number of concurrent requests, and of bytes in progress, on async stores. `None` for the number in the access
    /// profile of the store.
    #[must_use]
    pub fn in_flight(mut self, requests: Option<usize>, bytes: Option<u64>) -> Self {
        (self.requests, self.bytes) = (requests, bytes);
        self
    }
}

impl Spawn for Pool {
    #[cfg(feature = "parallel")]
    fn all(&self, count: usize, run: &(dyn Fn(usize) -> bool + Sync)) {
        spread(count, 1, 1, run);
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

    fn limits(&self, profile: &AccessProfile) -> InFlightLimits {
        let limits = InFlightLimits::of(profile);
        limits.requests(self.requests.unwrap_or(limits.requests)).bytes_in_flight(self.bytes.unwrap_or(limits.bytes))
    }

    #[cfg(feature = "parallel")]
    fn with_workers<'t>(&self, body: &mut dyn FnMut(&dyn Workers<'t>)) {
        let threads = self.threads.as_ref().map(Threads::pool);
        match threads {
            Some(pool) => {
                // `body` need not be `Send`: it stays on this thread, as a scope in place does.
                pool.in_place_scope(|scope| body(&PoolWorkers { scope, threads }));
            }
            None => rayon::in_place_scope(|scope| body(&PoolWorkers { scope, threads })),
        }
    }
}

/// Threads of a pool within a rayon scope.
#[cfg(feature = "parallel")]
struct PoolWorkers<'s, 't> {
    scope: &'s rayon::Scope<'t>,
    /// Thread pool; `None` for the pool of the calling thread.
    threads: Option<&'s rayon::ThreadPool>,
}

#[cfg(feature = "parallel")]
impl<'t> Workers<'t> for PoolWorkers<'_, 't> {
    fn run(&self, task: Box<dyn FnOnce() + Send + 't>) {
        self.scope.spawn(|_| task());
    }

    fn count(&self) -> usize {
        self.threads.map_or_else(rayon::current_num_threads, rayon::ThreadPool::current_num_threads)
    }

    fn includes_this_thread(&self) -> bool {
        let index = match self.threads {
            Some(pool) => pool.current_thread_index(),
            None => rayon::current_thread_index(),
        };
        index.is_some()
    }
}

/// Returns whether the calling thread belongs to a pool, so that it must not wait for work of other threads: that work may need this thread.
#[must_use]
pub fn is_pool_thread() -> bool {
    #[cfg(feature = "parallel")]
    {
        rayon::current_thread_index().is_some()
    }
    #[cfg(not(feature = "parallel"))]
    false
}

/// Runs work of the pool to which the calling thread belongs, if there is any. Returns whether there was.
pub(crate) fn yield_to_pool() -> bool {
    #[cfg(feature = "parallel")]
    {
        matches!(rayon::yield_now(), Some(rayon::Yield::Executed))
    }
    #[cfg(not(feature = "parallel"))]
    false
}

/// Applies `each` to all `things`, and returns the results in the order of `things`. Uses several threads if there are many `things`.
pub fn map<T: Send, R: Send>(things: Vec<T>, each: impl Fn(T) -> R + Sync + Send) -> Vec<R> {
    #[cfg(feature = "parallel")]
    if things.len() >= 2 * SHARE {
        let things = slots(things);
        let done: Vec<Mutex<Option<R>>> = things.iter().map(|_| Mutex::new(None)).collect();
        spread(things.len(), SHARE, usize::MAX, &|number| {
            if let (Some(thing), Some(slot)) = (take(things.get(number)), done.get(number)) {
                *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(each(thing));
            }
            true
        });
        return done.iter().filter_map(|slot| take(Some(slot))).collect();
    }
    things.into_iter().map(each).collect()
}

/// Calls `each` with all `things` on several threads, one task for each thing: for calls that take long.
///
/// # Errors
/// The first error of `each`. Calls that were not started by then are skipped.
pub fn try_for_each<T: Send + Sync, E: Send>(
    things: &[T],
    each: impl Fn(&T) -> Result<(), E> + Sync + Send,
) -> Result<(), E> {
    #[cfg(feature = "parallel")]
    {
        try_each(things.len(), |number| things.get(number).map_or(Ok(()), &each))
    }
    #[cfg(not(feature = "parallel"))]
    things.iter().try_for_each(each)
}

/// Calls `each` with all numbers below `count` on the threads of the pool, one task for each number.
///
/// # Errors
/// The first error of `each`. Calls that were not started by then are skipped.
#[cfg(feature = "parallel")]
fn try_each<E: Send>(count: usize, each: impl Fn(usize) -> Result<(), E> + Sync) -> Result<(), E> {
    let failed = Mutex::new(None);
    spread(count, 1, 1, &|number| match each(number) {
        Ok(()) => true,
        Err(error) => {
            failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            false
        }
    });
    take(Some(&failed)).map_or(Ok(()), Err)
}

/// Calls `each` with the numbers below `count` on the threads of the pool until a call returns `false`. A task has from `least` to `most`
/// consecutive numbers.
///
/// All parallel work uses this function, so that the code of rayon is compiled once and not for each type of job.
#[cfg(feature = "parallel")]
fn spread(count: usize, least: usize, most: usize, each: &(dyn Fn(usize) -> bool + Sync)) {
    use rayon::prelude::*;
    let _: bool = (0..count).into_par_iter().with_min_len(least).with_max_len(most).all(each);
}

/// Wraps `things` in slots, from which threads take them.
#[cfg(feature = "parallel")]
fn slots<T>(things: Vec<T>) -> Vec<Mutex<Option<T>>> {
    things.into_iter().map(|thing| Mutex::new(Some(thing))).collect()
}

#[cfg(feature = "parallel")]
fn take<T>(slot: Option<&Mutex<Option<T>>>) -> Option<T> {
    slot?.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Runs a job that does not decode or encode, such as a listing of nodes or of the sizes of chunks.
///
/// # Errors
/// The errors of the job.
pub fn run_free<J: Job>(store: &dyn Store, job: J) -> Result<J::Output, J::Error> {
    run_on(&Pool::of_requests(), store, job)
}
