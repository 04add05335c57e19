//! Store that declines to exchange prefixes.

use std::fmt;
use std::sync::Arc;

use zarr_store::{AccessProfile, Answer, AsyncStore, Call, Capabilities, Result, Store, fallback_blocking};

/// A store that says that it exchanges prefixes, and does not: as a directory does in which something may not be renamed.
#[derive(Debug)]
pub(super) struct Declining(pub(super) Arc<dyn Store>);

impl fmt::Display for Declining {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Store for Declining {
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        Ok(match call {
            Call::ExchangePrefixes { .. } => Answer::Is(false),
            call @ (Call::GetMany { .. }
            | Call::BeginSet { .. }
            | Call::AppendToSet { .. }
            | Call::FinishSet { .. }
            | Call::CreateMany { .. }
            | Call::Copy { .. }
            | Call::ListSizes { .. }
            | Call::Leftovers { .. }
            | Call::Pin { .. }
            | Call::IsInPlace) => return fallback_blocking(self, call),
            call => return self.0.call(call),
        })
    }

    fn as_async(&self) -> Option<Arc<dyn AsyncStore>> {
        self.0.as_async()
    }

    fn parent(&self) -> Option<(Arc<dyn Store>, String)> {
        self.0.parent()
    }

    fn take_warnings(&self) -> Vec<String> {
        self.0.take_warnings()
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn access_profile(&self) -> AccessProfile {
        self.0.access_profile()
    }
}
