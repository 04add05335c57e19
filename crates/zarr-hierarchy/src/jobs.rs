//! Operations on stores, and requests that several operations share.

use crate::{Error, ErrorKind, Result};
use std::time::Duration;
use zarr_drive::{Io, Job, Script};
use zarr_meta::{MAX_CONSOLIDATED_SIZE, MAX_DOCUMENT_SIZE, consolidated};
use zarr_store::{ByteRange, Durability, Key, Lock, Precondition, Prefix, Request, SetOptions, backoff};

/// Operation on a store, with its options: an async function whose only I/O are requests to an [`Io`].
pub trait Operation: Send + Sized {
    /// Result of the operation.
    type Output: Send;

    /// Runs the operation as a part of another operation.
    ///
    /// # Errors
    /// Reason why the operation failed.
    fn run(self, io: &Io) -> impl Future<Output = Result<Self::Output>> + Send;

    /// Returns the job that runs the operation, for [`run`](zarr_drive::run) and [`run_async`](zarr_drive::run_async).
    fn job<'a>(self) -> Script<'a, Self::Output, Error>
    where
        Self: 'a,
    {
        Script::new(|io| async move { self.run(&io).await }).named(std::any::type_name::<Self>())
    }
}

impl<J: Job<Error = Error>> Operation for J {
    type Output = J::Output;

    async fn run(self, io: &Io) -> Result<J::Output> {
        io.job(self).await
    }
}

/// Makes changes in steps, one after another, until a condition does not hold. A step consists of requests that set and erase values, and
/// that are made at the same time.
///
/// # Errors
/// [`ErrorKind::Internal`] if the driver answers other requests.
pub async fn in_steps(io: &Io, steps: Vec<Vec<Request>>) -> Result<Made> {
    let last = steps.iter().rposition(|step| !step.is_empty());
    for (number, step) in steps.into_iter().enumerate() {
        if !io.change(step).await? {
            return Ok(Made::Conflict { in_last: Some(number) == last });
        }
    }
    Ok(Made::All)
}

/// Result of [`in_steps`]: whether all changes were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// All changes were made.
    All,
    /// A condition did not hold, and later steps were not made.
    Conflict {
        /// Whether the condition was one of the last step.
        in_last: bool,
    },
}

/// Returns the error for a reply that is missing or of another kind than its request.
#[must_use]
pub fn unfit() -> Error {
    Error::internal("the driver answered another request")
}

/// Returns the request for the document at `key`. Documents above the size limit, and documents with large consolidated metadata, are
/// truncated: see [`is_cut_off`](consolidated::is_cut_off). So a document that is too large takes little memory.
#[must_use]
pub fn get_document(key: Key) -> Request {
    Request::get_ranges(key, vec![DOCUMENT])
}

/// Returns the request for the document at `key`, including all its consolidated metadata.
#[must_use]
pub fn get_whole_document(key: Key) -> Request {
    let range = document_range(key.as_str());
    Request::get_ranges(key, vec![range])
}

/// Returns the request that sets a document if `when` holds. `is_last`: no other document of the same change is set after this one.
pub(crate) fn set_document(key: Key, value: Vec<u8>, when: Precondition, is_last: bool) -> Request {
    Request::Set { key, value, options: document_options(when, is_last) }
}

/// Returns the options for setting a document: a document must not be truncated by a loss of power, and the last document of a change must
/// not appear before the other documents.
#[must_use]
pub fn document_options(when: Precondition, is_last: bool) -> SetOptions {
    SetOptions::when(when).durable(if is_last { Durability::File } else { Durability::Full })
}

/// Range of a document that is read if large consolidated metadata is not needed.
const DOCUMENT: ByteRange = ByteRange::First(MAX_DOCUMENT_SIZE as u64 + 1);

/// Returns the range of the document at `key` that is read, including consolidated metadata.
#[must_use]
pub fn document_range(key: &str) -> ByteRange {
    let most = if consolidated::is_key(key) { MAX_CONSOLIDATED_SIZE } else { MAX_DOCUMENT_SIZE };
    ByteRange::First(most as u64 + 1)
}

/// Takes the lock of a prefix; waits while another writer has it.
#[derive(Debug)]
pub struct TakeLock {
    prefix: Prefix,
}

/// Maximum time to wait for the lock of another writer. An append of much data holds the lock until all data is written.
const LOCK_PATIENCE: Duration = Duration::from_secs(600);

impl TakeLock {
    /// Takes the lock of `prefix`.
    #[must_use]
    pub fn new(prefix: Prefix) -> Self {
        Self { prefix }
    }
}

impl Operation for TakeLock {
    type Output = Lock;

    async fn run(self, io: &Io) -> Result<Lock> {
        let (mut tries, mut waited) = (0_u32, Duration::ZERO);
        loop {
            if let Some(lock) = io.lock(self.prefix.clone()).await? {
                return Ok(lock);
            }
            if waited > LOCK_PATIENCE {
                let seconds = LOCK_PATIENCE.as_secs();
                let message = format!("another writer has held the lock of this directory for {seconds} s");
                let error = Error::new(ErrorKind::Conflict, message).at(|at| at.key = Some(self.prefix.to_string()));
                return Err(error.with_hint("wait until it is done, and then repeat the change"));
            }
            tries = tries.saturating_add(1);
            let duration = backoff(tries);
            waited = waited.saturating_add(duration);
            io.pause(duration).await?;
        }
    }
}

#[cfg(test)]
mod tests;
