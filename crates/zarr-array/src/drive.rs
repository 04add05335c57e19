//! Verbs of several steps, written once for arrays over blocking stores and over stores that do not block.

use crate::core::ArrayCore;
use crate::{Error, Result, chunk_keys, execute, jobs};
use zarr_store::{AccessProfile, AsyncStore, Capabilities, Job, Store, run, run_async};

/// Runs the jobs of an array on its store.
pub(crate) trait Drive: Sync {
    /// Runs a job; errors name the array.
    fn run<J: Job<Error = Error>>(&self, core: &ArrayCore, job: J) -> impl Future<Output = Result<J::Output>> + Send;

    /// Runs a job that waits for others, on the thread of the caller: a waiting thread of the pool could be one that
    /// they need.
    fn wait<J: Job<Error = Error>>(&self, core: &ArrayCore, job: J) -> impl Future<Output = Result<J::Output>> + Send;

    /// The capabilities of the store.
    fn capabilities(&self) -> Capabilities;

    /// How values of the store are best read and written.
    fn access_profile(&self) -> AccessProfile;
}

/// On this thread: its futures are done when they are polled first, so that [`zarr_store::block_on`] never waits.
#[derive(Debug)]
pub(crate) struct Blocking<'s>(pub(crate) &'s dyn Store);

impl Drive for Blocking<'_> {
    fn run<J: Job<Error = Error>>(&self, core: &ArrayCore, job: J) -> impl Future<Output = Result<J::Output>> + Send {
        std::future::ready(execute::run(core, self.0, job).map_err(|error| core.locate(error)))
    }

    fn wait<J: Job<Error = Error>>(&self, core: &ArrayCore, job: J) -> impl Future<Output = Result<J::Output>> + Send {
        std::future::ready(run(self.0, job).map_err(|error| core.locate(error)))
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn access_profile(&self) -> AccessProfile {
        self.0.access_profile()
    }
}

/// On a store that does not block.
#[derive(Debug)]
pub(crate) struct Waiting<'s>(pub(crate) &'s dyn AsyncStore);

impl Drive for Waiting<'_> {
    async fn run<J: Job<Error = Error>>(&self, core: &ArrayCore, job: J) -> Result<J::Output> {
        run_async(self.0, job).await.map_err(|error| core.locate(error))
    }

    async fn wait<J: Job<Error = Error>>(&self, core: &ArrayCore, job: J) -> Result<J::Output> {
        self.run(core, job).await
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn access_profile(&self) -> AccessProfile {
        self.0.access_profile()
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
