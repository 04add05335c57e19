//! The keys and prefixes directly under a prefix.

use std::ops::Bound;
use std::sync::{Arc, Mutex, PoisonError};

use crate::{Key, Prefix};

/// Function that [`Store::list_sizes`](crate::Store::list_sizes) calls with each key and the bytes of its value. It may be called on
/// another thread.
pub type SizeVisitor = Arc<dyn Fn(Key, u64) + Send + Sync>;

/// A temporary file or directory that a writer left behind which was killed: see [`Store::leftovers`](crate::Store::leftovers).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Leftover {
    /// Its path from the root.
    pub path: String,
    /// The bytes in it.
    pub bytes: u64,
}

/// The keys and prefixes directly under a prefix, both sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listing {
    /// The keys.
    pub keys: Vec<Key>,
    /// The prefixes of keys further down.
    pub prefixes: Vec<Prefix>,
}

impl Listing {
    /// Makes a listing of these keys and prefixes, which are sorted here, each once.
    #[must_use]
    pub fn new(mut keys: Vec<Key>, mut prefixes: Vec<Prefix>) -> Self {
        keys.sort_unstable();
        keys.dedup();
        prefixes.sort_unstable();
        prefixes.dedup();
        Self { keys, prefixes }
    }

    /// Whether nothing is under the prefix.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.prefixes.is_empty()
    }

    /// The keys and prefixes directly under `prefix`, of sorted keys: as [`Listing::add_directly_under`].
    pub fn directly_under<'k>(prefix: &Prefix, first: impl Fn(Bound<&str>) -> Option<&'k Key>) -> Self {
        let mut listing = Self::default();
        listing.add_directly_under(prefix, first);
        listing
    }

    /// Adds the keys and prefixes directly under `prefix` from sorted keys, of which `first` gives the first from a bound on. It is not
    /// asked for keys further down, but for the first of each prefix.
    pub fn add_directly_under<'k>(&mut self, prefix: &Prefix, first: impl Fn(Bound<&str>) -> Option<&'k Key>) {
        let mut next = first(Bound::Included(prefix.as_str()));
        while let Some(key) = next {
            let Some(rest) = prefix.strip(key) else { return };
            next = match rest.find('/') {
                None => {
                    self.keys.push(key.clone());
                    first(Bound::Excluded(key.as_str()))
                }
                Some(at) => {
                    let text = &key.as_str()[..prefix.as_str().len() + at];
                    self.prefixes.push(Prefix::trusted(&format!("{text}/")));
                    // `0` is the character after `/`: the first text that is not under the prefix just found.
                    first(Bound::Included(&format!("{text}0")))
                }
            };
        }
    }
}

/// Collects the keys and sizes that [`Store::list_sizes`](crate::Store::list_sizes) gives a visitor.
#[derive(Debug, Default)]
pub struct Listed(Arc<Mutex<Vec<(Key, u64)>>>);

impl Listed {
    /// The visitor that collects them.
    #[must_use]
    pub fn visitor(&self) -> SizeVisitor {
        let listed = Arc::clone(&self.0);
        Arc::new(move |key, size| listed.lock().unwrap_or_else(PoisonError::into_inner).push((key, size)))
    }

    /// Takes the keys and sizes that were visited since the last call, sorted by key.
    #[must_use]
    pub fn take_sorted(&self) -> Vec<(Key, u64)> {
        let mut listed = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        listed.sort_unstable();
        listed
    }
}
