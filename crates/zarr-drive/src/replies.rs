//! Replies that drivers give.

use zarr_store::{Error, Reply, Result};

/// A failed precondition is a reply that a job can handle, not a failure of the store.
pub(crate) fn conflict(error: Error) -> Result<Reply> {
    if error.is_precondition() { Ok(Reply::Conflict) } else { Err(error) }
}

/// Checks the number of replies once for all jobs: a reply too few must not look like a missing value.
pub(crate) fn check_replies(found: usize, expected: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::Replies { found, expected }) }
}
