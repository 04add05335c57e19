//! Where the parts of a job run.

use zarr_store::{AccessProfile, Reply, Request, Result, Store};

use crate::Limits;
use crate::answer::answers;

/// Runs the independent parts of a job.
pub trait Spawn: Sync {
    /// Calls `run` once with each number below `count`, at the same time or one after another, and returns when all calls have. After
    /// `run` has returned `false`, it may leave out calls that are not begun. By default they are made in their order, on this thread.
    fn all(&self, count: usize, run: &(dyn Fn(usize) -> bool + Sync)) {
        let _ = (0..count).all(run);
    }

    /// Answers requests, which are independent of each other, in their order: by default on this thread, with [`answers`].
    ///
    /// # Errors
    /// The errors of the store.
    fn answers(&self, store: &dyn Store, requests: Vec<Request>, replies: &mut Vec<Reply>) -> Result<()> {
        answers(store, requests, replies)
    }

    /// How much of a job may be under way on a store with this profile whose requests take long.
    fn limits(&self, profile: &AccessProfile) -> Limits {
        Limits::of(profile)
    }

    /// Calls `body` with threads for tasks, and returns when all tasks have run. By default they run at once, on this thread.
    fn with_workers<'t>(&self, body: &mut dyn FnMut(&dyn Workers<'t>)) {
        body(&OnThisThread);
    }
}

/// The threads of a pool, as long as a driver hands out tasks to them.
pub trait Workers<'t> {
    /// Runs a task, now or later.
    fn run(&self, task: Box<dyn FnOnce() + Send + 't>);

    /// How many tasks run at the same time.
    fn count(&self) -> usize;

    /// Whether the calling thread is one of them: then it runs tasks while it waits, or all of them might wait.
    fn includes_this_thread(&self) -> bool;
}

/// Tasks that run at once, on the thread that hands them out.
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
