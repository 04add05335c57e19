//! Faults in a file.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hdf5_reader::error::Error as ReaderError;

/// The reason why an object, or a part of it, is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal(String);

impl Refusal {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }

    pub(crate) fn within(self, name: &str) -> Self {
        Self(format!("{name:?}: {}", self.0))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The bytes of a file break its format.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Fault(String);

impl Fault {
    pub(crate) fn new(text: String) -> Self {
        Self(text)
    }
}

/// The result of a function of the reader, which hostile bytes may make panic.
///
/// Where a program is built so that a panic aborts it, nothing is caught. What is known to make the reader panic is therefore refused
/// before.
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
