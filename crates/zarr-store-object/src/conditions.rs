//! Knowledge of whether conditions of puts are kept: services that speak the protocol of S3 may ignore them.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whether a service keeps the conditions of puts.
#[derive(Debug)]
pub(crate) struct Conditions(Mutex<State>);

#[derive(Debug)]
struct State {
    kept: Kept,
    warnings: Vec<String>,
}

/// An answer to that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// Nothing yet: the first conditional put that has succeeded finds out.
    Unknown,
    Yes,
    /// It sets values whatever the condition.
    No,
}

impl Conditions {
    pub(crate) fn new(kept: Kept) -> Self {
        Self(Mutex::new(State { kept, warnings: Vec::new() }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn kept(&self) -> Kept {
        self.state().kept
    }

    /// Notes an answer that says so: the condition of a put was not met.
    pub(crate) fn are_kept(&self) {
        let mut state = self.state();
        if state.kept == Kept::Unknown {
            state.kept = Kept::Yes;
        }
    }

    /// Notes that a put was made whose condition did not hold.
    pub(crate) fn are_ignored(&self) {
        let mut state = self.state();
        if state.kept != Kept::No {
            state.kept = Kept::No;
            let text = "the service ignores the conditions of puts (If-Match): writers of one value at the same time lose what others write, \
                        without an error; one writer is safe, and --store-option conditional_put=disabled says that there is one";
            state.warnings.push(text.to_owned());
        }
    }

    pub(crate) fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.state().warnings)
    }
}
