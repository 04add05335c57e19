//! Conversion in parts by several processes.
//!
//! All parts share a journal, which the first part creates, and each part has its own (`shared_journal.rs`).

use super::destination::{self, ExistingDocuments, InTheWay};
use super::document_queue::DocumentQueue;
use super::journal::{self, Beginning, FoundJournal, Identity, Journal, JournalState};
use super::part::Part;
use super::progress::{Progress, Reporter};
use super::run::in_store;
use super::shared_journal::{DoneParts, PartedWork, SharedJournal, check_state, given_up};
use super::{Action, Conversion, reencode};
use std::collections::BTreeMap;
use std::sync::Arc;
use zarr_hierarchy::{Error, ErrorKind, IntoFlow, Result};
use zarr_meta::NodePath;
use zarr_store::{Key, Store, StoreExt};

/// State that a part reads from the shared journal, and documents that exist.
struct Joined {
    shared: SharedJournal,
    items: BTreeMap<usize, u64>,
    existing: ExistingDocuments,
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
        let (_, path) = self.paths();
        let work = parted(target, &path);
        work.check_store().map_err(in_target)?;
        let identity = Identity::of(self, Some(part.of())).map_err(in_target)?;
        let joined = self.join_parts(target, &identity).map_err(in_target)?;
        let Some(journal) = self.begin_part(&work, part, &identity, &joined, reporter).map_err(in_target)? else {
            let report = |node| reporter.begin(node).and_then(|()| reporter.done(node.size));
            return self.nodes.iter().try_for_each(report);
        };
        let Joined { shared, existing, .. } = joined;
        let copied = if part.number() == 1 { self.copy_other_keys(target, reporter) } else { Ok(()) };
        let written = copied
            .and_then(|()| self.write_nodes(target, &existing, None, &journal, reporter))
            .and_then(|()| shared.check(&**target).map_err(in_target));
        if let Err(error) = written {
            let _ = journal.release();
            return Err(error);
        }
        journal.release_as(JournalState::Written).and_then(|()| Ok(target.flush()?)).map_err(in_target)
    }

    /// Begins or resumes the journal of `part`; `None` if the part is done.
    fn begin_part(
        &self,
        work: &PartedWork<'_>,
        part: Part,
        identity: &Identity,
        joined: &Joined,
        reporter: &Reporter<'_>,
    ) -> Result<Option<Journal>> {
        let Joined { shared, items, .. } = joined;
        let look = |found: &FoundJournal| {
            let (skipped, more) = found.skipped()?;
            reporter.all_skipped(skipped, more)
        };
        let Some(journal) = shared.begin_part(work, part, identity, items, look)? else { return Ok(None) };
        if !journal.is_resumed() {
            return Ok(Some(journal));
        }
        // Of runs that were interrupted: this one stores its own.
        match journal::erase_scratch(&**work.target, work.path, Some(part)) {
            Ok(()) => Ok(Some(journal)),
            Err(error) => {
                let _ = journal.release();
                Err(error)
            }
        }
    }

    /// Begins the shared journal, unless another part has begun it.
    fn join_parts(&self, target: &Arc<dyn Store>, identity: &Identity) -> Result<Joined> {
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
            None => FoundJournal::read(&**target, &key)?.ok_or_else(|| given_up(NOUN, &key))?,
        };
        if found.parts()?.is_none() {
            return Err(found.in_the_way());
        }
        found.check(identity)?;
        check_state(&found, &key)?;
        let existing = destination::prepare(target, self, InTheWay::Keep)?;
        Ok(Joined { shared: SharedJournal::of(&found, key)?, items: found.items()?.clone(), existing })
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
        let ended = journal::erase_scratch(&**target, &path, None);
        ended.and_then(|()| parted(target, &path).end(journal, parts)).map_err(in_target)
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
        let done = parted(target, &path).read_done(|parts| Identity::of(self, Some(parts)))?;
        let DoneParts { found, parts, skipped } = done;
        let is_begun = matches!(found.state()?, JournalState::Written | JournalState::Ending);
        let journal = Journal::resume(target, found)?;
        if is_begun {
            return Ok((journal, parts));
        }
        for chunk in &skipped.chunks {
            journal.skip(chunk);
        }
        journal.skip_more(skipped.more);
        for node in 0..self.nodes.len() {
            journal.end_node(node);
        }
        journal.enter(JournalState::Written)?;
        Ok((journal, parts))
    }

    fn abandon_parts(&self, target: &Arc<dyn Store>) -> Result<()> {
        let (_, path) = self.paths();
        let erase = |journal: &Journal| {
            journal::erase_scratch(&**target, &path, None)?;
            let existing = destination::prepare(target, self, InTheWay::Keep)?;
            for planned in self.nodes.iter().filter(|node| matches!(node.how, Action::CopyChunks | Action::Reencode)) {
                destination::check_free(&**target, planned)?;
                let documents = destination::NodeDocuments::new(planned, existing.entry())?;
                destination::erase_chunks(&**target, documents.found(), &|_| true, &|| journal.confirm())?;
            }
            journal.check_own()?;
            self.erase_other_keys(&**target)
        };
        // Documents are written as soon as all parts are done.
        parted(target, &path).abandon(|parts| Identity::of(self, Some(parts)), |_| Ok(false), || Ok(false), erase)
    }
}

/// Noun by which errors name the work.
const NOUN: &str = "conversion";

fn parted<'w>(target: &'w Arc<dyn Store>, path: &'w NodePath) -> PartedWork<'w> {
    PartedWork { target, path, noun: NOUN }
}
