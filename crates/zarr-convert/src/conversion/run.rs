//! Carrying out a conversion: from the beginning, where it was interrupted, or in parts.

use super::destination::{self, ExistingDocuments, Finished, InTheWay};
use super::journal::{self, Found, Identity, Journal, State};
use super::part::Part;
use super::progress::{Progress, Reporter};
use super::unfinished::{self, Unfinished, Whereabouts};
use super::work::{Recorded, Work};
use super::{Action, Conversion, copy, is_same, reencode};
use std::sync::Arc;
use zarr_hierarchy::node::ListNode;
use zarr_hierarchy::{Error, ErrorKind, IntoFlow, Result, consolidate};
use zarr_store::{Store, run};

/// The numbers of so many missing parts are listed.
const LISTED: usize = 20;

impl Conversion {
    /// Writes everything to `target`, or [one part](super::ConvertOptions::part) of it. The source is not changed.
    ///
    /// The metadata of an array is written after all its chunks: an array that is there is complete, also if the
    /// conversion is interrupted.
    ///
    /// While it runs, a journal beside the target node (the key `.zconversion`, with the name of the node behind it unless that is the
    /// root) says what it is and which chunks are stored. It is written after every 64 chunks or 5 s, and erased at the end; by it another run
    /// [resumes](super::ConvertOptions::resume) a conversion that was interrupted.
    ///
    /// A node that is [overwritten](super::ConvertOptions::overwrite) stays whole to the end where the store exchanges prefixes
    /// (a directory, a SQLite file, memory) and all of it lies under its path (v2, v3, not the root): the new one is written under
    /// the prefix `.zreplacement` beside it and exchanged for it. Elsewhere it is erased first.
    ///
    /// # Errors
    /// [`Exists`](zarr_hierarchy::ErrorKind::Exists) if there are nodes in the way and [`ConvertOptions::overwrite`] is not set, or an interrupted
    /// conversion and neither that nor [`ConvertOptions::resume`] is;
    /// [`Argument`](zarr_hierarchy::ErrorKind::Argument) if the target is the source, a chunk needs more memory than there may be, or the
    /// journal is of another conversion, naming the difference; the errors of reading and writing arrays;
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

    /// Ends a conversion of which [parts](super::ConvertOptions::part) were done: writes the documents after all parts are, and erases their
    /// journals. Options are those of the parts.
    ///
    /// # Errors
    /// [`NotFound`](zarr_hierarchy::ErrorKind::NotFound) if no part was begun or all is finished; [`Argument`](zarr_hierarchy::ErrorKind::Argument)
    /// that lists the parts that are not done, or says in which option this conversion differs; the errors of [`run`](Self::run).
    pub fn finish<F: IntoFlow>(
        &self,
        target: &Arc<dyn Store>,
        progress: impl Fn(Progress<'_>) -> F + Sync,
    ) -> Result<()> {
        let report = |event: Progress<'_>| progress(event).into_flow();
        self.finish_reporting(target, &Reporter::new(&report))
    }

    /// Writes everything. The journal stays, and says so if `is_move`.
    pub(super) fn write(&self, target: &Arc<dyn Store>, reporter: &Reporter<'_>, is_move: bool) -> Result<Journal> {
        let in_target = |error: Error| in_store(target, error);
        self.check_target(target)?;
        let (journal, existing, unfinished) = self.begin(target).map_err(in_target)?;
        journal.skipped().iter().try_for_each(|chunk| reporter.skipped(chunk))?;
        if journal.state() == State::Ending {
            self.nodes.iter().try_for_each(|node| reporter.begin(node).and_then(|()| reporter.done(node.size)))?;
        } else {
            let into = unfinished.store(target);
            let mut finished = Finished::new(&into);
            let written = self.write_nodes(&into, &existing, Some(&mut finished), &journal, reporter);
            // Also the documents before the failed one, but nothing by a run that another one took over from.
            let ended = journal.record().and_then(|()| finished.create()).map_err(in_target);
            if written.is_err() || ended.is_err() {
                // The error is what went wrong first.
                let _ = journal.record();
            }
            written.and(ended)?;
            unfinished.put_in_place(target, self, || journal.record()).map_err(in_target)?;
            // Documents of groups that have consolidated metadata are others than those that were written.
            if is_move || !self.consolidate.is_empty() || unfinished.is_marked() {
                journal.enter(State::Ending).map_err(in_target)?;
            }
        }
        unfinished.end(&**target).map_err(in_target)?;
        self.end(target)?;
        if journal.is_resumed() {
            let (_, path) = self.paths();
            journal::erase_scratch(&**target, &path).map_err(in_target)?;
        }
        Ok(journal)
    }

    /// The journal of this run, the documents that are there already, and what is written.
    fn begin(&self, target: &Arc<dyn Store>) -> Result<(Journal, ExistingDocuments, Unfinished)> {
        let (_, path) = self.paths();
        let key = journal::key(&path, None)?;
        let identity = Identity::of(self, None)?;
        let (journal, existing, unfinished) = match Found::read(&**target, &key)? {
            Some(found) if self.options.resume => {
                found.check(&identity)?;
                self.go_on(target, found)?
            }
            found if self.options.overwrite => {
                let left = found.as_ref().and_then(|found| found.unfinished(&path).ok());
                let is_staged = unfinished::may_replace(&**target, self)?;
                let unfinished = Unfinished::new(&**target, self, is_staged)?;
                let journal = Journal::begin(target, key, &identity.with(&unfinished), State::Clearing, found)?;
                if let Some(left) = left {
                    left.end(&**target)?;
                }
                let existing = self.clear(target, &journal, &unfinished)?;
                (journal, existing, unfinished)
            }
            Some(found) => return Err(found.in_the_way()),
            None => {
                let existing = destination::prepare(target, self, InTheWay::Refuse)?;
                let unfinished = Unfinished::new(&**target, self, false)?;
                let journal = Journal::begin(target, key, &identity.with(&unfinished), State::Writing, None)?;
                unfinished.begin(&**target)?;
                (journal, existing, unfinished)
            }
        };
        destination::make_parents(target, self, &existing)?;
        Ok((journal, existing, unfinished))
    }

    /// Goes on with a journal of this conversion.
    fn go_on(&self, target: &Arc<dyn Store>, found: Found) -> Result<(Journal, ExistingDocuments, Unfinished)> {
        let (_, path) = self.paths();
        let unfinished = found.unfinished(&path)?;
        let whereabouts = match found.state()? {
            State::Clearing => Some(Whereabouts::Here),
            State::Ending => unfinished.check_there(&**target, self).map(|()| Some(Whereabouts::Here))?,
            State::Writing | State::Written => match unfinished.find(&**target)? {
                None if !found.has_nothing()? => return Err(unfinished.gone()),
                whereabouts => whereabouts,
            },
        };
        let journal = Journal::resume(target, found)?;
        match whereabouts {
            Some(Whereabouts::Here) => {}
            Some(Whereabouts::InPlace) => journal.enter(State::Ending)?,
            // The other run was stopped before it.
            None => unfinished.begin(&**target)?,
        }
        let existing = match journal.state() {
            State::Clearing => self.clear(target, &journal, &unfinished)?,
            State::Writing if unfinished.is_staged() => destination::prepare(target, self, InTheWay::Replace)?,
            _ => destination::prepare(target, self, InTheWay::Keep)?,
        };
        Ok((journal, existing, unfinished))
    }

    /// Erases what is in the way, and journals of parts.
    fn clear(&self, target: &Arc<dyn Store>, journal: &Journal, unfinished: &Unfinished) -> Result<ExistingDocuments> {
        let (_, path) = self.paths();
        unfinished.erase_others(&**target)?;
        let in_the_way = if unfinished.is_staged() { InTheWay::Replace } else { InTheWay::Erase };
        let existing = destination::prepare(target, self, in_the_way)?;
        journal::erase_parts(&**target, &path)?;
        unfinished.begin(&**target)?;
        journal.enter(State::Writing)?;
        Ok(existing)
    }

    /// Writes the chunks of a part.
    fn write_part(&self, target: &Arc<dyn Store>, part: Part, reporter: &Reporter<'_>) -> Result<()> {
        let in_target = |error: Error| in_store(target, error);
        self.check_target(target)?;
        if self.options.overwrite {
            let error = Error::argument("a part of a conversion replaces no nodes");
            return Err(in_target(
                error.with_hint("to begin anew, erase the target, and the keys beside it that begin with .zconversion"),
            ));
        }
        if target.capabilities().appears_at_flush {
            let error = Error::argument("the parts of a conversion need a store whose values appear when they are set");
            return Err(in_target(error.with_hint("convert into a directory or a bucket")));
        }
        let identity = Identity::of(self, Some(part.of())).map_err(in_target)?;
        let existing = self.join_parts(target, &identity).map_err(in_target)?;
        let (_, path) = self.paths();
        let key = journal::key(&path, Some(part))?;
        let journal = match Found::read(&**target, &key).map_err(in_target)? {
            Some(found) => {
                found.check(&identity).map_err(in_target)?;
                found.skipped().map_err(in_target)?.iter().try_for_each(|chunk| reporter.skipped(chunk))?;
                if found.state().map_err(in_target)? == State::Written {
                    let report = |node| reporter.begin(node).and_then(|()| reporter.done(node.size));
                    return self.nodes.iter().try_for_each(report);
                }
                Journal::resume(target, found)
            }
            None => Journal::begin(target, key, &identity, State::Writing, None),
        };
        let journal = journal.map_err(in_target)?;
        let written = self.write_nodes(target, &existing, None, &journal, reporter);
        if written.is_err() {
            let _ = journal.record();
        }
        written?;
        journal.enter(State::Written).and_then(|()| Ok(target.flush()?)).map_err(in_target)
    }

    /// Begins the journal that all parts share, unless another part did.
    fn join_parts(&self, target: &Arc<dyn Store>, identity: &Identity) -> Result<ExistingDocuments> {
        let (_, path) = self.paths();
        let key = journal::key(&path, None)?;
        let mut found = Found::read(&**target, &key)?;
        if found.is_none() {
            let begun = destination::prepare(target, self, InTheWay::Refuse).and_then(|existing| {
                Journal::begin(target, key.clone(), identity, State::Writing, None).map(|_| existing)
            });
            match begun {
                Ok(existing) => return Ok(existing),
                // Another part may have begun meanwhile.
                Err(error) if error.kind() == ErrorKind::Exists => {
                    found = Found::read(&**target, &key)?;
                    if found.is_none() {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        if let Some(found) = found {
            if found.parts()?.is_none() {
                return Err(found.in_the_way());
            }
            found.check(identity)?;
            if found.state()? == State::Ending {
                let error =
                    Error::new(ErrorKind::Exists, "all parts of this conversion are done, and it is being finished");
                return Err(error.with_hint("--finish ends it").at(|location| location.key = Some(key.to_string())));
            }
        }
        destination::prepare(target, self, InTheWay::Keep)
    }

    fn finish_reporting(&self, target: &Arc<dyn Store>, reporter: &Reporter<'_>) -> Result<()> {
        let in_target = |error: Error| in_store(target, error);
        self.check_target(target)?;
        let (journal, parts) = self.begin_finish(target).map_err(in_target)?;
        if journal.state() != State::Ending {
            self.take_parts(target, &journal, parts).map_err(in_target)?;
            let existing = destination::prepare(target, self, InTheWay::Keep).map_err(in_target)?;
            destination::make_parents(target, self, &existing).map_err(in_target)?;
            let mut finished = Finished::new(target);
            let written = self.write_nodes(target, &existing, Some(&mut finished), &journal, reporter);
            written.and(finished.create().map_err(in_target))?;
            journal.enter(State::Ending).map_err(in_target)?;
        }
        journal.skipped().iter().try_for_each(|chunk| reporter.skipped(chunk))?;
        self.end(target)?;
        let (_, path) = self.paths();
        journal::erase_parts(&**target, &path).and_then(|()| journal.erase()).map_err(in_target)
    }

    /// The journal that all parts share, and how many there are.
    fn begin_finish(&self, target: &Arc<dyn Store>) -> Result<(Journal, u64)> {
        let (_, path) = self.paths();
        let key = journal::key(&path, None)?;
        let Some(found) = Found::read(&**target, &key)? else {
            let error = Error::new(ErrorKind::NotFound, "no part of a conversion to here was begun, or it is finished");
            return Err(error.at(|location| location.key = Some(key.to_string())));
        };
        let Some(parts) = found.parts()? else { return Err(found.in_the_way()) };
        found.check(&Identity::of(self, Some(parts))?)?;
        Ok((Journal::resume(target, found)?, parts))
    }

    /// Checks that all parts are done, and takes over what they left out.
    fn take_parts(&self, target: &Arc<dyn Store>, journal: &Journal, parts: u64) -> Result<()> {
        let (_, path) = self.paths();
        let identity = Identity::of(self, Some(parts))?;
        let mut missing = Vec::new();
        for number in 1..=parts {
            match Found::read(&**target, &journal::key(&path, Some(Part::new(number, parts)?))?)? {
                Some(found) if found.state()? == State::Written => {
                    found.check(&identity)?;
                    for chunk in found.skipped()? {
                        journal.skip(chunk);
                    }
                }
                _ => missing.push(number),
            }
        }
        if missing.is_empty() {
            for node in 0..self.nodes.len() {
                journal.end_node(node);
            }
            return Ok(());
        }
        let listed: Vec<String> = missing.iter().take(LISTED).map(ToString::to_string).collect();
        let more = match missing.len().saturating_sub(LISTED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let message = format!("of {parts} parts these are not done: {}{more}", listed.join(", "));
        Err(Error::argument(message).with_hint("run each of them to its end, with the same options and --part"))
    }

    /// Consolidates metadata, and lists the node in the group above.
    fn end(&self, target: &Arc<dyn Store>) -> Result<()> {
        for group in &self.consolidate {
            consolidate(&**target, &group.to_string(), None)?;
        }
        self.list_in(&**target, true).and_then(|()| Ok(target.flush()?)).map_err(|error| in_store(target, error))
    }

    /// Adds the node that went to a path of its own to the lists of the group there, or takes it out of the lists of
    /// its old group.
    pub(super) fn list_in(&self, store: &dyn Store, is_there: bool) -> Result<()> {
        let (from, to) = self.paths();
        let Some(root) = self.nodes.iter().find(|node| node.path == to) else { return Ok(()) };
        if self.options.to.is_none() {
            return Ok(());
        }
        let is_array = root.target.as_array().is_some();
        let path = if is_there { to } else { from };
        run(store, ListNode::new(path, is_array, is_there, store.capabilities()))
    }

    /// Writes the chunks of all nodes that the journal does not have, and hands over their documents, unless `finished` is none.
    fn write_nodes(
        &self,
        target: &Arc<dyn Store>,
        existing: &ExistingDocuments,
        mut finished: Option<&mut Finished<'_>>,
        journal: &Journal,
        reporter: &Reporter<'_>,
    ) -> Result<()> {
        let in_target = |error: Error| in_store(target, error);
        for (node, planned) in self.nodes.iter().enumerate() {
            reporter.begin(planned)?;
            let documents = destination::NodeDocuments::new(planned, existing.entry())?;
            // An array that is there is complete.
            if finished.is_some() && journal.is_resumed() && documents.are_stored(&**target).map_err(in_target)? {
                journal.end_node(node);
                reporter.done(planned.size)?;
                continue;
            }
            if matches!(planned.how, Action::CopyChunks | Action::Reencode) {
                destination::check_free(&**target, planned).map_err(in_target)?;
            }
            let (part, keep_going) = (self.options.part.filter(|_| finished.is_none()), self.options.keep_going);
            let work = Work::recorded(reporter, Recorded { journal, target: &**target, node, part, keep_going });
            match planned.how {
                Action::Group if existing.is_there(&planned.path) => continue,
                // It is implicit there, too.
                Action::Group if planned.source.implicit && planned.dialect.implies_groups() => continue,
                Action::Group | Action::Keep => {}
                Action::CopyChunks | Action::Reencode if journal.is_done(node) => reporter.done(planned.size)?,
                Action::CopyChunks => copy::copy(self, planned, documents.found(), target, &work)?,
                Action::Reencode => reencode::reencode(self, planned, documents.found(), target, &work)?,
            }
            journal.end_node(node);
            if let Some(finished) = &mut finished {
                journal.record_skipped().and_then(|()| finished.add(documents)).map_err(in_target)?;
            }
        }
        Ok(())
    }

    /// Checks that the source is not written over.
    fn check_target(&self, target: &Arc<dyn Store>) -> Result<()> {
        match is_same(&self.source, target) {
            true => self.check_apart().map_err(|error| in_store(target, error)),
            false => Ok(()),
        }
    }
}

fn in_store(store: &Arc<dyn Store>, error: Error) -> Error {
    error.at(|location| location.store = Some(store.to_string()))
}
