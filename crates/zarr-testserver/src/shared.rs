//! State that the connections of a server share.

use crate::counts::Tally;
use crate::faults::Script;
use crate::values::Values;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Settings that may change while the server runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) latency: Duration,
    /// Bandwidth of each connection in bytes/s; `None` for no limit.
    pub(crate) bandwidth: Option<u64>,
    pub(crate) credentials: Option<Arc<Credentials>>,
    /// Greatest number of requests that are answered at the same time; `None` for no limit.
    pub(crate) capacity: Option<u64>,
}

/// Access key of S3 and its secret.
#[derive(Debug)]
pub(crate) struct Credentials {
    pub(crate) access_key: String,
    pub(crate) secret: String,
}

/// State that the connections of a server share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    values: Mutex<Values>,
    settings: Mutex<Settings>,
    pub(crate) tally: Tally,
    pub(crate) faults: Script,
}

impl Shared {
    pub(crate) fn values(&self) -> MutexGuard<'_, Values> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn settings_mut(&self) -> MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn settings(&self) -> Settings {
        self.settings_mut().clone()
    }
}
