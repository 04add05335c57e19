//! The journal that several parts of one piece of work share, and the journals of the parts beside it.
//!
//! All these journals hold the random identifier of the work, so that neither a part nor the final step uses a journal of earlier work.

use super::journal::{self, FoundJournal, Identity, JournalState};
use super::skipped::SkippedChunk;
use zarr_hierarchy::{Error, ErrorKind, Result};
use zarr_meta::NodePath;
use zarr_store::{Key, Store, StoreExt};

/// Greatest number of missing parts that an error lists.
const LISTED: usize = 20;

/// Journal that all parts share, as a part has joined it.
pub(super) struct SharedJournal {
    key: Key,
    id: String,
}

impl SharedJournal {
    pub(super) fn of(found: &FoundJournal, key: Key) -> Result<Self> {
        Ok(Self { id: found.id()?.to_owned(), key })
    }

    /// Random identifier of the work.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Checks that the shared journal still belongs to the work that the part joined.
    pub(super) fn check(&self, target: &dyn Store) -> Result<()> {
        match FoundJournal::read(target, &self.key)? {
            Some(found) if found.id().is_ok_and(|id| id == self.id) => check_state(&found, &self.key),
            _ => Err(given_up(&self.key)),
        }
    }

    /// Checks that the journal of a part, at `key`, belongs to this work and not to earlier work.
    pub(super) fn check_id(&self, part: &FoundJournal, key: &Key) -> Result<()> {
        check_id(part, &self.id, key)
    }
}

/// Checks that parts may still run: the work is neither given up nor being finished.
pub(super) fn check_state(shared: &FoundJournal, key: &Key) -> Result<()> {
    match shared.state()? {
        JournalState::Abandoned => Err(given_up(key)),
        JournalState::Written | JournalState::Ending => Err(ending(key)),
        JournalState::Clearing | JournalState::Writing => Ok(()),
    }
}

fn check_id(part: &FoundJournal, id: &str, key: &Key) -> Result<()> {
    if part.id()? == id {
        return Ok(());
    }
    let message =
        "this part was done, or begun, in an earlier conversion to here, of which the journal was left behind";
    let error = Error::new(ErrorKind::Exists, message)
        .with_hint("--abandon erases the journals of all parts; then begin each of them again");
    Err(error.at(|location| location.key = Some(key.to_string())))
}

/// Chunks that the parts could not read.
#[derive(Default)]
pub(super) struct SkippedByParts {
    pub(super) chunks: Vec<SkippedChunk>,
    pub(super) more: u64,
}

/// Checks that all parts are done. Returns the chunks that the parts could not read.
pub(super) fn check_parts(
    target: &dyn Store,
    path: &NodePath,
    shared: &FoundJournal,
    identity: &Identity,
    parts: u64,
) -> Result<SkippedByParts> {
    let (mut left_out, mut missing) = (SkippedByParts::default(), Vec::new());
    for (number, key) in (1..=parts).zip(journal::parts(path, parts)) {
        let key = key?;
        let found = FoundJournal::read(target, &key)?;
        if let Some(found) = &found {
            check_id(found, shared.id()?, &key)?;
        }
        match found {
            Some(found) if found.state()? == JournalState::Written => {
                found.check(identity)?;
                let (chunks, more) = found.skipped()?;
                left_out.chunks.extend_from_slice(chunks);
                left_out.more = left_out.more.saturating_add(more);
            }
            _ => missing.push(number),
        }
    }
    if missing.is_empty() {
        return Ok(left_out);
    }
    let listed: Vec<String> = missing.iter().take(LISTED).map(ToString::to_string).collect();
    let more = match missing.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!("of {parts} parts these are not done: {}{more}", listed.join(", "));
    Err(Error::argument(message).with_hint("run each of them to its end, with the same options and --part"))
}

/// Gives the work on the node at `path` up, so that no part goes on, and erases the journals of parts. Returns the key of the shared
/// journal, which stays until what the parts wrote is erased. `identity` returns the identity of the work in a number of parts.
pub(super) fn abandon(
    target: &dyn Store,
    path: &NodePath,
    identity: impl FnOnce(u64) -> Result<Identity>,
) -> Result<Key> {
    let key = journal::key(path, None)?;
    let located = |error: Error| error.at(|location| location.key = Some(key.to_string()));
    let shared = FoundJournal::read_idle(target, &key)?;
    let journals: Vec<Key> = match &shared {
        Some(shared) if shared.state().is_ok() => {
            let Some(parts) = shared.parts()? else {
                let error = Error::argument("the conversion to here is not done in parts");
                return Err(located(error.with_hint("--overwrite begins anew")));
            };
            if matches!(shared.state()?, JournalState::Written | JournalState::Ending) {
                return Err(ending(&key));
            }
            // With others the chunks that were written would stay.
            shared.check_keys(&identity(parts)?)?;
            shared.part_journals(target, path)?
        }
        // Nothing says how many parts there are.
        _ => journal::listed_parts(target, path)?,
    };
    // Without a journal nothing tells chunks of a conversion from those of others.
    if shared.is_none() && journals.is_empty() {
        return Err(located(Error::new(ErrorKind::NotFound, "no part of a conversion to here was begun")));
    }
    journal::check_idle(target, &journals)?;
    if let Some(shared) = shared.filter(|shared| shared.state().is_ok_and(|state| state != JournalState::Abandoned)) {
        shared.abandon(target)?;
    }
    // A part that starts later reads the abandoned state; a part that runs already notices that its journal is erased.
    journals.iter().try_for_each(|journal| target.erase(journal))?;
    if target.capabilities().durable {
        // Without this, journals could survive a power loss although their chunks are erased.
        target.barrier()?;
    }
    Ok(key)
}

pub(super) fn given_up(key: &Key) -> Error {
    let message = "this conversion in parts was given up or replaced meanwhile, or its target was erased or moved";
    let error = Error::new(ErrorKind::Exists, message)
        .with_hint("--abandon erases what is left of it; then begin each part again");
    error.at(|location| location.key = Some(key.to_string()))
}

fn ending(key: &Key) -> Error {
    let error = Error::new(ErrorKind::Exists, "all parts of this conversion are done, and it is being finished");
    error.with_hint("--finish ends it").at(|location| location.key = Some(key.to_string()))
}
