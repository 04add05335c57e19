//! Locks that writers agree on, and pauses between attempts.

use std::any::Any;
use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::Prefix;

/// An advisory lock of a prefix, released when it and its clones are dropped. See [`crate::Store::try_lock`].
#[derive(Clone)]
pub struct Lock {
    _held: Arc<dyn Any + Send + Sync>,
    excludes_processes: bool,
}

impl Lock {
    /// A lock that lasts until `held` is dropped. It excludes at least the other threads of this process.
    pub fn new(held: impl Any + Send + Sync) -> Self {
        Self { _held: Arc::new(held), excludes_processes: false }
    }

    /// A lock that lasts until `held` is dropped. It excludes all processes that can write to the store.
    pub fn between_processes(held: impl Any + Send + Sync) -> Self {
        Self { excludes_processes: true, ..Self::new(held) }
    }

    /// Whether the lock excludes other processes too.
    #[must_use]
    pub fn excludes_processes(&self) -> bool {
        self.excludes_processes
    }

    /// A lock among the threads of this process; `None` if another thread holds it. `store` tells stores apart.
    pub fn in_process(store: &dyn fmt::Display, prefix: &Prefix) -> Option<Self> {
        let name = (store.to_string(), prefix.to_string());
        let taken = with_held(|held| held.insert(name.clone()));
        taken.then(|| Self::new(InProcess(name)))
    }
}

impl fmt::Debug for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lock")
    }
}

/// The address of a store, and the prefix.
type Name = (String, String);

static HELD: Mutex<Option<HashSet<Name>>> = Mutex::new(None);

fn with_held<T>(work: impl FnOnce(&mut HashSet<Name>) -> T) -> T {
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    work(held.get_or_insert_default())
}

struct InProcess(Name);

impl Drop for InProcess {
    fn drop(&mut self) {
        with_held(|held| held.remove(&self.0));
    }
}

/// How long to wait before attempt number `attempt` (from 1 on) after a conflict with others: a random time, of up to 100 microseconds
/// at first, and up to 12.8 ms from the eighth attempt on, so that one of several succeeds.
#[must_use]
pub fn backoff(attempt: u32) -> Duration {
    let most = 100_000_u64 << attempt.saturating_sub(1).min(7);
    // The only source of random numbers in the standard library.
    Duration::from_nanos(RandomState::new().hash_one(attempt) % most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_holds_a_lock() {
        let prefix = Prefix::new("a/").expect("a prefix");
        let lock = Lock::in_process(&"store", &prefix).expect("free");
        assert!(Lock::in_process(&"store", &prefix).is_none());
        assert!(Lock::in_process(&"other", &prefix).is_some());
        assert!(Lock::in_process(&"store", &Prefix::root()).is_some());
        let clone = lock.clone();
        drop(lock);
        assert!(Lock::in_process(&"store", &prefix).is_none());
        drop(clone);
        assert!(Lock::in_process(&"store", &prefix).is_some());
    }

    #[test]
    fn a_lock_says_whom_it_excludes() {
        let lock = Lock::in_process(&"one process", &Prefix::root()).expect("free");
        assert!(!lock.excludes_processes());
        assert!(Lock::between_processes(lock).excludes_processes());
        let memory = crate::Store::try_lock(&crate::MemoryStore::new(), &Prefix::root()).expect("a lock");
        assert!(memory.expect("free").excludes_processes());
    }

    #[test]
    fn waits_grow_and_stay_short() {
        for attempt in [0, 1, 2, 8, 9, 1000] {
            let most = Duration::from_nanos(100_000 << (attempt.clamp(1, 8) - 1));
            assert!((0..100).all(|_| backoff(attempt) < most), "{attempt}");
        }
        let waits: HashSet<Duration> = (0..100).map(|_| backoff(8)).collect();
        assert!(waits.len() > 90);
    }
}
