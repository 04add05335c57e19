//! Pyramids in parts by several processes.
//!
//! Leaves of the tree of units that follow one another belong to one part. A part computes the units of all levels whose leaves all belong
//! to it, so it reads no chunk of the source that another part reads if leaves are of whole chunks. Units with leaves of several parts, of
//! which there are few, are computed at the end, of the stored units of the next finer level.
//!
//! The part that comes first sets the marks of the levels and erases the chunks that lie where theirs will be, while the others wait.

use super::super::destination;
use super::super::journal::{self, Beginning, FoundJournal, Identity, Journal, JournalState};
use super::super::part::Part;
use super::super::run::in_store;
use super::super::shared_journal::{self, SharedJournal, check_parts, check_state, given_up};
use super::super::unfinished_node::UnfinishedNode;
use super::run::{check_marks, marked};
use super::work_plan::WorkPlan;
use super::write::{self, Share};
use super::{Level, Pyramid, Report};
use std::collections::BTreeMap;
use std::time::Duration;
use zarr_hierarchy::{Error, ErrorKind, IntoFlow, Result, check_strict_writers};
use zarr_meta::NodePath;
use zarr_store::{Key, StoreExt};

/// Time between two looks at the journal of the part that makes room for the levels.
const WAIT: Duration = Duration::from_millis(50);

impl Pyramid {
    /// Ends a pyramid whose [parts](super::PyramidOptions::part) are all done: computes the chunks that depend on several parts, writes the
    /// documents, and erases the journals. The options have to be those of the parts, without a part.
    ///
    /// # Errors
    /// [`NotFound`](zarr_hierarchy::ErrorKind::NotFound) if no part was begun, or the pyramid is already finished;
    /// [`Argument`](zarr_hierarchy::ErrorKind::Argument) if parts are not done (with their numbers), or the options differ from those of
    /// the parts (with the option); the errors of [`run`](Self::run).
    pub fn finish<F: IntoFlow>(&self, progress: impl Fn(u128) -> F + Sync) -> Result<()> {
        let report = |bytes: u128| progress(bytes).into_flow();
        self.as_parts()?.end(&report)
    }

    /// Gives up a pyramid whose [parts](super::PyramidOptions::part) were begun: erases their journals and the chunks that they wrote, so
    /// that a new pyramid can begin. The options have to be those of the parts, since they determine the keys of chunks. An interrupted
    /// call can be repeated.
    ///
    /// # Errors
    /// [`NotFound`](zarr_hierarchy::ErrorKind::NotFound) if there are no journals of parts; [`Exists`](zarr_hierarchy::ErrorKind::Exists)
    /// if a part is active (with its process), or if all parts are done and [`finish`](Self::finish) was begun;
    /// [`Argument`](zarr_hierarchy::ErrorKind::Argument) if the pyramid is not computed in parts, or differs in an option (with the option).
    pub fn abandon(&self) -> Result<()> {
        self.as_parts()?.give_up().map_err(|error| in_store(&self.target, error))
    }

    /// Returns the pyramid with the units that its parts have.
    fn as_parts(&self) -> Result<Self> {
        self.check_parts_allowed()?;
        let work = WorkPlan::new(&self.source, &*self.target, &self.levels, &self.options, true)?;
        Ok(Self { work, options: self.options.clone().part(None), ..self.clone() })
    }

    /// Checks that the pyramid can be computed in parts.
    fn check_parts_allowed(&self) -> Result<()> {
        let in_target = |error: Error| in_store(&self.target, error);
        if self.options.region.is_some() || self.options.level.is_some() {
            return Err(Error::argument("a region, or one level alone, is not computed in parts"));
        }
        if self.target.capabilities().appears_at_flush {
            let message =
                "the parts of a pyramid need a store whose values appear when they are set, which a zip file is not";
            let hint = "write the levels into a directory or a bucket, and copy that into a zip file";
            return Err(in_target(Error::argument(message).with_hint(hint)));
        }
        Ok(())
    }

    /// Path beside which the journals lie: of the first level.
    fn first_path(&self) -> Result<&NodePath> {
        self.levels.first().map(|level| &level.path).ok_or_else(|| Error::internal("a pyramid without levels"))
    }

    /// Computes and writes the units of a part.
    pub(super) fn write_part(&self, part: Part, report: &Report<'_>) -> Result<()> {
        let in_target = |error: Error| in_store(&self.target, error);
        self.check_parts_allowed()?;
        if self.options.options.strict_writers {
            check_strict_writers(self.target.capabilities(), "a pyramid").map_err(in_target)?;
        }
        let identity = self.identity(Some(part.of())).map_err(in_target)?;
        let shared = self.join(&identity, report).map_err(in_target)?;
        let marks = self.marks(&|level: &Level| shared.unfinished(&level.path)).map_err(in_target)?;
        let key = self.shared_key().map_err(in_target)?;
        let joined = SharedJournal::of(&shared, key).map_err(in_target)?;
        let Some(journal) = self.begin_part(part, &identity, &joined).map_err(in_target)? else {
            let _ = report(self.size());
            return Ok(());
        };
        let written = self.write_own(part, &journal, &joined, &marks, report);
        if let Err(error) = written {
            let _ = journal.release();
            return Err(error);
        }
        journal.release_as(JournalState::Written).and_then(|()| Ok(self.target.flush()?)).map_err(in_target)
    }

    fn write_own(
        &self,
        part: Part,
        journal: &Journal,
        shared: &SharedJournal,
        marks: &[UnfinishedNode],
        report: &Report<'_>,
    ) -> Result<()> {
        let target = &*self.target;
        // Who gives the pyramid up erases the journals that are there when the shared one says so.
        let check = || shared.check(target).and_then(|()| check_marks(target, marks));
        let in_target = |error: Error| in_store(&self.target, error);
        check().map_err(in_target)?;
        journal.begin_node(0, &[1]);
        let sinks = self.sinks(&self.documents()?)?;
        let own = part.range(self.work.tree.leaves());
        write::write(self, Share::Part(own), &sinks, Some(journal), report)?;
        self.check_source()?;
        target.barrier().map_err(Error::from).and_then(|()| check()).map_err(in_target)
    }

    fn shared_key(&self) -> Result<Key> {
        journal::key(self.first_path()?, None)
    }

    /// Begins or resumes the journal of `part`; `None` if the part is done.
    fn begin_part(&self, part: Part, identity: &Identity, shared: &SharedJournal) -> Result<Option<Journal>> {
        let key = journal::key(self.first_path()?, Some(part))?;
        let Some(found) = FoundJournal::read_idle(&*self.target, &key)? else {
            let (id, items) = (Some(shared.id()), BTreeMap::new());
            let beginning = Beginning { identity, state: JournalState::Writing, id, items, found: None };
            return Journal::begin(&self.target, key, beginning).map(Some);
        };
        shared.check_id(&found, &key)?;
        found.check(identity)?;
        match found.state()? {
            JournalState::Written => Ok(None),
            _ => Journal::resume(&self.target, found).map(Some),
        }
    }

    /// Returns the shared journal, after room is made for the levels: by this part if it is the first one, or the first one has ended.
    fn join(&self, identity: &Identity, report: &Report<'_>) -> Result<FoundJournal> {
        let (target, key) = (&*self.target, self.shared_key()?);
        if FoundJournal::read(target, &key)?.is_none()
            && let Err(error) = self.announce(&key, identity)
        {
            // Another part may have begun meanwhile.
            if error.kind() != ErrorKind::Exists || FoundJournal::read(target, &key)?.is_none() {
                return Err(error);
            }
        }
        loop {
            let found = FoundJournal::read(target, &key)?.ok_or_else(|| given_up(&key))?;
            if found.parts()?.is_none() {
                return Err(found.in_the_way());
            }
            found.check(identity)?;
            check_state(&found, &key)?;
            if found.state()? != JournalState::Clearing {
                return Ok(found);
            }
            let taken = match FoundJournal::read_idle(target, &key) {
                Ok(Some(found)) if found.state()? == JournalState::Clearing => {
                    let marks = self.marks(&|level: &Level| found.unfinished(&level.path))?;
                    Journal::resume(&self.target, found).and_then(|journal| self.prepare(&journal, &marks))
                }
                found => found.map(drop),
            };
            match taken {
                // The first part, or another one that took over, is at work.
                Err(error) if error.kind() == ErrorKind::Exists => std::thread::sleep(WAIT),
                taken => taken?,
            }
            report(0).into_result()?;
        }
    }

    /// Begins the shared journal, and makes room for the levels.
    fn announce(&self, key: &Key, identity: &Identity) -> Result<()> {
        let first = self.levels.first().ok_or_else(|| Error::internal("a pyramid without levels"))?;
        destination::groups_above_path(&self.target, &first.path, first.node.dialect)?;
        self.check_free()?;
        let marks = self.new_marks()?;
        let identity = &marked(identity.clone(), &marks);
        let beginning =
            Beginning { identity, state: JournalState::Clearing, id: None, items: BTreeMap::new(), found: None };
        let journal = Journal::begin(&self.target, key.clone(), beginning)?;
        self.prepare(&journal, &marks)
    }

    fn prepare(&self, journal: &Journal, marks: &[UnfinishedNode]) -> Result<()> {
        let made = self.documents().and_then(|documents| self.make_room(journal, marks, &documents));
        match made {
            Ok(()) => journal.release_as(JournalState::Writing),
            Err(error) => {
                let _ = journal.release();
                Err(error)
            }
        }
    }

    /// Computes the units that have leaves of several parts, and makes the levels visible.
    fn end(&self, report: &Report<'_>) -> Result<()> {
        let in_target = |error: Error| in_store(&self.target, error);
        let (journal, parts, marks) = self.begin_end().map_err(in_target)?;
        if let Err(error) = self.write_between(&journal, parts, &marks, report) {
            let _ = journal.release();
            return Err(error);
        }
        let path = self.first_path()?;
        journal::erase_parts(&*self.target, path, parts).and_then(|()| journal.erase()).map_err(in_target)
    }

    /// Takes over the shared journal after a check that all parts are done. Also returns the number of parts, and the marks of levels.
    fn begin_end(&self) -> Result<(Journal, u64, Vec<UnfinishedNode>)> {
        let (target, path, key) = (&*self.target, self.first_path()?, self.shared_key()?);
        let Some(found) = FoundJournal::read_idle(target, &key)? else {
            let error = Error::new(ErrorKind::NotFound, "no part of a pyramid to here was begun, or it is finished");
            return Err(error.at(|location| location.key = Some(key.to_string())));
        };
        let Some(parts) = found.parts()? else { return Err(found.in_the_way()) };
        let identity = self.identity(Some(parts))?;
        found.check(&identity)?;
        let marks = self.marks(&|level: &Level| found.unfinished(&level.path))?;
        let state = found.state()?;
        if state == JournalState::Ending {
            self.check_ended(&found)?;
            return Ok((Journal::resume(&self.target, found)?, parts, marks));
        }
        if state != JournalState::Written {
            check_state(&found, &key)?;
            check_parts(target, path, &found, &identity, parts)?;
        }
        check_marks(target, &marks)?;
        let journal = Journal::resume(&self.target, found)?;
        journal.enter(JournalState::Written)?;
        Ok((journal, parts, marks))
    }

    fn write_between(
        &self,
        journal: &Journal,
        parts: u64,
        marks: &[UnfinishedNode],
        report: &Report<'_>,
    ) -> Result<()> {
        let in_target = |error: Error| in_store(&self.target, error);
        let documents = self.documents()?;
        if journal.state() == JournalState::Ending {
            let _ = report(self.size());
        } else {
            let sinks = self.sinks(&documents)?;
            write::write(self, Share::BetweenParts(parts), &sinks, Some(journal), report)?;
            self.check_source()?;
            journal.enter(JournalState::Ending).map_err(in_target)?;
        }
        self.target.barrier().map_err(Error::from).and_then(|()| journal.check_own()).map_err(in_target)?;
        self.make_visible(documents, marks).map_err(in_target)
    }

    fn give_up(&self) -> Result<()> {
        let target = &*self.target;
        let key = shared_journal::abandon(target, self.first_path()?, |parts| self.identity(Some(parts)))?;
        // Marks end with the chunks.
        let marks = FoundJournal::read(target, &key)?.map(|shared| self.marks_of(&shared)).unwrap_or_default();
        for (level, documents) in self.levels.iter().zip(self.documents()?) {
            destination::check_free(target, &level.node)?;
            destination::erase_chunks(target, documents.found(), &|_| true, &|| Ok(()))?;
        }
        marks.iter().try_for_each(|mark| mark.end(target))?;
        if target.capabilities().durable {
            // Or a loss of power could leave chunks of which nothing is known.
            target.barrier()?;
        }
        target.erase(&key)?;
        Ok(target.flush()?)
    }
}
