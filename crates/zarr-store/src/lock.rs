//! Advisory locks of writers, and pauses between attempts.

use std::any::Any;
use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::Prefix;

/// Advisory lock of a prefix, which is released when the lock and its clones are dropped. See [`crate::StoreExt::try_lock`].
#[derive(Clone)]
pub struct Lock {
    _held: Arc<dyn Any + Send + Sync>,
    excludes_processes: bool,
}

impl Lock {
    /// Returns a lock that lasts until `held` is dropped. It excludes at least the other threads of this process.
    pub fn new(held: impl Any + Send + Sync) -> Self {
        Self { _held: Arc::new(held), excludes_processes: false }
    }

    /// Returns a lock that lasts until `held` is dropped. It excludes all processes that can write to the store.
    pub fn between_processes(held: impl Any + Send + Sync) -> Self {
        Self { excludes_processes: true, ..Self::new(held) }
    }

    /// Whether the lock excludes other processes, too.
    #[must_use]
    pub fn excludes_processes(&self) -> bool {
        self.excludes_processes
    }

    /// Takes a lock among the threads of this process; `None` if another thread holds it. The `Display` form of `store` tells stores apart.
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

/// Name of a held lock: the address of a store, and the prefix.
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

/// Returns the pause before attempt number `attempt`, counted from 1, after a conflict with other writers: a random duration of up to 100
/// microseconds at first, doubling up to 12.8 ms for the eighth and later attempts, so that one of several writers succeeds.
#[must_use]
pub fn backoff(attempt: u32) -> Duration {
    let most = 100_000_u64 << attempt.saturating_sub(1).min(7);
    // The only source of random numbers in the standard library.
    Duration::from_nanos(RandomState::new().hash_one(attempt) % most)
}
