//! The journal that several parts of one piece of work share, and the journals of the parts beside it.
//!
//! All these journals hold the random identifier of the work, so that neither a part nor the final step uses a journal of earlier work.
//! The steps of parts that conversions and pyramids have in common are here: to begin a part, to take all parts for done, to end the work,
//! and to give it up.

use super::journal::{self, Beginning, FoundJournal, Identity, Journal, JournalState};
use super::part::Part;
use super::skipped::SkippedChunk;
use std::collections::BTreeMap;
use std::sync::Arc;
use zarr_hierarchy::{Error, ErrorKind, Result};
use zarr_meta::NodePath;
use zarr_store::{Key, Store, StoreExt};

/// Greatest number of missing parts that an error lists.
const LISTED: usize = 20;

/// Work on a node that several processes share.
pub(super) struct PartedWork<'w> {
    pub(super) target: &'w Arc<dyn Store>,
    /// Path of the node beside which the journals lie.
    pub(super) path: &'w NodePath,
    /// Noun by which errors name the work.
    pub(super) noun: &'static str,
}

/// Shared journal of work whose parts are all done.
pub(super) struct DoneParts {
    pub(super) found: FoundJournal,
    /// Number of parts.
    pub(super) parts: u64,
    /// Chunks that the parts could not read. Empty if the journal has them itself, since its final step was begun.
    pub(super) skipped: SkippedByParts,
}

/// Chunks that the parts could not read.
#[derive(Default)]
pub(super) struct SkippedByParts {
    pub(super) chunks: Vec<SkippedChunk>,
    pub(super) more: u64,
}

/// Work that is being given up.
struct Abandoned {
    /// The shared journal.
    journal: Journal,
    /// Keys of the journals of parts.
    parts: Vec<Key>,
    /// Whether there was no shared journal, so that this one was begun to keep others away.
    is_new: bool,
}

/// Journal that all parts share, as a part has joined it.
pub(super) struct SharedJournal {
    key: Key,
    id: String,
    noun: &'static str,
}

impl PartedWork<'_> {
    /// Checks that the store shows values when they are set, which parts rely on.
    pub(super) fn check_store(&self) -> Result<()> {
        if !self.target.capabilities().appears_at_flush {
            return Ok(());
        }
        let message = format!(
            "the parts of a {} need a store whose values appear when they are set, which a zip file is not",
            self.noun
        );
        Err(Error::argument(message).with_hint("write into a directory or a bucket, and copy that into a zip file"))
    }

    fn key(&self) -> Result<Key> {
        journal::key(self.path, None)
    }

    fn at_journal(&self, error: Error) -> Error {
        match self.key() {
            Ok(key) => at_key(error, &key),
            Err(_) => error,
        }
    }

    /// Reads the shared journal for the final step, and checks that all parts are done unless it says so. `identity` returns the identity
    /// of the work in a number of parts.
    pub(super) fn read_done(&self, identity: impl FnOnce(u64) -> Result<Identity>) -> Result<DoneParts> {
        let key = self.key()?;
        let Some(found) = FoundJournal::read_idle(&**self.target, &key)? else {
            let message = format!("no part of a {} to here was begun, or it is finished", self.noun);
            return Err(self.at_journal(Error::new(ErrorKind::NotFound, message)));
        };
        let Some(parts) = found.parts()? else { return Err(found.in_the_way()) };
        let identity = identity(parts)?;
        found.check(&identity)?;
        let skipped = match found.state()? {
            JournalState::Written | JournalState::Ending => SkippedByParts::default(),
            JournalState::Clearing | JournalState::Writing | JournalState::Abandoned => {
                check_state(&found, &key)?;
                self.check_parts(&found, &identity, parts)?
            }
        };
        Ok(DoneParts { found, parts, skipped })
    }

    /// Checks that all parts are done. Returns the chunks that the parts could not read.
    fn check_parts(&self, shared: &FoundJournal, identity: &Identity, parts: u64) -> Result<SkippedByParts> {
        let (mut left_out, mut missing) = (SkippedByParts::default(), Vec::new());
        for (number, key) in (1..=parts).zip(journal::parts(self.path, parts)) {
            let key = key?;
            let found = FoundJournal::read(&**self.target, &key)?;
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

    /// Erases the journals of the `parts` parts and the shared one, after everything is written.
    pub(super) fn end(&self, journal: Journal, parts: u64) -> Result<()> {
        // Another process may have ended this work, and parts of new work may have begun.
        journal.check_own()?;
        journal::erase_parts(&**self.target, self.path, parts)?;
        if self.target.capabilities().durable {
            // Without this, a loss of power could leave the journals of parts without the shared one.
            self.target.barrier()?;
        }
        journal.erase()
    }

    /// Gives the work up: no part goes on, and the journals of parts, what `erase` erases, and the shared journal are erased. `identity`
    /// returns the identity of the work in a number of parts. `may_end` returns whether work whose final step was begun can be given up.
    /// If journals of parts are left without the shared one, and `is_finished` returns that all nodes of the work are there, only these
    /// journals are erased.
    pub(super) fn abandon(
        &self,
        identity: impl Fn(u64) -> Result<Identity>,
        may_end: impl FnOnce(&FoundJournal) -> Result<bool>,
        is_finished: impl FnOnce() -> Result<bool>,
        erase: impl FnOnce(&Journal) -> Result<()>,
    ) -> Result<()> {
        let target = self.target;
        let Abandoned { journal, parts, is_new } = self.begin_to_abandon(identity, may_end)?;
        let erased: Result<()> = (|| {
            // A part that starts later reads the abandoned state; a part that runs already notices that its journal is erased.
            parts.iter().try_for_each(|part| target.erase(part))?;
            if target.capabilities().durable {
                // Without this, journals could survive a power loss although their chunks are erased.
                target.barrier()?;
            }
            if is_new && is_finished()? {
                return Ok(());
            }
            erase(&journal)?;
            if target.capabilities().durable {
                // Or a loss of power could leave chunks of which nothing is known.
                target.barrier()?;
            }
            Ok(())
        })();
        match erased {
            Ok(()) => journal.erase(),
            Err(error) => {
                let _ = journal.release();
                Err(error)
            }
        }
    }

    /// Takes over the shared journal, and says in it that the work is given up.
    fn begin_to_abandon(
        &self,
        identity: impl Fn(u64) -> Result<Identity>,
        may_end: impl FnOnce(&FoundJournal) -> Result<bool>,
    ) -> Result<Abandoned> {
        let (target, key) = (&**self.target, self.key()?);
        let shared = FoundJournal::read_idle(target, &key)?;
        let mut journals = journal::listed_parts(target, self.path)?;
        let known = match &shared {
            Some(shared) if shared.state().is_ok() => {
                let Some(parts) = shared.parts()? else {
                    let error = Error::argument(format!("the {} to here is not done in parts", shared.noun()));
                    return Err(self.at_journal(error.with_hint("--overwrite begins anew")));
                };
                let is_ending = matches!(shared.state()?, JournalState::Written | JournalState::Ending);
                if is_ending && !may_end(shared)? {
                    return Err(ending(shared.noun(), &key));
                }
                // With others the chunks that were written would stay.
                shared.check_keys(&identity(parts)?)?;
                shared.part_journals(target, self.path)?
            }
            // Nothing says how many parts there are.
            _ => Vec::new(),
        };
        journals.extend(known);
        journals.sort();
        journals.dedup();
        // Without a journal nothing tells chunks of this work from those of others.
        if shared.is_none() && journals.is_empty() {
            let message = format!("no part of a {} to here was begun", self.noun);
            return Err(self.at_journal(Error::new(ErrorKind::NotFound, message)));
        }
        journal::check_idle(target, &journals)?;
        let is_new = shared.is_none();
        let journal = match shared {
            Some(shared) if shared.state().is_ok() => Journal::abandon(self.target, shared)?,
            // While chunks are erased, a journal keeps new parts from beginning.
            found => {
                let of = |key: &Key| FoundJournal::read(target, key).ok()??.parts().ok()?;
                let identity = &identity(journals.iter().find_map(of).unwrap_or(1))?;
                let (state, items) = (JournalState::Abandoned, BTreeMap::new());
                Journal::begin(self.target, key, Beginning { identity, state, id: None, items, found })?
            }
        };
        Ok(Abandoned { journal, parts: journals, is_new })
    }
}

impl SharedJournal {
    pub(super) fn of(found: &FoundJournal, key: Key) -> Result<Self> {
        Ok(Self { id: found.id()?.to_owned(), key, noun: found.noun() })
    }

    /// Checks that the shared journal still belongs to the work that the part joined.
    pub(super) fn check(&self, target: &dyn Store) -> Result<()> {
        match FoundJournal::read(target, &self.key)? {
            Some(found) if found.id().is_ok_and(|id| id == self.id) => check_state(&found, &self.key),
            _ => Err(given_up(self.noun, &self.key)),
        }
    }

    /// Begins or resumes the journal of `part`, of the work with `identity`, after `look` has looked at the one that was found. Returns
    /// `None` if the part is done.
    pub(super) fn begin_part(
        &self,
        work: &PartedWork<'_>,
        part: Part,
        identity: &Identity,
        items: &BTreeMap<usize, u64>,
        look: impl FnOnce(&FoundJournal) -> Result<()>,
    ) -> Result<Option<Journal>> {
        let (target, key) = (work.target, journal::key(work.path, Some(part))?);
        let journal = match FoundJournal::read_idle(&**target, &key)? {
            None => {
                let (id, items) = (Some(self.id.as_str()), items.clone());
                let beginning = Beginning { identity, state: JournalState::Writing, id, items, found: None };
                Journal::begin(target, key, beginning)?
            }
            Some(found) => {
                check_id(&found, &self.id, &key)?;
                found.check(identity)?;
                look(&found)?;
                if found.state()? == JournalState::Written {
                    return Ok(None);
                }
                Journal::resume(target, found)?
            }
        };
        // A process that gives the work up sets the state of the shared journal, and then erases the journals of parts that it finds: it may
        // have missed this one.
        if let Err(error) = self.check(&**target) {
            // A new journal tells of no chunk yet. Left behind, it would be in the way of this part in later work.
            let _ = if journal.is_resumed() { journal.release() } else { journal.erase() };
            return Err(error);
        }
        Ok(Some(journal))
    }
}

/// Checks that parts may still run: the work is neither given up nor being finished.
pub(super) fn check_state(shared: &FoundJournal, key: &Key) -> Result<()> {
    match shared.state()? {
        JournalState::Abandoned => Err(given_up(shared.noun(), key)),
        JournalState::Written | JournalState::Ending => Err(ending(shared.noun(), key)),
        JournalState::Clearing | JournalState::Writing => Ok(()),
    }
}

fn check_id(part: &FoundJournal, id: &str, key: &Key) -> Result<()> {
    if part.id()? == id {
        return Ok(());
    }
    let noun = part.noun();
    let message =
        format!("this part was done, or begun, in an earlier {noun} to here, of which the journal was left behind");
    let hint = "--abandon erases the journals of all parts; then begin each of them again";
    Err(at_key(Error::new(ErrorKind::Exists, message).with_hint(hint), key))
}

/// Returns the error for work in parts, named by `noun`, whose shared journal is gone or says that the work was given up.
pub(super) fn given_up(noun: &str, key: &Key) -> Error {
    let message = format!("this {noun} in parts was given up or replaced meanwhile, or its target was erased or moved");
    let hint = "--abandon erases what is left of it; then begin each part again";
    at_key(Error::new(ErrorKind::Exists, message).with_hint(hint), key)
}

fn ending(noun: &str, key: &Key) -> Error {
    let message = format!("all parts of this {noun} are done, and it is being finished");
    at_key(Error::new(ErrorKind::Exists, message).with_hint("--finish ends it"), key)
}

fn at_key(error: Error, key: &Key) -> Error {
    error.at(|location| location.key = Some(key.to_string()))
}
