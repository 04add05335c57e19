//! Operations on stores, and the parts and requests that several of them have.

use crate::{Error, ErrorKind, Result};
use std::time::Duration;
use zarr_drive::{Io, Job, Script};
use zarr_meta::{MAX_CONSOLIDATED_SIZE, MAX_DOCUMENT_SIZE, consolidated};
use zarr_store::{ByteRange, Durability, Key, Lock, Precondition, Prefix, Request, SetOptions, backoff};

/// An operation on a store, with its options: an async function that asks for what it needs of the store.
pub trait Operation: Send + Sized {
    /// The result.
    type Output: Send;

    /// Does it, as a part of another operation.
    ///
    /// # Errors
    /// Why it cannot be done.
    fn run(self, io: &Io) -> impl Future<Output = Result<Self::Output>> + Send;

    /// The job that does it, for [`run`](zarr_drive::run) and [`run_async`](zarr_drive::run_async).
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

/// Makes changes in steps, one after another, as long as their conditions hold. Each is of requests that set and erase values and are made
/// at the same time.
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

/// The part of changes in steps that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// All changes were made.
    All,
    /// A condition did not hold, and later changes were not made.
    Conflict {
        /// Whether that was in the last step.
        in_last: bool,
    },
}

/// A reply is of another kind than the request, or there is none.
#[must_use]
pub fn unfit() -> Error {
    Error::internal("the driver answered another request")
}

/// Asks for a document. Of one that is too large to be parsed no more comes than shows that. Nor comes more of one with large consolidated
/// metadata, so that documents that only claim to be large take little memory: see [`is_cut_off`](consolidated::is_cut_off).
#[must_use]
pub fn get_document(key: Key) -> Request {
    Request::get_ranges(key, vec![DOCUMENT])
}

/// Asks for a document, with all consolidated metadata that it may have.
#[must_use]
pub fn get_whole_document(key: Key) -> Request {
    let range = document_range(key.as_str());
    Request::get_ranges(key, vec![range])
}

/// Replaces a document if `when` holds, the last of a change or one that others follow.
pub(crate) fn set_document(key: Key, value: Vec<u8>, when: Precondition, is_last: bool) -> Request {
    Request::Set { key, value, options: document_options(when, is_last) }
}

/// How documents are set: one that a loss of power cuts short would be the loss of a node, and the last of a change
/// shows the documents before it.
#[must_use]
pub fn document_options(when: Precondition, is_last: bool) -> SetOptions {
    SetOptions::when(when).durable(if is_last { Durability::File } else { Durability::Full })
}

/// The part of a document without consolidated metadata that is read.
const DOCUMENT: ByteRange = ByteRange::First(MAX_DOCUMENT_SIZE as u64 + 1);

/// The part of the document at `key` that is read.
#[must_use]
pub fn document_range(key: &str) -> ByteRange {
    let most = if consolidated::is_key(key) { MAX_CONSOLIDATED_SIZE } else { MAX_DOCUMENT_SIZE };
    ByteRange::First(most as u64 + 1)
}

/// Takes the lock of a prefix, as soon as no other has it.
#[derive(Debug)]
pub struct TakeLock {
    prefix: Prefix,
}

/// For so long another may have a lock that is waited for: an append of much data has it until all is written.
const LOCK_PATIENCE: Duration = Duration::from_secs(600);

impl TakeLock {
    /// For the lock of `prefix`.
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
