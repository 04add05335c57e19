//! The reason why a run no longer owns its journal.

use super::entry::JournalEntry;
use super::found_journal::FoundJournal;
use super::identity::Identity;
use super::owner::ENDED_AFTER;
use std::time::Duration;
use zarr_hierarchy::{Error, ErrorKind};
use zarr_store::Key;

/// The reason why a run no longer owns its journal.
#[derive(Debug)]
pub(super) struct LeaseLoss {
    message: String,
    hint: Option<&'static str>,
}

impl LeaseLoss {
    /// Builds the reason from the journal that was found in place of the run's own entry (`None` if there is no journal) and from `since`,
    /// the time since the run's last entry.
    pub(super) fn new(found: Option<&FoundJournal>, own: &JournalEntry, since: Duration) -> Self {
        let Some(found) = found else { return Self::gone(&own.identity, since) };
        let message = match found.id() {
            Ok(id) if id == own.id => {
                format!("another run goes on with this {}: {}", own.identity.noun(), found.author())
            }
            _ => format!("another {} to here was begun: {}", found.noun(), found.author()),
        };
        Self { message, hint: None }
    }

    /// Builds the reason for a missing journal: erasing, moving or replacing the target erases the journal first.
    fn gone(identity: &Identity, since: Duration) -> Self {
        let (also, hint) = match identity.parts().is_some() {
            true => (
                ", or its parts were given up",
                "begin each part again; first erase what this one wrote since, if it is in the way",
            ),
            false if since >= ENDED_AFTER => {
                (", or another run went on with it and ended it", "--overwrite begins anew")
            }
            false => ("", "--overwrite begins anew"),
        };
        let message = format!("the target was erased, moved or replaced while the {} ran", identity.noun());
        Self { message: format!("{message}{also}: its journal is gone"), hint: Some(hint) }
    }

    /// Returns the reason as an error at the key of the journal.
    pub(super) fn error(&self, key: &Key) -> Error {
        let error = Error::new(ErrorKind::Exists, self.message.as_str());
        let error = match self.hint {
            Some(hint) => error.with_hint(hint),
            None => error,
        };
        error.at(|location| location.key = Some(key.to_string()))
    }
}
