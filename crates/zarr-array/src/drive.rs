//! Drivers of the jobs of arrays, in the thread of the caller or in the future that it polls, and the pools on which the independent parts
//! of a job run.

use crate::cache::Claimed;
use crate::core::ArrayCore;
use crate::{Error, Result, chunk_keys, jobs};
use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::sync::Arc;
#[cfg(feature = "parallel")]
use zarr_drive::Threads;
use zarr_drive::{InFlightLimits, Job, Pool, Spawn, is_pool_thread, run, run_async, run_async_with, run_on};
use zarr_grid::ChunkIndex;
use zarr_store::{AccessProfile, AsyncStore, AsyncStoreExt, Capabilities, Prefix, Store, StoreExt};

/// Driver that runs the jobs of an array on its store.
pub(crate) trait Drive: Sync {
    /// Store with a [pinned](zarr_store::StoreExt::pin) prefix.
    type Pinned: Debug + Send + Sync;

    /// Runs a job on the store. Errors name the array.
    fn run<J: Job<Error = Error>>(&self, core: &ArrayCore, job: J) -> impl Future<Output = Result<J::Output>> + Send;

    /// Runs a job on the store `pinned`, or on the store of the driver if `None`. Errors name the array.
    fn run_pinned<J: Job<Error = Error>>(
        &self,
        pinned: Option<&Self::Pinned>,
        core: &ArrayCore,
        job: J,
    ) -> impl Future<Output = Result<J::Output>> + Send;

    /// Returns the store with `prefix` [pinned](zarr_store::StoreExt::pin); `None` if the store cannot pin prefixes.
    fn pin(&self, prefix: &Prefix) -> impl Future<Output = Result<Option<Self::Pinned>>> + Send;

    /// Returns whether the pinned prefix is still found under its name: not moved, replaced or erased.
    fn is_in_place(&self, pinned: &Self::Pinned) -> impl Future<Output = Result<bool>> + Send;

    /// Runs a job without an array, on the thread of the caller. A job that waits for other jobs must not block a thread of the pool that
    /// these jobs may need.
    fn run_alone<J: Job<Error = Error>>(&self, job: J) -> impl Future<Output = Result<J::Output>> + Send;

    /// Waits until other reads have dropped their claims to chunks, or the claims no longer count. Returns `false` if the system refuses the
    /// thread that the wait needs.
    fn wait(&self, awaited: &[(ChunkIndex, Arc<Claimed>)]) -> impl Future<Output = bool> + Send;

    /// Whether [`wait`](Self::wait) may be called. A thread of a pool must not wait: the read for which it waits may go on only on this
    /// thread.
    fn may_wait(&self) -> bool;

    /// Capabilities of the store.
    fn capabilities(&self) -> Capabilities;

    /// Access profile of the store: how its values are best read and written.
    fn access_profile(&self) -> AccessProfile;

    /// Whether several requests of one job run at the same time.
    fn overlaps(&self) -> bool;
}

/// Driver for a blocking store, on the current thread. Its futures are ready when they are first polled.
#[derive(Debug)]
pub(crate) struct Blocking<'s>(pub(crate) &'s dyn Store);

impl Drive for Blocking<'_> {
    type Pinned = Arc<dyn Store>;

    fn run<J: Job<Error = Error>>(&self, core: &ArrayCore, job: J) -> impl Future<Output = Result<J::Output>> + Send {
        self.run_pinned(None, core, job)
    }

    fn run_pinned<J: Job<Error = Error>>(
        &self,
        pinned: Option<&Arc<dyn Store>>,
        core: &ArrayCore,
        job: J,
    ) -> impl Future<Output = Result<J::Output>> + Send {
        let store = pinned.map_or(self.0, |pinned| &**pinned);
        std::future::ready(run_on_pool(core, store, job).map_err(|error| core.locate(error)))
    }

    fn pin(&self, prefix: &Prefix) -> impl Future<Output = Result<Option<Arc<dyn Store>>>> + Send {
        std::future::ready(self.0.pin(prefix).map_err(Error::from))
    }

    fn is_in_place(&self, pinned: &Arc<dyn Store>) -> impl Future<Output = Result<bool>> + Send {
        std::future::ready(pinned.is_in_place().map_err(Error::from))
    }

    fn run_alone<J: Job<Error = Error>>(&self, job: J) -> impl Future<Output = Result<J::Output>> + Send {
        std::future::ready(run(self.0, job))
    }

    fn wait(&self, awaited: &[(ChunkIndex, Arc<Claimed>)]) -> impl Future<Output = bool> + Send {
        awaited.iter().for_each(|(_, other)| other.wait());
        std::future::ready(true)
    }

    fn may_wait(&self) -> bool {
        !is_pool_thread()
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn access_profile(&self) -> AccessProfile {
        self.0.access_profile()
    }

    fn overlaps(&self) -> bool {
        self.0.as_async().is_some()
    }
}

/// Driver for an async store.
#[derive(Debug)]
pub(crate) struct Awaiting<'s>(pub(crate) &'s dyn AsyncStore);

impl Drive for Awaiting<'_> {
    type Pinned = Arc<dyn AsyncStore>;

    fn run<J: Job<Error = Error>>(&self, core: &ArrayCore, job: J) -> impl Future<Output = Result<J::Output>> + Send {
        self.run_pinned(None, core, job)
    }

    async fn run_pinned<J: Job<Error = Error>>(
        &self,
        pinned: Option<&Arc<dyn AsyncStore>>,
        core: &ArrayCore,
        job: J,
    ) -> Result<J::Output> {
        let store = pinned.map_or(self.0, |pinned| &**pinned);
        let limits = limits(core, &store.access_profile());
        run_async_with(store, job, limits).await.map_err(|error| core.locate(error))
    }

    async fn pin(&self, prefix: &Prefix) -> Result<Option<Arc<dyn AsyncStore>>> {
        Ok(self.0.pin(prefix).await?)
    }

    async fn is_in_place(&self, pinned: &Arc<dyn AsyncStore>) -> Result<bool> {
        Ok(pinned.is_in_place().await?)
    }

    async fn run_alone<J: Job<Error = Error>>(&self, job: J) -> Result<J::Output> {
        run_async(self.0, job).await
    }

    async fn wait(&self, awaited: &[(ChunkIndex, Arc<Claimed>)]) -> bool {
        for (_, other) in awaited {
            if !other.ended().await {
                return false;
            }
        }
        true
    }

    fn may_wait(&self) -> bool {
        true
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn access_profile(&self) -> AccessProfile {
        self.0.access_profile()
    }

    fn overlaps(&self) -> bool {
        true
    }
}

/// Finds the location of the chunks by listing, if the metadata leaves it open, before new chunks are written.
pub(crate) async fn find_chunk_location<D: Drive>(drive: &D, core: &ArrayCore) -> Result<()> {
    if !drive.capabilities().list {
        return Ok(());
    }
    for prefix in chunk_keys::possible_prefixes(core) {
        let listing = drive.run(core, jobs::list(&prefix)?).await?;
        chunk_keys::note_listed(core, &prefix, &listing);
    }
    Ok(())
}

/// Calls `work` on the threads that decode the array.
///
/// # Errors
/// If the system has no threads for it.
pub(crate) fn within<T: Send>(core: &ArrayCore, work: impl FnOnce() -> T + Send) -> Result<T> {
    #[cfg(feature = "parallel")]
    if let Some(threads) = core.threads()? {
        return threads.run(work).ok_or_else(|| Error::internal("a pool of threads did not work"));
    }
    let _ = core;
    Ok(work())
}

/// Runs a job of an array on a blocking store, with the array's pool for parallel parts.
pub(crate) fn run_on_pool<J: Job<Error = Error>>(core: &ArrayCore, store: &dyn Store, job: J) -> Result<J::Output> {
    let pool = pool(core)?;
    // A thread that waits for requests is none of those that decode.
    if store.as_async().is_some() {
        return run_on(&pool, store, job);
    }
    within(core, || run_on(&pool, store, job))?
}

/// Limits on the requests and bytes in flight of one operation on an array, on a store with `profile`.
pub(crate) fn limits(core: &ArrayCore, profile: &AccessProfile) -> InFlightLimits {
    in_flight(core, Pool::default()).limits(profile)
}

/// Number of threads that decode and encode for an array.
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

/// Pool on which the forked jobs of an array run.
fn pool(core: &ArrayCore) -> Result<Pool> {
    let pool = in_flight(core, Pool::of_forks());
    #[cfg(feature = "parallel")]
    let pool = pool.of_threads(core.threads()?.cloned());
    Ok(pool)
}

/// Bounds `pool` by the requests and bytes in flight that the options of the array allow.
fn in_flight(core: &ArrayCore, pool: Pool) -> Pool {
    let options = &core.options;
    pool.in_flight(options.requests_in_flight.map(NonZeroUsize::get), options.bytes_in_flight)
}
