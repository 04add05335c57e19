//! Cache for values of servers that do not support ranges.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use zarr_store::{Bytes, Key, Version};

/// Greatest total size of cached values in bytes.
const MAX_BYTES: usize = 64 << 20;

/// Greatest size of a cached value in bytes.
const MAX_VALUE: usize = 16 << 20;

/// State of a value, as a response names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    /// Version, if a later request can require it.
    pub(crate) version: Option<Version>,
    /// Time of the last change.
    pub(crate) modified: Option<SystemTime>,
    /// ETag, even a weak one.
    pub(crate) etag: Option<Arc<str>>,
}

/// Value in the cache, with its state. The server need not name the state again when it answers that the value is current.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cached {
    pub(crate) version: Version,
    /// Time of the last change.
    pub(crate) modified: Option<SystemTime>,
    pub(crate) etag: Option<Arc<str>>,
    pub(crate) bytes: Bytes,
}

/// Cache of values that were received whole although a range was requested. Before a cached value is used, the server is asked whether it
/// is current.
#[derive(Debug, Default)]
pub(crate) struct Cache(Mutex<VecDeque<(Key, Cached)>>);

impl Cache {
    pub(crate) fn get(&self, key: &Key) -> Option<Cached> {
        self.kept().iter().find(|(other, _)| other == key).map(|(_, cached)| cached.clone())
    }

    pub(crate) fn insert(&self, key: &Key, cached: Cached) {
        if cached.bytes.len() > MAX_VALUE {
            return;
        }
        let mut kept = self.kept();
        kept.retain(|(other, _)| other != key);
        kept.push_back((key.clone(), cached));
        while kept.iter().map(|(_, cached)| cached.bytes.len()).sum::<usize>() > MAX_BYTES {
            kept.pop_front();
        }
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<(Key, Cached)>> {
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
        let cached = |version: &str, bytes: Bytes| Cached {
            version: Version::new(version),
            modified: Some(SystemTime::UNIX_EPOCH),
            etag: None,
            bytes,
        };
        let value = Bytes::from(vec![0; 10 << 20]);
        for i in 0..9 {
            cache.insert(&key(i), cached("1", value.clone()));
        }
        assert_eq!((0..9).filter(|i| cache.get(&key(*i)).is_some()).count(), 6);
        cache.insert(&key(8), cached("2", Bytes::from_static(b"new")));
        assert_eq!(cache.get(&key(8)), Some(cached("2", Bytes::from_static(b"new"))));
        cache.insert(&key(20), cached("1", vec![0; MAX_VALUE + 1].into()));
        assert_eq!(cache.get(&key(20)), None);
    }
}
