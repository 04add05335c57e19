//! Tasks that run before their results are taken, such as reads ahead of a loop.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

type Task<T> = Box<dyn FnOnce() -> T + Send>;

/// Queue of tasks that run on threads of their own, and whose results are taken in the order of the tasks.
///
/// The threads are for tasks that wait for stores, and start pools for what they decode. If a queue is dropped, tasks that have not begun
/// are dropped, and a task that has begun runs to its end, for which the drop does not wait.
///
/// ```
/// use zarr_drive::Ahead;
///
/// let mut squares = Ahead::new(2);
/// (0..4_u32).for_each(|number| squares.push(move || number * number));
/// assert_eq!(squares.len(), 4);
/// let taken: Vec<u32> = std::iter::from_fn(|| squares.take()).collect();
/// assert_eq!(taken, [0, 1, 4, 9]);
/// ```
pub struct Ahead<T> {
    queue: Arc<Queue<T>>,
    max_threads: usize,
    threads: usize,
}

struct Queue<T> {
    tasks: Mutex<Tasks<T>>,
    /// Signals threads that there is a task, or that the queue was dropped.
    pushed: Condvar,
    /// Signals the taker that a result is there.
    done: Condvar,
}

struct Tasks<T> {
    /// Tasks that have not begun, with their numbers.
    waiting: VecDeque<(u64, Task<T>)>,
    /// Results that were not taken, in the order of the tasks; `None` for a task that has not ended, `Err` for one that panicked.
    results: VecDeque<Option<thread::Result<T>>>,
    /// Number of the task of the first of `results`.
    first: u64,
    /// Number of threads that wait for a task.
    idle: usize,
    is_dropped: bool,
}

impl<T> fmt::Debug for Ahead<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ahead").field("len", &self.len()).field("threads", &self.threads).finish_non_exhaustive()
    }
}

impl<T> Queue<T> {
    fn lock(&self) -> MutexGuard<'_, Tasks<T>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs tasks until the queue is dropped.
    fn work(&self) {
        let mut tasks = self.lock();
        while !tasks.is_dropped {
            if let Some((number, task)) = tasks.waiting.pop_front() {
                drop(tasks);
                let result = catch_unwind(AssertUnwindSafe(task));
                tasks = self.lock();
                tasks.end(number, result);
                self.done.notify_all();
            } else {
                tasks.idle += 1;
                tasks = self.pushed.wait(tasks).unwrap_or_else(PoisonError::into_inner);
                tasks.idle -= 1;
            }
        }
    }
}

impl<T> Tasks<T> {
    fn end(&mut self, number: u64, result: thread::Result<T>) {
        let slot = usize::try_from(number - self.first).ok().and_then(|at| self.results.get_mut(at));
        if let Some(slot) = slot {
            *slot = Some(result);
        }
    }
}

impl<T: Send + 'static> Ahead<T> {
    /// Creates an empty queue, whose tasks run on at most `max_threads` threads, which start when they are needed.
    #[must_use]
    pub fn new(max_threads: usize) -> Self {
        let (waiting, results) = (VecDeque::new(), VecDeque::new());
        let tasks = Mutex::new(Tasks { waiting, results, first: 0, idle: 0, is_dropped: false });
        Self { queue: Arc::new(Queue { tasks, pushed: Condvar::new(), done: Condvar::new() }), max_threads, threads: 0 }
    }

    /// Adds a task. If the system refuses a thread, the task runs on those there are; if there are none, when its result is taken.
    pub fn push(&mut self, task: impl FnOnce() -> T + Send + 'static) {
        let mut tasks = self.queue.lock();
        let number = tasks.first + tasks.results.len() as u64;
        tasks.results.push_back(None);
        tasks.waiting.push_back((number, Box::new(task)));
        let needs_thread = tasks.idle < tasks.waiting.len() && self.threads < self.max_threads;
        drop(tasks);
        self.queue.pushed.notify_one();
        if needs_thread {
            let queue = Arc::clone(&self.queue);
            let spawned = thread::Builder::new().name("zarr-ahead".to_owned()).spawn(move || queue.work());
            self.threads += usize::from(spawned.is_ok());
        }
    }

    /// Returns the result of the first task whose result was not taken, and waits for it; `None` if the queue is empty.
    ///
    /// # Panics
    /// If the task panicked.
    pub fn take(&mut self) -> Option<T> {
        loop {
            if let Poll::Ready(taken) = self.take_within(Duration::from_secs(3600)) {
                return taken;
            }
        }
    }

    /// Returns the result of the first task whose result was not taken, or pending if the task has not ended after `patience`; `None` if
    /// the queue is empty.
    ///
    /// # Panics
    /// If the task panicked.
    pub fn take_within(&mut self, patience: Duration) -> Poll<Option<T>> {
        let begun = Instant::now();
        let mut tasks = self.queue.lock();
        loop {
            match tasks.results.front() {
                None => return Poll::Ready(None),
                Some(Some(_)) => break,
                Some(None) if self.threads == 0 => {
                    if let Some((number, task)) = tasks.waiting.pop_front() {
                        drop(tasks);
                        let result = catch_unwind(AssertUnwindSafe(task));
                        tasks = self.queue.lock();
                        tasks.end(number, result);
                    }
                }
                Some(None) => {
                    let left = patience.saturating_sub(begun.elapsed());
                    if left.is_zero() {
                        return Poll::Pending;
                    }
                    tasks = self.queue.done.wait_timeout(tasks, left).unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
        let result = tasks.results.pop_front().flatten();
        tasks.first += 1;
        drop(tasks);
        match result {
            Some(Ok(output)) => Poll::Ready(Some(output)),
            Some(Err(panic)) => resume_unwind(panic),
            None => Poll::Ready(None),
        }
    }
}

impl<T> Ahead<T> {
    /// Returns the number of tasks whose results were not taken.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queue.lock().results.len()
    }

    /// Returns whether all results were taken.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> Drop for Ahead<T> {
    fn drop(&mut self) {
        let mut tasks = self.queue.lock();
        tasks.is_dropped = true;
        let (waiting, results) = (std::mem::take(&mut tasks.waiting), std::mem::take(&mut tasks.results));
        drop(tasks);
        self.queue.pushed.notify_all();
        drop((waiting, results));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn results_come_in_the_order_of_their_tasks() {
        for threads in [1, 2, 5] {
            let mut ahead = Ahead::new(threads);
            for number in 0..200_u64 {
                ahead.push(move || {
                    thread::sleep(Duration::from_micros(number * 7919 % 200));
                    number
                });
                if number >= 8 {
                    assert_eq!(ahead.take(), Some(number - 8));
                }
            }
            assert_eq!(ahead.len(), 8);
            assert_eq!(std::iter::from_fn(|| ahead.take()).collect::<Vec<_>>(), (192..200).collect::<Vec<_>>());
            assert!(ahead.is_empty());
        }
    }

    #[test]
    fn tasks_run_at_the_same_time_and_before_they_are_taken() {
        let both = Arc::new(std::sync::Barrier::new(3));
        let mut ahead = Ahead::new(2);
        for _ in 0..2 {
            let both = Arc::clone(&both);
            ahead.push(move || both.wait().is_leader());
        }
        both.wait();
        assert!(ahead.take().is_some() && ahead.take().is_some() && ahead.take().is_none());
    }

    #[test]
    fn without_threads_a_task_runs_when_it_is_taken() {
        let mut ahead = Ahead::new(0);
        ahead.push(|| 7);
        assert_eq!((ahead.take(), ahead.take()), (Some(7), None));
    }

    #[test]
    fn a_panic_is_that_of_its_task() {
        let mut ahead = Ahead::new(2);
        ahead.push(|| 1);
        ahead.push(|| panic!("as a decoder may"));
        ahead.push(|| 3);
        assert_eq!(ahead.take(), Some(1));
        assert!(catch_unwind(AssertUnwindSafe(|| ahead.take())).is_err());
        assert_eq!(ahead.take(), Some(3));
    }

    #[test]
    fn a_task_that_takes_long_is_waited_for_in_parts() {
        let (send, receive) = std::sync::mpsc::channel();
        let mut ahead = Ahead::new(1);
        ahead.push(move || receive.recv().unwrap());
        assert!(ahead.take_within(Duration::from_millis(1)).is_pending());
        send.send(5).unwrap();
        assert_eq!(ahead.take(), Some(5));
    }

    #[test]
    fn tasks_that_have_not_begun_are_dropped_with_the_queue() {
        let (send, receive) = std::sync::mpsc::channel::<()>();
        let begun = Arc::new(AtomicUsize::new(0));
        let mut ahead = Ahead::new(1);
        let counted = Arc::clone(&begun);
        ahead.push(move || {
            counted.fetch_add(1, Ordering::SeqCst);
            receive.recv()
        });
        while begun.load(Ordering::SeqCst) == 0 {
            thread::yield_now();
        }
        let kept = Arc::new(());
        let (weak, counted) = (Arc::downgrade(&kept), Arc::clone(&begun));
        ahead.push(move || {
            drop(kept);
            counted.fetch_add(1, Ordering::SeqCst);
            Ok(())
        });
        drop(ahead);
        assert!(weak.upgrade().is_none());
        assert_eq!(begun.load(Ordering::SeqCst), 1);
        drop(send);
    }
}
