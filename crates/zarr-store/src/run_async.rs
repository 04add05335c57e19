//! The driver of jobs that does not block.

use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use crate::fetched::check;
use crate::run::{GetPlan, check_replies, conflict};
use crate::{
    AsyncStore, AsyncStoreExt, BoxFuture, ByteRange, Fetched, GetOptions, Job, Key, Next, Reply, Request, Result,
};

/// Runs a job on a store. Requests run at the same time, and so do forked jobs: at most as many as the
/// [concurrency](crate::AccessProfile::concurrency) of the store.
///
/// # Errors
/// The job's own, and the store's.
pub async fn run_async<J: Job>(store: &dyn AsyncStore, job: J) -> Result<J::Output, J::Error> {
    run_async_with(store, job, store.access_profile().concurrency).await
}

/// As [`run_async`], with at most `at_once` requests under way at the same time, and forked jobs of each job.
///
/// # Errors
/// The job's own, and the store's.
pub(crate) async fn run_async_with<J: Job>(
    store: &dyn AsyncStore,
    job: J,
    at_once: usize,
) -> Result<J::Output, J::Error> {
    boxed(&Permits::new(at_once), store, job, at_once).await
}

/// On the heap, since a job forks jobs of its own type.
fn boxed<'a, J: Job + 'a>(
    permits: &'a Permits,
    store: &'a dyn AsyncStore,
    mut job: J,
    at_once: usize,
) -> BoxFuture<'a, Result<J::Output, J::Error>> {
    Box::pin(async move {
        let mut replies = Vec::new();
        loop {
            let next = job.step(&replies)?;
            replies.clear();
            match next {
                Next::Done(output) => return Ok(output),
                Next::Fork(jobs) => {
                    let jobs = jobs.into_iter().map(|job| boxed(permits, store, job, at_once));
                    all(jobs, at_once).await?;
                }
                // Requests run at the same time, so that none can borrow the job.
                Next::Ask(requests) | Next::FetchInto(requests) => {
                    let expected = requests.len();
                    let answers = requests.into_iter().map(|request| answer(permits, store, request));
                    replies = all(answers, at_once).await?;
                    check_replies(replies.len(), expected)?;
                }
            }
        }
    })
}

fn answer<'a>(permits: &'a Permits, store: &'a dyn AsyncStore, request: Request) -> BoxFuture<'a, Result<Reply>> {
    Box::pin(async move {
        let _permit = permits.take().await;
        Ok(match request {
            Request::Get { key, ranges, options } => {
                get(store, &key, &ranges, &options).await.map(Reply::Got).or_else(conflict)?
            }
            Request::Set { key, value, options } => {
                store.set(&key, value.into(), &options).await.map(|_| Reply::Set).or_else(conflict)?
            }
            Request::Erase { key } => {
                store.erase(&key).await?;
                Reply::Erased
            }
            Request::ErasePrefix { prefix } => {
                store.erase_prefix(&prefix).await?;
                Reply::Erased
            }
            Request::RenamePrefix { from, to } => Reply::Renamed(store.rename_prefix(&from, &to).await?),
            Request::Lock { prefix } => Reply::Locked(store.try_lock(&prefix).await?),
            Request::Barrier => {
                store.barrier().await?;
                Reply::Barrier
            }
            Request::Pause { duration } => {
                store.pause(duration).await;
                Reply::Paused
            }
            Request::List { prefix } => Reply::Listing(store.list_dir(&prefix).await?),
            Request::ListAll { prefix } => Reply::Keys(store.list_prefix(&prefix).await?),
            Request::Size { key } => Reply::Size(store.size(&key).await?),
        })
    })
}

/// How many more requests of a run may be under way, of all its jobs together.
struct Permits(Mutex<Free>);

struct Free {
    count: usize,
    /// Wakes the run: one future polls all that wait.
    waiting: Option<Waker>,
}

impl Permits {
    fn new(count: usize) -> Self {
        Self(Mutex::new(Free { count: count.max(1), waiting: None }))
    }

    fn free(&self) -> MutexGuard<'_, Free> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a permit.
    async fn take(&self) -> Permit<'_> {
        poll_fn(|context| {
            let mut free = self.free();
            match free.count.checked_sub(1) {
                Some(left) => {
                    free.count = left;
                    Poll::Ready(Permit(self))
                }
                None => {
                    free.waiting = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}

struct Permit<'a>(&'a Permits);

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let mut free = self.0.free();
        free.count += 1;
        let woken = free.waiting.take();
        drop(free);
        woken.into_iter().for_each(Waker::wake);
    }
}

/// A get with its ranges merged as the profile of the store allows, cut back into the requested ranges.
async fn get(store: &dyn AsyncStore, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
    let Some(plan) = GetPlan::new(ranges, &store.access_profile()) else {
        let fetched = store.get(key, ranges, options).await?;
        return check(&store, key, fetched, ranges.len());
    };
    let fetched = store.get(key, &plan.ranges, options).await.map_err(|error| plan.blame(error, ranges))?;
    plan.cut(&store, key, fetched)
}

/// Waits for all, with at most `at_once` under way, and returns their results in order. The first failure cancels the others.
///
/// All that are under way are polled whenever one wakes: their number is small, and a poll of one that waits is cheap.
pub(crate) async fn all<'a, T, E>(
    mut futures: impl Iterator<Item = BoxFuture<'a, Result<T, E>>>,
    at_once: usize,
) -> Result<Vec<T>, E> {
    let mut done: Vec<Option<T>> = Vec::new();
    let mut under_way: Vec<(usize, BoxFuture<'a, Result<T, E>>)> = Vec::new();
    poll_fn(|context| {
        let mut i = 0;
        loop {
            // A future that was just started is polled in this round as well, or it would never be woken.
            while under_way.len() < at_once.max(1) {
                let Some(future) = futures.next() else { break };
                under_way.push((done.len(), future));
                done.push(None);
            }
            let Some((at, future)) = under_way.get_mut(i) else { break };
            match future.as_mut().poll(context) {
                Poll::Pending => i += 1,
                Poll::Ready(Ok(value)) => {
                    done[*at] = Some(value);
                    // The last future moves to this index and is polled next; it is new or was not polled yet in this round.
                    drop(under_way.swap_remove(i));
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            }
        }
        if under_way.is_empty() { Poll::Ready(Ok(())) } else { Poll::Pending }
    })
    .await?;
    Ok(done.into_iter().flatten().collect())
}
