//! Set of concurrent futures, which polls only futures that were woken.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use zarr_store::BoxFuture;

/// Set of concurrent futures. Futures that are ready are removed; dropping the set drops the remaining ones.
pub(crate) struct FutureSet<'a, T> {
    slots: Vec<Slot<'a, T>>,
    /// Indices of the slots without a future.
    free: Vec<usize>,
    woken: Arc<Woken>,
}

struct Slot<'a, T> {
    future: Option<BoxFuture<'a, T>>,
    wakes: Arc<SlotWaker>,
    waker: Waker,
}

/// Indices of the slots to poll, and the waker of the task that polls the set.
#[derive(Default)]
struct Woken(Mutex<(VecDeque<usize>, Option<Waker>)>);

impl Woken {
    fn lock(&self) -> MutexGuard<'_, (VecDeque<usize>, Option<Waker>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct SlotWaker {
    slot: usize,
    /// Whether the slot is in the queue of slots to poll.
    is_woken: AtomicBool,
    woken: Arc<Woken>,
}

impl Wake for SlotWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.is_woken.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut woken = self.woken.lock();
        woken.0.push_back(self.slot);
        let waker = woken.1.take();
        drop(woken);
        waker.into_iter().for_each(Waker::wake);
    }
}

impl<'a, T> FutureSet<'a, T> {
    pub(crate) fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new(), woken: Arc::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.free.len() == self.slots.len()
    }

    /// Adds a future. The next call of [`poll_next`](Self::poll_next) polls it for the first time.
    pub(crate) fn push(&mut self, future: BoxFuture<'a, T>) {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                let slot = self.slots.len();
                let is_woken = AtomicBool::new(false);
                let wakes = Arc::new(SlotWaker { slot, is_woken, woken: Arc::clone(&self.woken) });
                let waker = Waker::from(Arc::clone(&wakes));
                self.slots.push(Slot { future: None, wakes, waker });
                slot
            }
        };
        if let Some(slot) = self.slots.get_mut(slot) {
            slot.future = Some(future);
            slot.wakes.wake_by_ref();
        }
    }

    /// Polls the woken futures until one is ready, and returns its output; `None` if the set is empty.
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<T>> {
        let mut turns = self.woken.lock().0.len();
        loop {
            let mut woken = self.woken.lock();
            if self.is_empty() {
                return Poll::Ready(None);
            }
            // Futures that were woken while they were polled are polled in the next turn of the task.
            let next = if turns > 0 { woken.0.pop_front() } else { None };
            let Some(number) = next else {
                match &woken.1 {
                    Some(waker) if waker.will_wake(context.waker()) => {}
                    _ => woken.1 = Some(context.waker().clone()),
                }
                if !woken.0.is_empty() {
                    context.waker().wake_by_ref();
                }
                return Poll::Pending;
            };
            turns -= 1;
            drop(woken);
            let Some(slot) = self.slots.get_mut(number) else { continue };
            // A wake from here on counts for the next poll or a later one.
            slot.wakes.is_woken.swap(false, Ordering::AcqRel);
            // A waker may wake a slot whose future has ended since.
            let Some(future) = &mut slot.future else { continue };
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&slot.waker)) {
                slot.future = None;
                self.free.push(number);
                return Poll::Ready(Some(output));
            }
        }
    }
}

/// Runs at most `limit` of `futures` concurrently, and returns the outputs in the order of `futures`. The first error drops the remaining
/// futures.
pub(super) async fn all<'a, T: Send + 'a, E: Send + 'a>(
    futures: impl IntoIterator<Item = BoxFuture<'a, Result<T, E>>>,
    limit: usize,
) -> Result<Vec<T>, E> {
    let mut set: FutureSet<'a, (usize, Result<T, E>)> = FutureSet::new();
    let mut outputs: Vec<Option<T>> = Vec::new();
    let mut rest = futures.into_iter().enumerate().map(|(number, future)| -> BoxFuture<'a, (usize, Result<T, E>)> {
        Box::pin(async move { (number, future.await) })
    });
    rest.by_ref().take(limit.max(1)).for_each(|future| set.push(future));
    while let Some((number, output)) = poll_fn(|context| set.poll_next(context)).await {
        if outputs.len() <= number {
            outputs.resize_with(number + 1, || None);
        }
        if let Some(slot) = outputs.get_mut(number) {
            *slot = Some(output?);
        }
        rest.next().into_iter().for_each(|future| set.push(future));
    }
    Ok(outputs.into_iter().flatten().collect())
}

/// Runs the future that `each` returns for each of `items`, at most `limit` of them concurrently.
///
/// # Errors
/// The first error. Futures in progress are dropped then, and remaining items are skipped.
pub async fn for_each<'a, T, E: Send + 'a>(
    mut items: impl Iterator<Item = T>,
    limit: usize,
    each: impl Fn(T) -> BoxFuture<'a, Result<(), E>>,
) -> Result<(), E> {
    let mut set = FutureSet::new();
    items.by_ref().take(limit.max(1)).for_each(|item| set.push(each(item)));
    while let Some(outcome) = poll_fn(|context| set.poll_next(context)).await {
        outcome?;
        items.next().into_iter().for_each(|item| set.push(each(item)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_on;

    /// Returns a future that is ready after it was woken `left` times.
    fn woken_often(left: usize) -> BoxFuture<'static, Result<usize, ()>> {
        let mut rest = left;
        Box::pin(poll_fn(move |context| {
            if rest == 0 {
                return Poll::Ready(Ok(left));
            }
            rest -= 1;
            let waker = context.waker().clone();
            if rest.is_multiple_of(2) {
                waker.wake();
            } else {
                std::thread::spawn(move || waker.wake());
            }
            Poll::Pending
        }))
    }

    #[test]
    fn outputs_come_in_order_whatever_wakes_first() {
        let found = block_on(all((0..50).rev().map(woken_often), 50)).expect("done");
        assert_eq!(found, (0..50).rev().collect::<Vec<_>>());
        let few = block_on(all((0..50).rev().map(woken_often), 3)).expect("done");
        assert_eq!(few, found);
    }

    #[test]
    fn only_woken_futures_are_polled() {
        let polls = Arc::new(Mutex::new(vec![0; 100]));
        let mut set = FutureSet::new();
        for number in 0..100 {
            let polls = Arc::clone(&polls);
            set.push(Box::pin(poll_fn(move |_| {
                polls.lock().expect("a lock")[number] += 1;
                Poll::<()>::Pending
            })));
        }
        let waker = Waker::noop();
        for _ in 0..3 {
            assert!(set.poll_next(&mut Context::from_waker(waker)).is_pending());
        }
        assert_eq!(*polls.lock().expect("a lock"), vec![1; 100]);
    }

    #[test]
    fn slots_are_used_again_and_late_wakes_do_no_harm() {
        let mut set = FutureSet::new();
        let late = Arc::new(Mutex::new(None));
        let kept = Arc::clone(&late);
        set.push(Box::pin(poll_fn(move |context| {
            *kept.lock().expect("a lock") = Some(context.waker().clone());
            Poll::Ready(1)
        })) as BoxFuture<'_, i32>);
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(set.poll_next(&mut context), Poll::Ready(Some(1)));
        assert_eq!(set.poll_next(&mut context), Poll::Ready(None));
        late.lock().expect("a lock").take().expect("a waker").wake();
        set.push(Box::pin(std::future::ready(2)));
        assert_eq!(set.poll_next(&mut context), Poll::Ready(Some(2)));
        assert_eq!(set.poll_next(&mut context), Poll::Ready(None));
        assert_eq!(set.slots.len(), 1);
    }
}
