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
