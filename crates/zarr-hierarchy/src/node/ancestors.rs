//! The groups above a node.

use super::OpenNode;
use super::only_copied::check_only_copied;
use super::revise::{Edit, revise};
use crate::jobs::Operation;
use crate::{Error, ErrorKind, Result, jobs};
use std::sync::{Arc, Mutex, PoisonError};
use zarr_drive::Io;
use zarr_meta::consolidated::{self, FoundCopy};
use zarr_meta::{Consolidated, Dialect, Documents, GroupMetadata, Node, NodePath, StoredNode, conventions};
use zarr_store::{Capabilities, Key, Precondition, Request};

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
    dropped: DroppedCopies,
    /// The copy of the node itself, where it becomes stale, too.
    own: Option<Beside>,
}

/// Consolidated metadata of a group under a key of its own.
#[derive(Debug)]
struct Beside {
    group: NodePath,
    /// Whether the group has a document of its own as well.
    has_document: bool,
    key: Key,
}

/// The groups above that have consolidated metadata.
#[derive(Debug, Default)]
struct CopiesAbove {
    /// Groups that have it in their own document.
    inside: Vec<StoredNode>,
    /// Groups that may have it in a document of its own.
    beside: Vec<Beside>,
}

impl Ancestors {
    /// The ancestors of a node that is created or changed, in a store of these capabilities.
    #[must_use]
    pub fn new(found: &StoredNode, capabilities: Capabilities) -> Self {
        Self {
            node: found.path.clone(),
            dialect: found.dialect,
            known: found.documents.clone(),
            capabilities,
            lenient: false,
            goes: false,
            makes_groups: false,
            only_checks: false,
            dropped: DroppedCopies::default(),
            own: None,
        }
    }

    /// The ancestors of a node that is erased, whatever is above it.
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
            self.own = Beside::of(found.dialect, &found.path, has_document);
        }
        self
    }

    /// Looks at one group after another.
    async fn look(&self, io: &Io) -> Result<(Above, CopiesAbove)> {
        let (mut above, mut copies) = (Above::default(), CopiesAbove::default());
        // The groups above one that is there stay as they are.
        let mut is_below_group = false;
        for path in std::iter::successors(self.node.parent(), NodePath::parent) {
            let mut open = OpenNode::new(path.clone(), Some(self.dialect), false).knowing(&self.known);
            match open.find(io).await {
                Ok(None) => {
                    if !is_below_group {
                        above.missing.push(path.clone());
                    }
                    copies.beside.extend(Beside::of(self.dialect, &path, false));
                }
                Ok(Some(found)) => match found.node.as_group() {
                    Some(group) => {
                        if !is_below_group && !found.implicit {
                            above.has_lists = !conventions::child_lists(group).is_empty();
                            is_below_group = true;
                        }
                        copies.add(found);
                    }
                    None if self.lenient => {}
                    None => {
                        let message = format!("{path} is an array, expected a group");
                        return Err(Error::argument(message).at_path(&self.node));
                    }
                },
                Err(error) if self.lenient && error.kind() != ErrorKind::Store => {}
                Err(error) => return Err(error),
            }
        }
        Ok((above, copies))
    }

    /// Reads the copies that may be documents of their own, and keeps those that are there. Returns all copies that can be read.
    async fn read(&self, io: &Io, copies: &mut CopiesAbove) -> Result<Vec<FoundCopy>> {
        let inside = copies.inside.iter().filter_map(|group| {
            let copy = group.node.as_group()?.consolidated.clone()?;
            Some(FoundCopy::new(group.dialect, group.path.clone(), true, copy))
        });
        let mut found: Vec<FoundCopy> = inside.collect();
        let beside = std::mem::take(&mut copies.beside);
        let requests = beside.iter().map(|beside| jobs::get_whole_document(beside.key.clone())).collect();
        for (beside, fetched) in beside.into_iter().zip(io.get(requests).await?) {
            let Some(fetched) = fetched else { continue };
            // Of a document that cannot be read nobody has the nodes.
            let copy = Consolidated::parse_document(self.dialect, beside.key.as_str(), fetched.part(0)).ok().flatten();
            let (group, has_document) = (beside.group.clone(), beside.has_document);
            found.extend(copy.map(|copy| FoundCopy::new(self.dialect, group, has_document, copy)));
            copies.beside.push(beside);
        }
        Ok(found)
    }
}

impl Operation for Ancestors {
    type Output = Above;

    async fn run(mut self, io: &Io) -> Result<Above> {
        let (above, mut copies) = self.look(io).await?;
        copies.beside.splice(..0, self.own.take());
        let found = self.read(io, &mut copies).await?;
        let gone = Some(&self.node).filter(|_| self.goes);
        let made = if self.makes_groups { &above.missing[..] } else { &[] };
        check_only_copied(io, found, gone, made, self.capabilities).await?;
        if self.only_checks {
            return Ok(above);
        }
        copies.beside.iter().for_each(|beside| self.dropped.add(&beside.group));
        io.change(copies.beside.into_iter().map(|beside| Request::Erase { key: beside.key }).collect()).await?;
        for group in copies.inside.iter().rev() {
            self.dropped.add(&group.path);
            revise(io, group, &Edit::WithoutConsolidated, self.capabilities).await?;
        }
        Ok(above)
    }
}

impl CopiesAbove {
    fn add(&mut self, group: StoredNode) {
        match Beside::of(group.dialect, &group.path, !group.implicit) {
            Some(beside) => self.beside.push(beside),
            None if group.node.as_group().is_some_and(|group| group.consolidated.is_some()) => self.inside.push(group),
            None => {}
        }
    }
}

impl Beside {
    fn of(dialect: Dialect, group: &NodePath, has_document: bool) -> Option<Self> {
        let key = consolidated::document_key(&StoredNode::implicit(dialect, group.clone()))?;
        Some(Self { group: group.clone(), has_document, key: Key::new(&key).ok()? })
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
