//! Pools of threads, shared by the arrays that ask for as many threads.

use crate::{Error, ErrorKind};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The pool of so many threads, which all arrays share that ask for as many.
pub(crate) fn pool(threads: NonZeroUsize) -> crate::Result<Arc<rayon::ThreadPool>> {
    static POOLS: Mutex<Vec<(NonZeroUsize, Weak<rayon::ThreadPool>)>> = Mutex::new(Vec::new());
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    pools.retain(|(_, pool)| pool.strong_count() > 0);
    if let Some(pool) = pools.iter().find(|(count, _)| *count == threads).and_then(|(_, pool)| pool.upgrade()) {
        return Ok(pool);
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.get())
        .build()
        .map_err(|error| Error::new(ErrorKind::Limit, format!("the system refuses {threads} threads: {error}")))?;
    let pool = Arc::new(pool);
    pools.push((threads, Arc::downgrade(&pool)));
    Ok(pool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_that_ask_for_as_many_threads_share_them() {
        let [three, two] = [3, 2].map(|threads| NonZeroUsize::new(threads).unwrap());
        let first = pool(three).unwrap();
        assert!(Arc::ptr_eq(&first, &pool(three).unwrap()));
        assert!(!Arc::ptr_eq(&first, &pool(two).unwrap()));
        assert_eq!(first.current_num_threads(), 3);
        // Threads end with the last array that asked for them.
        let gone = Arc::downgrade(&first);
        drop(first);
        assert!(gone.upgrade().is_none());
        assert_eq!(pool(three).unwrap().current_num_threads(), 3);
    }
}
