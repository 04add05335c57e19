//! A run of a pyramid, from the beginning or from the point of an interruption.

use super::super::destination::{self, InTheWay, NodeDocuments};
use super::super::journal::{self, Beginning, FoundJournal, Identity, Journal, JournalState};
use super::super::run::in_store;
use super::super::unfinished_node::UnfinishedNode;
use super::write::{self, Share};
use super::{Level, Pyramid, Report, check_like, image, map_levels};
use std::collections::BTreeMap;
use zarr_array::{Array, Group, NewGroup};
use zarr_drive::run;
use zarr_hierarchy::jobs::Operation;
use zarr_hierarchy::node::{Ancestors, ListNode, StillThere, is_one_prefix, new_id};
use zarr_hierarchy::{Error, ErrorKind, Result, check_strict_writers, open_stored_node};
use zarr_json::{Map, Value};
use zarr_meta::{ArrayMetadata, StoredNode};
use zarr_store::{Store, StoreExt};

impl Pyramid {
    pub(super) fn write(&self, report: &Report<'_>) -> Result<()> {
        let in_target = |error: Error| in_store(&self.target, error);
        // A run of all levels may write the others at the same time.
        self.others.iter().try_for_each(|path| FoundJournal::check_none(&*self.target, path)).map_err(in_target)?;
        if self.options.options.strict_writers {
            check_strict_writers(self.target.capabilities(), "a pyramid").map_err(in_target)?;
        }
        if self.is_update {
            return self.update(report);
        }
        if self.options.resume && self.target.capabilities().appears_at_flush {
            let message =
                "nothing of an interrupted run stays in a store whose values appear all at once, such as a zip file";
            return Err(in_target(Error::argument(message).with_hint("begin anew, without resuming")));
        }
        let (journal, marks) = self.begin().map_err(in_target)?;
        match self.write_all(&journal, &marks, report) {
            Ok(()) => journal.erase().map_err(in_target),
            Err(error) => {
                // The error is what went wrong first.
                let _ = journal.release();
                Err(error)
            }
        }
    }

    /// Computes chunks of existing levels: those that depend on a region of the source, or all of one level.
    fn update(&self, report: &Report<'_>) -> Result<()> {
        let open = |level: &Level| {
            FoundJournal::check_none(&*self.target, &level.path)?;
            let array = Array::open(&self.target, &level.path.to_string(), self.source.registry())?;
            check_like(&array, level)?;
            array.with(self.work.options.clone())
        };
        let sinks = self.levels.iter().map(open).collect::<Result<Vec<_>>>()?;
        write::write(self, Share::All, &sinks, None, report)?;
        if self.options.level.is_some() {
            image::extend(self)?;
            map_levels::extend(self)?;
        }
        Ok(self.target.flush()?)
    }

    /// Takes or creates the journal, and plans the marks of the levels. Changes nothing else.
    fn begin(&self) -> Result<(Journal, Vec<UnfinishedNode>)> {
        let (target, options) = (&self.target, &self.options);
        let Some(first) = self.levels.first() else { return Err(Error::internal("a pyramid without levels")) };
        destination::groups_above_path(target, &first.path, first.node.dialect)?;
        let key = journal::key(&first.path, None)?;
        let identity = self.identity(None)?;
        let found = match options.resume || options.overwrite {
            true => FoundJournal::read_idle(&**target, &key)?,
            false => FoundJournal::read(&**target, &key)?,
        };
        let found = match found {
            Some(found) if options.resume => {
                found.check(&identity)?;
                let marks = self.marks(&|level: &Level| found.unfinished(&level.path))?;
                match found.state()? {
                    JournalState::Writing if found.has_nothing()? => self.check_begun(&found)?,
                    JournalState::Writing => check_marks(&**target, &marks)?,
                    JournalState::Ending => self.check_ended(&found)?,
                    JournalState::Clearing => self.check_replaced(true)?,
                    _ => {}
                }
                return Ok((Journal::resume(target, found)?, marks));
            }
            Some(found) if !options.overwrite => return Err(found.in_the_way()),
            found => found,
        };
        if options.overwrite {
            self.check_replaced(found.is_some())?;
            if let Some(found) = &found {
                found.check_parts_idle(&**target, &first.path)?;
            }
            for level in &self.levels {
                FoundJournal::read_idle(&**target, &journal::key(&level.path, None)?)?;
            }
        } else {
            self.check_free()?;
        }
        let marks = self.new_marks()?;
        let identity = marked(identity, &marks);
        // What is there is erased once the journal says so, since a run that is killed meanwhile has to be resumed.
        let state = if options.overwrite { JournalState::Clearing } else { JournalState::Writing };
        let left = found.as_ref().map(|found| self.marks_of(found)).unwrap_or_default();
        let beginning = Beginning { identity: &identity, state, id: None, items: BTreeMap::new(), found };
        let journal = Journal::begin(target, key, beginning)?;
        left.iter().try_for_each(|mark| mark.end(&**target))?;
        Ok((journal, marks))
    }

    /// Checks that there is nothing at the paths of the levels.
    fn check_free(&self) -> Result<()> {
        for level in &self.levels {
            FoundJournal::check_none(&*self.target, &level.path)?;
            destination::clear(&self.target, &level.path, level.node.dialect, None, InTheWay::Refuse)?;
        }
        Ok(())
    }

    /// Returns the mark of each level that can have one.
    pub(super) fn marks(&self, of: &dyn Fn(&Level) -> Result<UnfinishedNode>) -> Result<Vec<UnfinishedNode>> {
        self.levels.iter().filter(|level| is_one_prefix(level.node.dialect, &level.path)).map(of).collect()
    }

    /// Draws the marks of new levels.
    pub(super) fn new_marks(&self) -> Result<Vec<UnfinishedNode>> {
        let mut members = Map::new();
        if !self.target.capabilities().appears_at_flush {
            members.insert("mark", format!("{:016x}", new_id()));
        }
        self.marks(&|level: &Level| UnfinishedNode::of_members(&level.path, &members))
    }

    /// Checks that only levels are replaced: neither groups, nor arrays beside the source that are no levels of it. Chunks that an
    /// interrupted run has left may look like a group.
    fn check_replaced(&self, is_interrupted: bool) -> Result<()> {
        for level in &self.levels {
            let found = match open_stored_node(&*self.target, &level.path.to_string(), None) {
                Err(error) if error.kind() == ErrorKind::Store || error.is_absent_dialect() => return Err(error),
                // A node that cannot be read is replaced.
                Err(_) => continue,
                Ok(found) => found,
            };
            let message = match found.node.as_array() {
                None if found.implicit && is_interrupted => continue,
                None => "found a group, expected an array or nothing".to_owned(),
                Some(array) if self.is_beside && !self.may_be_level(array, level) => {
                    let (kind, shape) = (&array.data_type.name, &array.shape);
                    let source = self.source.path();
                    format!("found an array of {kind} and shape {shape:?}, expected a level of {source} or nothing")
                }
                Some(_) => continue,
            };
            let error = Error::new(ErrorKind::Exists, message).with_hint("levels replace nothing but levels");
            return Err(error.at_path(&level.path));
        }
        Ok(())
    }

    /// Returns whether an array may be a level of the source, by whatever factors: smaller along an axis, and nowhere larger.
    fn may_be_level(&self, array: &ArrayMetadata, level: &Level) -> bool {
        let is_like = level.node.target.as_array().is_some_and(|planned| planned.data_type == array.data_type);
        let (shape, whole) = (&array.shape, &self.shape);
        let is_smaller = shape.iter().zip(whole).all(|(len, whole)| len <= whole) && shape != whole;
        is_like && shape.len() == whole.len() && (is_smaller || *shape == level.shape)
    }

    /// Checks that a run which has stored no chunk finds nothing at the paths of levels but what it wrote itself: marks, and chunks that its
    /// journal does not tell of.
    fn check_begun(&self, found: &FoundJournal) -> Result<()> {
        let target = &self.target;
        for (number, level) in self.levels.iter().enumerate() {
            let mark = found.unfinished(&level.path)?;
            let has_mark = is_one_prefix(level.node.dialect, &level.path) && mark.is_marked();
            let may_have_chunks = !has_mark || mark.find(&**target)?.is_some();
            // The documents of levels are written last.
            let has_document = match open_stored_node(&**target, &level.path.to_string(), None) {
                Ok(found) => !found.implicit,
                Err(error) => !error.is_not_found(),
            };
            if may_have_chunks && !has_document {
                continue;
            }
            if number > 0 {
                FoundJournal::check_none(&**target, &level.path)?;
            }
            destination::clear(target, &level.path, level.node.dialect, None, InTheWay::Refuse)?;
        }
        Ok(())
    }

    /// Checks that no level is gone whose chunks are all written: each has its mark, or its document.
    pub(super) fn check_ended(&self, found: &FoundJournal) -> Result<()> {
        for level in self.levels.iter().filter(|level| is_one_prefix(level.node.dialect, &level.path)) {
            let mark = found.unfinished(&level.path)?;
            if mark.find(&*self.target)?.is_none() && !level.documents()?.are_stored(&*self.target)? {
                return Err(mark.gone());
            }
        }
        Ok(())
    }

    /// Returns the marks of the levels that the run of another journal has set.
    fn marks_of(&self, found: &FoundJournal) -> Vec<UnfinishedNode> {
        self.levels.iter().filter_map(|level| found.unfinished(&level.path).ok()).collect()
    }

    /// Erases what is at the paths of the levels, now that the journal says so.
    fn clear(&self, journal: &Journal) -> Result<()> {
        let target = &self.target;
        for (number, level) in self.levels.iter().enumerate() {
            journal.check_own()?;
            let above = StoredNode::implicit(level.node.dialect, level.path.clone());
            run(&**target, Ancestors::new(&above, target.capabilities()).replaced().job())?;
            let key = journal::key(&level.path, None)?;
            // The journal of this run has the key of the first level.
            let other = if number == 0 { None } else { FoundJournal::read_idle(&**target, &key)? };
            destination::clear(target, &level.path, level.node.dialect, None, InTheWay::Erase)?;
            if let Some(other) = other {
                self.marks_of(&other).iter().try_for_each(|mark| mark.end(&**target))?;
                target.erase(&key)?;
            }
        }
        if let Some(first) = self.levels.first() {
            journal::erase_left(&**target, &first.path, journal.former_parts())?;
        }
        journal.enter(JournalState::Writing)
    }

    /// Returns the documents of the levels.
    pub(super) fn documents(&self) -> Result<Vec<NodeDocuments>> {
        self.levels.iter().map(Level::documents).collect()
    }

    /// Sets the marks of the levels, and erases chunks that lie where theirs will be.
    pub(super) fn make_room(
        &self,
        journal: &Journal,
        marks: &[UnfinishedNode],
        documents: &[NodeDocuments],
    ) -> Result<()> {
        marks.iter().try_for_each(|mark| mark.begin(&*self.target))?;
        for documents in documents {
            journal.check_own()?;
            destination::erase_chunks(&*self.target, documents.found(), &|_| true, &|| journal.confirm())?;
        }
        Ok(())
    }

    /// Opens the levels, which have no documents yet.
    pub(super) fn sinks(&self, documents: &[NodeDocuments]) -> Result<Vec<Array>> {
        let options = self.work.options.clone().trust_missing(true);
        let open = |documents: &NodeDocuments| {
            Array::from_found(&self.target, documents.found().clone(), self.source.registry(), options.clone())
        };
        documents.iter().map(open).collect()
    }

    fn write_all(&self, journal: &Journal, marks: &[UnfinishedNode], report: &Report<'_>) -> Result<()> {
        let target = &self.target;
        let in_target = |error: Error| in_store(target, error);
        let documents = self.documents()?;
        if journal.state() == JournalState::Ending {
            let _ = report(self.size());
        } else {
            if journal.state() == JournalState::Clearing {
                self.clear(journal).map_err(in_target)?;
            }
            if !journal.has_begun(0) {
                self.make_room(journal, marks, &documents).map_err(in_target)?;
            }
            journal.begin_node(0, &[1]);
            let sinks = self.sinks(&documents)?;
            write::write(self, Share::All, &sinks, Some(journal), report)?;
            self.check_source()?;
            journal.enter(JournalState::Ending).map_err(in_target)?;
        }
        target.barrier().map_err(Error::from).and_then(|()| journal.check_own()).map_err(in_target)?;
        self.make_visible(documents, marks, &|| journal.confirm()).map_err(in_target)
    }

    /// Creates the documents of the levels, and adds the levels to the image or the map that the source belongs to.
    /// `confirm` fails if another process has taken over.
    pub(super) fn make_visible(
        &self,
        documents: Vec<NodeDocuments>,
        marks: &[UnfinishedNode],
        confirm: &dyn Fn() -> Result<()>,
    ) -> Result<()> {
        let target = &self.target;
        let Some(dialect) = self.levels.first().map(|level| level.node.dialect) else { return Ok(()) };
        let is_there = match open_stored_node(&**target, &self.group.to_string(), None) {
            Ok(found) => !found.implicit,
            Err(error) if error.is_not_found() => false,
            Err(error) => return Err(error),
        };
        if !is_there && !dialect.implies_groups() {
            let new = NewGroup::default().dialect(dialect);
            Group::create(target, &self.group.to_string(), new, self.source.registry())?;
        }
        for (level, documents) in self.levels.iter().zip(documents) {
            if !documents.are_stored(&**target)? {
                confirm()?;
                // A copy of all metadata would not know the new node.
                let above = StoredNode::implicit(dialect, level.path.clone());
                run(&**target, Ancestors::new(&above, target.capabilities()).job())?;
                documents.create(target)?;
            }
            run(&**target, ListNode::new(level.path.clone(), true, true, target.capabilities()).job())?;
        }
        image::extend(self)?;
        map_levels::extend(self)?;
        marks.iter().try_for_each(|mark| mark.end(&**target))?;
        Ok(target.flush()?)
    }

    /// Checks that the source is still the array that was read.
    pub(super) fn check_source(&self) -> Result<()> {
        let there = StillThere::new(self.source.found())?.map_or(Ok(()), |look| run(&**self.source.store(), look));
        there.map_err(|error| in_store(self.source.store(), error))
    }

    /// Returns what must be equal in a run that resumes another, or in all of a number of parts.
    pub(super) fn identity(&self, parts: Option<u64>) -> Result<Identity> {
        let (options, source) = (&self.options, self.source.found());
        let mut members = Map::new();
        members.insert("pyramid", options.method.to_string());
        members.insert("skip_missing", options.skip_missing);
        let of_parts = |value: u64| parts.map_or(Value::Null, |_| Value::from(value));
        members.insert("parts", of_parts(parts.unwrap_or_default()));
        // It decides which units there are, and so what a part is.
        members.insert("memory", of_parts(options.memory));
        let lengths = |lengths: &[u64]| Value::from(lengths.to_vec());
        members.insert("factors", Value::Array(self.levels.iter().map(|level| lengths(&level.step)).collect()));
        let units = self.work.tree.levels().iter().map(|units| lengths(&units.unit));
        members.insert("units", Value::Array(units.collect()));
        let documents = self.documents()?;
        let written = documents.iter().flat_map(NodeDocuments::changes);
        Ok(Identity::of_work(self.source.store(), source, written, members))
    }
}

/// Checks that the levels are still there that an interrupted run, or other parts, have begun to write.
pub(super) fn check_marks(target: &dyn Store, marks: &[UnfinishedNode]) -> Result<()> {
    marks.iter().try_for_each(|mark| mark.find(target)?.map(drop).ok_or_else(|| mark.gone()))
}

/// Adds to an identity by which marks the levels are known.
pub(super) fn marked(identity: Identity, marks: &[UnfinishedNode]) -> Identity {
    match marks.first() {
        Some(mark) => identity.with(mark),
        None => identity,
    }
}
