//! Strategies to run the independent parts of a job.

use zarr_store::{AccessProfile, Reply, Request, Result, Store};

use crate::InFlightLimits;
use crate::answer::answers;

/// Strategy to run the independent parts of a job, such as [`Pool`](crate::Pool) and [`Sequential`](crate::Sequential).
pub trait Spawn: Sync {
    /// Calls `run` once with each number below `count`, concurrently or in any order, and returns when all calls have returned. Once a call
    /// has returned `false`, further calls may be skipped. By default the calls are made in ascending order in the calling thread.
    fn all(&self, count: usize, run: &(dyn Fn(usize) -> bool + Sync)) {
        let _ = (0..count).all(run);
    }

    /// Answers `requests`, which are independent of each other, and appends the replies in the order of `requests`. By default calls
    /// [`answers`] in the calling thread.
    ///
    /// # Errors
    /// The errors of the store.
    fn answers(&self, store: &dyn Store, requests: Vec<Request>, replies: &mut Vec<Reply>) -> Result<()> {
        answers(store, requests, replies)
    }

    /// Returns the limits of a job on an async store with `profile`.
    fn limits(&self, profile: &AccessProfile) -> InFlightLimits {
        InFlightLimits::of(profile)
    }

    /// Calls `body` with threads that run tasks, and returns when all tasks have ended. By default each task runs at once in the calling
    /// thread.
    fn with_workers<'t>(&self, body: &mut dyn FnMut(&dyn Workers<'t>)) {
        body(&OnThisThread);
    }
}

/// Threads to which a driver gives tasks.
pub trait Workers<'t> {
    /// Runs `task`, before this method returns or later.
    fn run(&self, task: Box<dyn FnOnce() + Send + 't>);

    /// Returns the maximum number of tasks that run concurrently.
    fn count(&self) -> usize;

    /// Returns whether the calling thread belongs to these threads. If it does, it must run tasks while it waits; else all threads might
    /// wait.
    fn includes_this_thread(&self) -> bool;
}

/// Runs each task at once in the calling thread.
pub(crate) struct OnThisThread;

impl<'t> Workers<'t> for OnThisThread {
    fn run(&self, task: Box<dyn FnOnce() + Send + 't>) {
        task();
    }

    fn count(&self) -> usize {
        1
    }

    fn includes_this_thread(&self) -> bool {
        true
    }
}
