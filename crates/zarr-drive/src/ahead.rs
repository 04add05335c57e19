//! Tasks that run before their results are taken, such as reads ahead of a loop.

use crate::pool::{is_pool_thread, yield_to_pool};
use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

/// Time for which a thread of a pool waits for a result before it looks for work of the pool again.
const POOL_PAUSE: Duration = Duration::from_millis(1);

type Task<T> = Box<dyn FnOnce() -> T + Send>;

/// Queue of tasks that run on threads of their own, and whose results are taken in the order of the tasks.
///
/// The threads are for tasks that wait for stores, and start pools for what they decode. If a queue is dropped, tasks that have not begun
/// are dropped, and a task that has begun runs to its end, for which the drop does not wait; [`stop_within`](Self::stop_within) does.
///
/// A task may need the pool to which the calling thread belongs. Such a thread therefore starts no threads, and does not wait for a task
/// while the pool has work: it runs the task that it takes, or work of the pool.
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
    /// Number of tasks that run.
    running: usize,
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
            if let Some(next) = tasks.waiting.pop_front() {
                tasks = self.run(tasks, next);
            } else {
                tasks.idle += 1;
                tasks = self.pushed.wait(tasks).unwrap_or_else(PoisonError::into_inner);
                tasks.idle -= 1;
            }
        }
    }

    /// Waits until a task ends, at most `patience`. A thread of a pool runs work of the pool instead, if there is any.
    fn wait<'q>(&'q self, mut tasks: MutexGuard<'q, Tasks<T>>, mut patience: Duration) -> MutexGuard<'q, Tasks<T>> {
        if is_pool_thread() {
            drop(tasks);
            if yield_to_pool() {
                return self.lock();
            }
            tasks = self.lock();
            patience = patience.min(POOL_PAUSE);
        }
        self.done.wait_timeout(tasks, patience).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Runs a task.
    fn run<'q>(
        &'q self,
        mut tasks: MutexGuard<'q, Tasks<T>>,
        (number, task): (u64, Task<T>),
    ) -> MutexGuard<'q, Tasks<T>> {
        tasks.running += 1;
        drop(tasks);
        let result = catch_unwind(AssertUnwindSafe(task));
        let mut tasks = self.lock();
        tasks.running -= 1;
        // A result that nobody takes is dropped without the lock.
        let unused = tasks.end(number, result);
        self.done.notify_all();
        if unused.is_none() {
            return tasks;
        }
        drop(tasks);
        drop(unused);
        self.lock()
    }
}

impl<T> Tasks<T> {
    /// Notes the result of a task, and returns the result if nobody takes it.
    fn end(&mut self, number: u64, result: thread::Result<T>) -> Option<thread::Result<T>> {
        let at = number.checked_sub(self.first).and_then(|at| usize::try_from(at).ok());
        match at.and_then(|at| self.results.get_mut(at)) {
            Some(slot) => {
                *slot = Some(result);
                None
            }
            None => Some(result),
        }
    }

    /// Removes all tasks that have not begun, and all results. The tasks that run are no longer those of results.
    fn take_all(&mut self) -> impl Sized + use<T> {
        self.first += self.results.len() as u64;
        (std::mem::take(&mut self.waiting), std::mem::take(&mut self.results))
    }
}

impl<T: Send + 'static> Ahead<T> {
    /// Creates an empty queue, whose tasks run on at most `max_threads` threads, which start when they are needed.
    #[must_use]
    pub fn new(max_threads: usize) -> Self {
        let (waiting, results) = (VecDeque::new(), VecDeque::new());
        let tasks = Mutex::new(Tasks { waiting, results, first: 0, idle: 0, running: 0, is_dropped: false });
        Self { queue: Arc::new(Queue { tasks, pushed: Condvar::new(), done: Condvar::new() }), max_threads, threads: 0 }
    }

    /// Adds a task. If the system refuses a thread, or a thread of a pool adds the task, it runs on those threads that the queue has; if it
    /// has none, when its result is taken.
    pub fn push(&mut self, task: impl FnOnce() -> T + Send + 'static) {
        let mut tasks = self.queue.lock();
        let number = tasks.first + tasks.results.len() as u64;
        tasks.results.push_back(None);
        tasks.waiting.push_back((number, Box::new(task)));
        let needs_thread = tasks.idle < tasks.waiting.len() && self.threads < self.max_threads && !is_pool_thread();
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
                Some(None) => {}
            }
            // The first task, if it has not begun.
            let is_first = tasks.waiting.front().is_some_and(|(number, _)| *number == tasks.first);
            if is_first
                && (self.threads == 0 || is_pool_thread())
                && let Some(next) = tasks.waiting.pop_front()
            {
                tasks = self.queue.run(tasks, next);
                continue;
            }
            let left = patience.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Poll::Pending;
            }
            tasks = self.queue.wait(tasks, left);
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
    /// Removes all tasks, and waits for those that have begun. Returns ready when none runs, so that nothing which tasks use is used any
    /// more; pending if one still runs after `patience`.
    pub fn stop_within(&mut self, patience: Duration) -> Poll<()> {
        let begun = Instant::now();
        let mut tasks = self.queue.lock();
        let all = tasks.take_all();
        drop(tasks);
        drop(all);
        let mut tasks = self.queue.lock();
        while tasks.running > 0 {
            let left = patience.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Poll::Pending;
            }
            tasks = self.queue.wait(tasks, left);
        }
        Poll::Ready(())
    }

    /// Returns whether no task runs, and none is to be run.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        let tasks = self.queue.lock();
        tasks.running == 0 && tasks.waiting.is_empty()
    }

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
        let all = tasks.take_all();
        drop(tasks);
        self.queue.pushed.notify_all();
        drop(all);
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
    fn a_queue_that_stops_waits_for_tasks_that_have_begun() {
        let (send, receive) = std::sync::mpsc::channel::<()>();
        let (begun, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (on_begin, on_end) = (Arc::clone(&begun), Arc::clone(&ended));
        let mut ahead = Ahead::new(1);
        ahead.push(move || {
            on_begin.fetch_add(1, Ordering::SeqCst);
            receive.recv().unwrap();
            on_end.fetch_add(1, Ordering::SeqCst)
        });
        while begun.load(Ordering::SeqCst) == 0 {
            thread::yield_now();
        }
        ahead.push(|| panic!("a task that was removed"));
        assert!(ahead.stop_within(Duration::from_millis(1)).is_pending() && ahead.is_empty());
        send.send(()).unwrap();
        assert!(ahead.stop_within(Duration::from_secs(3600)).is_ready());
        assert_eq!(ended.load(Ordering::SeqCst), 1);
        // The queue takes further tasks, whose results are theirs.
        ahead.push(|| 5);
        assert_eq!((ahead.take(), ahead.take()), (Some(5), None));
    }

    /// Tasks need the one thread of a pool, on which their results are taken.
    #[cfg(feature = "parallel")]
    #[test]
    fn a_thread_of_a_pool_does_not_wait_for_tasks_that_need_it() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let pool = Arc::new(pool);
        let task = |number: u32| {
            let pool = Arc::clone(&pool);
            move || pool.install(|| number)
        };
        let taken = pool.install(|| {
            let mut ahead = Ahead::new(2);
            (0..4).for_each(|number| ahead.push(task(number)));
            std::iter::from_fn(|| ahead.take()).collect::<Vec<_>>()
        });
        assert_eq!(taken, [0, 1, 2, 3]);
        // Tasks that began on threads of the queue, before the only thread of the pool takes their results.
        let mut ahead = Ahead::new(2);
        let (occupied, is_occupied) = std::sync::mpsc::channel::<()>();
        let (send, receive) = std::sync::mpsc::channel::<Ahead<u32>>();
        let taken = thread::scope(|scope| {
            let taker = scope.spawn(|| {
                pool.install(move || {
                    occupied.send(()).unwrap();
                    let mut ahead = receive.recv().unwrap();
                    std::iter::from_fn(|| ahead.take()).collect::<Vec<_>>()
                })
            });
            is_occupied.recv().unwrap();
            (0..4).for_each(|number| ahead.push(task(number)));
            while ahead.queue.lock().running < 2 {
                thread::yield_now();
            }
            send.send(ahead).unwrap();
            taker.join().unwrap()
        });
        assert_eq!(taken, [0, 1, 2, 3]);
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
