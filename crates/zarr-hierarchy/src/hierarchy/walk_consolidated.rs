//! Nodes that only consolidated metadata has, since their own documents are missing.
//!
//! If the store can list, such a node exists if values are stored at or below its path, or if the group with the consolidated metadata has
//! no document of its own either. Otherwise the node was erased, and the consolidated metadata is stale.

use super::only_consolidated::{only_in, with_values};
use super::{Walk, WalkJob};
use crate::jobs::{Operation, get_whole_document};
use crate::{Error, Result};
use std::collections::BTreeSet;
use zarr_drive::Io;
use zarr_meta::consolidated::{self, FoundConsolidated};
use zarr_meta::{Dialect, Documents, NodePath, StoredNode};
use zarr_store::{Key, StoreKind};

/// Searches for the node at `path` in the consolidated metadata of groups at or above the path. `error` is the error of opening the node by
/// its documents, and is returned if consolidated metadata does not have the node.
pub(super) async fn open_consolidated(
    io: &Io,
    path: &NodePath,
    dialect: Option<Dialect>,
    error: Error,
    can_list: bool,
) -> Result<StoredNode> {
    if !error.is_not_found() {
        return Err(error);
    }
    let groups = std::iter::successors(Some(path.clone()), NodePath::parent);
    let copies = read_consolidated(io, groups.collect(), dialect).await?;
    match nearest(&copies, path) {
        None => Err(error),
        Some((node, is_sure)) if is_sure || !can_list => Ok(node),
        Some((node, _)) => with_values(io, vec![node]).await?.pop().ok_or(error),
    }
}

/// Completes a walk from a group with the nodes that only consolidated metadata of groups above has, as in [`walk`](crate::walk). In a
/// remote store these nodes are searched only if the store cannot list: then a walk may be impossible without them.
///
/// If the store denies listings, the walk has the nodes of the consolidated metadata of `root`, and the error of the store
/// ([`Walk::unlisted`]).
///
/// An error of the walk is returned unless consolidated metadata has nodes.
#[derive(Debug)]
pub struct CopiedAbove {
    walked: Result<Walk>,
    root: StoredNode,
    depth: Option<usize>,
    can_list: bool,
    kind: StoreKind,
}

impl CopiedAbove {
    /// Completes `walked`, the result of a walk of `depth` levels below `root`. `can_list` and `kind` are properties of the store.
    pub fn new(walked: Result<Walk>, root: &StoredNode, depth: Option<usize>, can_list: bool, kind: StoreKind) -> Self {
        Self { walked, root: root.clone(), depth, can_list, kind }
    }
}

impl Operation for CopiedAbove {
    type Output = Walk;

    async fn run(self, io: &Io) -> Result<Walk> {
        let Self { walked, root, depth, can_list, kind } = self;
        if walked.as_ref().is_err_and(is_refused) {
            let walk = WalkJob::new(root, depth, false).run(io).await?;
            return unlisted(walked, walk);
        }
        if !is_looked_at(&walked, &root, can_list, kind) {
            return walked;
        }
        let groups = std::iter::successors(root.path.parent(), NodePath::parent);
        let copies = read_consolidated(io, groups.collect(), Some(root.dialect)).await?;
        let Found { sure, unsure } = Found::of(&copies, &walked, &root, depth);
        let stored = if can_list { with_values(io, unsure).await? } else { unsure };
        with(walked, &root, sure.into_iter().chain(stored).collect())
    }
}

/// Whether the store denied a listing to the caller. Requests for values may still be allowed.
fn is_refused(error: &Error) -> bool {
    error.store_error().is_some_and(|error| error.kind() == zarr_store::ErrorKind::Denied)
}

/// Returns the walk by consolidated metadata after a store refused to list; the refusal if there is no consolidated metadata.
fn unlisted(refused: Result<Walk>, walk: Walk) -> Result<Walk> {
    match refused {
        Err(refusal) if walk.consolidated.is_some() => Ok(Walk { unlisted: Some(refusal), ..walk }),
        refused => refused,
    }
}

fn is_looked_at(walked: &Result<Walk>, root: &StoredNode, can_list: bool, kind: StoreKind) -> bool {
    let is_cheap = can_list && kind != StoreKind::Remote && walked.is_ok();
    let has_own = walked.as_ref().is_ok_and(|walk| walk.consolidated.is_some());
    let is_group = root.node.as_group().is_some();
    is_group && !root.path.is_root() && !has_own && (is_cheap || !can_list)
}

/// Nodes of consolidated metadata that a walk lacks.
struct Found {
    /// Nodes that exist even if nothing is stored at their paths: their group has no document of its own.
    sure: Vec<StoredNode>,
    unsure: Vec<StoredNode>,
}

impl Found {
    fn of(copies: &[FoundConsolidated], walked: &Result<Walk>, root: &StoredNode, depth: Option<usize>) -> Self {
        let none = Walk::default();
        let only = only_in(copies, walked.as_ref().unwrap_or(&none), &root.path, depth);
        let (sure, unsure): (Vec<_>, Vec<_>) = only.into_iter().partition(|(_, is_sure)| *is_sure);
        let nodes = |found: Vec<(StoredNode, bool)>| found.into_iter().map(|(node, _)| node).collect();
        Self { sure: nodes(sure), unsure: nodes(unsure) }
    }
}

/// Adds nodes to the walk. If the walk failed, the result has `root` and these nodes.
fn with(walked: Result<Walk>, root: &StoredNode, more: Vec<StoredNode>) -> Result<Walk> {
    if more.is_empty() {
        return walked;
    }
    let mut walk = walked.unwrap_or_else(|_| Walk { nodes: vec![root.clone()], ..Walk::default() });
    walk.nodes.extend(more);
    walk.nodes.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(walk)
}

/// Returns the node at `path` from the nearest consolidated metadata that has it, and whether the node exists even if nothing is stored at
/// its path.
fn nearest(copies: &[FoundConsolidated], path: &NodePath) -> Option<(StoredNode, bool)> {
    copies.iter().find_map(|copy| Some((copy.node(path)?, !copy.has_document)))
}

/// Reads the consolidated metadata of `groups`, in the order of `groups`.
async fn read_consolidated(io: &Io, groups: Vec<NodePath>, dialect: Option<Dialect>) -> Result<Vec<FoundConsolidated>> {
    let keys = groups.iter().flat_map(|group| consolidated::keys(group, dialect));
    let keys: Vec<String> = keys.collect::<BTreeSet<_>>().into_iter().collect();
    let requests = keys.iter().map(|key| Ok(get_whole_document(Key::new(key)?))).collect::<Result<_>>()?;
    let mut documents = Documents::new();
    for (key, fetched) in keys.into_iter().zip(io.get(requests).await?) {
        if let Some(fetched) = fetched {
            documents.insert(key, fetched.part(0));
        }
    }
    Ok(groups.iter().flat_map(|group| consolidated::found(group, dialect, &documents)).collect())
}
