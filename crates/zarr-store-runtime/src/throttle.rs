//! Limit for the concurrent requests of a store, adapted to its server.

use std::fmt;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

use crate::Attempts;

/// Limit for the concurrent requests of a store, shared by all operations. A response that says that there are too many requests
/// halves it; each round of other responses raises it by one, up to the given limit.
///
/// A request holds a permit until the last byte of its response is received, so the limit also applies to connections. The holder of
/// a permit must not wait for another permit before its response is read: two such holders would wait for each other.
#[derive(Debug)]
pub struct Throttle {
    most: usize,
    /// Number of responses, except those that say that there are too many requests, and of pieces of their bodies.
    moved: AtomicU64,
    state: Mutex<State>,
    /// Notified when another request may begin.
    freed: Notify,
}

#[derive(Debug)]
struct State {
    limit: f64,
    under_way: usize,
    /// Time at which the limit was last lowered.
    lowered: Option<Instant>,
}

impl Throttle {
    /// Creates a throttle for at most `most` concurrent requests, which is also the initial limit.
    #[must_use]
    pub fn new(most: usize) -> Self {
        let most = most.max(1);
        let state = State { limit: most as f64, under_way: 0, lowered: None };
        Self { most, moved: AtomicU64::new(0), state: Mutex::new(state), freed: Notify::new() }
    }

    /// Returns the current limit of concurrent requests.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.state().limit as usize
    }

    /// Waits until another request may begin; `None` if the time of `attempts` ends before. The time only runs while no response to a
    /// request of the store is received: a moving queue is no failure.
    pub async fn enter(self: &Arc<Self>, attempts: &mut Attempts) -> Option<Permit> {
        loop {
            let (start, moved) = (Instant::now(), self.moved.load(Ordering::Relaxed));
            let entered = tokio::time::timeout(attempts.left(), self.free()).await;
            let moves = self.moved.load(Ordering::Relaxed) != moved;
            if moves {
                attempts.excuse(start.elapsed());
            }
            match entered {
                Ok(permit) => return Some(permit),
                Err(_) if moves => {}
                Err(_) => return None,
            }
        }
    }

    async fn free(self: &Arc<Self>) -> Permit {
        loop {
            // In the queue before the look at the state, so that no wake in between is lost.
            let mut freed = pin!(self.freed.notified());
            freed.as_mut().enable();
            {
                let mut state = self.state();
                if (state.under_way as f64) < state.limit.floor() {
                    state.under_way += 1;
                    return Permit { throttle: Arc::clone(self), start: Instant::now() };
                }
            }
            freed.await;
        }
    }

    /// Changes the state, and wakes up to two waiting requests: one for a request that has ended, and one if the limit has risen.
    fn change(&self, change: impl FnOnce(&mut State)) {
        let free = {
            let mut state = self.state();
            change(&mut state);
            (state.limit as usize).saturating_sub(state.under_way)
        };
        (0..free.min(2)).for_each(|_| self.freed.notify_one());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Permission for a request to be in progress, released when it is dropped.
#[must_use = "a request is under way as long as there is its permit"]
pub struct Permit {
    throttle: Arc<Throttle>,
    start: Instant,
}

impl Permit {
    /// Records a successful response, whose body may still be to be read.
    pub fn accepted(&self) {
        self.moved();
        let most = self.throttle.most as f64;
        self.throttle.change(|state| state.limit = (state.limit + 1.0 / state.limit).min(most));
    }

    /// Records a received piece of the body.
    pub fn moved(&self) {
        self.throttle.moved.fetch_add(1, Ordering::Relaxed);
    }

    /// Records a response that says that the server has too many requests.
    pub fn throttled(self) {
        self.throttle.change(|state| {
            // Of the requests that were under way when the limit was lowered, many will have the same answer.
            if state.lowered.is_none_or(|lowered| lowered < self.start) {
                let found = state.limit.min(state.under_way as f64);
                state.limit = (found / 2.0).max(1.0);
                state.lowered = Some(Instant::now());
            }
        });
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.throttle.change(|state| state.under_way -= 1);
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").field("start", &self.start).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Retry;
    use std::sync::atomic::AtomicUsize;
    use std::time::Duration;

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime").block_on(future)
    }

    fn attempts(millis: u64) -> Attempts {
        Attempts::new(Retry::within(Duration::from_millis(millis)), 0)
    }

    #[test]
    fn a_throttled_round_halves_once_and_rounds_of_success_raise_it() {
        run(async {
            let throttle = Arc::new(Throttle::new(8));
            let mut permits = Vec::new();
            for _ in 0..8 {
                permits.push(throttle.enter(&mut attempts(100)).await.expect("free"));
            }
            assert!(throttle.enter(&mut attempts(20)).await.is_none(), "a ninth");
            permits.into_iter().for_each(Permit::throttled);
            assert_eq!(throttle.limit(), 4);
            for _ in 0..10 {
                throttle.enter(&mut attempts(100)).await.expect("free").throttled();
            }
            assert_eq!(throttle.limit(), 1, "one at least");
            for due in 2..=8 {
                for _ in 0..due {
                    throttle.enter(&mut attempts(100)).await.expect("free").accepted();
                }
                assert_eq!(throttle.limit(), due, "after a round of {due}");
            }
            for _ in 0..100 {
                throttle.enter(&mut attempts(100)).await.expect("free").accepted();
            }
            assert_eq!(throttle.limit(), 8, "the most");
        });
    }

    /// If many requests wait, some are dropped and some are throttled, all others complete, and the limit is never exceeded.
    #[test]
    fn nobody_waits_for_ever() {
        let now = Arc::new(AtomicUsize::new(0));
        let throttle = Arc::new(Throttle::new(5));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build();
        runtime.expect("a runtime").block_on(async {
            let mut tasks = Vec::new();
            for number in 0..400_u64 {
                let (throttle, now) = (Arc::clone(&throttle), Arc::clone(&now));
                tasks.push(tokio::spawn(async move {
                    if number % 3 == 0 {
                        let _ = tokio::time::timeout(Duration::from_micros(number * 7), throttle.free()).await;
                        return;
                    }
                    let permit = throttle.enter(&mut attempts(20_000)).await.expect("a turn");
                    assert!(now.fetch_add(1, Ordering::SeqCst) < 5);
                    tokio::time::sleep(Duration::from_micros(300)).await;
                    now.fetch_sub(1, Ordering::SeqCst);
                    if number % 50 == 1 { permit.throttled() } else { permit.accepted() }
                }));
            }
            for task in tasks {
                task.await.expect("no panic");
            }
        });
        assert_eq!(throttle.state().under_way, 0);
    }

    /// A moving queue extends the time limit; that of a server that only responds with too many requests does not.
    #[test]
    fn waiting_for_others_is_no_failure() {
        run(async {
            let throttle = Arc::new(Throttle::new(1));
            let held = throttle.enter(&mut attempts(100)).await.expect("free");
            let mut waiting = attempts(200);
            let (entered, ()) = tokio::join!(throttle.enter(&mut waiting), async {
                tokio::time::sleep(Duration::from_millis(100)).await;
                held.accepted();
                // Its body comes.
                for _ in 0..6 {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    held.moved();
                }
                drop(held);
            });
            assert!(entered.is_some() && waiting.left() > Duration::from_millis(50), "{:?}", waiting.left());
            let mut second = attempts(200);
            let (none, ()) = tokio::join!(throttle.enter(&mut second), async {
                tokio::time::sleep(Duration::from_millis(300)).await;
                entered.expect("a turn").throttled();
            });
            assert!(none.is_none());
        });
    }
}
