//! Who runs the jobs of arrays: the thread of the caller, or the future that it polls; and where the independent parts of a job run.

use crate::core::ArrayCore;
use crate::{Error, Result, chunk_keys, jobs};
use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::sync::Arc;
#[cfg(feature = "parallel")]
use zarr_drive::Threads;
use zarr_drive::{Job, Limits, Pool, Spawn, run, run_async, run_async_with, run_on};
use zarr_store::{AccessProfile, AsyncStore, Capabilities, Prefix, Store};

/// Runs the jobs of an array on its store.
pub(crate) trait Drive: Sync {
    /// A store with a prefix [pinned](Store::pin).
    type Pinned: Debug + Send + Sync;

    /// Runs a job; errors name the array.
    fn run<J: Job<Error = Error>>(&self, core: &ArrayCore, job: J) -> impl Future<Output = Result<J::Output>> + Send;

    /// As [`run`](Self::run), on the pinned store if there is one.
    fn run_pinned<J: Job<Error = Error>>(
        &self,
        pinned: Option<&Self::Pinned>,
        core: &ArrayCore,
        job: J,
    ) -> impl Future<Output = Result<J::Output>> + Send;

    /// The same store, with what lies under a prefix [pinned](Store::pin), where that can be.
    fn pin(&self, prefix: &Prefix) -> impl Future<Output = Result<Option<Self::Pinned>>> + Send;

    /// Whether what a store is pinned to still has its name.
    fn is_in_place(&self, pinned: &Self::Pinned) -> impl Future<Output = Result<bool>> + Send;

    /// Runs a job of no array. One that waits for others does so on the thread of the caller: a waiting thread of the pool could be one
    /// that they need.
    fn run_alone<J: Job<Error = Error>>(&self, job: J) -> impl Future<Output = Result<J::Output>> + Send;

    /// The capabilities of the store.
    fn capabilities(&self) -> Capabilities;

    /// How values of the store are best read and written.
    fn access_profile(&self) -> AccessProfile;

    /// Whether requests of one job are under way at the same time.
    fn overlaps(&self) -> bool;
}

/// On this thread: its futures are done when they are polled first.
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

/// On a store that does not block.
#[derive(Debug)]
pub(crate) struct Waiting<'s>(pub(crate) &'s dyn AsyncStore);

impl Drive for Waiting<'_> {
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

/// Finds out where chunks lie, where the metadata leaves it open, before new chunks are written.
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

/// Does work where an array's decoding runs.
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

/// Runs a job of an array on a blocking store.
pub(crate) fn run_on_pool<J: Job<Error = Error>>(core: &ArrayCore, store: &dyn Store, job: J) -> Result<J::Output> {
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
fn pool(core: &ArrayCore) -> Result<Pool> {
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
