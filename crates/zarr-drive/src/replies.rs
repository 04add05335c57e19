//! Functions of all drivers for replies.

use zarr_store::{Error, Reply, Result};

/// Converts the error of a failed precondition to [`Reply::Conflict`], which the job handles; returns other errors.
pub(crate) fn conflict(error: Error) -> Result<Reply> {
    if error.is_precondition() { Ok(Reply::Conflict) } else { Err(error) }
}

/// Fails unless the number of replies equals the number of requests: a job must not take a lost reply for a missing value.
pub(crate) fn check_replies(found: usize, expected: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::Replies { found, expected }) }
}
