//! Knowledge of whether conditions of puts are kept: services that speak the protocol of S3 may ignore them.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The knowledge of one service.
#[derive(Debug)]
pub(crate) struct Conditions(Mutex<State>);

#[derive(Debug)]
struct State {
    kept: Kept,
    /// Number of times that the service was asked.
    asked: u32,
    warnings: Vec<String>,
}

/// Whether a service keeps the condition that a value has a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// Nothing says yet: the first conditional put that succeeds asks.
    Unknown,
    /// The service is being asked.
    Asking,
    /// Its answers do not say, and it is not asked again.
    Unsaid,
    Yes,
    /// It sets values whatever their version.
    No,
}

/// Number of times that a service is asked at most whose answers say to come later.
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

    /// Whether the caller is to ask, which nobody else does until it has noted the answer.
    pub(crate) fn begin_asking(&self) -> bool {
        let mut state = self.state();
        let is_due = state.kept == Kept::Unknown && state.asked < MOST;
        if is_due {
            (state.kept, state.asked) = (Kept::Asking, state.asked + 1);
        }
        is_due
    }

    /// Notes an answer that says so: the version that a put required was not there.
    pub(crate) fn are_kept(&self) {
        let mut state = self.state();
        if state.kept != Kept::No {
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

    /// Notes that the service does not answer the question.
    pub(crate) fn are_unsaid(&self) {
        self.asked(Kept::Unsaid);
    }

    /// Notes that the question has no answer now.
    pub(crate) fn ask_later(&self) {
        self.asked(Kept::Unknown);
    }

    fn asked(&self, kept: Kept) {
        let mut state = self.state();
        // The put of another may have shown more meanwhile.
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
