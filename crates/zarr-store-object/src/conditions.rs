//! Knowledge of whether a service respects conditions of puts: services that speak the protocol of S3 may ignore them.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Knowledge of whether one service respects conditions of puts.
#[derive(Debug)]
pub(crate) struct Conditions(Mutex<State>);

#[derive(Debug)]
struct State {
    kept: Kept,
    /// Number of tests of the service so far.
    asked: u32,
    warnings: Vec<String>,
}

/// Whether a service respects the condition that a value has a certain version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// Unknown so far: the first conditional put that succeeds starts a test.
    Unknown,
    /// A test is running.
    Asking,
    /// A test gave no result, and is not repeated.
    Unsaid,
    Yes,
    /// The service sets values although the condition does not hold.
    No,
}

/// Greatest number of tests of a service that answers to retry later.
const MOST: u32 = 3;

impl Conditions {
    pub(crate) fn new(kept: Kept) -> Self {
        Self(Mutex::new(State { kept, asked: 0, warnings: Vec::new() }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn kept(&self) -> Kept {
        self.state().kept
    }

    /// Returns whether the caller has to test the service. No other caller does so until the result is recorded.
    pub(crate) fn begin_asking(&self) -> bool {
        let mut state = self.state();
        let is_due = state.kept == Kept::Unknown && state.asked < MOST;
        if is_due {
            (state.kept, state.asked) = (Kept::Asking, state.asked + 1);
        }
        is_due
    }

    /// Records that the service has refused a put since the required version did not exist.
    pub(crate) fn are_kept(&self) {
        let mut state = self.state();
        if state.kept != Kept::No {
            state.kept = Kept::Yes;
        }
    }

    /// Records that a put was executed although its condition did not hold, and adds a warning.
    pub(crate) fn are_ignored(&self) {
        let mut state = self.state();
        if state.kept != Kept::No {
            state.kept = Kept::No;
            let text = "the service ignores the conditions of puts (If-Match): writers of one value at the same time lose what others write, \
                        without an error; one writer is safe, and --store-option conditional_put=disabled says that there is one";
            state.warnings.push(text.to_owned());
        }
    }

    /// Records that the test gives no result.
    pub(crate) fn are_unsaid(&self) {
        self.asked(Kept::Unsaid);
    }

    /// Records that the test gave no result this time.
    pub(crate) fn ask_later(&self) {
        self.asked(Kept::Unknown);
    }

    fn asked(&self, kept: Kept) {
        let mut state = self.state();
        // Another put may have found out more meanwhile.
        if state.kept == Kept::Asking {
            state.kept = kept;
        }
    }

    pub(crate) fn warn(&self, text: String) {
        self.state().warnings.push(text);
    }

    pub(crate) fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.state().warnings)
    }
}
