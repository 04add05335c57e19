//! Sizes of values, remembered.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use zarr_store::{Key, Version};

/// How many sizes are remembered.
const MOST: usize = 4096;

/// The sizes of values in bytes, each of one version: for stores whose servers cannot give the end of a value without its size.
#[derive(Debug, Default)]
pub struct Sizes(Mutex<HashMap<Key, (Version, u64)>>);

impl Sizes {
    /// The version of the value at `key` that was seen last, and its size.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<(Version, u64)> {
        self.map().get(key).cloned()
    }

    /// Remembers the size of a version.
    pub fn insert(&self, key: &Key, version: Version, size: u64) {
        let mut map = self.map();
        // Another request learns a size again, so that it matters little which are forgotten.
        if map.len() >= MOST && !map.contains_key(key) {
            map.clear();
        }
        map.insert(key.clone(), (version, size));
    }

    /// Forgets the size of the value at `key`.
    pub fn remove(&self, key: &Key) {
        self.map().remove(key);
    }

    fn map(&self) -> MutexGuard<'_, HashMap<Key, (Version, u64)>> {
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
