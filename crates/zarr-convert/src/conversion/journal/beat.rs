//! The thread by which a run shows that it is at work, however long a unit takes.

use super::owner::BEAT;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};

/// Calls a function again and again until it is dropped. It waits then for a call that is under way.
#[derive(Debug)]
pub(super) struct Beat {
    ends: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Beat {
    /// Where no thread can be started, units of the work alone show that it goes on.
    pub(super) fn new(beat: impl Fn() + Send + 'static) -> Self {
        let (ends, ended) = channel();
        let work = move || {
            while ended.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
                beat();
            }
        };
        Self { ends: Some(ends), thread: Builder::new().name("zarr-journal".to_owned()).spawn(work).ok() }
    }
}

impl Drop for Beat {
    fn drop(&mut self) {
        drop(self.ends.take());
        if let Some(thread) = self.thread.take() {
            // A panic there is of the store, and shows where the run calls it.
            let _ = thread.join();
        }
    }
}
