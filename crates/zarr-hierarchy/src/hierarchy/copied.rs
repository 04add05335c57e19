//! Nodes that only consolidated metadata have: their own documents are missing.
//!
//! Where the store can list, such a node is there if values are stored at or below its path, or if the group has no document of its own
//! either: else the metadata are a stale copy of a node that was erased.

use super::only_copied::{is_stored, list_below, only_in};
use super::{Walk, WalkJob};
use crate::jobs::{get_whole_document, unfit, went_on};
use crate::{Error, Result};
use std::collections::BTreeSet;
use zarr_meta::consolidated::{self, FoundCopy};
use zarr_meta::{Dialect, Documents, NodePath, StoredNode};
use zarr_store::{Job, Key, Next, Reply, Request, StoreKind};

/// Looks for a node in the consolidated metadata of a group at its path or above, after it was looked for in vain.
#[derive(Debug)]
pub(super) struct OpenCopied {
    path: NodePath,
    /// The error of the search before.
    error: Option<Error>,
    can_list: bool,
    state: Opening,
}

#[derive(Debug)]
enum Opening {
    Read(ReadCopies),
    Stored(Stored),
}

impl OpenCopied {
    pub(super) fn new(path: &NodePath, dialect: Option<Dialect>, error: Error, can_list: bool) -> Self {
        let state = Opening::Read(ReadCopies::of(path.clone(), dialect, true));
        Self { path: path.clone(), error: Some(error), can_list, state }
    }

    fn not_found(&mut self) -> Error {
        self.error.take().unwrap_or_else(went_on)
    }
}

impl Job for OpenCopied {
    type Output = StoredNode;
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        if self.error.as_ref().is_none_or(|error| !error.is_not_found()) {
            return Err(self.not_found());
        }
        match &mut self.state {
            Opening::Read(read) => match part(read, replies)? {
                Part::Asks(requests) => Ok(Next::Ask(requests)),
                Part::Done(copies) => match nearest(&copies, &self.path) {
                    None => Err(self.not_found()),
                    Some((node, is_sure)) if is_sure || !self.can_list => Ok(Next::Done(node)),
                    Some((node, _)) => {
                        self.state = Opening::Stored(Stored::of(vec![node]));
                        self.step(&[])
                    }
                },
            },
            Opening::Stored(stored) => match part(stored, replies)? {
                Part::Asks(requests) => Ok(Next::Ask(requests)),
                Part::Done(stored) => stored.into_iter().next().map(Next::Done).ok_or_else(|| self.not_found()),
            },
        }
    }
}

/// Completes the walk of some levels below a group with the nodes that only the consolidated metadata of groups above have, as
/// [`walk`](crate::walk) has them. Where each request takes long, these are looked at only if the store cannot list; then there may be no
/// walk without them.
///
/// Where the store refuses to list, the walk has the nodes that the consolidated metadata of `root` have, and the refusal
/// ([`Walk::unlisted`]).
///
/// It ends with the error of the walk, unless the nodes are found all the same.
#[derive(Debug)]
pub struct CopiedAbove {
    walked: Result<Walk>,
    root: StoredNode,
    depth: Option<usize>,
    can_list: bool,
    sure: Vec<StoredNode>,
    state: Completing,
}

#[derive(Debug)]
enum Completing {
    /// The store refused to list.
    Unlisted(Box<WalkJob>),
    /// No copies, which need not be looked at.
    Complete,
    Read(ReadCopies),
    Stored(Stored),
}

impl CopiedAbove {
    /// Begins with a walk of `depth` levels below `root`, in a store that can list or not and is of such a kind.
    pub fn new(walked: Result<Walk>, root: &StoredNode, depth: Option<usize>, can_list: bool, kind: StoreKind) -> Self {
        let state = match is_looked_at(&walked, root, can_list, kind) {
            _ if walked.as_ref().is_err_and(is_refused) => {
                Completing::Unlisted(Box::new(WalkJob::new(root.clone(), depth, false)))
            }
            true => Completing::Read(ReadCopies::of(root.path.clone(), Some(root.dialect), false)),
            false => Completing::Complete,
        };
        Self { walked, root: root.clone(), depth, can_list, sure: Vec::new(), state }
    }

    fn end(&mut self, stored: Vec<StoredNode>) -> Result<Next<Self>> {
        let more = std::mem::take(&mut self.sure).into_iter().chain(stored).collect();
        let walked = std::mem::replace(&mut self.walked, Err(went_on()));
        with(walked, &self.root, more).map(Next::Done)
    }
}

impl Job for CopiedAbove {
    type Output = Walk;
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        match &mut self.state {
            Completing::Unlisted(walk) => match part(&mut **walk, replies)? {
                Part::Asks(requests) => Ok(Next::Ask(requests)),
                Part::Done(walk) => {
                    self.walked = unlisted(std::mem::replace(&mut self.walked, Err(went_on())), walk);
                    self.end(Vec::new())
                }
            },
            Completing::Complete => self.end(Vec::new()),
            Completing::Read(read) => match part(read, replies)? {
                Part::Asks(requests) => Ok(Next::Ask(requests)),
                Part::Done(copies) => {
                    let found = Found::of(&copies, &self.walked, &self.root, self.depth);
                    self.sure = found.sure;
                    if !self.can_list {
                        return self.end(found.unsure);
                    }
                    self.state = Completing::Stored(Stored::of(found.unsure));
                    self.step(&[])
                }
            },
            Completing::Stored(stored) => match part(stored, replies)? {
                Part::Asks(requests) => Ok(Next::Ask(requests)),
                Part::Done(stored) => self.end(stored),
            },
        }
    }
}

/// State of a part of these jobs.
enum Part<T> {
    Asks(Vec<Request>),
    Done(T),
}

fn part<J: Job<Error = Error>>(job: &mut J, replies: &[Reply]) -> Result<Part<J::Output>> {
    match job.step(replies)? {
        Next::Ask(requests) | Next::FetchInto(requests) => Ok(Part::Asks(requests)),
        Next::Done(output) => Ok(Part::Done(output)),
        Next::Fork(_) => Err(unfit()),
    }
}

/// Whether the store lists nothing for this caller, who may get values all the same.
fn is_refused(error: &Error) -> bool {
    error.store_error().is_some_and(|error| error.kind() == zarr_store::ErrorKind::Denied)
}

/// A walk by consolidated metadata after a store refused to list; without some, the refusal.
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
            let requests = keys.iter().map(|key| Ok(get_whole_document(Key::new(key)?))).collect::<Result<Vec<_>>>()?;
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
