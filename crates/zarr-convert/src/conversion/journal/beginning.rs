//! Contents of new journals.

use super::entry::{JournalEntry, JournalState};
use super::found_journal::FoundJournal;
use super::identity::Identity;
use super::owner::{now, random_id};
use std::collections::BTreeMap;
use zarr_hierarchy::Result;
use zarr_store::{Durability, Key, Precondition, SetOptions, Store, StoreExt};

/// Contents of a new journal.
pub(in super::super) struct Beginning<'a> {
    pub(in super::super) identity: &'a Identity,
    pub(in super::super) state: JournalState,
    /// Identifier of the conversion that the run joins; `None` for a new conversion.
    pub(in super::super) id: Option<&'a str>,
    pub(in super::super) items: BTreeMap<usize, u64>,
    /// The journal that the new one replaces, if there is one.
    pub(in super::super) found: Option<FoundJournal>,
}

impl Beginning<'_> {
    pub(super) fn entry(&self) -> JournalEntry {
        let parts =
            |found: &FoundJournal| found.entry.as_ref().ok().and_then(|it| it.identity.parts().or(it.former_parts));
        JournalEntry {
            identity: self.identity.clone(),
            id: self.id.map_or_else(random_id, str::to_owned),
            run: random_id(),
            number: 0,
            owner: None,
            at: now(),
            state: self.state,
            done: 0,
            array: None,
            skipped: Vec::new(),
            more_skipped: 0,
            items: self.items.clone(),
            former_parts: self.found.as_ref().and_then(parts),
        }
    }
}

/// Sets the shared journal of a conversion in parts, which no run owns. Returns false if there is one already.
pub(in super::super) fn announce(target: &dyn Store, key: &Key, beginning: &Beginning<'_>) -> Result<bool> {
    let when = if target.capabilities().conditional { Precondition::NotExists } else { Precondition::None };
    let options = SetOptions::when(when).durable(Durability::Full);
    match target.set(key, beginning.entry().to_text().as_bytes(), &options) {
        Ok(_) => Ok(true),
        Err(error) if error.is_precondition() => Ok(false),
        Err(error) => Err(error.into()),
    }
}
