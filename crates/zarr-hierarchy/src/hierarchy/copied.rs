//! Nodes that only consolidated metadata have: their own documents are missing.
//!
//! Where the store can list, such a node is there if values are stored at or below its path, or if the group has no document of its own
//! either: else the metadata are a stale copy of a node that was erased.

use super::{Walk, WalkJob};
use crate::jobs::{get_document, unfit};
use crate::{Error, Result};
use std::collections::BTreeSet;
use zarr_meta::consolidated::{self, FoundCopy};
use zarr_meta::{Dialect, Documents, NodePath, StoredNode};
use zarr_store::{AsyncStore, Job, Key, Listing, Next, Prefix, Reply, Request, Store, StoreKind, run, run_async};

/// Finds a node at `path` in the consolidated metadata of a group there or above, after it was looked for in vain.
pub(super) fn open(store: &dyn Store, path: &NodePath, dialect: Option<Dialect>, error: Error) -> Result<StoredNode> {
    if !error.is_not_found() {
        return Err(error);
    }
    let copies = run(store, ReadCopies::of(path.clone(), dialect, true))?;
    let Some((node, is_sure)) = nearest(&copies, path) else { return Err(error) };
    let is_there = is_sure || !store.capabilities().list || !run(store, Stored::of(vec![node.clone()]))?.is_empty();
    if is_there { Ok(node) } else { Err(error) }
}

/// As [`open`], on a store that does not block.
pub(super) async fn open_async(
    store: &dyn AsyncStore,
    path: &NodePath,
    dialect: Option<Dialect>,
    error: Error,
) -> Result<StoredNode> {
    if !error.is_not_found() {
        return Err(error);
    }
    let copies = run_async(store, ReadCopies::of(path.clone(), dialect, true)).await?;
    let Some((node, is_sure)) = nearest(&copies, path) else { return Err(error) };
    let is_there =
        is_sure || !store.capabilities().list || !run_async(store, Stored::of(vec![node.clone()])).await?.is_empty();
    if is_there { Ok(node) } else { Err(error) }
}

/// The walk of `depth` levels below `root` with the nodes that only the consolidated metadata of groups above have, as
/// [`walk`](crate::walk) has them. Where each request takes long, these are looked at only if the store cannot list; then there may be no
/// walk without them.
///
/// Where the store refuses to list, the walk has the nodes that the consolidated metadata of `root` have, and the refusal
/// ([`Walk::unlisted`]).
///
/// # Errors
/// The errors of the walk, unless the nodes are found all the same; [`ErrorKind::Store`](crate::ErrorKind::Store).
pub fn with_copied_above(
    store: &dyn Store,
    walked: Result<Walk>,
    root: &StoredNode,
    depth: Option<usize>,
) -> Result<Walk> {
    let walked = match walked {
        Err(error) if is_refused(&error) => unlisted(error, run(store, WalkJob::new(root.clone(), depth, false))),
        walked => walked,
    };
    let can_list = store.capabilities().list;
    if !is_looked_at(&walked, root, can_list, store.access_profile().kind) {
        return walked;
    }
    let copies = run(store, ReadCopies::of(root.path.clone(), Some(root.dialect), false))?;
    let found = Found::of(&copies, &walked, root, depth);
    let stored = if can_list { run(store, Stored::of(found.unsure))? } else { found.unsure };
    with(walked, root, found.sure.into_iter().chain(stored).collect())
}

/// As [`with_copied_above`], on a store that does not block.
///
/// # Errors
/// As there.
pub async fn with_copied_above_async(
    store: &dyn AsyncStore,
    walked: Result<Walk>,
    root: &StoredNode,
    depth: Option<usize>,
) -> Result<Walk> {
    let walked = match walked {
        Err(error) if is_refused(&error) => {
            unlisted(error, run_async(store, WalkJob::new(root.clone(), depth, false)).await)
        }
        walked => walked,
    };
    let can_list = store.capabilities().list;
    if !is_looked_at(&walked, root, can_list, store.access_profile().kind) {
        return walked;
    }
    let copies = run_async(store, ReadCopies::of(root.path.clone(), Some(root.dialect), false)).await?;
    let found = Found::of(&copies, &walked, root, depth);
    let stored = if can_list { run_async(store, Stored::of(found.unsure)).await? } else { found.unsure };
    with(walked, root, found.sure.into_iter().chain(stored).collect())
}

/// Whether the store lists nothing for this caller, who may get values all the same.
fn is_refused(error: &Error) -> bool {
    error.store_error().is_some_and(|error| error.kind() == zarr_store::ErrorKind::Denied)
}

/// A walk by consolidated metadata after a store refused to list; without some, the refusal.
fn unlisted(refusal: Error, walked: Result<Walk>) -> Result<Walk> {
    match walked {
        Ok(walk) if walk.consolidated.is_some() => Ok(Walk { unlisted: Some(refusal), ..walk }),
        _ => Err(refusal),
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
    /// Nodes of groups without a document of their own.
    sure: Vec<StoredNode>,
    unsure: Vec<StoredNode>,
}

impl Found {
    fn of(copies: &[FoundCopy], walked: &Result<Walk>, root: &StoredNode, depth: Option<usize>) -> Self {
        let none = Walk::default();
        let only = only_in(copies, walked.as_ref().unwrap_or(&none), &root.path, depth);
        let (sure, unsure): (Vec<_>, Vec<_>) = only.into_iter().partition(|(_, is_sure)| *is_sure);
        let nodes = |found: Vec<(StoredNode, bool)>| found.into_iter().map(|(node, _)| node).collect();
        Self { sure: nodes(sure), unsure: nodes(unsure) }
    }
}

/// The walk with more nodes; that of these alone where there was none.
fn with(walked: Result<Walk>, root: &StoredNode, more: Vec<StoredNode>) -> Result<Walk> {
    if more.is_empty() {
        return walked;
    }
    let mut walk = walked.unwrap_or_else(|_| Walk { nodes: vec![root.clone()], ..Walk::default() });
    walk.nodes.extend(more);
    walk.nodes.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(walk)
}

/// The node at `path` in the nearest consolidated metadata that have it, and whether it is there whatever is stored.
fn nearest(copies: &[FoundCopy], path: &NodePath) -> Option<(StoredNode, bool)> {
    copies.iter().find_map(|copy| Some((copy.node(path)?, !copy.has_document)))
}

/// The nodes below `path` that consolidated metadata have and a walk has not, up to `depth` levels, each with whether it is there whatever
/// is stored.
pub(super) fn only_in(
    copies: &[FoundCopy],
    walk: &Walk,
    path: &NodePath,
    depth: Option<usize>,
) -> Vec<(StoredNode, bool)> {
    let broken = walk.broken.iter().filter_map(|error| NodePath::parse(error.location().path.as_deref()?).ok());
    let mut known: BTreeSet<NodePath> = walk.nodes.iter().map(|node| node.path.clone()).chain(broken).collect();
    let level = |below: &NodePath| below.names().count().saturating_sub(path.names().count());
    let mut only = Vec::new();
    for copy in copies {
        for node in copy.nodes_below(path) {
            if depth.is_none_or(|most| level(&node.path) <= most) && known.insert(node.path.clone()) {
                only.push((node, !copy.has_document));
            }
        }
    }
    only
}

/// Asks whether anything is stored at or below the path of a node.
pub(super) fn list_below(node: &StoredNode) -> Result<Request> {
    let prefix = match node.node.as_array() {
        Some(_) => node.chunk_prefix(),
        None => node.own_prefixes().into_iter().next().unwrap_or_default(),
    };
    Ok(Request::List { prefix: Prefix::new(&prefix)? })
}

/// Whether the reply to that is that something is.
pub(super) fn is_stored(reply: &Reply) -> Result<bool> {
    match reply {
        Reply::Listing(Listing { keys, prefixes, .. }) => Ok(!keys.is_empty() || !prefixes.is_empty()),
        _ => Err(unfit()),
    }
}

/// Reads the consolidated metadata of the groups above a path, the nearest first.
#[derive(Debug)]
struct ReadCopies {
    groups: Vec<NodePath>,
    dialect: Option<Dialect>,
    asked: Option<Vec<String>>,
}

impl ReadCopies {
    /// With that of a group at the path itself if `with_own`.
    fn of(path: NodePath, dialect: Option<Dialect>, with_own: bool) -> Self {
        let groups = std::iter::successors(Some(path), NodePath::parent).skip(usize::from(!with_own)).collect();
        Self { groups, dialect, asked: None }
    }
}

impl Job for ReadCopies {
    type Output = Vec<FoundCopy>;
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        let Some(asked) = self.asked.take() else {
            let keys = self.groups.iter().flat_map(|group| consolidated::keys(group, self.dialect));
            let keys: Vec<String> = keys.collect::<BTreeSet<_>>().into_iter().collect();
            let requests = keys.iter().map(|key| Ok(get_document(Key::new(key)?))).collect::<Result<Vec<_>>>()?;
            self.asked = Some(keys);
            return Ok(if requests.is_empty() { Next::Done(Vec::new()) } else { Next::Ask(requests) });
        };
        let mut documents = Documents::new();
        for (key, reply) in asked.into_iter().zip(replies) {
            match reply {
                Reply::Got(Some(fetched)) => documents.insert(key, fetched.part(0)),
                Reply::Got(None) => {}
                _ => return Err(unfit()),
            }
        }
        let of_group = |group: &NodePath| consolidated::found(group, self.dialect, &documents);
        Ok(Next::Done(self.groups.iter().flat_map(of_group).collect()))
    }
}

/// Takes the nodes at or below whose paths something is stored.
#[derive(Debug)]
struct Stored {
    nodes: Vec<StoredNode>,
    asked: bool,
}

impl Stored {
    fn of(nodes: Vec<StoredNode>) -> Self {
        Self { nodes, asked: false }
    }
}

impl Job for Stored {
    type Output = Vec<StoredNode>;
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        if self.nodes.is_empty() {
            return Ok(Next::Done(Vec::new()));
        }
        if !std::mem::replace(&mut self.asked, true) {
            return Ok(Next::Ask(self.nodes.iter().map(list_below).collect::<Result<_>>()?));
        }
        let mut stored = Vec::new();
        for (node, reply) in std::mem::take(&mut self.nodes).into_iter().zip(replies) {
            stored.extend(is_stored(reply)?.then_some(node));
        }
        Ok(Next::Done(stored))
    }
}
