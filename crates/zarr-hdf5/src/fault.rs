//! Errors of a file's contents.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hdf5_reader::error::Error as ReaderError;

/// Reason why an object, or a part of an object, is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal(String);

impl Refusal {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }

    pub(crate) fn within(self, name: &str) -> Self {
        Self(format!("{name:?}: {}", self.0))
    }

    pub(crate) fn and(self, more: &str) -> Self {
        Self(format!("{}; {more}", self.0))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Violation of the HDF5 format, or of a limit, as the source of an [`Error::Format`](zarr_store::Error::Format).
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Fault(String);

impl Fault {
    pub(crate) fn new(text: String) -> Self {
        Self(text)
    }
}

/// Calls `read`, a function of `hdf5_reader`, and converts its error, or its panic on hostile bytes, to a [`Refusal`].
///
/// In programs that abort on panic nothing is caught. Therefore bytes that are known to make the reader panic are refused before.
pub(crate) fn guarded<T>(read: impl FnOnce() -> Result<T, ReaderError>) -> Result<T, Refusal> {
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(result) => result.map_err(|error| Refusal::new(reason(&error))),
        Err(_) => Err(Refusal::new("the reader of HDF5 gave up on these bytes")),
    }
}

fn reason(error: &ReaderError) -> String {
    match error {
        ReaderError::UnsupportedLayoutClass(3) => "virtual data sets are not read".to_owned(),
        error => error.to_string(),
    }
}
