//! Keys that a conversion writes until it ends: the place of the node, and the mark by which another run knows that the node is still
//! there.
//!
//! The mark is a key under the prefix of the node that is written, with a number that the journal has as well. Whatever erases the
//! node, moves it away or replaces it takes the mark along, be it software that knows no journals: so what the journal says of chunks
//! is not believed then.

use super::destination::{self, InTheWay};
use super::{Conversion, PlannedNode};
use std::sync::Arc;
use zarr_drive::run;
use zarr_hierarchy::jobs::Operation;
use zarr_hierarchy::node::{Ancestors, CONVERSION_JOURNAL, is_one_prefix, new_id, replacement, replacements};
use zarr_hierarchy::{Error, ErrorKind, Result, open_stored_node};
use zarr_json::{Map, Value};
use zarr_meta::{NodePath, StoredNode};
use zarr_store::{Key, Prefix, Prefixed, Store, StoreExt};

/// The members of the journal.
const MARK: &str = "mark";
const STAGED: &str = "replaces";

/// The unfinished node of a conversion.
#[derive(Clone, Debug)]
pub(super) struct UnfinishedNode {
    path: Prefix,
    /// The number of the mark; none where all of the node does not lie under its path, and so nothing under it tells.
    mark: Option<u64>,
    /// The prefix under which the node is written, if it is to replace the node at its path.
    stage: Option<Prefix>,
    /// The prefix of all nodes that are to replace the one at the path.
    replacements: Option<Prefix>,
}

/// Place of the unfinished node of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whereabouts {
    /// The node is where it is written.
    Here,
    /// The node is at its path: it has replaced the other one.
    InPlace,
}

impl UnfinishedNode {
    /// A new one; `is_staged` if it is to replace a node.
    pub(super) fn new(target: &dyn Store, conversion: &Conversion, is_staged: bool) -> Result<Self> {
        let (_, path) = conversion.paths();
        // Without a journal no mark is looked for.
        let is_marked = !target.capabilities().appears_at_flush && is_markable(conversion, &path);
        Self::with_mark(&path, is_marked.then(new_id), is_staged)
    }

    fn with_mark(path: &NodePath, mark: Option<u64>, is_staged: bool) -> Result<Self> {
        let stage = mark.filter(|_| is_staged).map(|id| replacement(path, id)).transpose()?.flatten();
        Ok(Self { path: Prefix::new(&path.key_prefix())?, mark, stage, replacements: replacements(path)? })
    }

    /// The unfinished node of a journal with these members.
    pub(super) fn of_members(path: &NodePath, members: &Map) -> Result<Self> {
        let mark = members.get(MARK).and_then(Value::as_str).and_then(|text| u64::from_str_radix(text, 16).ok());
        let is_staged = members.get(STAGED).and_then(Value::as_bool) == Some(true);
        Self::with_mark(path, mark, is_staged)
    }

    /// Adds what a journal says of it.
    pub(super) fn add_to(&self, members: &mut Map) {
        if let Some(mark) = self.mark {
            members.insert(MARK, format!("{mark:016x}"));
            members.insert(STAGED, self.stage.is_some());
        }
    }

    /// Whether it is written elsewhere than at its path.
    pub(super) fn is_staged(&self) -> bool {
        self.stage.is_some()
    }

    /// Whether there is a mark.
    pub(super) fn is_marked(&self) -> bool {
        self.mark.is_some()
    }

    /// The store to write the nodes to.
    pub(super) fn store(&self, target: &Arc<dyn Store>) -> Arc<dyn Store> {
        match &self.stage {
            Some(stage) => Arc::new(Prefixed::in_place(Arc::clone(target), stage.clone(), self.path.clone())),
            None => Arc::clone(target),
        }
    }

    fn mark_below(&self, prefix: &Prefix) -> Result<Option<Key>> {
        Ok(self.mark.map(|mark| prefix.join(&format!("{CONVERSION_JOURNAL}.{mark:016x}"))).transpose()?)
    }

    /// The key of the mark until the end.
    fn mark(&self) -> Result<Option<Key>> {
        self.mark_below(self.stage.as_ref().unwrap_or(&self.path))
    }

    /// Sets the mark.
    pub(super) fn begin(&self, target: &dyn Store) -> Result<()> {
        match self.mark()? {
            Some(key) => Ok(target.set_all(&key, b"an unfinished conversion writes here\n").map(drop)?),
            None => Ok(()),
        }
    }

    /// Finds the node; `None` if the mark was not set yet, or somebody has erased, moved or replaced the node since.
    pub(super) fn find(&self, target: &dyn Store) -> Result<Option<Whereabouts>> {
        let (Some(mark), Some(in_place)) = (self.mark()?, self.mark_below(&self.path)?) else {
            return Ok(Some(Whereabouts::Here));
        };
        if target.exists(&mark)? {
            return Ok(Some(Whereabouts::Here));
        }
        Ok((self.is_staged() && target.exists(&in_place)?).then_some(Whereabouts::InPlace))
    }

    /// The error that the journal is not to be believed.
    pub(super) fn gone(&self) -> Error {
        gone().at(|location| location.key = self.mark().ok().flatten().map(|mark| mark.to_string()))
    }

    /// Checks that there is a node of a conversion that has come to its end.
    pub(super) fn check_there(&self, target: &dyn Store, conversion: &Conversion) -> Result<()> {
        let (_, path) = conversion.paths();
        match open_stored_node(target, &path.to_string(), None) {
            Err(error) if error.is_not_found() && !conversion.nodes.is_empty() => Err(gone().at_path(&path)),
            Err(error) if error.kind() == ErrorKind::Store => Err(error),
            _ => Ok(()),
        }
    }

    /// Erases other nodes that were to replace this one, which interrupted runs have left.
    pub(super) fn erase_others(&self, target: &dyn Store) -> Result<()> {
        let capabilities = target.capabilities();
        let Some(all) = self.replacements.as_ref().filter(|_| capabilities.exchanges && capabilities.list) else {
            return Ok(());
        };
        // What processes that were killed have left, in this directory and in the one that it lies in.
        let above = all.as_str().trim_end_matches('/').rfind('/').map_or("", |at| &all.as_str()[..=at]);
        for place in [&Prefix::new(above)?, all] {
            // Nothing is written there: one that cannot be removed, as one of another user, is in the way of nothing.
            let _ = target.leftovers(place, true);
        }
        let others = target.list_dir(all)?.prefixes;
        others
            .iter()
            .filter(|other| Some(*other) != self.stage.as_ref())
            .try_for_each(|other| Ok(target.erase_prefix(other)?))
    }

    /// Puts the node in the place of the old one, in one step where the store can. All of it is written; `is_ours` fails if another
    /// process has taken over, or erased the journal.
    pub(super) fn put_in_place(
        &self,
        target: &Arc<dyn Store>,
        conversion: &Conversion,
        is_ours: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let Some(stage) = &self.stage else { return Ok(()) };
        let (_, path) = conversion.paths();
        let Some(PlannedNode { dialect, .. }) = conversion.nodes.first() else { return Ok(()) };
        // A copy of all metadata would be of the old node.
        let old = StoredNode::implicit(*dialect, path.clone());
        run(&**target, Ancestors::new(&old, target.capabilities()).replaced().job())?;
        target.barrier()?;
        // Who erases the node, or converts to it as well, begins with the journal.
        is_ours()?;
        // Another run may have exchanged them, which a second time would undo.
        if !self.is_here(target)? || target.exchange_prefixes(&self.path, stage)? {
            return Ok(());
        }
        // It is gone, or may not be renamed; erasing the node at the path must not erase it.
        if !self.is_here(target)? {
            return Ok(());
        }
        destination::clear(target, &path, *dialect, None, InTheWay::Erase)?;
        if target.rename_prefix(stage, &self.path)? {
            return Ok(());
        }
        let message = format!("the new node could not be renamed, and lies under {stage}");
        let error = Error::new(ErrorKind::Store, message).with_hint("is something mounted here? --resume tries again");
        Err(error.at_path(&path))
    }

    /// Whether it is where it is written, and not at its path already.
    fn is_here(&self, target: &Arc<dyn Store>) -> Result<bool> {
        self.find(&**target)?.map(|whereabouts| whereabouts == Whereabouts::Here).ok_or_else(|| self.gone())
    }

    /// Erases the mark, and the node that was replaced. The journal says that all is written.
    pub(super) fn end(&self, target: &dyn Store) -> Result<()> {
        if self.is_marked() && target.capabilities().durable {
            // Or a loss of power could leave a journal that misses the mark.
            target.barrier()?;
        }
        if let Some(stage) = &self.stage {
            target.erase_prefix(stage)?;
        }
        match self.mark_below(&self.path)? {
            Some(key) => Ok(target.erase(&key)?),
            None => Ok(()),
        }
    }
}

fn gone() -> Error {
    let message = "what the interrupted conversion has written was erased, moved or replaced since";
    Error::new(ErrorKind::Conflict, message).with_hint("--overwrite begins anew")
}

/// Whether a mark goes with the node: all of it lies under its path. The root has the journal itself.
fn is_markable(conversion: &Conversion, path: &NodePath) -> bool {
    conversion.nodes.first().is_some_and(|first| is_one_prefix(first.dialect, path))
}

/// Whether a conversion that overwrites a node can write the new one beside it, to exchange them: there is a node, all of both lies
/// under the path, and the store exchanges prefixes.
pub(super) fn may_replace(target: &dyn Store, conversion: &Conversion) -> Result<bool> {
    let (_, path) = conversion.paths();
    let capabilities = target.capabilities();
    let can = capabilities.exchanges && capabilities.list && !capabilities.appears_at_flush;
    if !can || !is_markable(conversion, &path) {
        return Ok(false);
    }
    match open_stored_node(target, &path.to_string(), None) {
        Ok(found) => Ok(is_one_prefix(found.dialect, &path)),
        Err(error) if error.kind() == ErrorKind::Store => Err(error),
        // There is none, or it is broken.
        Err(_) => Ok(false),
    }
}
