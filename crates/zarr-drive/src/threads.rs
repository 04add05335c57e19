//! Thread pools that are shared by all users of the same number of threads.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Thread pool for steps of jobs, shared by all users of the same number of threads. The threads end when the last clone is dropped.
#[derive(Clone, Debug)]
pub struct Threads(Arc<rayon::ThreadPool>);

impl Threads {
    /// Returns the shared pool of `count` threads, and starts the threads if the pool does not exist.
    ///
    /// # Errors
    /// If the operating system cannot start the threads.
    pub fn shared(count: NonZeroUsize) -> Result<Self, rayon::ThreadPoolBuildError> {
        static POOLS: Mutex<Vec<(NonZeroUsize, Weak<rayon::ThreadPool>)>> = Mutex::new(Vec::new());
        let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
        pools.retain(|(_, pool)| pool.strong_count() > 0);
        if let Some(pool) = pools.iter().find(|(of, _)| *of == count).and_then(|(_, pool)| pool.upgrade()) {
            return Ok(Self(pool));
        }
        let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(count.get()).build()?);
        pools.push((count, Arc::downgrade(&pool)));
        Ok(Self(pool))
    }

    /// Returns the number of threads that are used if no number is given: of the rayon pool to which the calling thread belongs, or else of
    /// the global rayon pool.
    #[must_use]
    pub fn count_of_caller() -> usize {
        rayon::current_num_threads()
    }

    /// Runs `work` on a thread of the pool, and returns its output; `None` if the pool does not run it.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Option<T> {
        let (mut work, mut done) = (Some(work), None);
        self.install(&mut || done = work.take().map(|work| work()));
        done
    }

    /// Runs `work` on a thread of the pool. The function is not generic, so that it is compiled once.
    fn install(&self, work: &mut (dyn FnMut() + Send)) {
        self.0.install(work);
    }

    pub(crate) fn pool(&self) -> &rayon::ThreadPool {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_for_as_many_threads_shares_them() {
        let [three, two] = [3, 2].map(|count| NonZeroUsize::new(count).unwrap());
        let first = Threads::shared(three).unwrap();
        assert!(Arc::ptr_eq(&first.0, &Threads::shared(three).unwrap().0));
        assert!(!Arc::ptr_eq(&first.0, &Threads::shared(two).unwrap().0));
        assert_eq!(first.pool().current_num_threads(), 3);
        assert_eq!(first.run(Threads::count_of_caller), Some(3));
        // Threads end with the last who asked for them.
        let gone = Arc::downgrade(&first.0);
        drop(first);
        assert!(gone.upgrade().is_none());
        assert_eq!(Threads::shared(three).unwrap().pool().current_num_threads(), 3);
    }
}
