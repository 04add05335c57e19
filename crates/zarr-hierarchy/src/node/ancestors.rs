//! The groups above a node.

use super::only_copied::OnlyCopied;
use super::revise::{Edit, Revise};
use super::{OpenNode, Probed};
use crate::{Error, ErrorKind, Result, jobs};
use std::sync::{Arc, Mutex, PoisonError};
use zarr_meta::consolidated::{self, FoundCopy};
use zarr_meta::{Consolidated, Dialect, Documents, GroupMetadata, Node, NodePath, StoredNode, conventions};
use zarr_store::{Capabilities, Job, Key, Next, Precondition, Reply, Request};

/// The groups above a node.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Above {
    /// The groups that do not exist, the nearest first.
    pub missing: Vec<NodePath>,
    /// Whether the nearest group that exists keeps lists of the nodes in it, as NCZarr has them.
    pub has_lists: bool,
}

/// The groups whose consolidated metadata changes have dropped. Clones share one list.
#[derive(Clone, Debug, Default)]
pub struct DroppedCopies(Arc<Mutex<Vec<NodePath>>>);

impl DroppedCopies {
    fn add(&self, group: &NodePath) {
        let mut groups = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !groups.contains(group) {
            groups.push(group.clone());
        }
    }

    /// The groups since the last call.
    #[must_use]
    pub fn take(&self) -> Vec<NodePath> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Looks at the groups above a node, from the nearest to the root, and then drops the consolidated metadata in them,
/// which a change makes stale: no copy is better than a wrong one. Where it has the only documents of nodes, that is an error, and nothing
/// is changed.
///
/// Look ── copies that are documents of their own ──► Read ──► Check ──► Erase ──► Revise ──► done
#[derive(Debug)]
pub struct Ancestors {
    node: NodePath,
    dialect: Dialect,
    /// Documents of the node, among them the documents of the whole hierarchy.
    known: Documents,
    capabilities: Capabilities,
    /// Whether ancestors that are not groups are ignored: for erasing.
    lenient: bool,
    /// Whether the node goes with all that is below it.
    goes: bool,
    /// Whether the groups that are missing are made.
    makes_groups: bool,
    /// Whether nothing is dropped.
    only_checks: bool,
    /// Whether one of the groups was found: the groups above it stay as they are.
    is_below_group: bool,
    above: Above,
    dropped: DroppedCopies,
    /// Groups that have consolidated metadata in their own document.
    stale: Vec<StoredNode>,
    /// Consolidated metadata that may be a document of its own.
    beside: Vec<Beside>,
    state: State,
}

/// Consolidated metadata of a group under a key of its own.
#[derive(Debug)]
struct Beside {
    group: NodePath,
    /// Whether the group has a document of its own as well.
    has_document: bool,
    key: Key,
}

#[derive(Debug)]
enum State {
    Look(Option<Box<OpenNode>>),
    Read,
    Check(Box<OnlyCopied>),
    Erase,
    Revise(Box<Revise>),
    Done,
}

impl Ancestors {
    /// Of a node that is created or changed, in a store that is such.
    #[must_use]
    pub fn new(found: &StoredNode, capabilities: Capabilities) -> Self {
        let (node, dialect) = (found.path.clone(), found.dialect);
        let known = found.documents.clone();
        let open = node.parent().map(|path| Box::new(OpenNode::new(path, Some(dialect), false).knowing(&known)));
        Self {
            node,
            dialect,
            known,
            capabilities,
            lenient: false,
            goes: false,
            makes_groups: false,
            only_checks: false,
            is_below_group: false,
            above: Above::default(),
            dropped: DroppedCopies::default(),
            stale: Vec::new(),
            beside: Vec::new(),
            state: State::Look(open),
        }
    }

    /// Of a node that is erased, whatever is above it.
    #[must_use]
    pub fn of_erased(found: &StoredNode, capabilities: Capabilities) -> Self {
        Self { lenient: true, ..Self::new(found, capabilities) }.replaced()
    }

    /// Says that the node at the path goes with all that is below it: documents of these may be lost.
    #[must_use]
    pub fn replaced(self) -> Self {
        Self { goes: true, ..self }
    }

    /// Says that the groups that are missing are made, without attributes.
    pub(super) fn making_groups(self) -> Self {
        Self { makes_groups: true, ..self }
    }

    /// Notes the groups whose copies are dropped.
    pub(super) fn noting(self, dropped: &DroppedCopies) -> Self {
        Self { dropped: dropped.clone(), ..self }
    }

    /// Drops nothing: to know before a longer change that no document would be lost.
    #[must_use]
    pub fn only_checking(self) -> Self {
        Self { only_checks: true, ..self }
    }

    /// The copy in the node itself becomes stale, too: one that is a document of its own has an entry for this group.
    pub(crate) fn with_own_copy(mut self, found: &StoredNode) -> Self {
        if found.node.as_group().is_some() {
            let has_document = !found.implicit && !found.documents.are_copies();
            self.beside.extend(Beside::of(found.dialect, &found.path, has_document));
        }
        self
    }

    /// Looks at one group after another.
    fn look(&mut self, open: Option<Box<OpenNode>>, replies: &[Reply]) -> Result<Next<Self>> {
        let (mut next, mut replies) = (open, replies);
        while let Some(mut open) = next {
            let path = open.path().clone();
            match open.go_on(std::mem::take(&mut replies)) {
                Ok(Probed::Asks(requests)) => {
                    self.state = State::Look(Some(open));
                    return Ok(Next::Ask(requests));
                }
                Ok(Probed::NotFound(_)) => {
                    if !self.is_below_group {
                        self.above.missing.push(path.clone());
                    }
                    self.beside.extend(Beside::of(self.dialect, &path, false));
                }
                Ok(Probed::Found(found)) if found.node.as_array().is_some() => {
                    if !self.lenient {
                        let message = format!("{path} is an array, expected a group");
                        return Err(Error::argument(message).at_path(&self.node));
                    }
                }
                Ok(Probed::Found(found)) => self.found(*found),
                Err(error) if self.lenient && error.kind() != ErrorKind::Store => {}
                Err(error) => return Err(error),
            }
            let open = |path| Box::new(OpenNode::new(path, Some(self.dialect), false).knowing(&self.known));
            next = path.parent().map(open);
        }
        if self.beside.is_empty() {
            return self.check_copies(&[]);
        }
        self.state = State::Read;
        Ok(Next::Ask(self.beside.iter().map(|beside| jobs::get_whole_document(beside.key.clone())).collect()))
    }

    fn found(&mut self, found: StoredNode) {
        if !self.is_below_group && !found.implicit {
            let group = found.node.as_group();
            self.above.has_lists = group.is_some_and(|group| !conventions::child_lists(group).is_empty());
            self.is_below_group = true;
        }
        match Beside::of(found.dialect, &found.path, !found.implicit) {
            Some(beside) => self.beside.push(beside),
            None if found.node.as_group().is_some_and(|group| group.consolidated.is_some()) => self.stale.push(found),
            None => {}
        }
    }

    /// Looks whether documents would be lost, by what was read under the keys.
    fn check_copies(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        let mut copies = Vec::new();
        for group in &self.stale {
            let copy = group.node.as_group().and_then(|group| group.consolidated.clone());
            copies.extend(copy.map(|copy| FoundCopy::new(group.dialect, group.path.clone(), true, copy)));
        }
        let mut there = Vec::new();
        for (beside, reply) in std::mem::take(&mut self.beside).into_iter().zip(replies) {
            let Reply::Got(fetched) = reply else { return Err(jobs::unfit()) };
            let Some(fetched) = fetched else { continue };
            // Of a document that cannot be read nobody has the nodes.
            let copy = Consolidated::parse_document(self.dialect, beside.key.as_str(), fetched.part(0)).ok().flatten();
            let (group, has_document) = (beside.group.clone(), beside.has_document);
            copies.extend(copy.map(|copy| FoundCopy::new(self.dialect, group, has_document, copy)));
            there.push(beside);
        }
        self.beside = there;
        let gone = Some(&self.node).filter(|_| self.goes);
        let made = if self.makes_groups { &self.above.missing[..] } else { &[] };
        self.check(Box::new(OnlyCopied::new(&copies, gone, made, self.capabilities)), &[])
    }

    fn check(&mut self, check: Box<OnlyCopied>, replies: &[Reply]) -> Result<Next<Self>> {
        let wait = |job: &mut Self, check| job.state = State::Check(check);
        jobs::within(self, check, replies, wait, |job, ()| {
            let beside = std::mem::take(&mut job.beside);
            if job.only_checks {
                return Ok(job.end());
            }
            beside.iter().for_each(|beside| job.dropped.add(&beside.group));
            let erase: Vec<Request> = beside.into_iter().map(|beside| Request::Erase { key: beside.key }).collect();
            if erase.is_empty() {
                return job.drop_next();
            }
            job.state = State::Erase;
            Ok(Next::Ask(erase))
        })
    }

    fn drop_next(&mut self) -> Result<Next<Self>> {
        match self.stale.pop() {
            Some(group) => {
                self.dropped.add(&group.path);
                self.revise(Box::new(Revise::new(&group, Edit::WithoutConsolidated, self.capabilities)), &[])
            }
            None => Ok(self.end()),
        }
    }

    fn revise(&mut self, revise: Box<Revise>, replies: &[Reply]) -> Result<Next<Self>> {
        let wait = |job: &mut Self, revise| job.state = State::Revise(revise);
        jobs::within(self, revise, replies, wait, |job, _| job.drop_next())
    }

    fn end(&mut self) -> Next<Self> {
        Next::Done(std::mem::take(&mut self.above))
    }
}

impl Beside {
    fn of(dialect: Dialect, group: &NodePath, has_document: bool) -> Option<Self> {
        let key = consolidated::document_key(&StoredNode::implicit(dialect, group.clone()))?;
        Some(Self { group: group.clone(), has_document, key: Key::new(&key).ok()? })
    }
}

impl Job for Ancestors {
    type Output = Above;
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        match std::mem::replace(&mut self.state, State::Done) {
            State::Look(open) => self.look(open, replies),
            State::Read => self.check_copies(replies),
            State::Check(check) => self.check(check, replies),
            State::Erase => {
                jobs::any_conflict(replies)?;
                self.drop_next()
            }
            State::Revise(revise) => self.revise(revise, replies),
            State::Done => Err(jobs::went_on()),
        }
    }
}

/// Writes of groups that are missing, a step for each, the outermost last: to be taken from the end, so that no node is ever
/// without the groups above it. Where others are faster, the groups are there.
pub(super) fn create_missing(
    missing: &[NodePath],
    dialect: Dialect,
    capabilities: Capabilities,
) -> Result<Vec<Vec<Request>>> {
    // Where a node implies the groups above it, writing them would be in the way of others who create nodes at the same time.
    if dialect.implies_groups() {
        return Ok(Vec::new());
    }
    let when = if capabilities.conditional { Precondition::NotExists } else { Precondition::None };
    let group = Node::Group(GroupMetadata::default());
    let create = |path: &NodePath| {
        let documents = zarr_meta::documents(dialect, path, &group, None)?;
        let set = |(key, value): (String, Option<Vec<u8>>)| {
            Ok(jobs::set_document(Key::new(&key)?, value.unwrap_or_default(), when.clone(), true))
        };
        documents.into_iter().map(set).collect()
    };
    missing.iter().map(create).collect()
}
