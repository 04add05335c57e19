//! Which state of a value.

use std::fmt;
use std::sync::Arc;

use crate::{Error, Key, Result};

/// Names one state of a value: two equal versions of a key are the same bytes.
///
/// The text is the store's own (a counter, an ETag, inode with time and length) and means nothing to others. It may be a hash of the
/// bytes, so that a value set again to the same bytes has the same version.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version(Arc<str>);

impl Version {
    /// The version a store writes as this text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(Arc::from(text))
    }

    /// The store's text.
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

/// The condition for setting a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Precondition {
    /// No condition: whatever is there is replaced.
    #[default]
    None,
    /// There is no such key.
    NotExists,
    /// The value there has this version.
    Version(Version),
}

impl Precondition {
    /// Compares with the version that is there, for a store that has it at hand; `None` if there is no such key.
    ///
    /// # Errors
    /// [`Error::Precondition`] if it does not hold.
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
