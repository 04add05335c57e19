//! Threads that read elements and work on them. They wait for stores, so they are separate from the threads that decode.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use zarr_hierarchy::Result;

/// Number of threads if the options name none: the number of processors. Looked up once, since the look-up reads system files, which would
/// slow down work on many small arrays.
pub fn processors() -> NonZeroUsize {
    static PROCESSORS: OnceLock<NonZeroUsize> = OnceLock::new();
    *PROCESSORS.get_or_init(|| std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
}

/// Calls `one` for each item on `threads` threads, which begin the items in order. After the first error no further items are begun. The
/// calling thread is one of the threads. None of them is a thread that decodes, since each may wait for a store.
///
/// # Errors
/// An error of `one`; the first of the calling thread, if it had any.
pub fn in_parallel<T>(
    threads: usize,
    items: impl Iterator<Item = T> + Send,
    one: &(dyn Fn(T) -> Result<()> + Sync),
) -> Result<()> {
    let (items, failed) = (Mutex::new(items), AtomicBool::new(false));
    let work = || {
        while !failed.load(Ordering::Relaxed) {
            let Some(item) = lock(&items).next() else { break };
            if let Err(error) = one(item) {
                failed.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut done = work();
        for other in others {
            let result = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            done = done.and(result);
        }
        done
    })
}

/// Locks a mutex, even if a thread panicked while it held the lock: the panic ends the work anyway.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks a mutex as [`lock`] does; `None` if another thread holds the lock.
pub fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_hierarchy::{Error, ErrorKind};

    #[test]
    fn after_an_error_no_further_items_are_begun() {
        let begun = Mutex::new(0);
        let one = |item: u32| {
            *lock(&begun) += 1;
            if item == 10 { Err(Error::new(ErrorKind::Cancelled, "enough")) } else { Ok(()) }
        };
        let error = in_parallel(3, 0..1_000_000, &one).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled);
        assert!((11..1_000_000).contains(&*lock(&begun)));
        let sum = Mutex::new(0);
        let add = |item: u32| {
            *lock(&sum) += item;
            Ok(())
        };
        in_parallel(4, 0..100, &add).unwrap();
        assert_eq!(*lock(&sum), 4950);
    }
}
