//! Versions of values, and preconditions of sets.

use std::fmt;
use std::sync::Arc;

use crate::{Error, Key, Result};

/// Version of a value: equal versions of one key mean equal bytes.
///
/// The string is chosen by the store (a counter, an ETag, inode with time and length) and means nothing to others. It may be a hash of the
/// bytes, so that setting equal bytes again gives the same version.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version(Arc<str>);

impl Version {
    /// Returns the version that the store writes as `text`.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(Arc::from(text))
    }

    /// Returns the string of the store.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Condition for setting a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Precondition {
    /// No condition: any value is replaced.
    #[default]
    None,
    /// The key must not exist.
    NotExists,
    /// The value must have this version.
    Version(Version),
}

impl Precondition {
    /// Compares the precondition with the version of the stored value; `None` if the key does not exist. For stores that have the version
    /// at hand.
    ///
    /// # Errors
    /// [`Error::Precondition`] if the precondition does not hold.
    pub fn check(&self, store: &dyn fmt::Display, key: &Key, found: Option<&Version>) -> Result<()> {
        let holds = match self {
            Self::None => true,
            Self::NotExists => found.is_none(),
            Self::Version(version) => found == Some(version),
        };
        let failed = || Error::Precondition {
            store: store.to_string(),
            key: key.clone(),
            expected: self.clone(),
            found: found.cloned(),
        };
        if holds { Ok(()) } else { Err(failed()) }
    }
}

impl fmt::Display for Precondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("anything"),
            Self::NotExists => f.write_str("no value"),
            Self::Version(version) => write!(f, "version {version}"),
        }
    }
}
