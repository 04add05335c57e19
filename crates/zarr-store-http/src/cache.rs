//! Cache for values of servers that do not support ranges.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use zarr_store::{Bytes, Key, Version};

/// Greatest total size of cached values in bytes.
const MAX_BYTES: usize = 64 << 20;

/// Greatest size of a cached value in bytes.
const MAX_VALUE: usize = 16 << 20;

/// Cache of values that were received whole although a range was requested. Before a cached value is used, the server is asked whether it
/// is current.
#[derive(Debug, Default)]
pub(crate) struct Cache(Mutex<VecDeque<(Key, Version, Bytes)>>);

impl Cache {
    pub(crate) fn get(&self, key: &Key) -> Option<(Version, Bytes)> {
        let kept = self.kept();
        let (_, version, bytes) = kept.iter().find(|(other, ..)| other == key)?;
        Some((version.clone(), bytes.clone()))
    }

    pub(crate) fn insert(&self, key: &Key, version: Version, bytes: Bytes) {
        if bytes.len() > MAX_VALUE {
            return;
        }
        let mut kept = self.kept();
        kept.retain(|(other, ..)| other != key);
        kept.push_back((key.clone(), version, bytes));
        while kept.iter().map(|(.., bytes)| bytes.len()).sum::<usize>() > MAX_BYTES {
            kept.pop_front();
        }
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<(Key, Version, Bytes)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_bounded() {
        let cache = Cache::default();
        let key = |i: usize| Key::new(&i.to_string()).expect("a key");
        let value = Bytes::from(vec![0; 10 << 20]);
        for i in 0..9 {
            cache.insert(&key(i), Version::new("1"), value.clone());
        }
        assert_eq!((0..9).filter(|i| cache.get(&key(*i)).is_some()).count(), 6);
        cache.insert(&key(8), Version::new("2"), Bytes::from_static(b"new"));
        assert_eq!(cache.get(&key(8)), Some((Version::new("2"), Bytes::from_static(b"new"))));
        cache.insert(&key(20), Version::new("1"), vec![0; MAX_VALUE + 1].into());
        assert_eq!(cache.get(&key(20)), None);
    }
}
