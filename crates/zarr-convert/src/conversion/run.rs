//! Execution of a conversion, from the beginning or from the point of an interruption.

use super::destination::{self, ExistingDocuments, InTheWay, NodeDocuments};
use super::document_queue::DocumentQueue;
use super::journal::{self, Beginning, FoundJournal, Identity, Journal, JournalState};
use super::progress::{Progress, Reporter};
use super::unfinished_node::{self, UnfinishedNode, Whereabouts};
use super::work::{NodeJournal, Work};
use super::{Action, Conversion, PlannedNode, is_same};
use std::collections::BTreeMap;
use std::sync::Arc;
use zarr_drive::run;
use zarr_hierarchy::jobs::Operation;
use zarr_hierarchy::node::ListNode;
use zarr_hierarchy::{Error, ErrorKind, IntoFlow, Result, check_strict_writers, consolidate};
use zarr_store::{Key, Store, StoreExt};

/// Next steps of a run that owns the journal.
struct RunPlan {
    unfinished: UnfinishedNode,
    start: Start,
}

enum Start {
    /// A new conversion, with no node at the target path.
    New(ExistingDocuments),
    /// Nodes at the target path are overwritten; `left` is the unfinished node of another conversion, if there is one.
    Overwriting { left: Option<UnfinishedNode> },
    /// A resumed conversion, with the place of its unfinished node; `None` if the interrupted run had not begun to write it.
    Resuming(Option<Whereabouts>),
}

impl Conversion {
    /// Writes all nodes to `target`, or the chunks of [one part](super::ConvertOptions::part). The source is not changed.
    ///
    /// The metadata of an array is written after all its chunks, so an array that exists in the target is complete even if the conversion
    /// is interrupted.
    ///
    /// During the conversion, a journal beside the target node (key `.zconversion`, followed by the name of the node unless that is the
    /// root) describes the conversion and the stored chunks. It is written after every 64 chunks or 5 s, and erased at the end. With the
    /// journal another run can [resume](super::ConvertOptions::resume) an interrupted conversion. The journal names the process that
    /// writes it: while that process is active, no other run resumes or replaces the conversion. Whether a process on another machine is
    /// active shows only by new entries, for which a run that resumes or overwrites waits 30 s. An operation that erases, moves or
    /// replaces the target erases the journal first; then the conversion ends with an error.
    ///
    /// A node that is [overwritten](super::ConvertOptions::overwrite) stays complete until the end if the store exchanges prefixes (a
    /// directory, an SQLite file, memory) and all keys of the node lie under its path (v2, v3, not the root): the new node is written
    /// under the prefix `.zreplacement` beside it, and the two are exchanged. Otherwise the old node is erased first.
    ///
    /// In a store whose values [appear at a flush](zarr_store::Capabilities::appears_at_flush), such as a zip file, the conversion ends
    /// with a flush, and there is no journal. If the conversion fails, nothing is flushed: drop the store, which leaves an existing file
    /// as it was and creates no new one.
    ///
    /// # Errors
    /// [`Exists`](zarr_hierarchy::ErrorKind::Exists) if nodes exist at the target path and [`ConvertOptions::overwrite`] is not set; if a
    /// conversion to the path was interrupted and neither [`ConvertOptions::overwrite`] nor [`ConvertOptions::resume`] is set; or if
    /// another run is active or takes over (with its process), or the target was erased meanwhile.
    /// [`Argument`](zarr_hierarchy::ErrorKind::Argument) if the target is the source, a chunk needs more memory than is allowed, or the
    /// journal belongs to another conversion (with the difference). The errors of reading and writing arrays.
    /// [`Cancelled`](zarr_hierarchy::ErrorKind::Cancelled) if `progress` cancels.
    ///
    /// [`ConvertOptions::overwrite`]: super::ConvertOptions::overwrite
    /// [`ConvertOptions::resume`]: super::ConvertOptions::resume
    pub fn run<F: IntoFlow>(&self, target: &Arc<dyn Store>, progress: impl Fn(Progress<'_>) -> F + Sync) -> Result<()> {
        let report = |event: Progress<'_>| progress(event).into_flow();
        let reporter = Reporter::new(&report);
        match self.options.part {
            Some(part) => self.write_part(target, part, &reporter),
            None => {
                let journal = self.write(target, &reporter, false)?;
                journal.erase().map_err(|error| in_store(target, error))
            }
        }
    }

    /// Writes all nodes. Keeps the journal, and records in it that the conversion has ended if `is_move`.
    pub(super) fn write(&self, target: &Arc<dyn Store>, reporter: &Reporter<'_>, is_move: bool) -> Result<Journal> {
        self.check_target(target)?;
        if self.options.resume && target.capabilities().appears_at_flush {
            let message = "nothing of an interrupted conversion stays in a store whose values appear all at once, such as a zip file";
            return Err(in_store(target, Error::argument(message).with_hint("begin anew, without resuming")));
        }
        let (journal, plan) = self.begin(target).map_err(|error| in_store(target, error))?;
        let begins = match &plan.start {
            Start::New(existing) => Some((plan.unfinished.clone(), existing.clone())),
            _ => None,
        };
        match self.write_all(target, &journal, plan, reporter, is_move) {
            Ok(()) => Ok(journal),
            Err(error) => {
                // Others have created the nodes between the look for them and the journal, of which nothing is to go on.
                let is_foreign = error.kind() == ErrorKind::Exists && journal.stored().is_none();
                // The options are refused before a chunk is stored: the same ones are refused again.
                let is_refused =
                    error.kind() == ErrorKind::Argument && journal.stored().unwrap_or(0) == 0 && self.others.is_empty();
                // The error is what went wrong first.
                let _ = match begins.filter(|_| is_foreign || is_refused) {
                    Some((unfinished, existing)) => self.take_back(target, journal, &unfinished, &existing, is_refused),
                    None => journal.release(),
                };
                Err(error)
            }
        }
    }

    /// Ends a new conversion of which nothing is to stay: erases its journal, and if `erases_groups` the documents of the groups that it has
    /// made beside those that existed.
    fn take_back(
        &self,
        target: &Arc<dyn Store>,
        journal: Journal,
        unfinished: &UnfinishedNode,
        existing: &ExistingDocuments,
        erases_groups: bool,
    ) -> Result<()> {
        // The mark and the documents may be those of a run that took over.
        journal.check_own()?;
        let is_made = |node: &&PlannedNode| node.how == Action::Group && !existing.is_there(&node.path);
        for group in self.nodes.iter().rev().filter(is_made).filter(|_| erases_groups) {
            // Others may have changed them meanwhile.
            let documents = NodeDocuments::new(group, existing.entry())?;
            if documents.are_stored(&**target)? {
                for (key, _) in documents.changes().filter(|(_, document)| document.is_some()) {
                    target.erase(&Key::new(key)?)?;
                }
            }
        }
        unfinished.end(&**target)?;
        journal.erase()
    }

    fn write_all(
        &self,
        target: &Arc<dyn Store>,
        journal: &Journal,
        plan: RunPlan,
        reporter: &Reporter<'_>,
        is_move: bool,
    ) -> Result<()> {
        let in_target = |error: Error| in_store(target, error);
        let RunPlan { unfinished, start } = plan;
        let existing = self.make_ready(target, journal, &unfinished, start).map_err(in_target)?;
        let (skipped, more) = journal.skipped();
        reporter.all_skipped(&skipped, more)?;
        if journal.state() == JournalState::Ending {
            self.nodes.iter().try_for_each(|node| reporter.begin(node).and_then(|()| reporter.done(node.size)))?;
        } else {
            let (into, check_own) = (unfinished.store(target), || journal.check_own());
            let mut queue = DocumentQueue::new(&into, &check_own);
            journal.check_own().map_err(in_target)?;
            self.copy_other_keys(&into, reporter)?;
            let written = self.write_nodes(&into, &existing, Some(&mut queue), journal, reporter);
            // Create queued documents even after a failure, but none when another run has taken over (`record` fails then).
            let ended = journal.record().and_then(|()| queue.create()).map_err(in_target);
            written.and(ended)?;
            unfinished.put_in_place(target, self, || journal.record()).map_err(in_target)?;
            if is_move {
                // The source must still exist, or the last step of the move would be taken for done.
                self.check_there()?;
            }
            // Consolidating metadata changes group documents after they are written, so the journal notes that the end has begun.
            if is_move || !self.consolidate.is_empty() || unfinished.is_marked() {
                journal.enter(JournalState::Ending).map_err(in_target)?;
            }
        }
        unfinished.end(&**target).map_err(in_target)?;
        self.end(target)?;
        if journal.is_resumed() {
            let (_, path) = self.paths();
            journal::erase_scratch(&**target, &path, None).map_err(in_target)?;
        }
        Ok(())
    }

    /// Takes or creates the journal of this run, and plans its first step.
    fn begin(&self, target: &Arc<dyn Store>) -> Result<(Journal, RunPlan)> {
        let (_, path) = self.paths();
        let key = journal::key(&path, None)?;
        let identity = Identity::of(self, None)?;
        let found = match self.options.resume || self.options.overwrite {
            true => FoundJournal::read_idle(&**target, &key)?,
            false => FoundJournal::read(&**target, &key)?,
        };
        let begin = |unfinished: &UnfinishedNode, state, found| {
            let identity = &identity.clone().with(unfinished);
            let beginning = Beginning { identity, state, id: None, items: BTreeMap::new(), found };
            Journal::begin(target, key.clone(), beginning)
        };
        match found {
            Some(found) if self.options.resume => {
                found.check(&identity)?;
                self.go_on(target, found)
            }
            found if self.options.overwrite => {
                destination::check_above(target, self)?;
                if let Some(found) = &found {
                    found.check_parts_idle(&**target, &path)?;
                }
                let left = found.as_ref().and_then(|found| found.unfinished(&path).ok());
                let is_staged = unfinished_node::may_replace(&**target, self)?;
                let unfinished = UnfinishedNode::new(&**target, self, is_staged)?;
                let journal = begin(&unfinished, JournalState::Clearing, found)?;
                Ok((journal, RunPlan { unfinished, start: Start::Overwriting { left } }))
            }
            Some(found) => Err(found.in_the_way()),
            None => {
                let existing = destination::prepare(target, self, InTheWay::Refuse)?;
                let unfinished = UnfinishedNode::new(&**target, self, false)?;
                let journal = begin(&unfinished, JournalState::Writing, None)?;
                Ok((journal, RunPlan { unfinished, start: Start::New(existing) }))
            }
        }
    }

    /// Takes over the journal of an interrupted run of this conversion.
    fn go_on(&self, target: &Arc<dyn Store>, found: FoundJournal) -> Result<(Journal, RunPlan)> {
        let (_, path) = self.paths();
        let unfinished = found.unfinished(&path)?;
        let whereabouts = match found.state()? {
            JournalState::Clearing => Some(Whereabouts::Here),
            JournalState::Ending => unfinished.check_there(&**target, self).map(|()| Some(Whereabouts::Here))?,
            JournalState::Writing | JournalState::Written | JournalState::Abandoned => {
                match unfinished.find(&**target)? {
                    None if !found.has_nothing()? => return Err(unfinished.gone()),
                    whereabouts => whereabouts,
                }
            }
        };
        let journal = Journal::resume(target, found)?;
        Ok((journal, RunPlan { unfinished, start: Start::Resuming(whereabouts) }))
    }

    /// Makes room for the nodes, now that this run owns the journal. Returns the documents that exist already.
    fn make_ready(
        &self,
        target: &Arc<dyn Store>,
        journal: &Journal,
        unfinished: &UnfinishedNode,
        start: Start,
    ) -> Result<ExistingDocuments> {
        let existing = match start {
            Start::New(existing) => {
                unfinished.begin(&**target)?;
                existing
            }
            Start::Overwriting { left } => {
                if let Some(left) = left {
                    left.end(&**target)?;
                }
                self.clear(target, journal, unfinished)?
            }
            Start::Resuming(whereabouts) => {
                match whereabouts {
                    Some(Whereabouts::Here) => {}
                    Some(Whereabouts::InPlace) => journal.enter(JournalState::Ending)?,
                    // The other run was stopped before it.
                    None => unfinished.begin(&**target)?,
                }
                match journal.state() {
                    JournalState::Clearing => self.clear(target, journal, unfinished)?,
                    JournalState::Writing if unfinished.is_staged() => {
                        destination::prepare(target, self, InTheWay::Replace)?
                    }
                    _ => destination::prepare(target, self, InTheWay::Keep)?,
                }
            }
        };
        destination::make_parents(target, self, &existing)?;
        Ok(existing)
    }

    /// Erases nodes at the target path, and keys that earlier conversions left beside it.
    fn clear(
        &self,
        target: &Arc<dyn Store>,
        journal: &Journal,
        unfinished: &UnfinishedNode,
    ) -> Result<ExistingDocuments> {
        let (_, path) = self.paths();
        unfinished.erase_others(&**target)?;
        let in_the_way = if unfinished.is_staged() { InTheWay::Replace } else { InTheWay::Erase };
        let existing = destination::prepare(target, self, in_the_way)?;
        journal::erase_left(&**target, &path, journal.former_parts())?;
        unfinished.begin(&**target)?;
        journal.enter(JournalState::Writing)?;
        Ok(existing)
    }

    /// Writes the metadata of a new image and consolidated metadata, and lists the node in the group above.
    pub(super) fn end(&self, target: &Arc<dyn Store>) -> Result<()> {
        self.describe_image(target).map_err(|error| in_store(target, error))?;
        for group in &self.consolidate {
            consolidate(&**target, &group.to_string(), None)?;
        }
        self.list_in(&**target, true).and_then(|()| Ok(target.flush()?)).map_err(|error| in_store(target, error))
    }

    /// If the node got another path, adds it to the list of children of its new group (`is_there`), or removes it from that of its old
    /// group.
    pub(super) fn list_in(&self, store: &dyn Store, is_there: bool) -> Result<()> {
        let (from, to) = self.paths();
        let Some(root) = self.nodes.iter().find(|node| node.path == to) else { return Ok(()) };
        if self.options.to.is_none() {
            return Ok(());
        }
        let is_array = root.target.as_array().is_some();
        let path = if is_there { to } else { from };
        run(store, ListNode::new(path, is_array, is_there, store.capabilities()).job())
    }

    /// Writes the chunks of all nodes that the journal does not record as done, and adds their documents to `queue`. Without `queue`,
    /// writes chunks only.
    pub(super) fn write_nodes(
        &self,
        target: &Arc<dyn Store>,
        existing: &ExistingDocuments,
        mut queue: Option<&mut DocumentQueue<'_>>,
        journal: &Journal,
        reporter: &Reporter<'_>,
    ) -> Result<()> {
        let in_target = |error: Error| in_store(target, error);
        for (node, planned) in self.nodes.iter().enumerate() {
            reporter.begin(planned)?;
            let documents = NodeDocuments::new(planned, existing.entry())?;
            // An array that is there is complete.
            if queue.is_some() && journal.is_resumed() && documents.are_stored(&**target).map_err(in_target)? {
                journal.end_node(node);
                reporter.done(planned.size)?;
                continue;
            }
            if matches!(planned.how, Action::CopyChunks | Action::Reencode) {
                destination::check_free(&**target, planned).map_err(in_target)?;
            }
            let (part, keep_going) = (self.options.part.filter(|_| queue.is_none()), self.options.keep_going);
            let work = Work::recorded(reporter, NodeJournal { journal, target: &**target, node, part, keep_going });
            match planned.how {
                Action::Group if existing.is_there(&planned.path) => continue,
                // It is implicit there, too.
                Action::Group if planned.is_implied() => continue,
                Action::Group | Action::Keep => {}
                Action::CopyChunks | Action::Reencode if journal.is_done(node) => {
                    self.check_source(planned)?;
                    reporter.done(planned.size)?;
                }
                Action::CopyChunks | Action::Reencode => {
                    self.write_chunks(planned, documents.found(), target, &work)?
                }
            }
            journal.end_node(node);
            if let Some(queue) = &mut queue {
                journal.record_skipped().and_then(|()| queue.add(documents)).map_err(in_target)?;
            }
        }
        Ok(())
    }

    /// Checks that the source is not overwritten and, if strict writers are required, that the store can ensure that only one run owns the
    /// journal.
    pub(super) fn check_target(&self, target: &Arc<dyn Store>) -> Result<()> {
        let (_, path) = self.paths();
        self.check_image(target)?;
        if is_same(&self.source, target) {
            self.check_apart().map_err(|error| in_store(target, error))?;
        }
        match self.options.options.strict_writers {
            true => check_strict_writers(target.capabilities(), "a conversion")
                .map_err(|error| in_store(target, error.at_path(&path))),
            false => Ok(()),
        }
    }
}

pub(super) fn in_store(store: &Arc<dyn Store>, error: Error) -> Error {
    error.at(|location| location.store = Some(store.to_string()))
}
