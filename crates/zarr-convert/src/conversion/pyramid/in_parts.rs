//! Pyramids in parts by several processes.
//!
//! Leaves of the tree of units that follow one another belong to one part. A part computes the units of all levels whose leaves all belong
//! to it, so it reads no chunk of the source that another part reads if leaves are of whole chunks. Units with leaves of several parts are
//! computed at the end, of the stored units of the next finer level. They are few if each part has many leaves: of the units that have
//! fewer leaves than a part, at most one for each level and each end of a part.
//!
//! The part that comes first checks that nothing is at the paths of the levels, sets their marks, and erases chunks that were set there
//! since, as by a part of earlier work that wrote its last unit to the end. The others wait for it. Each part, and the end, looks for the
//! marks and for nodes of other writers before it begins, and again before it is done.

use super::super::destination::{self, InTheWay};
use super::super::journal::{self, Beginning, FoundJournal, Identity, Journal, JournalState};
use super::super::part::Part;
use super::super::run::in_store;
use super::super::shared_journal::{DoneParts, PartedWork, SharedJournal, check_state, given_up};
use super::super::unfinished_node::{self, UnfinishedNode};
use super::levels::Names;
use super::run::{check_marks, marked};
use super::work_plan::WorkPlan;
use super::write::{self, Share};
use super::{Level, Pyramid, Report};
use std::collections::BTreeMap;
use std::time::Duration;
use zarr_hierarchy::node::is_one_prefix;
use zarr_hierarchy::{Error, ErrorKind, IntoFlow, Result, check_strict_writers};
use zarr_meta::NodePath;
use zarr_store::{Key, StoreExt};

/// Noun by which errors name the work.
const NOUN: &str = "pyramid";
/// Time between the first two looks at the journal of the part that makes room for the levels. It doubles from look to look.
const WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// Least number of leaves of a part, on average, at which most units have leaves of one part.
const FEW_LEAVES: u64 = 4;

impl Pyramid {
    /// Ends a pyramid whose [parts](super::PyramidOptions::part) are all done: computes the chunks that depend on several parts, writes the
    /// documents, and erases the journals. The options have to be those of the parts; which part they name does not matter.
    ///
    /// # Errors
    /// [`NotFound`](zarr_hierarchy::ErrorKind::NotFound) if no part was begun, or the pyramid is already finished;
    /// [`Argument`](zarr_hierarchy::ErrorKind::Argument) if parts are not done (with their numbers), if the options differ from those of
    /// the parts (with the option), or have a region, a level, `overwrite` or `resume`; the errors of [`run`](Self::run).
    pub fn finish<F: IntoFlow>(&self, progress: impl Fn(u128) -> F + Sync) -> Result<()> {
        let report = |bytes: u128| progress(bytes).into_flow();
        self.as_parts("finish")?.end(&report)
    }

    /// Gives up a pyramid whose [parts](super::PyramidOptions::part) were begun: erases their journals and the chunks that they wrote, so
    /// that a new pyramid can begin. The options have to be those of the parts, since they determine the keys of chunks; the memory may be
    /// another, and the source may have changed. An interrupted call can be repeated.
    ///
    /// # Errors
    /// [`NotFound`](zarr_hierarchy::ErrorKind::NotFound) if there are no journals of parts; [`Exists`](zarr_hierarchy::ErrorKind::Exists)
    /// if a part is active (with its process), if [`finish`](Self::finish) is active or has written the document of a level, or if another
    /// writer has created a node at the path of a level; [`Argument`](zarr_hierarchy::ErrorKind::Argument) if the pyramid is not computed
    /// in parts, differs in an option (with the option), or has a region, a level, `overwrite` or `resume`.
    pub fn abandon(&self) -> Result<()> {
        let all = self.as_parts("abandon")?;
        let identity = |parts: u64| all.identity(Some(parts));
        let may_end = |found: &FoundJournal| Ok(found.state()? == JournalState::Written || !all.has_nodes()?);
        let abandon = || {
            let shared = FoundJournal::read(&*self.target, &all.shared_key()?)?;
            // Before parts are given up: an error leaves them as they are. Nodes are those of the work once its end writes documents.
            if shared.is_some_and(|found| !matches!(found.state(), Ok(JournalState::Ending))) {
                all.check_no_nodes(&all.levels)?;
            }
            let work = all.parted(all.first_path()?);
            work.abandon(identity, may_end, || all.is_finished(), |journal| all.erase_written(journal))
        };
        abandon().map_err(|error: Error| in_store(&self.target, error))
    }

    /// Returns a warning if parts have so few leaves that most units of coarser levels are left to the end.
    pub(super) fn few_leaves(&self) -> Option<String> {
        let (of, leaves) = (self.options.part?.of(), self.work.tree.leaves());
        let is_few = self.levels.len() > 1 && of > 1 && leaves / of < FEW_LEAVES;
        is_few.then(|| {
            format!(
                "the {of} parts have {leaves} units of the finest level among them: most chunks of coarser levels depend on several parts, \
                 and are left to --finish"
            )
        })
    }

    fn parted<'w>(&'w self, path: &'w NodePath) -> PartedWork<'w> {
        PartedWork { target: &self.target, path, noun: NOUN }
    }

    /// Returns the pyramid with the units that its parts have, for `step`, which concerns all parts.
    fn as_parts(&self, step: &str) -> Result<Self> {
        self.options.check_in_parts(step)?;
        self.check_target()?;
        let work = WorkPlan::new(&self.source, &*self.target, &self.levels, &self.options, true)?;
        Ok(Self { work, options: self.options.clone().part(None), ..self.clone() })
    }

    /// Checks that the pyramid can be computed in parts in the target.
    fn check_target(&self) -> Result<()> {
        let in_target = |error: Error| in_store(&self.target, error);
        self.parted(self.first_path()?).check_store().map_err(in_target)?;
        match self.options.options.strict_writers {
            true => check_strict_writers(self.target.capabilities(), "a pyramid").map_err(in_target),
            false => Ok(()),
        }
    }

    /// Path beside which the journals lie: of the first level.
    fn first_path(&self) -> Result<&NodePath> {
        self.levels.first().map(|level| &level.path).ok_or_else(|| Error::internal("a pyramid without levels"))
    }

    /// Computes and writes the units of a part.
    pub(super) fn write_part(&self, part: Part, report: &Report<'_>) -> Result<()> {
        let in_target = |error: Error| in_store(&self.target, error);
        self.check_target()?;
        let identity = self.identity(Some(part.of())).map_err(in_target)?;
        let found = self.join(&identity, report).map_err(in_target)?;
        let marks = self.marks(&|level: &Level| found.unfinished(&level.path)).map_err(in_target)?;
        let shared = self.shared_key().and_then(|key| SharedJournal::of(&found, key)).map_err(in_target)?;
        let work = self.parted(self.first_path()?);
        let begun = shared.begin_part(&work, part, &identity, &BTreeMap::new(), |_| Ok(()));
        let Some(journal) = begun.map_err(in_target)? else {
            let _ = report(self.size());
            return Ok(());
        };
        if let Err(error) = self.write_own(part, &journal, &shared, &marks, report) {
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
        let in_target = |error: Error| in_store(&self.target, error);
        self.check_own_levels(marks).map_err(in_target)?;
        journal.begin_node(0, &[1]);
        let sinks = self.sinks(&self.documents()?)?;
        let own = part.range(self.work.tree.leaves());
        write::write(self, Share::Part(own), &sinks, Some(journal), report)?;
        self.check_source()?;
        let is_on_disk = target.barrier().map_err(Error::from);
        let checked = is_on_disk.and_then(|()| shared.check(target)).and_then(|()| self.check_own_levels(marks));
        checked.map_err(in_target)
    }

    /// Checks that the levels are still those that the parts write: their marks are there, and no other writer has created a node.
    fn check_own_levels(&self, marks: &[UnfinishedNode]) -> Result<()> {
        check_marks(&*self.target, marks)?;
        self.check_no_nodes(&self.levels)
    }

    /// Checks that no node is at the paths of levels whose documents are not written yet, and that no conversion to them was begun.
    fn check_no_nodes(&self, levels: &[Level]) -> Result<()> {
        // The journals of this work lie beside the first level.
        levels.iter().skip(1).try_for_each(|level| FoundJournal::check_none(&*self.target, &level.path))?;
        for level in levels {
            if destination::has_node(&*self.target, &level.path)? {
                let hint =
                    "erase it or move it away, and run this again; if marks are gone with it, --abandon and begin anew";
                return Err(destination::created_meanwhile(&level.path).with_hint(hint));
            }
        }
        Ok(())
    }

    /// Returns whether the documents of all levels are written.
    fn is_finished(&self) -> Result<bool> {
        for level in &self.levels {
            if !level.documents()?.are_stored(&*self.target)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns whether a level has a document, of this work or of another writer.
    fn has_nodes(&self) -> Result<bool> {
        for level in &self.levels {
            if destination::has_node(&*self.target, &level.path)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn shared_key(&self) -> Result<Key> {
        journal::key(self.first_path()?, None)
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
        let mut wait = WAIT;
        loop {
            let found = FoundJournal::read(target, &key)?.ok_or_else(|| given_up(NOUN, &key))?;
            if found.parts()?.is_none() {
                return Err(found.in_the_way());
            }
            found.check(identity)?;
            check_state(&found, &key)?;
            if found.state()? != JournalState::Clearing {
                return Ok(found);
            }
            if !self.take_over(&key, report)? {
                std::thread::sleep(wait);
                wait = (wait * 2).min(LONGEST_WAIT);
            }
            report(0).into_result()?;
        }
    }

    /// Makes room for the levels if the part that began to do so has ended. Returns false if it is at work, or another part has taken over.
    fn take_over(&self, key: &Key, report: &Report<'_>) -> Result<bool> {
        let found = match FoundJournal::read_idle_while(&*self.target, key, &|| report(0).into_result()) {
            Ok(Some(found)) if found.state()? == JournalState::Clearing => found,
            Err(error) if error.kind() == ErrorKind::Exists => return Ok(false),
            found => return found.map(|_| true),
        };
        let marks = self.marks(&|level: &Level| found.unfinished(&level.path))?;
        let journal = match Journal::resume(&self.target, found) {
            Err(error) if error.kind() == ErrorKind::Exists => return Ok(false),
            journal => journal?,
        };
        match self.prepare(&journal, &marks) {
            Err(_) if journal.check_own().is_err_and(|error| error.kind() == ErrorKind::Exists) => Ok(false),
            prepared => prepared.map(|()| true),
        }
    }

    /// Begins the shared journal, and makes room for the levels.
    fn announce(&self, key: &Key, identity: &Identity) -> Result<()> {
        let first = self.levels.first().ok_or_else(|| Error::internal("a pyramid without levels"))?;
        destination::groups_above_path(&self.target, &first.path, first.node.dialect)?;
        for level in &self.levels {
            FoundJournal::check_none(&*self.target, &level.path)?;
            let free = destination::clear(&self.target, &level.path, level.node.dialect, None, InTheWay::Refuse);
            free.map_err(|error| match error.kind() {
                ErrorKind::Exists => {
                    error.with_hint("a part replaces nothing: erase what is there, or name another group")
                }
                _ => error,
            })?;
        }
        let marks = self.new_marks()?;
        let identity = &marked(identity.clone(), &marks);
        let beginning =
            Beginning { identity, state: JournalState::Clearing, id: None, items: BTreeMap::new(), found: None };
        let journal = Journal::begin(&self.target, key.clone(), beginning)?;
        self.prepare(&journal, &marks)
    }

    fn prepare(&self, journal: &Journal, marks: &[UnfinishedNode]) -> Result<()> {
        let made = self.make_room_for_parts(journal, marks);
        match made {
            Ok(()) => journal.release_as(JournalState::Writing),
            Err(error) => {
                let _ = journal.release();
                Err(error)
            }
        }
    }

    fn make_room_for_parts(&self, journal: &Journal, marks: &[UnfinishedNode]) -> Result<()> {
        self.check_no_nodes(&self.levels)?;
        // Another process may have taken this over, and parts of this work may have begun.
        journal.check_own()?;
        // No part of this work has begun: journals of parts are those that earlier work left.
        journal::erase_left(&*self.target, self.first_path()?, journal.identity().parts())?;
        self.make_room(journal, marks, &self.documents()?)
    }

    /// Computes the units that have leaves of several parts, and makes the levels visible.
    fn end(&self, report: &Report<'_>) -> Result<()> {
        let in_target = |error: Error| in_store(&self.target, error);
        let (journal, parts, marks) = self.begin_end().map_err(in_target)?;
        if let Err(error) = self.write_between(&journal, parts, &marks, report) {
            let _ = journal.release();
            return Err(error);
        }
        self.parted(self.first_path()?).end(journal, parts).map_err(in_target)
    }

    /// Takes over the shared journal after a check that all parts are done. Also returns the number of parts, and the marks of levels.
    fn begin_end(&self) -> Result<(Journal, u64, Vec<UnfinishedNode>)> {
        let done = self.parted(self.first_path()?).read_done(|parts| self.identity(Some(parts)))?;
        let DoneParts { found, parts, .. } = done;
        let marks = self.marks(&|level: &Level| found.unfinished(&level.path))?;
        let is_ending = found.state()? == JournalState::Ending;
        match is_ending {
            true => self.check_ended(&found)?,
            false => self.check_own_levels(&marks)?,
        }
        let journal = Journal::resume(&self.target, found)?;
        if !is_ending {
            journal.enter(JournalState::Written)?;
        }
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
        let on_disk = || self.target.barrier().map_err(Error::from);
        let documents = self.documents()?;
        if journal.state() == JournalState::Ending {
            let _ = report(self.size());
        } else {
            let sinks = self.sinks(&documents)?;
            write::write(self, Share::BetweenParts(parts), &sinks, Some(journal), report)?;
            self.check_source()?;
            let checked = on_disk().and_then(|()| self.check_own_levels(marks));
            checked.and_then(|()| journal.enter(JournalState::Ending)).map_err(in_target)?;
        }
        on_disk().and_then(|()| journal.check_own()).map_err(in_target)?;
        self.make_visible(documents, marks, &|| journal.confirm()).map_err(in_target)
    }

    /// Erases the chunks and the marks of the levels that `journal` tells of.
    fn erase_written(&self, journal: &Journal) -> Result<()> {
        let target = &*self.target;
        let levels = self.levels_of(journal.identity())?;
        // Chunks of a node that another writer created stay, and nothing is erased until it is gone.
        self.check_no_nodes(&levels)?;
        for level in &levels {
            journal.check_own()?;
            destination::erase_chunks(target, level.documents()?.found(), &|_| true, &|| journal.confirm())?;
            // Marks end with the chunks.
            if is_one_prefix(level.node.dialect, &level.path) {
                journal.identity().unfinished(&level.path)?.end(target)?;
                unfinished_node::erase_marks(target, &level.path)?;
            }
        }
        journal.check_own()
    }

    /// Returns the levels of the work with `identity`. If the source has changed since, these may be others than those that are planned now;
    /// only their number matters for the keys of their chunks.
    fn levels_of(&self, identity: &Identity) -> Result<Vec<Level>> {
        let count = identity.levels().unwrap_or(self.levels.len());
        let mut levels: Vec<Level> = self.levels.iter().take(count).cloned().collect();
        let names = Names::beside(self.first_path()?).ok_or_else(|| Error::internal("a level without a number"))?;
        while let (true, Some(last)) = (levels.len() < count, levels.last()) {
            let mut level = last.clone();
            level.number += 1;
            level.path = names.of(levels.len())?;
            level.node.path = level.path.clone();
            levels.push(level);
        }
        Ok(levels)
    }
}
