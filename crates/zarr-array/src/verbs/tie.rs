//! Tie of an opened array to the node from which it was opened, even if others move or replace its path. During each operation the node's
//! directory is pinned if the store can do that, and its document is looked at.
//!
//! A read looks at its end, in the directory from which its chunks are read. So document and chunks belong to one node, even if others
//! exchanged it meanwhile. A change looks before it begins, so that nothing is written in the layout of another array, and at its end by
//! the path, so that elements written to a node that is gone do not count as written. In a store that cannot pin a directory, others may
//! exchange the node in between; the look at the end notices that.
//!
//! In a store whose requests take long, a look is left out if there was one a short time before: small reads and writes, one after another,
//! cost no second request each.

use crate::cache::Claimed;
use crate::core::ArrayCore;
use crate::drive::Drive;
use crate::verbs::Verbs;
use crate::{Error, ErrorKind, Result};
use std::sync::Arc;
use std::time::{Duration, Instant};
use zarr_drive::Job;
use zarr_grid::ChunkIndex;
use zarr_hierarchy::node::{StillThere, gone};
use zarr_store::{AccessProfile, Capabilities, Key, Prefix, StoreKind};

/// Default of [`Options::look_interval`](crate::Options::look_interval), for stores whose requests take long.
const OLD: Duration = Duration::from_secs(1);

impl ArrayCore {
    /// Key of the document that operations look at; `None` if they never look.
    pub(crate) fn looked_at(&self) -> Result<Option<Key>> {
        Ok(self.look()?.map(|look| look.key().clone()))
    }

    fn look(&self) -> Result<Option<StillThere<'_>>> {
        if self.options.trust_missing { Ok(None) } else { StillThere::new(&self.found) }
    }
}

impl<D: Drive> Verbs<'_, D> {
    /// Pins the directory of the array for one operation; `None` if it cannot be pinned.
    pub(super) async fn hold(&self) -> Result<Option<D::Pinned>> {
        hold(&self.drive, self.core).await
    }

    /// Ends an operation that read from the store. Returns its result, or an error if the array is no longer in the store as it was opened.
    /// `is_missing` says that something was not found, perhaps because the array is gone.
    pub(super) async fn end<T>(&self, pinned: Option<&D::Pinned>, done: Result<T>, is_missing: bool) -> Result<T> {
        let is_due = match &done {
            Ok(_) => is_missing || self.is_due(),
            Err(error) => self.may_be_of_another(error),
        };
        if is_due { decide(done, self.look_at(pinned).await) } else { done }
    }

    /// Runs a job that changes chunks of the array, and checks before and after it that the array is still in the store as it was opened.
    pub(crate) async fn change<J: Job<Output = (), Error = Error>>(&self, job: J) -> Result<()> {
        let pinned = self.hold().await?;
        if self.is_due() {
            self.look_at(pinned.as_ref()).await?;
        }
        self.find_chunk_location().await?;
        let done = self.drive.run_pinned(pinned.as_ref(), self.core, job).await;
        let is_due = match &done {
            Ok(()) => self.is_due(),
            Err(error) => self.may_be_of_another(error),
        };
        if !is_due {
            return done;
        }
        let looked = match (self.look_at(None).await, &pinned) {
            (Ok(()), Some(pinned)) => {
                check_in_place(&self.drive, pinned, self.core, "another array with the same metadata is there now")
                    .await
            }
            (looked, _) => looked,
        };
        decide(done, looked)
    }

    /// Whether a look at the document is due: always in a fast store, else if the last look is too old.
    fn is_due(&self) -> bool {
        let core = self.core;
        !self.is_remote() || core.seen.is_older_than(core.options.look_interval.unwrap_or(OLD))
    }

    fn is_remote(&self) -> bool {
        self.drive.access_profile().kind == StoreKind::Remote
    }

    /// Whether an error may come from chunks of another array, so that a look at the document would tell the cause. Not if a remote store
    /// fails, since another request would only take time.
    fn may_be_of_another(&self, error: &Error) -> bool {
        match error.kind() {
            ErrorKind::Argument | ErrorKind::Cancelled | ErrorKind::Internal => false,
            ErrorKind::Store => !self.is_remote(),
            _ => true,
        }
    }

    /// Looks at the document of the array; an error if it is gone or belongs to another array.
    async fn look_at(&self, pinned: Option<&D::Pinned>) -> Result<()> {
        let Some(look) = self.core.look()? else { return Ok(()) };
        // Elsewhere each operation looks.
        let begun = self.is_remote().then(Instant::now);
        self.drive.run_pinned(pinned, self.core, look).await?;
        begun.into_iter().for_each(|begun| self.core.seen.set(begun));
        Ok(())
    }
}

/// Driver with the directory of an array pinned, if possible, for changes that read and set the document as well as chunks.
#[derive(Debug)]
pub(crate) struct Held<'d, D: Drive> {
    drive: &'d D,
    pinned: Option<D::Pinned>,
}

impl<'d, D: Drive> Held<'d, D> {
    pub(crate) async fn new(drive: &'d D, core: &ArrayCore) -> Result<Self> {
        Ok(Self { drive, pinned: hold(drive, core).await? })
    }

    /// Returns the result of the change, or an error if the pinned directory is no longer at the path of the array.
    pub(crate) async fn end<T>(&self, core: &ArrayCore, done: Result<T>) -> Result<T> {
        if let Some(pinned) = &self.pinned {
            check_in_place(self.drive, pinned, core, "the array is not there any more").await?;
        }
        done
    }
}

impl<D: Drive> Drive for Held<'_, D> {
    type Pinned = D::Pinned;

    fn run<J: Job<Error = Error>>(&self, core: &ArrayCore, job: J) -> impl Future<Output = Result<J::Output>> + Send {
        self.drive.run_pinned(self.pinned.as_ref(), core, job)
    }

    async fn run_pinned<J: Job<Error = Error>>(
        &self,
        pinned: Option<&D::Pinned>,
        core: &ArrayCore,
        job: J,
    ) -> Result<J::Output> {
        self.drive.run_pinned(pinned.or(self.pinned.as_ref()), core, job).await
    }

    async fn pin(&self, _prefix: &Prefix) -> Result<Option<D::Pinned>> {
        Ok(None)
    }

    fn is_in_place(&self, pinned: &D::Pinned) -> impl Future<Output = Result<bool>> + Send {
        self.drive.is_in_place(pinned)
    }

    fn run_alone<J: Job<Error = Error>>(&self, job: J) -> impl Future<Output = Result<J::Output>> + Send {
        self.drive.run_alone(job)
    }

    fn wait(&self, awaited: &[(ChunkIndex, Arc<Claimed>)]) -> impl Future<Output = bool> + Send {
        self.drive.wait(awaited)
    }

    fn may_wait(&self) -> bool {
        self.drive.may_wait()
    }

    fn capabilities(&self) -> Capabilities {
        self.drive.capabilities()
    }

    fn access_profile(&self) -> AccessProfile {
        self.drive.access_profile()
    }

    fn overlaps(&self) -> bool {
        self.drive.overlaps()
    }
}

/// Pins the directory of an array. `None` if it cannot be pinned, or if the options trust that the array stays.
async fn hold<D: Drive>(drive: &D, core: &ArrayCore) -> Result<Option<D::Pinned>> {
    match core.pin_prefix.as_ref().filter(|_| !core.options.trust_missing) {
        Some(prefix) => drive.pin(prefix).await.map_err(|error| core.locate(error)),
        None => Ok(None),
    }
}

/// Checks that the pinned directory is still at the path of the array. `now` is the message of the error.
async fn check_in_place<D: Drive>(drive: &D, pinned: &D::Pinned, core: &ArrayCore, now: &str) -> Result<()> {
    match drive.is_in_place(pinned).await {
        Ok(true) => Ok(()),
        Ok(false) => Err(core.locate(gone(&core.found, now))),
        Err(error) => Err(core.locate(error)),
    }
}

/// Returns the result of an operation after a look at the document. If the array is gone, this error replaces any other error of the
/// operation.
fn decide<T>(done: Result<T>, looked: Result<()>) -> Result<T> {
    match looked {
        Err(error) if done.is_ok() || error.kind() == ErrorKind::NotFound => Err(error),
        _ => done,
    }
}

#[cfg(test)]
mod tests;
