//! Keys that a conversion writes until it ends: the place of the node, and the mark by which another run knows that the node still
//! exists.
//!
//! The mark is a key under the prefix of the written node, with a number that the journal holds as well. Any software that erases,
//! moves or replaces the node also removes the mark, even if it knows nothing of journals. Without the mark, a run does not trust
//! what the journal says about stored chunks.

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

/// Member names in the journal.
const MARK: &str = "mark";
const STAGED: &str = "replaces";
/// Member with the number of parts of an identity, null without parts.
pub(super) const PARTS: &str = "parts";

/// Node that a conversion has begun to write and not completed.
#[derive(Clone, Debug)]
pub(super) struct UnfinishedNode {
    path: Prefix,
    /// Number of the mark; `None` if keys of the node lie outside its path, so that no key under its path could serve as a mark.
    mark: Option<u64>,
    /// Prefix under which the node is written, if it will replace the node at its path.
    stage: Option<Prefix>,
    /// Prefix of all nodes that are written to replace the node at the path.
    replacements: Option<Prefix>,
    /// Whether several processes write the node in parts, so that a run of its own does not begin anew.
    is_in_parts: bool,
}

/// Place of the unfinished node of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whereabouts {
    /// The node is at the prefix where it is written.
    Here,
    /// The node is at its final path: it has replaced the old node.
    InPlace,
}

impl UnfinishedNode {
    /// Creates an unfinished node. `is_staged` says whether it will replace an existing node.
    pub(super) fn new(target: &dyn Store, conversion: &Conversion, is_staged: bool) -> Result<Self> {
        let (_, path) = conversion.paths();
        // Without a journal no mark is looked for.
        let is_marked = !target.capabilities().appears_at_flush && is_markable(conversion, &path);
        Self::with_mark(&path, is_marked.then(new_id), is_staged)
    }

    fn with_mark(path: &NodePath, mark: Option<u64>, is_staged: bool) -> Result<Self> {
        let stage = mark.filter(|_| is_staged).map(|id| replacement(path, id)).transpose()?.flatten();
        Ok(Self {
            path: Prefix::new(&path.key_prefix())?,
            mark,
            stage,
            replacements: replacements(path)?,
            is_in_parts: false,
        })
    }

    /// Reads the unfinished node from the members of a journal.
    pub(super) fn of_members(path: &NodePath, members: &Map) -> Result<Self> {
        let mark = members.get(MARK).and_then(Value::as_str).and_then(|text| u64::from_str_radix(text, 16).ok());
        let is_staged = members.get(STAGED).and_then(Value::as_bool) == Some(true);
        let is_in_parts = members.get(PARTS).is_some_and(|parts| !parts.is_null());
        Ok(Self { is_in_parts, ..Self::with_mark(path, mark, is_staged)? })
    }

    /// Adds the members that describe the unfinished node to those of a journal.
    pub(super) fn add_to(&self, members: &mut Map) {
        if let Some(mark) = self.mark {
            members.insert(MARK, format!("{mark:016x}"));
            members.insert(STAGED, self.stage.is_some());
        }
    }

    /// Returns whether the node is written under another prefix than its path.
    pub(super) fn is_staged(&self) -> bool {
        self.stage.is_some()
    }

    /// Returns whether the node has a mark.
    pub(super) fn is_marked(&self) -> bool {
        self.mark.is_some()
    }

    /// Returns the store to which the nodes are written.
    pub(super) fn store(&self, target: &Arc<dyn Store>) -> Arc<dyn Store> {
        match &self.stage {
            Some(stage) => Arc::new(Prefixed::in_place(Arc::clone(target), stage.clone(), self.path.clone())),
            None => Arc::clone(target),
        }
    }

    fn mark_below(&self, prefix: &Prefix) -> Result<Option<Key>> {
        Ok(self.mark.map(|mark| prefix.join(&format!("{CONVERSION_JOURNAL}.{mark:016x}"))).transpose()?)
    }

    /// Returns the key of the mark while the node is being written.
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

    /// Finds the unfinished node; `None` if the mark was never set, or another process has erased, moved or replaced the node.
    pub(super) fn find(&self, target: &dyn Store) -> Result<Option<Whereabouts>> {
        let (Some(mark), Some(in_place)) = (self.mark()?, self.mark_below(&self.path)?) else {
            return Ok(Some(Whereabouts::Here));
        };
        if target.exists(&mark)? {
            return Ok(Some(Whereabouts::Here));
        }
        Ok((self.is_staged() && target.exists(&in_place)?).then_some(Whereabouts::InPlace))
    }

    /// Returns the error for a journal whose node is gone.
    pub(super) fn gone(&self) -> Error {
        let error = match self.is_in_parts {
            true => gone().with_hint("--abandon gives all parts up; then begin each of them again"),
            false => gone(),
        };
        error.at(|location| location.key = self.mark().ok().flatten().map(|mark| mark.to_string()))
    }

    /// Checks that the node of a conversion that has written all documents exists.
    pub(super) fn check_there(&self, target: &dyn Store, conversion: &Conversion) -> Result<()> {
        let (_, path) = conversion.paths();
        match open_stored_node(target, &path.to_string(), None) {
            Err(error) if error.is_not_found() && !conversion.nodes.is_empty() => Err(gone().at_path(&path)),
            Err(error) if error.kind() == ErrorKind::Store => Err(error),
            _ => Ok(()),
        }
    }

    /// Erases other replacement nodes for this path, which interrupted runs have left.
    pub(super) fn erase_others(&self, target: &dyn Store) -> Result<()> {
        let capabilities = target.capabilities();
        let Some(all) = self.replacements.as_ref().filter(|_| capabilities.exchanges && capabilities.list) else {
            return Ok(());
        };
        // What processes that were killed have left, in this directory and in the one that it lies in.
        let above = all.as_str().trim_end_matches('/').rfind('/').map_or("", |at| &all.as_str()[..=at]);
        for place in [&Prefix::new(above)?, all] {
            // Nothing is written there: one that cannot be removed, as one of another user, is in the way of nothing.
            let _ = target.remove_leftovers(place);
        }
        let others = target.list_dir(all)?.prefixes;
        others
            .iter()
            .filter(|other| Some(*other) != self.stage.as_ref())
            .try_for_each(|other| Ok(target.erase_prefix(other)?))
    }

    /// Puts the complete node in the place of the old node, in one step if the store can. `is_ours` fails if another process has taken over
    /// or erased the journal.
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

    /// Returns whether the node is at the prefix where it is written, and not at its final path.
    fn is_here(&self, target: &Arc<dyn Store>) -> Result<bool> {
        self.find(&**target)?.map(|whereabouts| whereabouts == Whereabouts::Here).ok_or_else(|| self.gone())
    }

    /// Erases the mark, and the node that was replaced. The journal already says that all documents are written.
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

/// Erases all marks directly below the node at `path`, also those that no journal names. Does nothing if the store does not list keys.
pub(super) fn erase_marks(target: &dyn Store, path: &NodePath) -> Result<()> {
    if !target.capabilities().list {
        return Ok(());
    }
    let is_mark = |key: &&Key| {
        let number = key.name().strip_prefix(CONVERSION_JOURNAL).and_then(|rest| rest.strip_prefix('.'));
        number.is_some_and(|number| number.len() == 16 && number.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    let listing = target.list_dir(&Prefix::new(&path.key_prefix())?)?;
    listing.keys.iter().filter(is_mark).try_for_each(|key| Ok(target.erase(key)?))
}

fn gone() -> Error {
    let message = "what the interrupted conversion has written was erased, moved or replaced since";
    Error::new(ErrorKind::Conflict, message).with_hint("--overwrite begins anew")
}

/// Returns whether all keys of the node lie under its path, so that a mark disappears with the node. The root needs no mark, since the
/// journal itself lies under it.
fn is_markable(conversion: &Conversion, path: &NodePath) -> bool {
    conversion.nodes.first().is_some_and(|first| is_one_prefix(first.dialect, path))
}

/// Returns whether a conversion can write the new node beside the existing node and then exchange them: there is a node, all keys of both
/// nodes lie under the path, and the store exchanges prefixes.
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
