//! Pools of threads, shared by those who ask for as many.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A pool of threads for steps of jobs, shared by all who ask for the same number. It ends with the last of them.
#[derive(Clone, Debug)]
pub struct Threads(Arc<rayon::ThreadPool>);

impl Threads {
    /// Finds or begins the pool of that many threads.
    ///
    /// # Errors
    /// If the system refuses them.
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

    /// Counts the threads for one who asks for no number: those of the pool that the calling thread is of, or else of rayon's global one.
    #[must_use]
    pub fn count_of_caller() -> usize {
        rayon::current_num_threads()
    }

    /// Does work on one of the threads, and returns its output; `None` if the pool does not do it.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Option<T> {
        let (mut work, mut done) = (Some(work), None);
        self.install(&mut || done = work.take().map(|work| work()));
        done
    }

    /// Compiled once, and not for each kind of work.
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
