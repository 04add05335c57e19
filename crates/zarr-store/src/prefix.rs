//! Prefixes: the beginning that the keys of a directory share.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::{Error, Key, KeyFault};

/// Beginning of keys up to and including a `/`; or the empty root prefix, under which all keys are.
///
/// # Example
/// ```
/// # use zarr_store::Prefix;
/// let array = Prefix::new("g/a/")?;
/// assert_eq!(array.join("c/0/0")?.as_str(), "g/a/c/0/0");
/// assert!(Prefix::root().contains(&array.join("zarr.json")?));
/// # Ok::<(), zarr_store::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix(Arc<str>);

impl Prefix {
    /// Returns the prefix of all keys: the empty string.
    #[must_use]
    pub fn root() -> Self {
        Self(Arc::from(""))
    }

    /// Parses `text`, which must be empty or a key followed by `/`, as a prefix.
    ///
    /// # Errors
    /// [`Error::InvalidPrefix`] if `text` is no prefix, with the reason.
    pub fn new(text: &str) -> Result<Self, Error> {
        let fault = match text.strip_suffix('/') {
            None if text.is_empty() => None,
            None => Some(KeyFault::NoSlash),
            Some("") => Some(KeyFault::Absolute),
            Some(key) => Key::fault(key),
        };
        match fault {
            None => Ok(Self(Arc::from(text))),
            Some(fault) => Err(Error::InvalidPrefix { text: text.to_owned(), fault }),
        }
    }

    /// Returns a prefix from a string that is known to be valid.
    pub(crate) fn trusted(text: &str) -> Self {
        debug_assert!(Self::new(text).is_ok(), "{text:?}");
        Self(Arc::from(text))
    }

    /// Returns the prefix as a string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the empty prefix, under which all keys are.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the key `rest` under this prefix.
    ///
    /// # Errors
    /// [`Error::InvalidKey`] if `rest` is no key.
    pub fn join(&self, rest: &str) -> Result<Key, Error> {
        if self.is_root() {
            return Key::new(rest);
        }
        match Key::fault(rest) {
            Some(fault) => Err(Error::InvalidKey { text: rest.to_owned(), fault }),
            None => Ok(Key::trusted([&*self.0, rest].concat())),
        }
    }

    /// Returns the prefix `rest` under this prefix.
    #[must_use]
    pub fn join_prefix(&self, rest: &Prefix) -> Prefix {
        if self.is_root() {
            return rest.clone();
        }
        Self::trusted(&format!("{}{}", self.0, rest.0))
    }

    /// Whether `key` is under this prefix, at any depth.
    #[must_use]
    pub fn contains(&self, key: &Key) -> bool {
        self.strip(key).is_some()
    }

    /// Returns the part of `key` behind this prefix; `None` if `key` is not under it.
    #[must_use]
    pub fn strip<'k>(&self, key: &'k Key) -> Option<&'k str> {
        key.as_str().strip_prefix(&*self.0)
    }

    /// Returns the last segment without its `/`; `None` for the root.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        let text = self.0.strip_suffix('/')?;
        Some(text.rsplit_once('/').map_or(text, |(_, name)| name))
    }
}

impl fmt::Debug for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for Prefix {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::new(text)
    }
}

impl AsRef<str> for Prefix {
    fn as_ref(&self) -> &str {
        &self.0
    }
}
