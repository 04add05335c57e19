//! Limit of the concurrent requests of one operation.

use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use crate::InFlightLimits;

/// Semaphore for requests: permits are granted in the order in which they were requested.
pub(super) struct Permits {
    count: usize,
    /// Maximum number of bytes of concurrent parts of one value, half of the limit of bytes, since the assembled value takes memory as
    /// well.
    part_bytes: u64,
    state: Mutex<State>,
}

struct State {
    free: usize,
    /// Wakers of the waiting tasks by their numbers; `None` for a task that was granted a permit after it was last polled.
    waiting: BTreeMap<u64, Option<Waker>>,
    queue: VecDeque<u64>,
    next: u64,
}

impl Permits {
    pub(super) fn new(limits: InFlightLimits) -> Self {
        let count = limits.requests.max(1);
        let state = Mutex::new(State { free: count, waiting: BTreeMap::new(), queue: VecDeque::new(), next: 0 });
        Self { count, part_bytes: limits.bytes / 2, state }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the total number of permits.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the maximum number of concurrent parts of one value, if each part has `part` bytes.
    pub(super) fn parts(&self, part: u64) -> usize {
        usize::try_from(self.part_bytes / part.max(1)).unwrap_or(usize::MAX).clamp(1, self.count)
    }

    /// Waits for a permit, which is released when it is dropped.
    pub(super) async fn take(&self) -> Permit<'_> {
        let mut place: Option<Place<'_>> = None;
        poll_fn(|context| {
            let mut state = self.state();
            match &mut place {
                None if state.free > 0 && state.queue.is_empty() => {
                    state.free -= 1;
                    Poll::Ready(Permit(self))
                }
                None => {
                    let number = state.next;
                    state.next += 1;
                    state.queue.push_back(number);
                    state.waiting.insert(number, Some(context.waker().clone()));
                    place = Some(Place { permits: self, number });
                    Poll::Pending
                }
                Some(Place { number, .. }) => match state.waiting.get_mut(number) {
                    Some(Some(waker)) => {
                        waker.clone_from(context.waker());
                        Poll::Pending
                    }
                    _ => {
                        state.waiting.remove(number);
                        Poll::Ready(Permit(self))
                    }
                },
            }
        })
        .await
    }

    fn release(&self) {
        let mut state = self.state();
        let mut waker = None;
        loop {
            let Some(next) = state.queue.pop_front() else {
                state.free += 1;
                break;
            };
            // A task that was dropped is not in `waiting` any more.
            if let Some(waiting) = state.waiting.get_mut(&next) {
                waker = waiting.take();
                break;
            }
        }
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }
}

/// Place of a future in the queue, given up when the future is dropped.
struct Place<'p> {
    permits: &'p Permits,
    number: u64,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let left = self.permits.state().waiting.remove(&self.number);
        // The task was granted a permit that it did not use.
        if matches!(left, Some(None)) {
            self.permits.release();
        }
    }
}

/// Permit for one request, released when it is dropped.
pub(super) struct Permit<'p>(&'p Permits);

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.0.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Context;
    use zarr_store::BoxFuture;

    fn poll<'p>(future: &mut BoxFuture<'p, Permit<'p>>) -> Option<Permit<'p>> {
        match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(permit) => Some(permit),
            Poll::Pending => None,
        }
    }

    #[test]
    fn permits_go_in_order_and_none_is_lost() {
        let permits = Permits::new(InFlightLimits { requests: 2, bytes: 64 });
        assert_eq!([1, 16, 20, 100].map(|part| permits.parts(part)), [2, 2, 1, 1]);
        let mut takes: Vec<BoxFuture<'_, Permit<'_>>> = (0..6).map(|_| Box::pin(permits.take()) as _).collect();
        let mut held: Vec<_> = takes.iter_mut().take(5).map(poll).collect();
        assert_eq!(held.iter().map(Option::is_some).collect::<Vec<_>>(), [true, true, false, false, false]);
        drop(takes.remove(2));
        held[0] = None;
        // The free permit was granted to the next task in the queue, and not to a later one.
        assert!(poll(&mut takes[4]).is_none());
        assert!(poll(&mut takes[3]).is_none());
        // A task that was granted a permit is dropped without using it.
        drop(takes.remove(2));
        let third = poll(&mut takes[2]).expect("the permit of the one that left");
        assert!(poll(&mut takes[3]).is_none());
        drop((third, held));
        let last = poll(&mut takes[3]).expect("free");
        assert_eq!(permits.state().free, 1);
        drop(last);
        assert_eq!(permits.state().free, 2);
        assert!(permits.state().waiting.is_empty());
    }
}
