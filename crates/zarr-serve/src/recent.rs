//! Cache of recent results.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Cache of values by name, with a greatest number of entries and a greatest age, so that shown values are never much older than stored
/// ones.
pub(crate) struct Recent<T> {
    entries: Mutex<VecDeque<RecentEntry<T>>>,
    most: usize,
    time: Duration,
}

struct RecentEntry<T> {
    name: String,
    since: Instant,
    thing: Arc<T>,
}

impl<T> Recent<T> {
    pub(crate) fn new(most: usize, time: Duration) -> Self {
        Self { entries: Mutex::default(), most, time }
    }

    /// Returns the value with this name; calls `make` if it is missing or too old.
    pub(crate) fn get<E>(&self, name: &str, make: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        self.get_within(name, self.time, make)
    }

    /// Returns the value with this name; calls `make` if it is missing or at least as old as `time`.
    pub(crate) fn get_within<E>(
        &self,
        name: &str,
        time: Duration,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        let now = Instant::now();
        {
            let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
            entries.retain(|entry| now.duration_since(entry.since) < self.time);
            let is_it = |entry: &&RecentEntry<T>| entry.name == name && now.duration_since(entry.since) < time;
            if let Some(entry) = entries.iter().find(is_it) {
                return Ok(Arc::clone(&entry.thing));
            }
        }
        // No lock is held meanwhile, so other callers need not wait; two callers at once both make the value.
        let thing = Arc::new(make()?);
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.retain(|entry| entry.name != name);
        while entries.len() >= self.most {
            entries.pop_front();
        }
        entries.push_back(RecentEntry { name: name.to_owned(), since: now, thing: Arc::clone(&thing) });
        Ok(thing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn things_are_made_once_in_a_time_and_few_are_kept() {
        let made = |recent: &Recent<u8>, name: &str, value: u8| {
            let Ok(thing) = recent.get(name, || Ok::<_, Infallible>(value));
            *thing
        };
        let recent = Recent::new(2, Duration::from_secs(100));
        assert_eq!((made(&recent, "a", 1), made(&recent, "a", 2)), (1, 1));
        assert_eq!((made(&recent, "b", 3), made(&recent, "c", 4), made(&recent, "a", 5)), (3, 4, 5));
        assert!(recent.get("d", || Err::<u8, _>("fails")).is_err());
        let short = Recent::new(2, Duration::ZERO);
        assert_eq!((made(&short, "a", 1), made(&short, "a", 2)), (1, 2));
    }
}
