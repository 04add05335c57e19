//! Copies and moves of nodes, within a store or between stores.

use super::destination::{self, InTheWay};
use super::journal::{self, FoundJournal, Journal};
use super::links::check_links;
use super::progress::Reporter;
use super::{Action, Conversion, ConvertOptions, IntoFlow, PlannedNode, Progress, finish_move, is_same};
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use zarr_array::{Array, Registry};
use zarr_drive::run;
use zarr_hierarchy::in_store;
use zarr_hierarchy::jobs::{Operation, TakeLock};
use zarr_hierarchy::node::{Ancestors, DropUnfinished, EraseNode, is_one_prefix, parse_path, same_hierarchy};
use zarr_hierarchy::{Error, ErrorKind, Result, Walk, open_node, open_stored_node};
use zarr_meta::{Dialect, NodePath, StoredNode};
use zarr_store::{Key, Prefix, Store, StoreExt};

impl Conversion {
    /// Plans to copy the node at `from`, with all nodes below it, to `to` in `target`, which may be the same store. The copy gets the
    /// dialect of the hierarchy in `target`. If there is none, it keeps its dialect, and its documents keep their spelling. An array of
    /// version 1 or before is converted to Zarr v3 unless it becomes the root, since these versions have no hierarchies.
    ///
    /// # Errors
    /// The errors of [`plan`](Self::plan).
    pub fn plan_copy(
        source: &Arc<dyn Store>,
        from: &str,
        target: &Arc<dyn Store>,
        to: &str,
        registry: &Arc<Registry>,
        options: ConvertOptions,
    ) -> Result<Self> {
        let found = open_node(&**source, from, None).map_err(|error| match open_stored_node(&**target, to, None) {
            Ok(there) if error.is_not_found() && error.hint().is_none() => error.with_hint(format!(
                "there is a node at {}: if an interrupted move made it, it is complete, and the keys left at {from} belong to no node",
                there.path
            )),
            _ => error,
        })?;
        let there = match open_node(&**target, "/", None) {
            Ok(root) => Some(root.dialect),
            Err(error) if error.is_not_found() => None,
            // A broken root is in the way of any dialect; preparing says so.
            Err(_) => None,
        };
        let to = parse_path(to)?;
        let dialect = match there {
            Some(there) if !same_hierarchy(there, found.dialect) => there,
            // A store of version 1 or before is one array at its root.
            None if found.dialect.holds_one_array() && found.dialect.check_path(&to).is_err() => Dialect::NEWEST,
            _ => found.dialect,
        };
        let options = ConvertOptions { dialect: Some(dialect), node: Some(found.path), to: Some(to), ..options };
        Self::plan(source, registry, options)
    }
}

/// A copy or move of a node with all nodes below it.
///
/// ```
/// # use std::sync::Arc;
/// use zarr_array::{Array, NewArray, Registry, Store};
/// use zarr_convert::Transfer;
/// # let mut registry = Registry::default();
/// # registry.codecs.add(zarr_codec_bytes::BYTES);
/// # let registry = Arc::new(registry);
/// let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
/// let array = Array::create(&store, "/raw/a", NewArray::new(&[2], "int8").codecs("bytes")?, &registry)?;
/// array.write(.., &[1_i8, 2])?;
/// Transfer::of(&store, "/raw").to("/kept").copy(&registry)?;
/// Transfer::of(&store, "/raw/a").to("/b").move_all(&registry)?;
/// assert_eq!(Array::open(&store, "/b", &registry)?.read::<i8>(..)?, [1, 2]);
/// assert_eq!(Array::open(&store, "/kept/a", &registry)?.read::<i8>(..)?, [1, 2]);
/// assert!(Array::open(&store, "/raw/a", &registry).is_err());
/// # Ok::<(), zarr_hierarchy::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "nothing is copied until `copy` or `move_all`"]
pub struct Transfer<'p> {
    source: Arc<dyn Store>,
    from: String,
    target: Arc<dyn Store>,
    to: String,
    options: ConvertOptions,
    report: Option<Arc<Report<'p>>>,
}

type Report<'p> = dyn Fn(Progress<'_>) -> ControlFlow<()> + Send + Sync + 'p;

impl fmt::Debug for Transfer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Transfer({}: {} to {}: {})", self.source, self.from, self.target, self.to)
    }
}

impl<'p> Transfer<'p> {
    /// Creates a transfer of the node at `from` in `source`. By default the node keeps its store and path: see [`in_store`](Self::in_store)
    /// and [`to`](Self::to).
    pub fn of(source: &Arc<dyn Store>, from: &str) -> Self {
        Self {
            source: Arc::clone(source),
            from: from.to_owned(),
            target: Arc::clone(source),
            to: from.to_owned(),
            options: ConvertOptions::default(),
            report: None,
        }
    }

    /// Sets the target store. By default it is the source store.
    pub fn in_store(mut self, target: &Arc<dyn Store>) -> Self {
        self.target = Arc::clone(target);
        self
    }

    /// Sets the path of the node in the target. By default it is the path in the source.
    pub fn to(mut self, path: &str) -> Self {
        path.clone_into(&mut self.to);
        self
    }

    /// Sets whether an existing node at the target path is replaced, as [`ConvertOptions::overwrite`](ConvertOptions#structfield.overwrite)
    /// says. If a move renames, it renames the existing node aside first, so that readers find no node for a moment. By default an existing
    /// node is an error.
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.options.overwrite = overwrite;
        self
    }

    /// Sets whether to resume an interrupted run: see [`ConvertOptions::resume`](ConvertOptions#structfield.resume).
    pub fn resume(mut self, resume: bool) -> Self {
        self.options.resume = resume;
        self
    }

    /// Sets a function that is called with the progress and may cancel: see [`Progress`].
    pub fn progress<F: IntoFlow>(mut self, progress: impl Fn(Progress<'_>) -> F + Send + Sync + 'p) -> Self {
        self.report = Some(Arc::new(move |event: Progress<'_>| progress(event).into_flow()));
        self
    }

    /// Copies the node, and creates missing groups above it. Chunks are copied as they are stored, unless the dialect of the target
    /// hierarchy stores chunks differently. [`Conversion::plan_copy`] only plans the copy.
    ///
    /// # Errors
    /// [`NotFound`](zarr_hierarchy::ErrorKind::NotFound) if no node exists at the path; [`Exists`](zarr_hierarchy::ErrorKind::Exists) if a
    /// node exists at the new path and is not to be replaced; the errors of [`Conversion::plan`] and [`Conversion::run`]. An array exists
    /// at the new path only when it is complete.
    pub fn copy(&self, registry: &Arc<Registry>) -> Result<()> {
        self.plan(registry)?.run(&self.target, |event| self.report(event))
    }

    /// Moves the node, as [`Conversion::run_move`] does, or finishes an interrupted move, as [`finish_move`] does. Consolidated metadata of
    /// groups above either path, which becomes stale, is dropped.
    ///
    /// # Errors
    /// The errors of [`copy`](Self::copy), [`Conversion::run_move`] and [`finish_move`].
    pub fn move_all(&self, registry: &Arc<Registry>) -> Result<()> {
        match self.plan(registry).and_then(|conversion| conversion.run_move(&self.target, |event| self.report(event))) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Exists) => {
                if finish_move(&self.source, &self.from, &self.target, &self.to)? { Ok(()) } else { Err(error) }
            }
            done => done,
        }
    }

    fn report(&self, event: Progress<'_>) -> ControlFlow<()> {
        self.report.as_ref().map_or(ControlFlow::Continue(()), |report| report(event))
    }

    fn plan(&self, registry: &Arc<Registry>) -> Result<Conversion> {
        let options = self.options.clone();
        Conversion::plan_copy(&self.source, &self.from, &self.target, &self.to, registry, options)
    }
}

impl Conversion {
    /// Writes the node to `target`, as [`run`](Self::run) does, and then erases it in the source.
    ///
    /// In a store that can rename all keys under a prefix at once (a directory), and in dialects in which all keys of a node lie under
    /// its path (v2, v3), the node is renamed: readers find it at either the old or the new path.
    ///
    /// Otherwise the node is copied, and erased when the copy is complete: its own documents first, and then those of the nodes below it.
    /// If a move is interrupted, the node is complete at its old path, or complete at its new path; then [`finish_move`] erases the rest.
    /// Chunks, documents and the files that were copied with their groups are erased at the old path.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run) and [`erase_node`](zarr_hierarchy::erase_node); [`Exists`](zarr_hierarchy::ErrorKind::Exists) if
    /// the existing node may be the complete copy of a node of which an interrupted move left a part in the source;
    /// [`Argument`](zarr_hierarchy::ErrorKind::Argument) with the name of a symbolic link that is the node or lies below it;
    /// [`Cancelled`](zarr_hierarchy::ErrorKind::Cancelled) if `progress` cancels before the source is erased.
    pub fn run_move<F: IntoFlow>(
        &self,
        target: &Arc<dyn Store>,
        progress: impl Fn(Progress<'_>) -> F + Sync,
    ) -> Result<()> {
        self.move_reporting(target, &Reporter::new(&|event| progress(event).into_flow()))
    }

    fn move_reporting(&self, target: &Arc<dyn Store>, reporter: &Reporter<'_>) -> Result<()> {
        let (from, to) = self.paths();
        if is_same(&self.source, target) {
            self.check_apart().map_err(|error| in_store(target, error))?;
        }
        let in_target = |error: Error| in_store(target, error);
        if self.options.part.is_some() || self.options.keep_going {
            return Err(Error::argument("a move is done by one process, and leaves no chunk out"));
        }
        if !self.options.exclude.is_empty() || !self.options.other_keys {
            return Err(Error::argument("a move leaves no node and no file out"));
        }
        if !self.options.regions.is_empty() {
            return Err(Error::argument("a move leaves no elements out").with_hint("copy the region"));
        }
        self.check_whole(&**target, &to).map_err(in_target)?;
        if let Some(first) = self.nodes.first() {
            // Before anything is copied.
            let above = Ancestors::of_erased(&first.source, self.source.capabilities()).only_checking().job();
            run(&*self.source, above).map_err(|error| in_store(&self.source, error))?;
        }
        let check_links = || match self.nodes.first() {
            Some(first) => check_links(&*self.source, &first.source).map_err(|error| in_store(&self.source, error)),
            None => Ok(()),
        };
        if self.options.overwrite {
            // Keys in the way are erased before the store shows whether it renames.
            check_links()?;
            self.check_complete().map_err(|error| in_store(&self.source, error))?;
        }
        let journal = journal::key(&to, None)?;
        let is_there = target.exists(&journal).map_err(|error| in_target(Error::from(error).at_path(&to)))?;
        let is_resumed = self.options.resume && is_there;
        if Arc::ptr_eq(&self.source, target)
            && !is_resumed
            && self.can_rename(&from, &to)
            && self.rename(target).map_err(in_target)?
        {
            self.list_in(&**target, true).map_err(in_target)?;
            target.flush().map_err(|error| in_target(error.into()))?;
            // It is done: there is nothing left to be cancelled.
            let report = |planned| reporter.begin(planned).and_then(|()| reporter.done(planned.size));
            let _ = self.nodes.iter().try_for_each(report);
            return Ok(());
        }
        self.check_there()?;
        check_links()?;
        self.check_complete().map_err(|error| in_store(&self.source, error))?;
        let journal = self.write(target, reporter, true)?;
        match self.erase_source(target, &journal) {
            Ok(()) => journal.erase().map_err(in_target),
            Err(error) => {
                // The error is what went wrong first.
                let _ = journal.release();
                Err(error)
            }
        }
    }

    /// Erases the copied nodes in the source, after a check that both the source and the copy are unchanged.
    fn erase_source(&self, target: &Arc<dyn Store>, journal: &Journal) -> Result<()> {
        let ((from, _), source) = (self.paths(), &*self.source);
        let (in_target, in_source) = (|error: Error| in_store(target, error), |error: Error| in_store(source, error));
        if journal.is_resumed() {
            self.check_copied(target).map_err(in_target)?;
        }
        let copied = self.check_unchanged(&from).map_err(in_source)?;
        self.copy_changed_keys(target)?;
        // What is erased next must be in the target, also in one whose values appear at a flush.
        target.flush().map_err(|error| in_target(error.into()))?;
        // Who erases the copy begins with the journal.
        journal.check_own().map_err(in_target)?;
        self.list_in(source, false).map_err(in_source)?;
        if let Some(erase) = EraseNode::moved(&copied, source.capabilities()) {
            run(source, erase.job()).map_err(in_source)?;
        }
        self.erase_moved_keys().map_err(in_source)?;
        source.flush().map_err(|error| in_source(error.into()))
    }

    /// Checks that the node still exists at its old path: another process may have moved or erased it since it was planned.
    pub(super) fn check_there(&self) -> Result<()> {
        let (from, _) = self.paths();
        let Some(root) = self.nodes.first() else { return Ok(()) };
        match open_node(&*self.source, &from.to_string(), Some(root.source.dialect)) {
            Err(error) if error.is_not_found() => Err(in_store(&self.source, gone(&from))),
            found => found.map(drop),
        }
    }

    /// Checks that all nodes of the source are copied, and belong to one hierarchy, so that they can be erased.
    fn check_complete(&self) -> Result<()> {
        let Some(root) = self.nodes.first() else { return Ok(()) };
        let of_other = self.nodes.iter().find(|node| !same_hierarchy(node.source.dialect, root.source.dialect));
        let message = match (self.left_out.first(), of_other) {
            (None, None) => return Ok(()),
            (Some(reason), _) => format!("a move would lose nodes that a copy leaves out: {reason}"),
            (None, Some(node)) => {
                format!("{} is of dialect {}: nodes of several", node.source.path, node.source.dialect)
            }
        };
        Err(Error::argument(message).with_hint("copy it, and then erase it").at_path(&root.source.path))
    }

    /// Checks that the nodes and chunks that earlier runs copied still exist, as far as nodes and the number of their chunks show.
    fn check_copied(&self, target: &Arc<dyn Store>) -> Result<()> {
        let chunks = |store: &Arc<dyn Store>, found: &StoredNode| {
            let array = Array::from_found(store, found.clone(), &self.registry, self.options.options.clone())?;
            array.stored_chunks().map(|chunks| chunks.len())
        };
        let lists = [&self.source, target].iter().all(|store| store.capabilities().list);
        for planned in self.nodes.iter().filter(|planned| !planned.source.implicit) {
            let message = "the copy that was made before is gone, or lacks chunks; nothing was erased";
            let gone = || Error::new(ErrorKind::Conflict, message).with_hint("--overwrite copies all of it again");
            let copy = match open_stored_node(&**target, &planned.path.to_string(), Some(planned.dialect)) {
                Ok(copy) => copy,
                Err(error) if error.is_not_found() => return Err(gone().at_path(&planned.path)),
                Err(error) => return Err(error),
            };
            if planned.source.node.as_array().is_none() || !lists {
                continue;
            }
            let (there, left) = (chunks(target, &copy)?, chunks(&self.source, &planned.source)?);
            let is_whole = match planned.how {
                Action::CopyChunks => there >= left,
                _ => there > 0 || left == 0,
            };
            if !is_whole {
                return Err(gone().at_path(&planned.path));
            }
        }
        Ok(())
    }

    /// Checks that the source has exactly the nodes that were copied: nodes that were created or changed meanwhile must not be erased. Does
    /// not notice chunks that were written meanwhile. Returns the nodes.
    fn check_unchanged(&self, from: &NodePath) -> Result<Walk> {
        let changed = |path: &NodePath| {
            let message = "the source was changed while it was copied; nothing was erased";
            Error::new(ErrorKind::Conflict, message).at_path(path)
        };
        let mut walk = zarr_hierarchy::walk(&*self.source, &from.to_string(), None)
            .map_err(|error| if error.is_not_found() { gone(from) } else { error })?;
        if !walk.broken.is_empty() {
            return Err(walk.broken.swap_remove(0).with_hint("nothing was erased"));
        }
        let copied = |found: &StoredNode| {
            let same = |planned: &&PlannedNode| {
                let (now, then) = (&found.documents, &planned.source.documents);
                planned.source.path == found.path && found.own_documents().all(|key| now.get(key) == then.get(key))
            };
            self.nodes.iter().any(|planned| same(&planned))
        };
        match walk.nodes.iter().find(|found| !found.implicit && !copied(found)) {
            Some(found) => Err(changed(&found.path)),
            None => Ok(walk),
        }
    }

    /// Returns whether all keys of the node lie under its path, before and after the move, and need no change.
    fn can_rename(&self, from: &NodePath, to: &NodePath) -> bool {
        let Some(root) = self.nodes.first() else { return false };
        let lies_below = |path: &NodePath| is_one_prefix(root.dialect, path);
        let stays = |planned: &PlannedNode| {
            let is_same = planned.dialect == planned.source.dialect && !planned.source.documents.are_consolidated();
            is_same && matches!(planned.how, Action::Group | Action::CopyChunks)
        };
        root.dialect.check_path(to).is_ok() && lies_below(from) && lies_below(to) && self.nodes.iter().all(stays)
    }

    /// Renames the node. Returns false if the store does not rename. An existing node at the new path is first renamed aside and erased at
    /// the end, or renamed back if the node cannot be renamed. An existing node that cannot be renamed is erased first.
    fn rename(&self, store: &Arc<dyn Store>) -> Result<bool> {
        let (from, to) = self.paths();
        self.check_there()?;
        let (from_prefix, to_prefix) = (Prefix::new(&from.key_prefix())?, Prefix::new(&to.key_prefix())?);
        let journal = journal::key(&to, None)?;
        // Journals record which chunks are written, which is wrong once the chunks are erased or renamed.
        let drop_unfinished = |path| run(&**store, DropUnfinished::new(path, store.capabilities()).job());
        let mut lock = None;
        if self.options.overwrite {
            // Whoever makes a group takes its lock. Who has that one may wait for the lock of this node, so it is asked for before; what is
            // checked under the lock is so before that, too, since groups that were made stay.
            self.check_replaced(store, &to, &journal)?;
            destination::make_parents(store, self, &destination::groups_above(store, self)?)?;
            // The existing node may be this very node, moved by another process while this one waited for the lock: so check again.
            lock = Some(run(&**store, TakeLock::new(from_prefix.clone()).job())?);
            self.check_there()?;
            self.check_replaced(store, &to, &journal)?;
            drop_unfinished(&to)?;
        } else if let Some(found) = FoundJournal::read(&**store, &journal)? {
            return Err(found.in_the_way());
        }
        let aside = if self.options.overwrite { destination::aside(store, self)? } else { None };
        let in_the_way = match (self.options.overwrite, &aside) {
            (false, _) => InTheWay::Refuse,
            (true, None) => InTheWay::Erase,
            (true, Some(_)) => InTheWay::Replace,
        };
        let existing = destination::prepare(store, self, in_the_way)?;
        destination::make_parents(store, self, &existing)?;
        if aside.is_some() {
            destination::drop_above(store, self)?;
        }
        if let Some(root) = self.nodes.first() {
            run(&**store, Ancestors::of_erased(&root.source, store.capabilities()).job())?;
        }
        self.list_in(&**store, false)?;
        drop_unfinished(&from)?;
        if !self.options.overwrite {
            drop_unfinished(&to)?;
        }
        let aside = match aside {
            Some(aside) if store.rename_prefix(&to_prefix, &aside)? => Some(aside),
            Some(_) => {
                destination::prepare(store, self, InTheWay::Erase)?;
                None
            }
            None => None,
        };
        let is_renamed = store.rename_prefix(&from_prefix, &to_prefix);
        if let Some(aside) = aside {
            // Where others have taken the path meanwhile, it is not given back.
            if !matches!(is_renamed, Ok(true)) && store.rename_prefix(&aside, &to_prefix)? {
                return Ok(is_renamed?);
            }
            store.erase_prefix(&aside)?;
        }
        drop(lock);
        Ok(is_renamed?)
    }

    /// Checks that a move may replace the node at `to`: consolidated metadata above it can be removed, and no conversion to it is active.
    fn check_replaced(&self, store: &Arc<dyn Store>, to: &NodePath, journal: &Key) -> Result<()> {
        destination::check_above(store, self)?;
        match FoundJournal::read_idle(&**store, journal)? {
            Some(found) => found.check_parts_idle(&**store, to),
            None => Ok(()),
        }
    }

    /// Refuses to replace a node that may be the complete copy of a node of which the source has only a part: a group without a document
    /// still exists after an interrupted move has erased some of the nodes below it.
    fn check_whole(&self, target: &dyn Store, to: &NodePath) -> Result<()> {
        if !self.options.overwrite || self.nodes.first().is_none_or(|root| !root.source.implicit) {
            return Ok(());
        }
        let there = match zarr_hierarchy::walk(target, &to.to_string(), None) {
            Ok(walk) => walk.nodes,
            Err(error) if error.is_not_found() => return Ok(()),
            Err(error) => return Err(error),
        };
        // A node that has a document there is more than one that has none in the source any more.
        let is_new = |found: &&StoredNode| {
            let planned = self.nodes.iter().find(|planned| planned.path == found.path);
            planned.is_some_and(|planned| found.implicit || !planned.source.implicit)
        };
        match there.iter().find(|found| !is_new(found)) {
            None => Ok(()),
            Some(found) => {
                let message = "there is a node that is not in the source; it may be the rest of an interrupted move";
                let hint = format!("erase the source if {to} is complete, else erase {to}");
                Err(Error::new(ErrorKind::Exists, message).with_hint(hint).at_path(&found.path))
            }
        }
    }
}

/// Returns the error of a move whose source another process has moved or erased.
fn gone(path: &NodePath) -> Error {
    let message = "the node was moved or erased meanwhile, and is not moved here";
    Error::new(ErrorKind::Conflict, message).at_path(path)
}
