//! Options of stores that are opened by address.

use std::fmt;
use std::str::FromStr;

use zarr_store::{Error, Result};

use super::StoreAddress;
use super::words::list;

/// Names of the options of stores in directories.
#[cfg(feature = "filesystem")]
pub(super) const DIRECTORY_OPTIONS: &[&str] = &["durability", "locks", "sync_on_request"];

/// Options of a store that is opened by its address: names with string values. The [`Scheme`](super::Scheme) of the address determines
/// which names are valid; any other name is an error that lists the valid names.
///
/// `Debug` shows only the names, since values may be secrets.
///
/// ```
/// use zarr::store::StoreOptions;
/// let options: StoreOptions = "busy_timeout=5".parse()?;
/// let options = options.set("journal", "wal");
/// assert_eq!(options.get("journal"), Some("wal"));
/// # Ok::<(), zarr::store::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct StoreOptions(Vec<(String, String)>);

impl StoreOptions {
    /// Returns empty options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets an option, which replaces an option of the same name.
    #[must_use]
    pub fn set(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let name = name.into();
        self.0.retain(|(other, _)| *other != name);
        self.0.push((name, value.into()));
        self
    }

    /// Returns the value of the option `name`; `None` if it is not set.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// Returns all names and values, in the order in which they were set.
    #[must_use]
    pub fn pairs(&self) -> &[(String, String)] {
        &self.0
    }

    /// Whether there are no options.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the options whose names `keep` accepts.
    #[must_use]
    pub fn filter(&self, keep: impl Fn(&str) -> bool) -> Self {
        Self(self.0.iter().filter(|(name, _)| keep(name)).cloned().collect())
    }

    /// Returns the value in the table `words` for the word that the option `name` has; `None` if the option is not set.
    ///
    /// # Errors
    /// [`Error::Argument`] if the option has a word that is not in the table.
    pub fn word<T: Copy>(&self, address: &StoreAddress, name: &str, words: &[(&str, T)]) -> Result<Option<T>> {
        self.parse(address, name, &list(&words.iter().map(|(word, _)| *word).collect::<Vec<_>>()), |text| {
            words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value)
        })
    }

    /// Returns the option `name` as a bool; `None` if it is not set.
    ///
    /// # Errors
    /// [`Error::Argument`] if the option is neither `true` nor `false`.
    pub fn bool(&self, address: &StoreAddress, name: &str) -> Result<Option<bool>> {
        self.word(address, name, &[("true", true), ("false", false)])
    }

    /// Parses the option `name` by `parse`; `None` if the option is not set. `expected` describes valid values in errors, which do not show
    /// the given value.
    ///
    /// # Errors
    /// [`Error::Argument`] if `parse` returns `None`.
    pub fn parse<T>(
        &self,
        address: &StoreAddress,
        name: &str,
        expected: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>> {
        let Some(text) = self.get(name) else { return Ok(None) };
        match parse(text) {
            Some(value) => Ok(Some(value)),
            None => Err(address.refuse(format!("option {name}: expected {expected}"))),
        }
    }
}

impl fmt::Debug for StoreOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// Parses an option in the form `name=value`.
impl FromStr for StoreOptions {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok(Self::new().set(name, value)),
            // The string may be a secret without a name, so it is not shown.
            _ => Err(Error::Argument {
                store: "options of a store".to_owned(),
                message: "expected name=value".to_owned(),
            }),
        }
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for StoreOptions {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(options: I) -> Self {
        options.into_iter().fold(Self::new(), |options, (name, value)| options.set(name, value))
    }
}
