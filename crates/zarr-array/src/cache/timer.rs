//! Thread that wakes futures when the claims for which they wait no longer count.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Waker;
use std::thread;
use std::time::{Duration, Instant};

/// Time after which the thread ends if no future waits.
const IDLE: Duration = Duration::from_secs(10);

/// Claim for which futures wait.
pub(super) trait Awaited: Send + Sync + std::fmt::Debug {
    /// Removes and returns the wakers of all futures that wait for the claim.
    fn take_wakers(&self) -> Vec<Waker>;
}

/// Wakes futures. A waker is that of any executor: one that panics does not keep the others from being woken.
pub(super) fn wake_all(wakers: impl IntoIterator<Item = Waker>) {
    for waker in wakers {
        let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
    }
}

/// Timer of all claims of a cache, which needs no async runtime: one thread, which starts when the first future waits.
#[derive(Debug, Default)]
pub(super) struct Timer {
    due: Mutex<Due>,
    /// Signals the thread that there is an earlier claim.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Due {
    /// Claims for which futures wait, by the time until which they count, and a number.
    claims: BTreeMap<(Instant, u64), Weak<dyn Awaited>>,
    next: u64,
    is_running: bool,
    /// Number of threads that were started.
    #[cfg(test)]
    started: usize,
}

impl Timer {
    fn lock(&self) -> MutexGuard<'_, Due> {
        self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the futures that wait for a claim at the time `until`. Returns `false` if the system refuses the thread.
    pub(super) fn watch(self: &Arc<Self>, until: Instant, claimed: Weak<dyn Awaited>) -> bool {
        let mut due = self.lock();
        let number = due.next;
        due.next += 1;
        due.claims.insert((until, number), claimed);
        if due.is_running {
            drop(due);
            self.changed.notify_one();
            return true;
        }
        let timer = Arc::clone(self);
        let spawned = thread::Builder::new().name("zarr-claims".to_owned()).spawn(move || timer.run());
        due.is_running = spawned.is_ok();
        #[cfg(test)]
        {
            due.started += usize::from(due.is_running);
        }
        if !due.is_running {
            due.claims.clear();
        }
        due.is_running
    }

    /// Wakes futures until none has waited for some time, or the cache is gone.
    fn run(self: &Arc<Self>) {
        let mut due = self.lock();
        loop {
            let now = Instant::now();
            let later = due.claims.split_off(&(now, u64::MAX));
            let over = std::mem::replace(&mut due.claims, later);
            if !over.is_empty() {
                drop(due);
                let claims = over.into_values().filter_map(|claimed| claimed.upgrade());
                claims.for_each(|claimed| wake_all(claimed.take_wakers()));
                due = self.lock();
                continue;
            }
            let next = due.claims.keys().next().map(|(until, _)| until.saturating_duration_since(now));
            let (back, waited) =
                self.changed.wait_timeout(due, next.unwrap_or(IDLE).min(IDLE)).unwrap_or_else(PoisonError::into_inner);
            due = back;
            if waited.timed_out() && (due.claims.is_empty() || Arc::strong_count(self) == 1) {
                due.is_running = false;
                return;
            }
        }
    }

    /// Number of threads that were started.
    #[cfg(test)]
    pub(super) fn started(&self) -> usize {
        self.lock().started
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Sender, channel};
    use std::task::Wake;

    /// Waker that panics if it has nobody to tell.
    struct Told(Option<Sender<()>>);

    impl Wake for Told {
        fn wake(self: Arc<Self>) {
            self.0.as_ref().expect("as a waker may").send(()).unwrap();
        }
    }

    #[derive(Debug)]
    struct Waiting(Vec<Waker>);

    impl Awaited for Waiting {
        fn take_wakers(&self) -> Vec<Waker> {
            self.0.clone()
        }
    }

    #[test]
    fn a_waker_that_panics_ends_no_other_wait() {
        let timer = Arc::new(Timer::default());
        let (send, receive) = channel();
        let told = || receive.recv_timeout(Duration::from_secs(30)).expect("no future was woken");
        let (bad, good): (Waker, Waker) = (Arc::new(Told(None)).into(), Arc::new(Told(Some(send))).into());
        let claims: [Arc<dyn Awaited>; 2] = [Arc::new(Waiting(vec![bad, good.clone()])), Arc::new(Waiting(vec![good]))];
        let now = Instant::now();
        for claimed in &claims {
            assert!(timer.watch(now, Arc::downgrade(claimed)));
        }
        told();
        told();
        assert!(timer.watch(Instant::now(), Arc::downgrade(&claims[1])));
        told();
        assert_eq!(timer.started(), 1);
    }
}
