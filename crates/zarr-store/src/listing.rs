//! Listings: keys and prefixes directly under a prefix.

use std::ops::Bound;
use std::sync::{Arc, Mutex, PoisonError};

use crate::{Key, Prefix};

/// Function that [`list_sizes`](crate::StoreExt::list_sizes) calls with each key and the size of its value in bytes, possibly on
/// another thread.
pub type SizeVisitor = Arc<dyn Fn(Key, u64) + Send + Sync>;

/// Temporary file or directory that a killed writer left behind: see [`leftovers`](crate::StoreExt::leftovers).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Leftover {
    /// Path from the root of the store.
    pub path: String,
    /// Size in bytes; of all files in a directory.
    pub bytes: u64,
}

/// Keys and prefixes directly under a prefix, both sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listing {
    /// Keys directly under the prefix, sorted.
    pub keys: Vec<Key>,
    /// Prefixes of keys further down, sorted.
    pub prefixes: Vec<Prefix>,
}

impl Listing {
    /// Returns a listing of `keys` and `prefixes`, which are sorted and deduplicated.
    #[must_use]
    pub fn new(mut keys: Vec<Key>, mut prefixes: Vec<Prefix>) -> Self {
        keys.sort_unstable();
        keys.dedup();
        prefixes.sort_unstable();
        prefixes.dedup();
        Self { keys, prefixes }
    }

    /// Whether no keys or prefixes are under the prefix.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.prefixes.is_empty()
    }

    /// Returns the keys and prefixes directly under `prefix`, from sorted keys. `first` returns the first key at or behind a bound.
    pub fn directly_under<'k>(prefix: &Prefix, first: impl Fn(Bound<&str>) -> Option<&'k Key>) -> Self {
        let mut listing = Self::default();
        listing.add_directly_under(prefix, first);
        listing
    }

    /// Adds the keys and prefixes directly under `prefix`, from sorted keys. `first` returns the first key at or behind a bound, and is
    /// called once per prefix, not for each key below it.
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

/// Collector of the keys and sizes that [`list_sizes`](crate::StoreExt::list_sizes) passes to a visitor.
#[derive(Debug, Default)]
pub struct Listed(Arc<Mutex<Vec<(Key, u64)>>>);

impl Listed {
    /// Returns a visitor that collects keys and sizes.
    #[must_use]
    pub fn visitor(&self) -> SizeVisitor {
        let listed = Arc::clone(&self.0);
        Arc::new(move |key, size| listed.lock().unwrap_or_else(PoisonError::into_inner).push((key, size)))
    }

    /// Returns the keys and sizes that were visited since the last call, sorted by key, and removes them.
    #[must_use]
    pub fn take_sorted(&self) -> Vec<(Key, u64)> {
        let mut listed = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        listed.sort_unstable();
        listed
    }
}
