//! Groups above a node, and their consolidated metadata.

use super::OpenNode;
use super::only_consolidated::check_only_consolidated;
use super::revise::{Edit, revise};
use crate::jobs::Operation;
use crate::{Error, ErrorKind, Result, jobs};
use std::sync::{Arc, Mutex, PoisonError};
use zarr_drive::Io;
use zarr_meta::consolidated::{self, FoundConsolidated};
use zarr_meta::{Consolidated, Dialect, Documents, GroupMetadata, Node, NodePath, StoredNode, conventions};
use zarr_store::{Capabilities, Key, Precondition, Request};

/// Result of [`Ancestors`]: the groups above a node.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Above {
    /// Paths of the groups that do not exist, the nearest first.
    pub missing: Vec<NodePath>,
    /// Whether the nearest group that exists has lists of the nodes in it, as in NCZarr.
    pub has_lists: bool,
}

/// Paths of the groups whose consolidated metadata was dropped by changes. Clones share one list.
#[derive(Clone, Debug, Default)]
pub struct DroppedConsolidated(Arc<Mutex<Vec<NodePath>>>);

impl DroppedConsolidated {
    fn add(&self, group: &NodePath) {
        let mut groups = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !groups.contains(group) {
            groups.push(group.clone());
        }
    }

    /// Removes and returns the paths that were added since the last call.
    #[must_use]
    pub fn take(&self) -> Vec<NodePath> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Reads the groups above a node, from the nearest to the root, and then drops their consolidated metadata, which a change makes stale: no
/// consolidated metadata is better than wrong one. If it has the only documents of nodes, the operation is an error, and nothing is
/// changed.
#[derive(Debug)]
pub struct Ancestors {
    node: NodePath,
    dialect: Dialect,
    /// Documents of the node, including documents of the whole hierarchy.
    known: Documents,
    capabilities: Capabilities,
    /// Whether arrays and unreadable nodes above are ignored, as for erasing.
    lenient: bool,
    /// Whether the node is erased or replaced with all nodes below it.
    goes: bool,
    /// Whether missing groups will be created.
    makes_groups: bool,
    /// Whether nothing is dropped.
    only_checks: bool,
    dropped: DroppedConsolidated,
    /// Consolidated metadata of the node itself that becomes stale, too; `None` if there is none to drop.
    own: Option<Beside>,
}

/// Consolidated metadata of a group in a document of its own.
#[derive(Debug)]
struct Beside {
    group: NodePath,
    /// Whether the group also has a document that is not consolidated metadata.
    has_document: bool,
    key: Key,
}

/// Groups whose consolidated metadata is to be dropped.
#[derive(Debug, Default)]
struct ConsolidatedAbove {
    /// Groups with consolidated metadata in their own documents.
    inside: Vec<StoredNode>,
    /// Groups that may have consolidated metadata in a separate document.
    beside: Vec<Beside>,
}

impl Ancestors {
    /// Reads the groups above the node `found`, which is created or changed, in a store with these capabilities.
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
            dropped: DroppedConsolidated::default(),
            own: None,
        }
    }

    /// Reads the groups above the node `found`, which is erased. Arrays and unreadable nodes above it are ignored.
    #[must_use]
    pub fn of_erased(found: &StoredNode, capabilities: Capabilities) -> Self {
        Self { lenient: true, ..Self::new(found, capabilities) }.replaced()
    }

    /// Says that the node at the path is erased or replaced with all nodes below it: documents of these nodes may be lost.
    #[must_use]
    pub fn replaced(self) -> Self {
        Self { goes: true, ..self }
    }

    /// Says that the caller creates the missing groups, without attributes.
    pub(super) fn making_groups(self) -> Self {
        Self { makes_groups: true, ..self }
    }

    /// Adds the groups whose consolidated metadata is dropped to `dropped`.
    pub(super) fn noting(self, dropped: &DroppedConsolidated) -> Self {
        Self { dropped: dropped.clone(), ..self }
    }

    /// Drops nothing: only checks that no document would be lost, before a longer change.
    #[must_use]
    pub fn only_checking(self) -> Self {
        Self { only_checks: true, ..self }
    }

    /// Drops the consolidated metadata of the node itself, too, if it is a separate document: it has an entry for the node.
    pub(crate) fn with_own_copy(mut self, found: &StoredNode) -> Self {
        if found.node.as_group().is_some() {
            let has_document = !found.implicit && !found.documents.are_consolidated();
            self.own = Beside::of(found.dialect, &found.path, has_document);
        }
        self
    }

    /// Reads one group after another, from the nearest to the root.
    async fn look(&self, io: &Io) -> Result<(Above, ConsolidatedAbove)> {
        let (mut above, mut copies) = (Above::default(), ConsolidatedAbove::default());
        // Groups above the nearest existing group are not created.
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

    /// Reads consolidated metadata in separate documents, and removes those from `copies` that do not exist. Returns all consolidated
    /// metadata that can be read.
    async fn read(&self, io: &Io, copies: &mut ConsolidatedAbove) -> Result<Vec<FoundConsolidated>> {
        let inside = copies.inside.iter().filter_map(|group| {
            let copy = group.node.as_group()?.consolidated.clone()?;
            Some(FoundConsolidated::new(group.dialect, group.path.clone(), true, copy))
        });
        let mut found: Vec<FoundConsolidated> = inside.collect();
        let beside = std::mem::take(&mut copies.beside);
        let requests = beside.iter().map(|beside| jobs::get_whole_document(beside.key.clone())).collect();
        for (beside, fetched) in beside.into_iter().zip(io.get(requests).await?) {
            let Some(fetched) = fetched else { continue };
            // A document that cannot be read has no nodes that could be lost.
            let copy = Consolidated::parse_document(self.dialect, beside.key.as_str(), fetched.part(0)).ok().flatten();
            let (group, has_document) = (beside.group.clone(), beside.has_document);
            found.extend(copy.map(|copy| FoundConsolidated::new(self.dialect, group, has_document, copy)));
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
        check_only_consolidated(io, found, gone, made, self.capabilities).await?;
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

impl ConsolidatedAbove {
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

/// Returns the requests that create missing groups, one step per group, the outermost group last. Steps must be made from the last to the
/// first, so that each node always has the groups above it. A group that another writer created meanwhile stays.
pub(super) fn create_missing(
    missing: &[NodePath],
    dialect: Dialect,
    capabilities: Capabilities,
) -> Result<Vec<Vec<Request>>> {
    // If a node implies the groups above it, writing the groups would conflict with others who create nodes at the same time.
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
