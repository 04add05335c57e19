//! Thread that repeats journal entries, so that a run is seen to be active while a unit takes long.

use super::owner::REFRESH;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};

/// Thread that calls a function at intervals of [`REFRESH`] until this value is dropped. Dropping waits for a call in progress.
#[derive(Debug)]
pub(super) struct Refresh {
    ends: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Refresh {
    /// Starts the thread. If no thread can be started, `refresh` is never called, and only finished units write entries.
    pub(super) fn new(refresh: impl Fn() + Send + 'static) -> Self {
        let (ends, ended) = channel();
        let work = move || {
            while ended.recv_timeout(REFRESH) == Err(RecvTimeoutError::Timeout) {
                refresh();
            }
        };
        Self { ends: Some(ends), thread: Builder::new().name("zarr-journal".to_owned()).spawn(work).ok() }
    }
}

impl Drop for Refresh {
    fn drop(&mut self) {
        drop(self.ends.take());
        if let Some(thread) = self.thread.take() {
            // A panic there is of the store, and shows where the run calls it.
            let _ = thread.join();
        }
    }
}
