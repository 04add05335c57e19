//! The thread by which a run shows that it is at work, however long a unit takes.

use super::owner::REFRESH;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};

/// Calls a function again and again until it is dropped. It waits then for a call that is under way.
#[derive(Debug)]
pub(super) struct Refresh {
    ends: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Refresh {
    /// Where no thread can be started, units of the work alone show that it goes on.
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
