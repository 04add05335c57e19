//! Record of facts about values.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use zarr_store::{Key, Version};

/// Greatest number of recorded values.
const MOST: usize = 4096;

/// Record of a fact about each of some values, in one version.
#[derive(Debug)]
pub struct Remembered<T>(Mutex<HashMap<Key, (Version, T)>>);

/// Sizes of values in bytes, for servers that cannot send the end of a value without its size.
pub type Sizes = Remembered<u64>;

impl<T> Default for Remembered<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Remembered<T> {
    /// Returns the last recorded version of the value at `key`, and the fact about it.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<(Version, T)> {
        self.map().get(key).cloned()
    }

    /// Records the fact about a version of the value at `key`.
    pub fn insert(&self, key: &Key, version: Version, fact: T) {
        let mut map = self.map();
        // A request learns it again, so that it matters little which are forgotten.
        if map.len() >= MOST && !map.contains_key(key) {
            map.clear();
        }
        map.insert(key.clone(), (version, fact));
    }

    /// Removes the record of the value at `key`.
    pub fn remove(&self, key: &Key) {
        self.map().remove(key);
    }

    fn map(&self) -> MutexGuard<'_, HashMap<Key, (Version, T)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_bounded() {
        let sizes = Sizes::default();
        let key = |i: u64| Key::new(&i.to_string()).expect("a key");
        for i in 0..2 * MOST as u64 + 5 {
            sizes.insert(&key(i), Version::new("v"), i);
            assert_eq!(sizes.get(&key(i)), Some((Version::new("v"), i)));
        }
        assert!(sizes.map().len() <= MOST);
        let last = key(2 * MOST as u64 + 4);
        sizes.remove(&last);
        assert_eq!(sizes.get(&last), None);
    }
}
