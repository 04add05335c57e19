//! Conversion in parts by several processes.
//!
//! All parts share a journal, which the first part creates, and each part has its own. All journals hold the random identifier of the
//! conversion, so that neither a part nor the final step uses a journal of an earlier conversion.

use super::destination::{self, ExistingDocuments, InTheWay};
use super::document_queue::DocumentQueue;
use super::journal::{self, Beginning, FoundJournal, Identity, Journal, JournalState};
use super::part::Part;
use super::progress::{Progress, Reporter};
use super::run::in_store;
use super::skipped::SkippedChunk;
use super::{Action, Conversion, reencode};
use std::collections::BTreeMap;
use std::sync::Arc;
use zarr_hierarchy::{Error, ErrorKind, IntoFlow, Result};
use zarr_store::{Key, Store, StoreExt};

/// Greatest number of missing parts that an error lists.
const LISTED: usize = 20;

/// State that all parts read from the shared journal.
struct SharedJournal {
    key: Key,
    id: String,
    items: BTreeMap<usize, u64>,
    existing: ExistingDocuments,
}

/// Chunks that the parts could not read.
#[derive(Default)]
struct SkippedByParts {
    chunks: Vec<SkippedChunk>,
    more: u64,
}

impl Conversion {
    /// Ends a conversion whose [parts](super::ConvertOptions::part) are all done: writes the documents and erases the journals. The options
    /// have to be those of the parts.
    ///
    /// # Errors
    /// [`NotFound`](zarr_hierarchy::ErrorKind::NotFound) if no part was begun, or the conversion is already finished;
    /// [`Argument`](zarr_hierarchy::ErrorKind::Argument) if parts are not done (with their numbers), or the options differ from those of
    /// the parts (with the option); the errors of [`run`](Self::run).
    pub fn finish<F: IntoFlow>(
        &self,
        target: &Arc<dyn Store>,
        progress: impl Fn(Progress<'_>) -> F + Sync,
    ) -> Result<()> {
        let report = |event: Progress<'_>| progress(event).into_flow();
        self.finish_reporting(target, &Reporter::new(&report))
    }

    /// Gives up a conversion whose [parts](super::ConvertOptions::part) were begun: erases their journals and the chunks that they wrote,
    /// so that a new conversion can begin. The options have to be those of the parts, since they determine the keys of chunks. An
    /// interrupted call can be repeated.
    ///
    /// # Errors
    /// [`NotFound`](zarr_hierarchy::ErrorKind::NotFound) if there are no journals of parts; [`Exists`](zarr_hierarchy::ErrorKind::Exists)
    /// if a part is active (with its process), or if all parts are done and [`finish`](Self::finish) was begun;
    /// [`Argument`](zarr_hierarchy::ErrorKind::Argument) if the conversion at the target is not done in parts, or differs in an option that
    /// may change the keys of chunks (with the option).
    pub fn abandon(&self, target: &Arc<dyn Store>) -> Result<()> {
        self.check_target(target)?;
        self.abandon_parts(target).map_err(|error| in_store(target, error))
    }

    /// Writes the chunks of `part`.
    pub(super) fn write_part(&self, target: &Arc<dyn Store>, part: Part, reporter: &Reporter<'_>) -> Result<()> {
        let in_target = |error: Error| in_store(target, error);
        self.check_target(target)?;
        if self.options.overwrite {
            let error = Error::argument("a part of a conversion replaces no nodes");
            return Err(in_target(error.with_hint("erase the nodes; --abandon gives up parts that were begun")));
        }
        if target.capabilities().appears_at_flush {
            let error = Error::argument(
                "the parts of a conversion need a store whose values appear when they are set, which a zip file is not",
            );
            return Err(in_target(
                error.with_hint("convert into a directory or a bucket, and copy that into a zip file"),
            ));
        }
        let identity = Identity::of(self, Some(part.of())).map_err(in_target)?;
        let shared = self.join_parts(target, &identity).map_err(in_target)?;
        let Some(journal) = self.begin_part(target, part, &identity, &shared, reporter).map_err(in_target)? else {
            let report = |node| reporter.begin(node).and_then(|()| reporter.done(node.size));
            return self.nodes.iter().try_for_each(report);
        };
        // Whoever gives the conversion up erases the journals that are there when the shared one says so.
        let written = check_shared(target, &shared)
            .map_err(in_target)
            .and_then(|()| if part.number() == 1 { self.copy_other_keys(target, reporter) } else { Ok(()) })
            .and_then(|()| self.write_nodes(target, &shared.existing, None, &journal, reporter))
            .and_then(|()| check_shared(target, &shared).map_err(in_target));
        if let Err(error) = written {
            let _ = journal.release();
            return Err(error);
        }
        journal.release_as(JournalState::Written).and_then(|()| Ok(target.flush()?)).map_err(in_target)
    }

    /// Begins or resumes the journal of `part`; `None` if the part is done.
    fn begin_part(
        &self,
        target: &Arc<dyn Store>,
        part: Part,
        identity: &Identity,
        shared: &SharedJournal,
        reporter: &Reporter<'_>,
    ) -> Result<Option<Journal>> {
        let (_, path) = self.paths();
        let key = journal::key(&path, Some(part))?;
        let Some(found) = FoundJournal::read_idle(&**target, &key)? else {
            let (id, items) = (Some(shared.id.as_str()), shared.items.clone());
            let beginning = Beginning { identity, state: JournalState::Writing, id, items, found: None };
            return Journal::begin(target, key, beginning).map(Some);
        };
        check_id(&found, &shared.id, &key)?;
        found.check(identity)?;
        let (skipped, more) = found.skipped()?;
        reporter.all_skipped(skipped, more)?;
        if found.state()? == JournalState::Written {
            return Ok(None);
        }
        let journal = Journal::resume(target, found)?;
        // Of runs that were interrupted: this one stores its own.
        match journal::erase_scratch(&**target, &path, Some(part)) {
            Ok(()) => Ok(Some(journal)),
            Err(error) => {
                let _ = journal.release();
                Err(error)
            }
        }
    }

    /// Begins the shared journal, unless another part has begun it.
    fn join_parts(&self, target: &Arc<dyn Store>, identity: &Identity) -> Result<SharedJournal> {
        let (_, path) = self.paths();
        let key = journal::key(&path, None)?;
        let mut found = FoundJournal::read(&**target, &key)?;
        if found.is_none() {
            let begun = destination::prepare(target, self, InTheWay::Refuse);
            if let Err(error) = begun.and_then(|_| self.announce_parts(target, &key, identity)) {
                found = FoundJournal::read(&**target, &key)?;
                // Another part may have begun meanwhile.
                if found.is_none() || error.kind() != ErrorKind::Exists {
                    return Err(error);
                }
            }
        }
        // What was set is read again: on stores without conditions another part may have set it, too.
        let found = match found {
            Some(found) => found,
            None => FoundJournal::read(&**target, &key)?.ok_or_else(|| given_up(&key))?,
        };
        if found.parts()?.is_none() {
            return Err(found.in_the_way());
        }
        found.check(identity)?;
        check_state(&found, &key)?;
        let existing = destination::prepare(target, self, InTheWay::Keep)?;
        Ok(SharedJournal { id: found.id()?.to_owned(), items: found.items()?.clone(), key, existing })
    }

    fn announce_parts(&self, target: &Arc<dyn Store>, key: &Key, identity: &Identity) -> Result<()> {
        let mut items = BTreeMap::new();
        for (node, planned) in self.nodes.iter().enumerate() {
            if planned.how == Action::Reencode
                && let Some(item) = reencode::looked_up_item(self, planned)?
            {
                items.insert(node, item);
            }
        }
        let beginning = Beginning { identity, state: JournalState::Writing, id: None, items, found: None };
        // If there is one already, it is that of another part.
        journal::announce(&**target, key, &beginning).map(drop)
    }

    fn finish_reporting(&self, target: &Arc<dyn Store>, reporter: &Reporter<'_>) -> Result<()> {
        let in_target = |error: Error| in_store(target, error);
        self.check_target(target)?;
        let (journal, parts) = self.begin_finish(target).map_err(in_target)?;
        if let Err(error) = self.write_documents(target, &journal, reporter) {
            let _ = journal.release();
            return Err(error);
        }
        let (_, path) = self.paths();
        let erased =
            journal::erase_scratch(&**target, &path, None).and_then(|()| journal::erase_parts(&**target, &path, parts));
        erased.and_then(|()| journal.erase()).map_err(in_target)
    }

    /// Writes the documents after all parts are done.
    fn write_documents(&self, target: &Arc<dyn Store>, journal: &Journal, reporter: &Reporter<'_>) -> Result<()> {
        let in_target = |error: Error| in_store(target, error);
        if journal.state() != JournalState::Ending {
            let existing = destination::prepare(target, self, InTheWay::Keep).map_err(in_target)?;
            destination::make_parents(target, self, &existing).map_err(in_target)?;
            let check_own = || journal.check_own();
            let mut queue = DocumentQueue::new(target, &check_own);
            let written = self.write_nodes(target, &existing, Some(&mut queue), journal, reporter);
            written.and(queue.create().map_err(in_target))?;
            journal.enter(JournalState::Ending).map_err(in_target)?;
        }
        let (skipped, more) = journal.skipped();
        reporter.all_skipped(&skipped, more)?;
        self.end(target)
    }

    /// Takes over the shared journal after a check that all parts are done. Also returns the number of parts.
    fn begin_finish(&self, target: &Arc<dyn Store>) -> Result<(Journal, u64)> {
        let (_, path) = self.paths();
        let key = journal::key(&path, None)?;
        let Some(found) = FoundJournal::read_idle(&**target, &key)? else {
            let error = Error::new(ErrorKind::NotFound, "no part of a conversion to here was begun, or it is finished");
            return Err(error.at(|location| location.key = Some(key.to_string())));
        };
        let Some(parts) = found.parts()? else { return Err(found.in_the_way()) };
        let identity = Identity::of(self, Some(parts))?;
        found.check(&identity)?;
        if matches!(found.state()?, JournalState::Written | JournalState::Ending) {
            return Ok((Journal::resume(target, found)?, parts));
        }
        check_state(&found, &key)?;
        let SkippedByParts { chunks, more } = self.check_parts(target, &found, &identity, parts)?;
        let journal = Journal::resume(target, found)?;
        for chunk in &chunks {
            journal.skip(chunk);
        }
        journal.skip_more(more);
        for node in 0..self.nodes.len() {
            journal.end_node(node);
        }
        journal.enter(JournalState::Written)?;
        Ok((journal, parts))
    }

    /// Checks that all parts are done. Returns the chunks that the parts could not read.
    fn check_parts(
        &self,
        target: &Arc<dyn Store>,
        shared: &FoundJournal,
        identity: &Identity,
        parts: u64,
    ) -> Result<SkippedByParts> {
        let (_, path) = self.paths();
        let (mut left_out, mut missing) = (SkippedByParts::default(), Vec::new());
        for (number, key) in (1..=parts).zip(journal::parts(&path, parts)) {
            let key = key?;
            let found = FoundJournal::read(&**target, &key)?;
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

    fn abandon_parts(&self, target: &Arc<dyn Store>) -> Result<()> {
        let (_, path) = self.paths();
        let key = journal::key(&path, None)?;
        let located = |error: Error| error.at(|location| location.key = Some(key.to_string()));
        let shared = FoundJournal::read_idle(&**target, &key)?;
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
                shared.check_keys(&Identity::of(self, Some(parts))?)?;
                shared.part_journals(&**target, &path)?
            }
            // Nothing says how many parts there are.
            _ => journal::listed_parts(&**target, &path)?,
        };
        // Without a journal nothing tells chunks of a conversion from those of others.
        if shared.is_none() && journals.is_empty() {
            return Err(located(Error::new(ErrorKind::NotFound, "no part of a conversion to here was begun")));
        }
        journal::check_idle(&**target, &journals)?;
        if let Some(shared) = shared.filter(|shared| shared.state().is_ok_and(|state| state != JournalState::Abandoned))
        {
            shared.abandon(&**target)?;
        }
        // A part that starts later reads the abandoned state; a part that runs already notices that its journal is erased.
        journals.iter().try_for_each(|journal| target.erase(journal))?;
        if target.capabilities().durable {
            // Without this, journals could survive a power loss although their chunks are erased.
            target.barrier()?;
        }
        journal::erase_scratch(&**target, &path, None)?;
        let existing = destination::prepare(target, self, InTheWay::Keep)?;
        for planned in self.nodes.iter().filter(|node| matches!(node.how, Action::CopyChunks | Action::Reencode)) {
            destination::check_free(&**target, planned)?;
            let documents = destination::NodeDocuments::new(planned, existing.entry())?;
            destination::erase_chunks(&**target, documents.found(), &|_| true, &|| Ok(()))?;
        }
        self.erase_other_keys(&**target)?;
        if target.capabilities().durable {
            // Or a loss of power could leave chunks of which nothing is known.
            target.barrier()?;
        }
        target.erase(&key)?;
        Ok(target.flush()?)
    }
}

/// Checks that parts of the conversion may still run: it is neither given up nor being finished.
fn check_state(shared: &FoundJournal, key: &Key) -> Result<()> {
    match shared.state()? {
        JournalState::Abandoned => Err(given_up(key)),
        JournalState::Written | JournalState::Ending => Err(ending(key)),
        JournalState::Clearing | JournalState::Writing => Ok(()),
    }
}

/// Checks that the shared journal still belongs to the conversion that the part joined.
fn check_shared(target: &Arc<dyn Store>, shared: &SharedJournal) -> Result<()> {
    match FoundJournal::read(&**target, &shared.key)? {
        Some(found) if found.id().is_ok_and(|id| id == shared.id) => check_state(&found, &shared.key),
        _ => Err(given_up(&shared.key)),
    }
}

/// Checks that the journal of a part belongs to this conversion and not to an earlier conversion.
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

fn given_up(key: &Key) -> Error {
    let message = "this conversion in parts was given up or replaced meanwhile, or its target was erased or moved";
    let error = Error::new(ErrorKind::Exists, message)
        .with_hint("--abandon erases what is left of it; then begin each part again");
    error.at(|location| location.key = Some(key.to_string()))
}

fn ending(key: &Key) -> Error {
    let error = Error::new(ErrorKind::Exists, "all parts of this conversion are done, and it is being finished");
    error.with_hint("--finish ends it").at(|location| location.key = Some(key.to_string()))
}
