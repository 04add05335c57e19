//! The groups above a node.

use super::revise::{Edit, Revise};
use super::{OpenNode, Probed};
use crate::{Error, ErrorKind, Result, jobs};
use zarr_meta::{Dialect, Documents, GroupMetadata, Node, NodePath, StoredNode, consolidated, conventions};
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

/// Looks at the groups above a node, from the nearest to the root, and then drops the consolidated metadata in them,
/// which a change makes stale: no copy is better than a wrong one.
#[derive(Debug)]
pub struct Ancestors {
    node: NodePath,
    dialect: Dialect,
    /// Documents of the node, among them the documents of the whole hierarchy.
    known: Documents,
    capabilities: Capabilities,
    open: Option<OpenNode>,
    /// Whether ancestors that are not groups are ignored: for erasing.
    lenient: bool,
    /// Whether one of the groups was found: the groups above it stay as they are.
    is_below_group: bool,
    above: Above,
    /// Groups that have consolidated metadata in their own document.
    stale: Vec<StoredNode>,
    /// Consolidated metadata that is a document of its own.
    stale_keys: Vec<Key>,
    dropping: Option<Box<Revise>>,
}

impl Ancestors {
    /// Of a node that is created or changed, in a store that is such.
    #[must_use]
    pub fn new(found: &StoredNode, capabilities: Capabilities) -> Self {
        let (node, dialect) = (found.path.clone(), found.dialect);
        let known = found.documents.clone();
        let open = node.parent().map(|path| OpenNode::new(path, Some(dialect), false).knowing(&known));
        Self {
            node,
            dialect,
            known,
            capabilities,
            open,
            lenient: false,
            is_below_group: false,
            above: Above::default(),
            stale: Vec::new(),
            stale_keys: Vec::new(),
            dropping: None,
        }
    }

    /// Of a node that is erased, whatever is above it.
    #[must_use]
    pub fn of_erased(found: &StoredNode, capabilities: Capabilities) -> Self {
        Self { lenient: true, ..Self::new(found, capabilities) }
    }

    /// The copy in the node itself becomes stale, too: one that is a document of its own has an entry for this group.
    pub(crate) fn with_own_copy(mut self, found: &StoredNode) -> Self {
        let key = consolidated::document_key(found).map(|key| Key::new(&key));
        self.stale_keys.extend(key.and_then(std::result::Result::ok));
        self
    }

    fn look(&mut self, mut replies: &[Reply]) -> Result<Option<Vec<Request>>> {
        while let Some(open) = &mut self.open {
            let path = open.path().clone();
            match open.go_on(std::mem::take(&mut replies)) {
                Ok(Probed::Asks(requests)) => return Ok(Some(requests)),
                Ok(Probed::NotFound(_)) if self.is_below_group => {}
                Ok(Probed::NotFound(_)) => self.above.missing.push(path.clone()),
                Ok(Probed::Found(found)) if found.node.as_array().is_some() => {
                    if !self.lenient {
                        let message = format!("{path} is an array, expected a group");
                        return Err(Error::argument(message).at_path(&self.node));
                    }
                }
                Ok(Probed::Found(found)) => {
                    if !self.is_below_group && !found.implicit {
                        let group = found.node.as_group();
                        self.above.has_lists = group.is_some_and(|group| !conventions::child_lists(group).is_empty());
                        self.is_below_group = true;
                    }
                    match consolidated::document_key(&found) {
                        Some(key) => self.stale_keys.push(Key::new(&key)?),
                        None if found.node.as_group().is_some_and(|group| group.consolidated.is_some()) => {
                            self.stale.push(*found);
                        }
                        None => {}
                    }
                }
                Err(error) if self.lenient && error.kind() != ErrorKind::Store => {}
                Err(error) => return Err(error),
            }
            let open = |path| OpenNode::new(path, Some(self.dialect), false).knowing(&self.known);
            self.open = path.parent().map(open);
        }
        Ok(None)
    }

    fn drop_stale(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        if !self.stale_keys.is_empty() {
            let keys = std::mem::take(&mut self.stale_keys);
            return Ok(Next::Ask(keys.into_iter().map(|key| Request::Erase { key }).collect()));
        }
        let next = |job: &mut Self| {
            let group = job.stale.pop()?;
            Some(Box::new(Revise::new(&group, Edit::Consolidated(None), job.capabilities)))
        };
        match self.dropping.take() {
            Some(revise) => {
                let wait = |job: &mut Self, revise| job.dropping = Some(revise);
                jobs::within(self, revise, replies, wait, |job, _| job.drop_stale(&[]))
            }
            None => match next(self) {
                Some(revise) => {
                    self.dropping = Some(revise);
                    self.drop_stale(&[])
                }
                None => Ok(Next::Done(std::mem::take(&mut self.above))),
            },
        }
    }
}

impl Job for Ancestors {
    type Output = Above;
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        if self.open.is_some() {
            if let Some(requests) = self.look(replies)? {
                return Ok(Next::Ask(requests));
            }
            return self.drop_stale(&[]);
        }
        if self.dropping.is_none() {
            // Documents that are dropped by erasing them.
            jobs::any_conflict(replies)?;
        }
        self.drop_stale(replies)
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
